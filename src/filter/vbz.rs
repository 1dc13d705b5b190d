//! VBZ, filter 32020 (Oxford Nanopore): differences of integers in as many bytes as each needs, in a zstd frame. Client
//! values: version 0 or 1; integer size, 0 for bytes as they are; whether there are differences; level of zstd, 0 for none
//! (1 if absent).
//!
//! ```text
//! plain size u32 | zstd frame of: codes, 2 bits each from the lowest on, for all values | the bytes of all values
//! ```
//! A code is the number of bytes less 1. Version 1 has nibbles for integers of 1 byte, the lower half of a byte first: codes
//! stand for 0, 1, 2 and 4 of them. A difference d is stored as (d << 1) ^ (d >> 31).

use super::scratch::with_buffer;
use super::{Bound, ChunkInfo, Filter, Output, check_claim, ends_early, expansion, size, zstd};
use crate::error::{Error, Result};

/// Integers of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vbz {
    /// Bytes of an integer; 0 if there are none.
    integer: usize,
    nibbles: bool,
    differences: bool,
    in_frame: bool,
}

impl Vbz {
    pub(super) fn new(client_data: &[u32], chunk: ChunkInfo) -> Result<Self> {
        let &[version, integer, differences, ref rest @ ..] = client_data else {
            return Err(Error::corrupt(format!("{} client values, 3 are the least", client_data.len())));
        };
        if version > 1 {
            return Err(Error::unsupported(format!("client value 0, the version, is {version}; 0 and 1 are known")));
        }
        let integer = size(integer);
        if !matches!(integer, 0 | 1 | 2 | 4) {
            return Err(Error::corrupt(format!("client value 1, the integer size, is {integer}, not 0, 1, 2 or 4")));
        }
        if !chunk.bytes.is_multiple_of(integer.max(1)) {
            return Err(Error::corrupt(format!("a chunk of {} bytes in integers of {integer}", chunk.bytes)));
        }
        let in_frame = rest.first() != Some(&0);
        Ok(Vbz { integer, nibbles: version == 1 && integer == 1, differences: differences != 0, in_frame })
    }

    /// How many bytes `plain` bytes may have before zstd.
    fn coded_most(self, plain: usize) -> usize {
        match self.integer {
            0 => plain,
            size => (plain / size).saturating_mul(4).saturating_add((plain / size).div_ceil(4)),
        }
    }

    /// How few bytes `plain` bytes may have before zstd.
    fn coded_least(self, plain: usize) -> usize {
        match self.integer {
            0 => plain,
            size if self.nibbles => (plain / size).div_ceil(4),
            size => plain / size + (plain / size).div_ceil(4),
        }
    }

    /// Decodes codes and values to `to`.
    fn integers(self, input: &[u8], to: &mut [u8]) -> Result<()> {
        let count = to.len() / self.integer;
        let (codes, values) = input.split_at_checked(count.div_ceil(4)).ok_or_else(ends_early)?;
        let mut values = Values { bytes: values, nibbles: self.nibbles, at: 0 };
        let mut before = 0u32;
        for (i, place) in to.chunks_exact_mut(self.integer).enumerate() {
            let mut value = values.take(codes[i / 4] >> (i % 4 * 2) & 3)?;
            if self.differences {
                value = (value >> 1 ^ (value & 1).wrapping_neg()).wrapping_add(before);
                before = value;
            }
            place.copy_from_slice(&value.to_le_bytes()[..self.integer]);
        }
        values.finish()
    }
}

/// The bytes or nibbles of all values.
struct Values<'a> {
    bytes: &'a [u8],
    nibbles: bool,
    /// The next byte, or the next nibble.
    at: usize,
}

