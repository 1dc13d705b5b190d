//! The LZ4 block format: what the filters lz4, bitshuffle, blosc and blosc2 put inside their own framing.
//!
//! ```text
//! llllmmmm | more of l | l literals | distance u16 | more of m      a sequence; the match has m + 4 bytes
//! ```
//! A length of 15 goes on with bytes that are added, up to and with the first that is not 255. The last sequence has
//! literals only: at least the last 5 bytes, and no match starts in the last 12.

use super::lz::{Rules, Sequence, copy_literals, copy_match, sequences};
use super::{ends_early, lz4_fast};
use crate::error::{Error, Result};

/// Decodes all of `input`, which has to fill `to`.
pub(super) fn decode(input: &[u8], to: &mut [u8]) -> Result<()> {
    let (mut from, mut at) = (0, 0);
    loop {
        (from, at) = lz4_fast::sequences(input, to, from, at);
        let token = usize::from(*input.get(from).ok_or_else(ends_early)?);
        from += 1;
        let mut literals = token >> 4;
        if literals == 15 {
            literals += longer(input, &mut from)?;
        }
        copy_literals(input, from, to, at, literals)?;
        from += literals;
        at += literals;
        let Some(distance) = input.get(from..).and_then(<[u8]>::first_chunk::<2>) else { break };
        let distance = usize::from(u16::from_le_bytes(*distance));
        from += 2;
        let mut len = token & 15;
        if len == 15 {
            len += longer(input, &mut from)?;
        }
        len += 4;
        copy_match(to, at, distance, len)?;
        at += len;
    }
    if from != input.len() {
        return Err(ends_early());
    }
    if at == to.len() {
        return Ok(());
    }
    Err(Error::corrupt(format!("the block gives {at} bytes, {} are expected", to.len())))
}

/// The rest of a length that does not fit the token.
fn longer(input: &[u8], from: &mut usize) -> Result<usize> {
    let mut sum = 0usize;
    loop {
        let byte = *input.get(*from).ok_or_else(ends_early)?;
        *from += 1;
        sum += usize::from(byte);
        if byte != 255 {
            return Ok(sum);
        }
    }
}

/// How hard the encoder searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// One earlier position per place.
    Fast,
    /// This many, and the next place too.
    High(usize),
}

/// Appends `input` as a block.
pub(super) fn encode(input: &[u8], effort: Effort, output: &mut Vec<u8>) {
    let (depth, table_bits) = match effort {
        Effort::Fast => (1, 13),
        Effort::High(depth) => (depth, 15),
    };
    let hashed = if effort == Effort::Fast && input.len() > 64 << 10 { 5 } else { 4 };
    let rules = Rules {
        longest_distance: 65_535,
        longest_match: usize::MAX,
        plain_end: 5,
        plain_start: 12,
        table_bits,
        patience: 6,
        hashed,
        depth,
    };
    let rest = sequences(input, rules, |sequence| put(&sequence, output));
    put_token(rest.len(), 0, output);
    output.extend_from_slice(rest);
}

fn put(sequence: &Sequence<'_>, output: &mut Vec<u8>) {
    let len = sequence.len - 4;
    put_token(sequence.literals.len(), len, output);
    output.extend_from_slice(sequence.literals);
    let [low, high, ..] = sequence.distance.to_le_bytes();
    output.extend_from_slice(&[low, high]);
    if len >= 15 {
        put_longer(len - 15, output);
    }
}

fn put_token(literals: usize, len: usize, output: &mut Vec<u8>) {
    let token = literals.min(15) << 4 | len.min(15);
    output.push(token.to_le_bytes()[0]);
    if literals >= 15 {
        put_longer(literals - 15, output);
    }
}

fn put_longer(len: usize, output: &mut Vec<u8>) {
    output.extend(std::iter::repeat_n(255, len / 255));
    output.push((len % 255).to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::Random;

    #[test]
    fn what_is_encoded_is_decoded() {
        let mut random = Random::new(20);
        for len in (0..70).chain([300, 5003, 80_001]) {
            for effort in [Effort::Fast, Effort::High(16)] {
                let plain = random.bytes(len);
                let mut stored = Vec::new();
                encode(&plain, effort, &mut stored);
                let mut back = vec![0xaa; len];
                decode(&stored, &mut back).unwrap();
                assert!(back == plain, "{len} bytes, {effort:?}");
            }
        }
    }

    #[test]
    fn short_and_damaged_blocks_are_errors() {
        let plain: Vec<u8> = (0..3001u32).map(|i| (i / 7 % 50).to_le_bytes()[0]).collect();
        let mut stored = Vec::new();
        encode(&plain, Effort::Fast, &mut stored);
        let mut back = vec![0; plain.len()];
        for len in 0..stored.len() {
            assert!(decode(&stored[..len], &mut back).is_err());
        }
        assert!(decode(&stored, &mut back[1..]).is_err());
        let mut random = Random::new(21);
        for _ in 0..20_000 {
            let mut damaged = stored.clone();
            random.damage(&mut damaged);
            let _ = decode(&damaged, &mut back);
        }
    }
}
