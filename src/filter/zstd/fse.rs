//! Finite state entropy: which probabilities symbols have, and the table of states that follows from them. RFC 8878, 4.1.

use super::bytes::Bytes;
use crate::error::{Error, Result};
use crate::filter::{ends_early, size};

/// More than any of the tables has.
const MOST_SYMBOLS: usize = 64;

/// Probabilities as counts of states; -1 stands for less than one.
pub(super) struct Counts {
    pub(super) bits: u32,
    counts: [i16; MOST_SYMBOLS],
    symbols: usize,
}

/// A state: what it gives, and the bits that lead on to the next one.
#[derive(Clone, Copy, Default)]
pub(super) struct State {
    pub(super) symbol: u8,
    pub(super) bits: u8,
    pub(super) base: u16,
}

impl Counts {
    /// Those of a table that the format defines.
    pub(super) fn new(bits: u32, defined: &[i16]) -> Self {
        let mut counts = [0; MOST_SYMBOLS];
        counts[..defined.len()].copy_from_slice(defined);
        Counts { bits, counts, symbols: defined.len() }
    }

    /// Reads a description of at most `most` symbols and states of at most `most_bits` bits.
    pub(super) fn read(block: &mut Bytes<'_>, most: usize, most_bits: u32) -> Result<Self> {
        let mut bits = Forwards { input: &block.input[block.at..], at: 0 };
        let log = bits.take(4)? + 5;
        if log > most_bits {
            return Err(Error::corrupt(format!("a table of states of {log} bits, {most_bits} are the most")));
        }
        let mut found = Counts { bits: log, counts: [0; MOST_SYMBOLS], symbols: 0 };
        let mut left = 1i32 << log;
        while left > 0 {
            if found.symbols >= most {
                return Err(Error::corrupt(format!("a table of states with more than {most} symbols")));
            }
            let count = bits.below(left.cast_unsigned() + 1)?.cast_signed() - 1;
            left -= count.abs();
            found.counts[found.symbols] = i16::try_from(count).unwrap_or(0);
            found.symbols += 1;
            let mut more = count == 0;
            while more {
                let zeros = bits.take(2)?;
                found.symbols += size(zeros);
                if found.symbols > most {
                    return Err(Error::corrupt(format!("a table of states with more than {most} symbols")));
                }
                more = zeros == 3;
            }
        }
        block.take(bits.at.div_ceil(8))?;
        Ok(found)
    }

    /// Fills `states`, whose length is a power of two and at least that of the table; gives the table.
    pub(super) fn states<'s>(&self, states: &'s mut [State]) -> Result<&'s [State]> {
        let len = 1usize << self.bits;
        let states = &mut states[..len];
        let mut next = [0u16; MOST_SYMBOLS];
        let counts = self.counts.get(..self.symbols).unwrap_or(&self.counts);
        let mut end = len;
        for ((&count, next), symbol) in counts.iter().zip(&mut next).zip(0u8..) {
            if count < 0 {
                end -= 1;
                states[end].symbol = symbol;
            }
            *next = count.unsigned_abs();
        }
        let (step, mut at) = ((len >> 1) + (len >> 3) + 3, 0);
        for (&count, symbol) in counts.iter().zip(0u8..) {
            for _ in 0..count.max(0) {
                states[at].symbol = symbol;
                at = (at + step) & (len - 1);
                while at >= end {
                    at = (at + step) & (len - 1);
                }
            }
        }
        if at != 0 {
            return Err(Error::corrupt("a table of states whose symbols do not fill it"));
        }
        for state in &mut *states {
            let next = &mut next[usize::from(state.symbol)];
            let bits = self.bits - next.ilog2();
            state.bits = bits.to_le_bytes()[0];
            state.base = (*next << bits).wrapping_sub(u16::try_from(len).unwrap_or(0));
            *next += 1;
        }
        Ok(states)
    }
}

/// Bits from the start, least significant first.
struct Forwards<'a> {
    input: &'a [u8],
    /// In bits.
    at: usize,
}

impl Forwards<'_> {
    /// The next `count` bits, at most 16.
    fn peek(&self, count: u32) -> Result<u32> {
        let bytes = self.input.get(self.at / 8..).unwrap_or_default();
        let word = bytes.iter().take(4).rev().fold(0u32, |word, &byte| word << 8 | u32::from(byte));
        if self.at + size(count) > self.input.len() * 8 {
            return Err(ends_early());
        }
        Ok(word >> (self.at % 8) & ((1 << count) - 1))
    }

    fn take(&mut self, count: u32) -> Result<u32> {
        let value = self.peek(count)?;
        self.at += size(count);
        Ok(value)
    }

    /// A number up to `most`. The smallest ones have a bit less than the others, as many as there are codes to spare.
    fn below(&mut self, most: u32) -> Result<u32> {
        let bits = u32::BITS - most.leading_zeros();
        let spare = (1 << bits) - 1 - most;
        let short = self.peek(bits - 1)?;
        if short < spare {
            self.at += size(bits - 1);
            return Ok(short);
        }
        let long = self.take(bits)?;
        Ok(if long < 1 << (bits - 1) { long } else { long - spare })
    }
}
