//! Bitshuffle, filter 32008: blocks of elements, bits transposed, then perhaps LZ4 or zstd.
//!
//! Client values: major and minor version, element size, block size in elements (0 or none: chosen), codec (0 or none,
//! 2 lz4, 3 zstd), level of zstd.
//!
//! ```text
//! without codec    block | block | … | shorter block | last elements, fewer than 8, as they are
//! with             plain size u64 | block size in bytes u32 | per block: stored size u32, data | last elements
//! ```
//! Numbers are big-endian.

mod kernels;

use std::ops::Range;

use byteorder::{BigEndian, ByteOrder};

pub(super) use kernels::{bit_shuffle, bit_unshuffle};

use super::blocks::{self, Blocks};
use super::codec::Codec;
use super::scratch::with_buffer;
use super::{Bound, Filter, Output, check_claim, ends_early, expansion, size};
use crate::error::{Error, Result};

const HEADER: usize = 12;

/// The parameters of bitshuffle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bitshuffle {
    element: usize,
    /// In elements, a multiple of 8.
    block: usize,
    codec: Option<Codec>,
    level: i32,
}

impl Bitshuffle {
    pub(super) fn new(client_data: &[u32]) -> Result<Self> {
        let value = |at: usize| client_data.get(at).copied().unwrap_or(0);
        let (element, block) = (size(value(2)), size(value(3)));
        if element == 0 {
            return Err(Error::corrupt("the element size is 0 or missing"));
        }
        if block % 8 != 0 {
            return Err(Error::corrupt(format!("blocks of {block} elements, a multiple of 8 is needed")));
        }
        let block = if block == 0 { (8192 / element / 8 * 8).max(128) } else { block };
        let codec = match value(4) {
            0 => None,
            2 => Some(Codec::Lz4),
            3 => Some(Codec::Zstd),
            other => return Err(Error::unsupported(format!("codec {other}, 0, 2 and 3 are known"))),
        };
        let level = client_data.get(5).map_or(3, |level| level.cast_signed());
        Ok(Bitshuffle { element, block, codec, level })
    }

    fn blocks<'a>(&self, input: &'a [u8]) -> Result<Stored<'a>> {
        let Some(codec) = self.codec else {
            return Ok(Stored { input, left: input.len(), element: self.element, block: self.block, codec: None });
        };
        let Some((header, input)) = input.split_at_checked(HEADER) else { return Err(ends_early()) };
        let left = usize::try_from(BigEndian::read_u64(header)).unwrap_or(usize::MAX);
        let block = size(BigEndian::read_u32(&header[8..]));
        let elements = block / self.element;
        if !block.is_multiple_of(self.element) || !elements.is_multiple_of(8) || block == 0 {
            let what = format!("blocks of {block} bytes with elements of {}", self.element);
            return Err(Error::corrupt(what));
        }
        Ok(Stored { input, left, element: self.element, block: elements, codec: Some(codec) })
    }
}

/// The blocks of a chunk. What follows the last group of 8 elements counts as one more block.
struct Stored<'a> {
    input: &'a [u8],
    left: usize,
    element: usize,
    block: usize,
    codec: Option<Codec>,
}

impl<'a> Stored<'a> {
    /// Elements of the next block, 0 for what follows the last.
    fn elements(&self) -> usize {
        (self.left / self.element / 8 * 8).min(self.block)
    }

    fn take(&mut self) -> Result<&'a [u8]> {
        let elements = self.elements();
        let plain = if elements == 0 { self.left } else { elements * self.element };
        let len = if self.codec.is_some() && elements > 0 {
            let (len, rest) = self.input.split_first_chunk::<4>().ok_or_else(ends_early)?;
            self.input = rest;
            size(u32::from_be_bytes(*len))
        } else {
            plain
        };
        let (block, rest) = self.input.split_at_checked(len).ok_or_else(ends_early)?;
        self.input = rest;
        self.left -= plain;
        Ok(block)
    }
}

impl Blocks for Stored<'_> {
    fn next_len(&self) -> Option<usize> {
        let elements = self.elements();
        (self.left > 0).then_some(if elements == 0 { self.left } else { elements * self.element })
    }

    fn decode_next(&mut self, to: &mut [u8]) -> Result<()> {
        let last = self.elements() == 0;
        let block = self.take()?;
        match self.codec {
            _ if last => to.copy_from_slice(block),
            None => bit_unshuffle(block, self.element, to),
            Some(codec) => with_buffer(to.len(), |rows| -> Result<()> {
                codec.decode(block, rows)?;
                bit_unshuffle(rows, self.element, to);
                Ok(())
            })?,
        }
        Ok(())
    }

    fn skip_next(&mut self) -> Result<()> {
        self.take().map(drop)
    }
}