impl Values<'_> {
    fn take(&mut self, code: u8) -> Result<u32> {
        let mut value = [0; 4];
        if self.nibbles {
            let mut bits = 0u32;
            for i in 0..[0, 1, 2, 4][usize::from(code)] {
                let byte = self.bytes.get(self.at / 2).ok_or_else(ends_early)?;
                bits |= u32::from(byte >> (self.at % 2 * 4) & 15) << (4 * i);
                self.at += 1;
            }
            return Ok(bits);
        }
        let len = usize::from(code) + 1;
        let bytes = self.bytes.get(self.at..).and_then(|rest| rest.get(..len)).ok_or_else(ends_early)?;
        value[..len].copy_from_slice(bytes);
        self.at += len;
        Ok(u32::from_le_bytes(value))
    }

    fn finish(&self) -> Result<()> {
        let used = if self.nibbles { self.at.div_ceil(2) } else { self.at };
        if used == self.bytes.len() {
            return Ok(());
        }
        Err(Error::corrupt(format!("{} bytes of values, {used} are used", self.bytes.len())))
    }
}

impl Filter for Vbz {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let (plain, input) = input.split_first_chunk::<4>().ok_or_else(ends_early)?;
        let plain = size(u32::from_le_bytes(*plain));
        check_claim(plain, output)?;
        if !plain.is_multiple_of(self.integer.max(1)) {
            return Err(Error::corrupt(format!("{plain} bytes in integers of {}", self.integer)));
        }
        let place = |coded: &[u8], output: &mut Output<'_>| {
            if self.integer == 0 {
                return output.write(coded);
            }
            if coded.len() < self.coded_least(plain) {
                return Err(ends_early());
            }
            match output.slice(plain)? {
                Some(to) => self.integers(coded, to),
                None => Err(Error::invalid("vbz does not decode to a scattered output")),
            }
        };
        if !self.in_frame {
            return place(input, output);
        }
        with_buffer(self.coded_most(plain).min(zstd::most(input)?), |coded| {
            let len = zstd::decode_some(input, coded)?;
            place(&coded[..len], output)
        })
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        let coded = if self.in_frame { stored.saturating_mul(expansion::ZSTD) } else { stored };
        // Four nibbles of 0 take a byte; every other integer takes one at least.
        coded.saturating_mul(if self.nibbles { 4 } else { self.integer.max(1) })
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        Bound::of_codec(self.coded_most(plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::survives_damage;

    fn check(version: u32, integer: u32, stored: &[u8], plain: &[u8]) {
        let chunk = ChunkInfo { bytes: plain.len(), element_size: 1 };
        let filter = Vbz::new(&[version, integer, 1, 0], chunk).unwrap();
        let mut to = vec![0; plain.len()];
        filter.decode(stored, &mut Output::exact(&mut to)).unwrap();
        assert_eq!(to, plain);
        for len in 0..stored.len() {
            assert!(filter.decode(&stored[..len], &mut Output::exact(&mut to)).is_err(), "cut to {len}");
        }
        assert!(filter.decode(&[stored, &[0]].concat(), &mut Output::exact(&mut to)).is_err());
        survives_damage(&filter, stored, plain.len(), 5000);
    }

    #[test]
    fn values_have_as_many_bytes_or_nibbles_as_their_codes_say() {
        // 1, 3, 3, 300, 299, 299: differences 1, 2, 0, 297, -1, 0 are stored as 2, 4, 0, 594, 1, 0.
        let plain = [1, 0, 3, 0, 3, 0, 44, 1, 43, 1, 43, 1];
        for version in [0, 1] {
            check(version, 2, &[12, 0, 0, 0, 0b0100_0000, 0, 2, 4, 0, 82, 2, 1, 0], &plain);
        }
        // 1, 3, 3, 44, 43, 43: 2, 4, 0, 82, 1, 0, as bytes, and as the nibbles 2, 4, none, 2 and 5, 1, none.
        let plain = [1, 3, 3, 44, 43, 43];
        check(0, 1, &[6, 0, 0, 0, 0, 0, 2, 4, 0, 82, 1, 0], &plain);
        check(1, 1, &[6, 0, 0, 0, 0b1000_0101, 1, 0x42, 0x52, 0x01], &plain);
    }

    #[test]
    fn senseless_client_values_are_errors() {
        let chunk = ChunkInfo { bytes: 12, element_size: 2 };
        for values in [&[1, 2][..], &[2, 2, 1, 1], &[1, 3, 1, 1], &[1, 8, 1]] {
            assert!(Vbz::new(values, chunk).is_err(), "{values:?}");
        }
        assert!(Vbz::new(&[1, 2, 1], ChunkInfo { bytes: 13, element_size: 2 }).is_err());
    }
}
