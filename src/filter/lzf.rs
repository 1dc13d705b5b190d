//! LZF, filter 32000: bare LZF tokens to the end of the chunk. Client values: revision, LZF version, chunk size.
//!
//! ```text
//! 000nnnnn                    n + 1 literals follow
//! nnndddddd  dddddddd         n + 2 bytes from d + 1 back, n in 1..=6
//! 111ddddd  nnnnnnnn dddddddd n + 9 bytes from d + 1 back
//! ```

use super::lz::{Rules, copy_literals, copy_match, sequences, too_long};
use super::{Filter, Output, ends_early, expansion};
use crate::error::{Error, Result};

/// LZF has no parameters that matter: the third client value is only a guess of the size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lzf;

impl Filter for Lzf {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let len = match output.expected() {
            Some(expected) => expected - output.written(),
            None => plain_len(input)?,
        };
        match output.slice(len)? {
            Some(to) => decode_into(input, to),
            None => Err(Error::invalid("lzf does not decode to a scattered output")),
        }
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_mul(expansion::LZF)
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let start = output.len();
        encode(input, output);
        Ok(output.len() - start < input.len())
    }
}

/// One step of the stream: what it copies, and how many bytes it takes itself.
enum Token {
    Literals { len: usize },
    Match { len: usize, distance: usize, size: usize },
}

#[inline]
fn token(input: &[u8], at: usize) -> Result<Token> {
    let byte = |i: usize| input.get(at + i).copied().map(usize::from).ok_or_else(ends_early);
    let control = byte(0)?;
    match control >> 5 {
        0 => Ok(Token::Literals { len: control + 1 }),
        7 => Ok(Token::Match { len: byte(1)? + 9, distance: ((control & 31) << 8 | byte(2)?) + 1, size: 3 }),
        n => Ok(Token::Match { len: n + 2, distance: ((control & 31) << 8 | byte(1)?) + 1, size: 2 }),
    }
}

/// How many bytes the stream gives.
fn plain_len(input: &[u8]) -> Result<usize> {
    let (mut at, mut len) = (0, 0);
    while at < input.len() {
        match token(input, at)? {
            Token::Literals { len: n } => (at, len) = (at + 1 + n, len + n),
            Token::Match { len: n, size, .. } => (at, len) = (at + size, len + n),
        }
    }
    if at == input.len() { Ok(len) } else { Err(ends_early()) }
}

/// Fills `to`. Zeros may follow, which say nothing: libhdf5's n-bit, where it changes nothing, stores what memory there was.
fn decode_into(input: &[u8], to: &mut [u8]) -> Result<()> {
    let (mut at, mut filled) = (0, 0);
    while filled < to.len() {
        match token(input, at)? {
            Token::Literals { len } => {
                copy_literals(input, at + 1, to, filled, len)?;
                at += 1 + len;
                filled += len;
            }
            Token::Match { len, distance, size } => {
                copy_match(to, filled, distance, len)?;
                at += size;
                filled += len;
            }
        }
    }
    if input[at..].iter().all(|&byte| byte == 0) { Ok(()) } else { Err(too_long()) }
}

const RULES: Rules = Rules {
    longest_distance: 1 << 13,
    longest_match: 255 + 9,
    plain_end: 0,
    plain_start: 4,
    table_bits: 14,
    patience: 6,
    hashed: 4,
    depth: 1,
};

fn encode(input: &[u8], output: &mut Vec<u8>) {
    let rest = sequences(input, RULES, |sequence| {
        put_literals(sequence.literals, output);
        put_match(sequence.len, sequence.distance, output);
    });
    put_literals(rest, output);
}

fn put_literals(literals: &[u8], output: &mut Vec<u8>) {
    for part in literals.chunks(32) {
        output.push((part.len() - 1).to_le_bytes()[0]);
        output.extend_from_slice(part);
    }
}

fn put_match(len: usize, distance: usize, output: &mut Vec<u8>) {
    let [low, high, ..] = (distance - 1).to_le_bytes();
    let short = (len - 2).min(7).to_le_bytes()[0];
    output.push(short << 5 | high);
    if short == 7 {
        output.push((len - 9).to_le_bytes()[0]);
    }
    output.push(low);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    #[test]
    fn what_is_encoded_is_decoded() {
        let mut random = Random::new(6);
        for len in (0..80).chain([300, 5003, 20_000]) {
            for _ in 0..4 {
                round_trip(&Lzf, &random.bytes(len));
            }
        }
        let zeros = round_trip(&Lzf, &[0; 5003]).unwrap();
        assert!(zeros.len() < 80);
    }

    #[test]
    fn zeros_after_the_stream_are_nothing_and_other_bytes_an_error() {
        let plain = [7; 4000];
        let mut stored = round_trip(&Lzf, &plain).unwrap();
        stored.resize(4000, 0);
        let mut back = vec![0; 4000];
        Lzf.decode(&stored, &mut Output::exact(&mut back)).unwrap();
        assert_eq!(back, plain);
        stored[3999] = 1;
        assert!(Lzf.decode(&stored, &mut Output::exact(&mut back)).is_err());
    }

    #[test]
    fn short_and_damaged_streams_are_errors() {
        let plain: Vec<u8> = (0..3001u32).map(|i| (i / 7 % 50).to_le_bytes()[0]).collect();
        let stored = round_trip(&Lzf, &plain).unwrap();
        for len in 0..stored.len() {
            let mut slice = vec![0; plain.len()];
            assert!(Lzf.decode(&stored[..len], &mut Output::exact(&mut slice)).is_err());
        }
        assert!(Lzf.decode(&stored, &mut Output::growing(&mut Vec::new(), 3000)).is_err());
        assert!(Lzf.decode(&[0x20, 0x00], &mut Output::growing(&mut Vec::new(), 3000)).is_err());
        survives_damage(&Lzf, &stored, plain.len(), 20_000);
    }
}
