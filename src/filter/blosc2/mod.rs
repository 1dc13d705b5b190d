//! Blosc2, filter 32026: one contiguous frame that holds one chunk, perhaps cut into n-dimensional blocks.
//!
//! Client values, of use to the encoder only: revision, block size, type size, chunk size, level, filter of the last
//! slot (0 none, 1 bytes, 2 bits, 3 delta, 4 truncated precision), codec (0 blosclz, 1 lz4, 2 lz4hc, 4 zlib, 5 zstd),
//! rank and chunk shape.

mod frame;
mod grid;

use std::ops::Range;

use self::frame::Frame;
use super::blosc::chunk::Generation;
use super::blosc::encoder::{Encoder, Shuffling};
use super::codec::Codec;
use super::{Bound, Filter, Output, blocks, check_claim, size};
use crate::error::{Error, Result};

/// Blosc2, as its encoder is to work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blosc2 {
    encoder: Encoder,
}

impl Blosc2 {
    pub(super) fn new(client_data: &[u32]) -> Self {
        let value = |at: usize, absent: u32| client_data.get(at).copied().unwrap_or(absent);
        let shuffling = match value(5, 1) {
            1 => Shuffling::Bytes,
            2 => Shuffling::Bits,
            _ => Shuffling::None,
        };
        let codec = match value(6, 0) {
            1 => Codec::Lz4,
            2 => Codec::Lz4High,
            4 => Codec::Zlib,
            5 => Codec::Zstd,
            _ => Codec::BloscLz,
        };
        let type_size = match size(value(2, 1)) {
            t @ 1..=255 => t,
            _ => 1,
        };
        let (level, generation) = (value(4, 5).min(9), Generation::Second);
        Blosc2 { encoder: Encoder { type_size, level, shuffling, codec, generation } }
    }
}

impl Filter for Blosc2 {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let Frame { mut chunk, grid } = Frame::new(input)?;
        let plain = match &grid {
            Some(grid) => grid.plain(),
            None => chunk.plain,
        };
        check_claim(plain, output)?;
        let Some(grid) = grid else { return blocks::decode_all(&mut chunk, plain, output) };
        match output.slice(plain)? {
            Some(to) => grid.decode(&mut chunk, 0..plain, to),
            None => Err(Error::invalid("blosc2 does not decode to a scattered output")),
        }
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        Bound::AtMost(Bound::of_codec(plain).bytes().saturating_add(plain / 8))
    }

    fn decode_range(&self, input: &[u8], plain: usize, range: Range<usize>, output: &mut Output<'_>) -> Result<bool> {
        let Frame { mut chunk, grid } = Frame::new(input)?;
        let claimed = grid.as_ref().map_or(chunk.plain, grid::Grid::plain);
        if claimed != plain {
            return Err(Error::corrupt(format!("the frame claims {claimed} bytes, {plain} are expected")));
        }
        let Some(grid) = grid else {
            blocks::decode_range(&mut chunk, range, output)?;
            return Ok(true);
        };
        match output.slice(range.len())? {
            Some(to) => grid.decode(&mut chunk, range, to).map(|()| true),
            None => Ok(false),
        }
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let start = output.len();
        let encoded = frame::encode(self.encoder, input, output)?;
        Ok(encoded && output.len() - start < input.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    #[test]
    fn every_codec_and_shuffle_comes_back() {
        let mut random = Random::new(50);
        let mut shrunk = 0;
        for codec in [0, 1, 2, 4, 5] {
            for type_size in [1, 2, 3, 4, 8, 16, 17, 255, 300] {
                for shuffle in 0..3 {
                    let filter = Blosc2::new(&[1, 0, type_size, 0, 1 + random.below(9), shuffle, codec]);
                    if !filter.encoder.codec.encodes() {
                        continue;
                    }
                    let len = 2000 + random.index(90_000);
                    let plain = random.bytes(len);
                    shrunk += usize::from(round_trip(&filter, &plain).is_some());
                }
            }
        }
        assert!(shrunk > 60, "only {shrunk} of 135 shrank");
    }

    #[test]
    fn short_and_damaged_frames_are_errors() {
        let plain: Vec<u8> = (0..3001u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for codec in [0, 1, 5] {
            let filter = Blosc2::new(&[1, 0, 4, 0, 1, 1, codec]);
            if !filter.encoder.codec.encodes() {
                continue;
            }
            let stored = round_trip(&filter, &plain).unwrap();
            survives_damage(&filter, &stored, plain.len(), 5000);
        }
    }
}