impl Filter for Bitshuffle {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let mut stored = self.blocks(input)?;
        check_claim(stored.left, output)?;
        let plain = stored.left;
        blocks::decode_all(&mut stored, plain, output)
    }

    fn decodes_in_order(&self) -> bool {
        true
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        match self.codec {
            None => stored,
            Some(Codec::Zstd) => stored.saturating_mul(expansion::ZSTD),
            Some(_) => stored.saturating_mul(expansion::LZ4),
        }
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        match self.codec {
            None => Bound::Exactly(plain),
            Some(_) => {
                let blocks = plain / (self.block.saturating_mul(self.element)) + 2;
                Bound::AtMost(Bound::of_codec(plain).bytes().saturating_add(blocks.saturating_mul(24)))
            }
        }
    }

    fn decode_range(&self, input: &[u8], plain: usize, range: Range<usize>, output: &mut Output<'_>) -> Result<bool> {
        let mut stored = self.blocks(input)?;
        if stored.left != plain {
            return Err(Error::corrupt(format!("the stream claims {} bytes, {plain} are expected", stored.left)));
        }
        blocks::decode_range(&mut stored, range, output)?;
        Ok(true)
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        // The C library reads whole elements only; behind another compressor there may be others.
        if !input.len().is_multiple_of(self.element) {
            return Ok(false);
        }
        let eights = input.len() / self.element / 8 * 8 * self.element;
        let (whole, last) = input.split_at(eights);
        let block = self.block.saturating_mul(self.element);
        if self.codec.is_some() {
            let Ok(block) = u32::try_from(block) else { return Ok(false) };
            output.extend_from_slice(&(input.len() as u64).to_be_bytes());
            output.extend_from_slice(&block.to_be_bytes());
        }
        for plain in whole.chunks(block) {
            with_buffer(plain.len(), |rows| -> Result<()> {
                bit_shuffle(plain, self.element, rows);
                let Some(codec) = self.codec else {
                    output.extend_from_slice(rows);
                    return Ok(());
                };
                let start = output.len();
                output.extend_from_slice(&[0; 4]);
                codec.encode(rows, self.level, output)?;
                let stored = u32::try_from(output.len() - start - 4).unwrap_or(0);
                BigEndian::write_u32(&mut output[start..], stored);
                Ok(())
            })?;
        }
        output.extend_from_slice(last);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    #[test]
    fn every_element_size_block_and_codec_comes_back() {
        let mut random = Random::new(31);
        for element in [1, 2, 3, 4, 5, 8, 16, 33] {
            for block in [0, 8, 64, 256] {
                for codec in [0, 2, 3] {
                    let filter = Bitshuffle::new(&[0, 4, element, block, codec]).unwrap();
                    if filter.codec.is_some_and(|codec| !codec.encodes()) {
                        continue;
                    }
                    let count = random.index(700);
                    let plain = random.bytes(size(element) * (count + 1));
                    let stored = round_trip(&filter, &plain).unwrap();
                    let from = random.index(plain.len());
                    let to = from + random.index(plain.len() - from + 1);
                    let mut part = vec![0; to - from];
                    let mut output = Output::exact(&mut part);
                    assert!(filter.decode_range(&stored, plain.len(), from..to, &mut output).unwrap());
                    assert!(part == plain[from..to]);
                }
            }
        }
    }

    #[test]
    fn short_and_damaged_streams_are_errors() {
        let plain: Vec<u8> = (0..3001u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for codec in [2, 3] {
            let filter = Bitshuffle::new(&[0, 4, 4, 64, codec]).unwrap();
            if filter.codec.is_some_and(|codec| !codec.encodes()) {
                continue;
            }
            let stored = round_trip(&filter, &plain).unwrap();
            for len in 0..stored.len() {
                assert!(filter.decode(&stored[..len], &mut Output::exact(&mut vec![0; plain.len()])).is_err());
            }
            survives_damage(&filter, &stored, plain.len(), 2000);
        }
        assert!(Bitshuffle::new(&[0, 4, 0]).is_err());
        assert!(Bitshuffle::new(&[0, 4, 4, 7]).is_err());
        assert!(Bitshuffle::new(&[0, 4, 4, 8, 1]).is_err());
    }
}
