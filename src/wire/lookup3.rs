//! Jenkins' lookup3 hash, with which every structure since version 2 of the format is checked.
//! Specification: appendix on the metadata checksum (`hashlittle`, initial value 0).

use byteorder::{ByteOrder, LittleEndian as LE};

/// The checksum of `bytes`.
pub fn lookup3(bytes: &[u8]) -> u32 {
    lookup3_from(bytes, 0)
}

/// The checksum of `bytes` that begins with another initial value (names of links and attributes begin with 0 too).
pub fn lookup3_from(bytes: &[u8], initial: u32) -> u32 {
    // The reference folds the length modulo 2^32.
    let folded = u32::try_from(bytes.len() & 0xffff_ffff).expect("masked to 32 bits");
    let seed = 0xdead_beef_u32.wrapping_add(folded).wrapping_add(initial);
    let (mut a, mut b, mut c) = (seed, seed, seed);
    let mut rest = bytes;
    while rest.len() > 12 {
        a = a.wrapping_add(LE::read_u32(rest));
        b = b.wrapping_add(LE::read_u32(&rest[4..]));
        c = c.wrapping_add(LE::read_u32(&rest[8..]));
        (a, b, c) = mix(a, b, c);
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let mut last = [0; 12];
    last[..rest.len()].copy_from_slice(rest);
    a = a.wrapping_add(LE::read_u32(&last));
    b = b.wrapping_add(LE::read_u32(&last[4..]));
    c = c.wrapping_add(LE::read_u32(&last[8..]));
    finish(a, b, c)
}

fn mix(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for n in [4, 6, 8, 16, 19, 4] {
        a = a.wrapping_sub(c) ^ c.rotate_left(n);
        c = c.wrapping_add(b);
        // The roles turn; after six steps everyone is home again.
        (a, b, c) = (b, c, a);
    }
    (a, b, c)
}

fn finish(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values published with the hash by its author.
    #[test]
    fn published_values() {
        assert_eq!(lookup3_from(b"", 0), 0xdead_beef);
        assert_eq!(lookup3_from(b"", 0xdead_beef), 0xbd5b_7dde);
        assert_eq!(lookup3_from(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(lookup3_from(b"Four score and seven years ago", 1), 0xcd62_8161);
    }
}
