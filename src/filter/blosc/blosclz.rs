//! BloscLZ, the codec of blosc's own.
//!
//! ```text
//! 000nnnnn                                   n + 1 literals follow
//! lllddddd | more of l | dddddddd            l + 2 bytes from d + 1 back; l of 7 goes on while bytes are 255
//! lll11111 | more of l | 11111111 | d u16 BE the same from d + 8192 back
//! ```
//! Only the low five bits of the first byte count.

use crate::error::{Error, Result};
use crate::filter::ends_early;
use crate::filter::lz::{Rules, copy_literals, copy_match, sequences};

const NEAR: usize = 8191;

/// Decodes all of `input`, which has to fill `to`.
pub(in crate::filter) fn decode(input: &[u8], to: &mut [u8]) -> Result<()> {
    let (mut from, mut at) = (1, 0);
    let mut control = usize::from(*input.first().ok_or_else(ends_early)?) & 31;
    loop {
        if control < 32 {
            copy_literals(input, from, to, at, control + 1)?;
            from += control + 1;
            at += control + 1;
        } else {
            let mut next = || {
                let byte = input.get(from).copied().map(usize::from);
                from += 1;
                byte.ok_or_else(ends_early)
            };
            let (mut len, high) = ((control >> 5) + 2, control & 31);
            while len >= 9 {
                let more = next()?;
                len += more;
                if more != 255 {
                    break;
                }
            }
            let low = next()?;
            let distance =
                if (high, low) == (31, 255) { (next()? << 8 | next()?) + NEAR + 1 } else { (high << 8 | low) + 1 };
            copy_match(to, at, distance, len)?;
            at += len;
        }
        match input.get(from) {
            Some(&byte) => control = usize::from(byte),
            None => break,
        }
        from += 1;
    }
    if at == to.len() {
        return Ok(());
    }
    Err(Error::corrupt(format!("the stream gives {at} bytes, {} are expected", to.len())))
}

/// Appends `input`, encoded. The level says how soon the search gives up.
pub(in crate::filter) fn encode(input: &[u8], level: i32, output: &mut Vec<u8>) {
    let rules = Rules {
        longest_distance: NEAR + 65_536,
        longest_match: usize::MAX,
        plain_end: 2,
        plain_start: 12,
        table_bits: if level < 5 { 12 } else { 14 },
        patience: 6,
        hashed: 4,
        depth: 1,
    };
    let start = output.len();
    let rest = sequences(input, rules, |sequence| {
        put_literals(sequence.literals, output);
        put_match(sequence.len, sequence.distance, output);
    });
    put_literals(rest, output);
    if let Some(first) = output.get_mut(start) {
        *first |= 1 << 5;
    }
}

fn put_literals(literals: &[u8], output: &mut Vec<u8>) {
    for part in literals.chunks(32) {
        output.push((part.len() - 1).to_le_bytes()[0]);
        output.extend_from_slice(part);
    }
}

fn put_match(len: usize, distance: usize, output: &mut Vec<u8>) {
    let far = distance > NEAR;
    let near = if far { NEAR } else { distance - 1 };
    let [low, high, ..] = near.to_le_bytes();
    let short = (len - 2).min(7).to_le_bytes()[0];
    output.push(short << 5 | high);
    if short == 7 {
        let more = len - 9;
        output.extend(std::iter::repeat_n(255, more / 255));
        output.push((more % 255).to_le_bytes()[0]);
    }
    output.push(low);
    if far {
        let [low, high, ..] = (distance - NEAR - 1).to_le_bytes();
        output.extend_from_slice(&[high, low]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::Random;

    #[test]
    fn what_is_encoded_is_decoded() {
        let mut random = Random::new(40);
        for len in (1..70).chain([300, 5003, 80_001]) {
            let plain = random.bytes(len);
            let mut stored = Vec::new();
            encode(&plain, 5, &mut stored);
            let mut back = vec![0xaa; len];
            decode(&stored, &mut back).unwrap();
            assert!(back == plain, "{len} bytes");
        }
    }

    #[test]
    fn short_and_damaged_streams_are_errors() {
        let plain: Vec<u8> = (0..3001u32).map(|i| (i / 7 % 50).to_le_bytes()[0]).collect();
        let mut stored = Vec::new();
        encode(&plain, 5, &mut stored);
        let mut back = vec![0; plain.len()];
        for len in 0..stored.len() {
            assert!(decode(&stored[..len], &mut back).is_err());
        }
        let mut random = Random::new(41);
        for _ in 0..20_000 {
            let mut damaged = stored.clone();
            random.damage(&mut damaged);
            let _ = decode(&damaged, &mut back);
        }
    }
}
