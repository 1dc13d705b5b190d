//! Numbers packed most significant bit first, with no alignment: what szip, n-bit and scale-offset read and write.

use byteorder::{BigEndian, ByteOrder};

use super::ends_early;
use crate::error::Result;

/// Reads bits from the front of bytes. A window of the next bits is zero past the end; taking bits past it fails.
#[derive(Clone)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    position: usize,
    end: usize,
}

impl<'a> BitReader<'a> {
    /// How many bits of [`BitReader::window`] count.
    pub(super) const WINDOW: u32 = 57;

    pub(super) fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, position: 0, end: bytes.len().saturating_mul(8) }
    }

    /// The next bits, from the most significant one down.
    #[inline]
    pub(super) fn window(&self) -> u64 {
        let at = self.position / 8;
        let word = match self.bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            Some(word) => u64::from_be_bytes(*word),
            None => self.last_word(at),
        };
        word << (self.position % 8)
    }

    #[cold]
    fn last_word(&self, at: usize) -> u64 {
        let mut word = [0; 8];
        if let Some(rest) = self.bytes.get(at..) {
            word[..rest.len()].copy_from_slice(rest);
        }
        BigEndian::read_u64(&word)
    }

    /// Moves on by `count` bits, perhaps past the end, which [`BitReader::check`] then tells.
    #[inline]
    pub(super) fn skip(&mut self, count: u32) {
        self.position = self.position.saturating_add(super::size(count));
    }

    /// Fails if bits past the end were used.
    #[inline]
    pub(super) fn check(&self) -> Result<()> {
        if self.position <= self.end { Ok(()) } else { Err(ends_early()) }
    }

    /// Fails unless `count` bits are left.
    pub(super) fn check_left(&self, count: Option<usize>) -> Result<()> {
        match count {
            Some(count) if count <= self.end - self.position.min(self.end) => Ok(()),
            _ => Err(ends_early()),
        }
    }

    /// A number of 1 to 57 bits, with no look at the end.
    #[inline]
    pub(super) fn take_unchecked(&mut self, count: u32) -> u64 {
        let value = self.window() >> (64 - count);
        self.skip(count);
        value
    }

    /// A number of 0 to 64 bits.
    #[inline]
    pub(super) fn take(&mut self, count: u32) -> Result<u64> {
        let value = match count {
            0 => 0,
            1..=Self::WINDOW => self.take_unchecked(count),
            _ => {
                let high = self.take_unchecked(32);
                high << (count - 32) | self.take_unchecked(count - 32)
            }
        };
        self.check()?;
        Ok(value)
    }

    /// Hands on `count` numbers of 1 to 57 bits, with no look at the end: as many from one window as fit it.
    #[inline]
    pub(super) fn each(&mut self, bits: u32, count: usize, mut take: impl FnMut(u64)) {
        let most = Self::WINDOW / bits;
        let mut left = count;
        while left > 0 {
            let some = most.min(u32::try_from(left).unwrap_or(most));
            let mut window = self.window();
            for _ in 0..some {
                take(window >> (64 - bits));
                window <<= bits;
            }
            self.skip(some * bits);
            left -= super::size(some);
        }
    }

    /// The number of zero bits before the next one bit, and skips both.
    #[inline]
    pub(super) fn unary(&mut self) -> Result<u32> {
        let mut zeros = 0u32;
        loop {
            let found = self.window().leading_zeros();
            if found < Self::WINDOW {
                self.skip(found + 1);
                self.check()?;
                return Ok(zeros.saturating_add(found));
            }
            zeros = zeros.saturating_add(Self::WINDOW);
            self.skip(Self::WINDOW);
            self.check()?;
        }
    }
}

/// Appends bits to bytes.
pub(super) struct BitWriter<'a> {
    to: &'a mut Vec<u8>,
    pending: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(to: &'a mut Vec<u8>) -> Self {
        BitWriter { to, pending: 0, count: 0 }
    }

    /// Appends the low `count` bits of `value`, 0 to 64.
    #[inline]
    pub(super) fn put(&mut self, value: u64, count: u32) {
        if count > 32 {
            self.put_some(value >> 32 & (u64::MAX >> (96 - count)), count - 32);
            self.put_some(value & 0xffff_ffff, 32);
        } else if count > 0 {
            self.put_some(value & (u64::MAX >> (64 - count)), count);
        }
    }

    /// Appends 1 to 32 bits, above which `value` has none.
    #[inline]
    fn put_some(&mut self, value: u64, count: u32) {
        self.pending = self.pending << count | value;
        self.count += count;
        if self.count >= 32 {
            self.count -= 32;
            let word = self.pending >> self.count & 0xffff_ffff;
            self.to.extend_from_slice(&word.to_be_bytes()[4..]);
        }
    }

    /// Appends `zeros` zero bits and a one bit.
    #[inline]
    pub(super) fn unary(&mut self, mut zeros: u32) {
        while zeros >= 32 {
            self.put_some(0, 32);
            zeros -= 32;
        }
        self.put_some(1, zeros + 1);
    }

    /// Fills up the last byte with zeros.
    pub(super) fn finish(self) {
        let bytes = (self.pending << (32 - self.count)).to_be_bytes();
        self.to.extend_from_slice(&bytes[4..4 + super::size(self.count.div_ceil(8))]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::Random;

    #[test]
    fn what_is_written_is_read_again() {
        let mut random = Random::new(5);
        let items: Vec<(u64, u32)> = (0..2000)
            .map(|_| {
                let count = random.below(65);
                let value = if count == 0 { 0 } else { random.next() >> (64 - count) };
                (value, count)
            })
            .collect();
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        for &(value, count) in &items {
            writer.put(value, count);
            writer.unary(count * 2);
        }
        writer.finish();
        let mut reader = BitReader::new(&bytes);
        for &(value, count) in &items {
            assert_eq!(reader.take(count).unwrap(), value);
            assert_eq!(reader.unary().unwrap(), count * 2);
        }
        assert!(reader.take(8).is_err());
    }
}
