//! Bits that are read from the end: streams of zstd are written forwards and read backwards.

use crate::error::{Error, Result};
use crate::filter::{ends_early, size};

/// A little-endian number of up to four bytes.
pub(super) fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// The stream `input[start..]`, from its last bit. Words may reach below the start, to what stands there.
#[derive(Clone, Copy)]
pub(super) struct Backwards<'a> {
    pub(super) input: &'a [u8],
    start: usize,
    /// The 8 bytes from `at` on.
    word: u64,
    pub(super) at: usize,
    /// Bits of the word that were not read yet, the lowest ones.
    pub(super) left: u32,
}

impl<'a> Backwards<'a> {
    /// The last byte's highest bit that is set only says where the stream ends. There have to be 8 bytes in `input`, as there
    /// are before every stream of a frame.
    pub(super) fn new(input: &'a [u8], start: usize) -> Result<Self> {
        let last = input.get(start..).and_then(<[u8]>::last).copied().ok_or_else(ends_early)?;
        let word = input.last_chunk::<8>().map(|word| u64::from_le_bytes(*word)).ok_or_else(ends_early)?;
        if last == 0 {
            return Err(Error::corrupt("a stream of bits whose last byte is 0"));
        }
        Ok(Backwards { input, start, word, at: input.len() - 8, left: 63 - word.leading_zeros() })
    }

    /// Fills the word to at least 57 bits. `false` if the input has no such bytes: then too many were read.
    #[inline(always)]
    pub(super) fn refill(&mut self) -> bool {
        let bytes = (64 - self.left) / 8;
        let at = self.at.wrapping_sub(size(bytes));
        let Some(word) = self.input.get(at..).and_then(<[u8]>::first_chunk::<8>) else { return false };
        (self.word, self.at) = (u64::from_le_bytes(*word), at);
        self.left += bytes * 8;
        true
    }

    /// The next `count` bits, of those that a refill left.
    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> u64 {
        self.left = self.left.wrapping_sub(count);
        self.word.wrapping_shr(self.left) & ((1 << count) - 1)
    }

    /// The next `count` bits, which stay.
    #[inline(always)]
    pub(super) fn peek(&self, count: u32) -> u64 {
        self.word.wrapping_shr(self.left.wrapping_sub(count)) & ((1 << count) - 1)
    }

    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        self.left = self.left.wrapping_sub(count);
    }

    /// The word with the bits that come next at the top, and a one below the last bit.
    pub(super) fn marked(&self) -> u64 {
        (self.word | 1) << (64 - self.left)
    }

    /// Where the word stands.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Goes on with the word at `at`, of which `read` bits were read.
    pub(super) fn go_on(&mut self, at: usize, read: u32) {
        let word = self.input.get(at..).and_then(<[u8]>::first_chunk::<8>);
        (self.word, self.at, self.left) = (word.map_or(0, |word| u64::from_le_bytes(*word)), at, 64 - read);
    }

    /// How many bits of the stream are left; negative if more were read than there are.
    #[inline(always)]
    pub(super) fn remaining(&self) -> i64 {
        let bytes = self.at.wrapping_sub(self.start).cast_signed();
        i64::try_from(bytes).unwrap_or(i64::MIN / 16) * 8 + i64::from(self.left)
    }

    /// Fails unless all bits were read, and no more.
    #[inline]
    pub(super) fn finish(&self) -> Result<()> {
        match self.remaining() {
            0 => Ok(()),
            left => Err(Error::corrupt(format!("{left} bits of a stream are left"))),
        }
    }
}
