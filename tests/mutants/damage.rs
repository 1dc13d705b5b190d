//! Damage, in the manner of `../shared/oracle/mutate.py`: the same seed gives the same bytes.

use crate::random::Random;

/// Damages a file in one place, a fourth of the time in up to four.
pub(crate) fn damage(file: &mut Vec<u8>, random: &mut Random) {
    let places = if random.index(4) == 0 { 1 + random.index(4) } else { 1 };
    for _ in 0..places {
        if !file.is_empty() {
            once(file, random);
        }
    }
}

fn once(file: &mut Vec<u8>, random: &mut Random) {
    let len = file.len();
    // Metadata is mostly at the front, and around signatures.
    let at = match random.index(3) {
        0 => random.index(len),
        1 => random.index(len.min(2048)),
        _ => near_signature(file, random).unwrap_or(0).min(len - 1),
    };
    match random.index(9) {
        0 if random.index(4) == 0 => file.truncate(at),
        1 if random.index(4) == 0 => {
            file.truncate(at);
            file.extend((0..200).map(|_| random.byte()));
        }
        0..=2 => file[at] ^= 1 << random.index(8),
        3 => file[at] = random.byte(),
        4 => {
            let width = 2 << random.index(3);
            file[at..(at + width).min(len)].fill(0xff);
        }
        5 => {
            let width = 1 + random.index(64);
            file[at..(at + width).min(len)].fill(0);
        }
        6 => {
            // A part of the file over another part.
            let width = 1 + random.index(len.min(256));
            let (from, to) = (random.index(len - width + 1), random.index(len - width + 1));
            file.copy_within(from..from + width, to);
        }
        _ => {
            // A small number, or an address in the file, in an aligned field.
            let width: usize = 2 << random.index(3);
            let at = at - at % width;
            let value = match random.index(3) {
                0 => u64::try_from(random.index(len)).unwrap(),
                _ => random.next() >> (1 + random.index(63)),
            };
            let end = (at + width).min(len);
            file[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
        }
    }
}

/// A place up to 64 bytes after four letters, as most structures begin with some.
fn near_signature(file: &[u8], random: &mut Random) -> Option<usize> {
    let start = random.index(file.len());
    let is_letter = |byte: &u8| byte.is_ascii_uppercase();
    let found = file[start..].windows(4).position(|four| four.iter().all(is_letter))?;
    Some(start + found + 4 + random.index(60))
}
