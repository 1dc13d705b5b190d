//! Bits of a deflate stream, least significant first.

use super::entry::{code_len, total_len};
use crate::error::{Error, Result};
use crate::filter::ends_early;

/// The stream, where zeros follow the end; [`Bits::check`] tells whether any of them were used.
pub(super) struct Bits<'a> {
    input: &'a [u8],
    /// The next byte to go to the buffer.
    at: usize,
    /// Bits above `count` may be those of the next byte already.
    pub(super) buffer: u64,
    count: u32,
    /// How many bits of the buffer are beyond the end.
    beyond: u32,
}

/// The same while whole words can be read: a copy that stays in registers.
pub(super) struct Reader<'a> {
    pub(super) input: &'a [u8],
    pub(super) at: usize,
    pub(super) buffer: u64,
    /// Only the low six bits count: entries are subtracted as they are.
    pub(super) count: u32,
}

/// The number that `entry` stands for, with the extra bits after its code.
#[inline(always)]
pub(super) fn value(entry: u32, buffer: u64) -> usize {
    let bits = (buffer & !(u64::MAX << total_len(entry))) >> code_len(entry);
    let [a, b, c, d, ..] = bits.to_le_bytes();
    super::super::size((entry >> 16) + u32::from_le_bytes([a, b, c, d]))
}

impl<'a> Bits<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Bits { input, at: 0, buffer: 0, count: 0, beyond: 0 }
    }

    /// Fills the buffer to at least 56 bits.
    pub(super) fn refill(&mut self) {
        if let Some(word) = self.input.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
            self.buffer |= u64::from_le_bytes(*word) << self.count;
            self.at += super::super::size((63 - self.count) / 8);
            self.count |= 56;
            return;
        }
        while self.count < 56 {
            match self.input.get(self.at) {
                Some(&byte) => {
                    self.buffer |= u64::from(byte) << self.count;
                    self.at += 1;
                }
                None => self.beyond += 8,
            }
            self.count += 8;
        }
    }

    pub(super) fn skip(&mut self, count: u32) {
        self.buffer >>= count;
        self.count -= count;
    }

    /// The next `count` bits, at most 32.
    pub(super) fn take(&mut self, count: u32) -> u32 {
        self.refill();
        let [a, b, c, d, ..] = (self.buffer & ((1 << count) - 1)).to_le_bytes();
        self.skip(count);
        u32::from_le_bytes([a, b, c, d])
    }

    /// The number that `entry` stands for, with the extra bits after its code; drops both.
    pub(super) fn value(&mut self, entry: u32) -> usize {
        let value = value(entry, self.buffer);
        self.skip(total_len(entry));
        value
    }

    /// Fails if bits past the end were used.
    pub(super) fn check(&self) -> Result<()> {
        if self.beyond <= self.count { Ok(()) } else { Err(ends_early()) }
    }

    /// Drops the rest of a byte, and gives the buffer's whole bytes back to the input.
    fn align(&mut self) -> Result<()> {
        self.check()?;
        self.at -= super::super::size((self.count - self.beyond) / 8);
        (self.buffer, self.count, self.beyond) = (0, 0, 0);
        Ok(())
    }

    /// The bytes of a stored block.
    pub(super) fn stored(&mut self) -> Result<&'a [u8]> {
        self.align()?;
        let header = self.input.get(self.at..).and_then(<[u8]>::first_chunk::<4>).ok_or_else(ends_early)?;
        let [a, b, c, d] = *header;
        if [a, b] != [!c, !d] {
            return Err(Error::corrupt("a stored block whose length and its complement differ"));
        }
        let len = usize::from(u16::from_le_bytes([a, b]));
        let bytes = self.input.get(self.at + 4..).and_then(|rest| rest.get(..len)).ok_or_else(ends_early)?;
        self.at += 4 + len;
        Ok(bytes)
    }

    /// The checksum after the last block.
    pub(super) fn last_word(&mut self) -> Result<u32> {
        self.align()?;
        let word = self.input.get(self.at..).and_then(<[u8]>::first_chunk::<4>).ok_or_else(ends_early)?;
        Ok(u32::from_be_bytes(*word))
    }

    pub(super) fn fast(&self) -> Reader<'a> {
        Reader { input: self.input, at: self.at, buffer: self.buffer, count: self.count }
    }

    /// Goes on where the fast reader stopped.
    pub(super) fn go_on(&mut self, reader: &Reader<'_>) {
        (self.at, self.buffer, self.count) = (reader.at, reader.buffer, reader.count & 63);
    }
}

impl Reader<'_> {
    /// Fills the buffer to at least 56 bits; `false` if too few bytes are left to do so at once.
    #[inline(always)]
    pub(super) fn refill(&mut self) -> bool {
        let Some(word) = self.input.get(self.at..).and_then(<[u8]>::first_chunk::<8>) else { return false };
        let count = self.count & 63;
        self.buffer |= u64::from_le_bytes(*word) << count;
        self.at += super::super::size((63 - count) / 8);
        self.count = count | 56;
        true
    }
}
