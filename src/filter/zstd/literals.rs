//! The literals of a block: as they are, one over and over, or Huffman codes in one or four streams. RFC 8878, 3.1.1.3.1
//! and 4.2.

use super::bits::Backwards;
use super::bytes::{Bytes, LARGEST_BLOCK};
use super::fse::{Counts, State};
use super::huffman::{self, Codes};
use crate::error::{Error, Result};
use crate::filter::ends_early;
use crate::filter::wild::SLACK;

/// The codes, which a later block may use again, and room for the decoded literals of a block.
#[derive(Default)]
pub(super) struct Literals {
    codes: Codes,
    has_codes: bool,
    decoded: Vec<u8>,
}

/// `len` bytes at the start of `bytes`; what follows may be read, but means nothing.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) len: usize,
}

impl Literals {
    /// Begins a frame: codes are not kept.
    pub(super) fn begin(&mut self) {
        self.has_codes = false;
    }

    /// Reads the literals that the block begins with.
    pub(super) fn read<'a>(&'a mut self, block: &mut Bytes<'a>) -> Result<Text<'a>> {
        let first = *block.input.get(block.at).ok_or_else(ends_early)?;
        let (kind, format) = (first & 3, first >> 2 & 3);
        if kind < 2 {
            let (bytes, shift) = [(1, 3), (2, 4), (1, 3), (3, 4)][usize::from(format)];
            let len = block.number(bytes)? >> shift;
            check(len)?;
            if kind == 0 {
                let start = block.at;
                block.take(len)?;
                return Ok(Text { bytes: &block.input[start..], len });
            }
            let byte = block.take(1)?[0];
            self.room(len)[..len].fill(byte);
            return Ok(Text { bytes: &self.decoded, len });
        }
        let (bytes, width) = [(3, 10), (3, 10), (4, 14), (5, 18)][usize::from(format)];
        let header = block.take(bytes)?.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        let part = |shift: u32| usize::try_from(header >> shift & ((1 << width) - 1)).unwrap_or(usize::MAX);
        let (len, stored) = (part(4), part(4 + width));
        check(len)?;
        let end = block.at + stored;
        let mut section = Bytes { input: block.input.get(..end).ok_or_else(ends_early)?, at: block.at };
        if kind == 2 {
            self.has_codes = false;
            self.read_codes(&mut section)?;
            self.has_codes = true;
        } else if !self.has_codes {
            return Err(Error::corrupt("literals in the codes of a block before, and there are none"));
        }
        self.room(len);
        let to = &mut self.decoded[..len];
        if format == 0 {
            huffman::one(&self.codes, section.input, section.at, to)?;
        } else {
            huffman::four(&mut self.codes, &mut section, to)?;
        }
        block.at = end;
        Ok(Text { bytes: &self.decoded, len })
    }

    /// A buffer for `len` literals and some slack.
    fn room(&mut self, len: usize) -> &mut [u8] {
        if self.decoded.len() < len + SLACK {
            self.decoded.resize((len + SLACK).next_multiple_of(16 << 10), 0);
        }
        &mut self.decoded
    }

    /// Weights of the symbols: half bytes, or states of their own.
    fn read_codes(&mut self, section: &mut Bytes<'_>) -> Result<()> {
        let header = section.number(1)?;
        let mut weights = [0u8; 256];
        let count = if header >= 128 {
            let count = header - 127;
            let bytes = section.take(count.div_ceil(2))?;
            for (i, weight) in weights[..count].iter_mut().enumerate() {
                *weight = if i % 2 == 0 { bytes[i / 2] >> 4 } else { bytes[i / 2] & 15 };
            }
            count
        } else {
            let end = section.at + header;
            let mut stored = Bytes { input: section.input.get(..end).ok_or_else(ends_early)?, at: section.at };
            section.at = end;
            weights_by_states(&mut stored, &mut weights)?
        };
        self.codes.fill(&mut weights, count)
    }
}

fn check(len: usize) -> Result<()> {
    if len <= LARGEST_BLOCK {
        return Ok(());
    }
    Err(Error::corrupt(format!("{len} literals in a block, {LARGEST_BLOCK} are the most")))
}

/// Weights that two states give in turns; says how many.
fn weights_by_states(stored: &mut Bytes<'_>, weights: &mut [u8; 256]) -> Result<usize> {
    const BITS: u32 = 6;
    let mut states = [State::default(); 1 << BITS];
    let counts = Counts::read(stored, huffman::LONGEST + 1, BITS)?;
    let states = counts.states(&mut states)?;
    let mut bits = Backwards::new(stored.input, stored.at)?;
    if !bits.refill() {
        return Err(ends_early());
    }
    let mut next = || usize::try_from(bits.take(counts.bits)).unwrap_or(0);
    let (mut state, mut other) = (next(), next());
    let mut count = 0;
    loop {
        let State { symbol, bits: wanted, base } = states[state];
        // The last weight is not stored, so there is one less.
        let Some(place) = weights[..255].get_mut(count) else { return Err(Error::corrupt("more than 255 weights")) };
        *place = symbol;
        count += 1;
        if !bits.refill() {
            return Err(ends_early());
        }
        if bits.remaining() < i64::from(wanted) {
            // Too few bits for a state after this one: what is left is what the other one gives.
            weights[count] = states[other].symbol;
            return if count < 255 { Ok(count + 1) } else { Err(Error::corrupt("more than 255 weights")) };
        }
        state = usize::from(base) + usize::try_from(bits.take(u32::from(wanted))).unwrap_or(0);
        std::mem::swap(&mut state, &mut other);
    }
}
