//! LZ4, filter 32004. Client value 0 is the block size in bytes; 0 or none is 1 GiB.
//!
//! ```text
//! plain size u64 | block size u32 | per block: stored size u32, an LZ4 block, or the bytes as they are if none shrank
//! ```
//! All numbers are big-endian.

use std::ops::Range;

use byteorder::{BigEndian, ByteOrder};

use super::blocks::{self, Blocks};
use super::lz4_block::{self, Effort};
use super::{Bound, Filter, Output, check_claim, ends_early, expansion, size};
use crate::error::{Error, Result};

const HEADER: usize = 12;
const LARGEST_BLOCK: usize = 1 << 30;

/// LZ4 in blocks of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lz4 {
    block: usize,
}

impl Lz4 {
    pub(super) fn new(client_data: &[u32]) -> Self {
        match client_data.first().map_or(0, |&block| size(block)) {
            0 => Lz4 { block: LARGEST_BLOCK },
            block => Lz4 { block: block.min(LARGEST_BLOCK) },
        }
    }
}

/// The blocks of a chunk.
struct Stored<'a> {
    /// What is not yet taken.
    input: &'a [u8],
    left: usize,
    block: usize,
}

impl<'a> Stored<'a> {
    fn new(input: &'a [u8]) -> Result<Self> {
        let Some((header, input)) = input.split_at_checked(HEADER) else { return Err(ends_early()) };
        let plain = usize::try_from(BigEndian::read_u64(header)).unwrap_or(usize::MAX);
        let block = size(BigEndian::read_u32(&header[8..])).min(plain);
        if block == 0 && plain > 0 {
            return Err(Error::corrupt("block size is 0"));
        }
        Ok(Stored { input, left: plain, block })
    }

    fn take(&mut self) -> Result<&'a [u8]> {
        let taken = self.input.split_first_chunk::<4>().and_then(|(len, rest)| {
            let len = size(u32::from_be_bytes(*len));
            rest.split_at_checked(len)
        });
        let (block, rest) = taken.ok_or_else(ends_early)?;
        self.input = rest;
        self.left -= self.block.min(self.left);
        Ok(block)
    }
}

impl Blocks for Stored<'_> {
    fn next_len(&self) -> Option<usize> {
        (self.left > 0).then(|| self.block.min(self.left))
    }

    fn decode_next(&mut self, to: &mut [u8]) -> Result<()> {
        let block = self.take()?;
        if block.len() == to.len() {
            to.copy_from_slice(block);
            return Ok(());
        }
        lz4_block::decode(block, to)
    }

    fn skip_next(&mut self) -> Result<()> {
        self.take().map(drop)
    }
}

impl Filter for Lz4 {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let mut stored = Stored::new(input)?;
        check_claim(stored.left, output)?;
        let plain = stored.left;
        blocks::decode_all(&mut stored, plain, output)
    }

    fn decodes_in_order(&self) -> bool {
        true
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_mul(expansion::LZ4)
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        Bound::AtMost(Bound::of_codec(plain).bytes().saturating_add(plain.div_ceil(self.block).saturating_mul(4)))
    }

    fn decode_range(&self, input: &[u8], plain: usize, range: Range<usize>, output: &mut Output<'_>) -> Result<bool> {
        let mut stored = Stored::new(input)?;
        if stored.left != plain {
            return Err(Error::corrupt(format!("the stream claims {} bytes, {plain} are expected", stored.left)));
        }
        blocks::decode_range(&mut stored, range, output)?;
        Ok(true)
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let block = self.block.min(input.len()).max(1);
        output.extend_from_slice(&(input.len() as u64).to_be_bytes());
        output.extend_from_slice(&u32::try_from(block).unwrap_or(0).to_be_bytes());
        for plain in input.chunks(block) {
            let start = output.len();
            output.extend_from_slice(&[0; 4]);
            lz4_block::encode(plain, Effort::Fast, output);
            if output.len() - start - 4 >= plain.len() {
                output.truncate(start + 4);
                output.extend_from_slice(plain);
            }
            let stored = u32::try_from(output.len() - start - 4).unwrap_or(0);
            BigEndian::write_u32(&mut output[start..], stored);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    #[test]
    fn every_block_size_comes_back() {
        let mut random = Random::new(22);
        for block in [0, 1, 64, 1000, 4096] {
            for len in [0, 1, 999, 1000, 5003] {
                round_trip(&Lz4::new(&[block]), &random.bytes(len)).unwrap();
            }
        }
    }

    #[test]
    fn short_and_damaged_streams_are_errors() {
        let plain: Vec<u8> = (0..3001u32).map(|i| (i / 7 % 50).to_le_bytes()[0]).collect();
        let filter = Lz4::new(&[700]);
        let stored = round_trip(&filter, &plain).unwrap();
        for len in 0..stored.len() {
            assert!(filter.decode(&stored[..len], &mut Output::exact(&mut vec![0; plain.len()])).is_err());
        }
        survives_damage(&filter, &stored, plain.len(), 20_000);
    }
}
