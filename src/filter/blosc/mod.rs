//! Blosc, filter 32001: one blosc chunk, which describes itself.
//!
//! Client values, of use to the encoder only: filter revision, format version, type size, chunk size, level, shuffle
//! (0 none, 1 bytes, 2 bits), codec (0 blosclz, 1 lz4, 2 lz4hc, 3 snappy, 4 zlib, 5 zstd).

pub(super) mod blosclz;
pub(super) mod chunk;
pub(super) mod encoder;

use std::ops::Range;

use self::chunk::{Chunk, Generation};
use self::encoder::{Encoder, Shuffling};
use super::codec::Codec;
use super::{Bound, Filter, Output, blocks, check_claim, size};
use crate::error::{Error, Result};

/// Blosc, as its encoder is to work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blosc {
    pub(super) encoder: Encoder,
}

impl Blosc {
    pub(super) fn new(client_data: &[u32]) -> Self {
        let value = |at: usize, absent: u32| client_data.get(at).copied().unwrap_or(absent);
        let shuffling = match value(5, 1) {
            0 => Shuffling::None,
            2 => Shuffling::Bits,
            _ => Shuffling::Bytes,
        };
        let codec = match value(6, 0) {
            1 => Codec::Lz4,
            2 => Codec::Lz4High,
            3 => Codec::Snappy,
            4 => Codec::Zlib,
            5 => Codec::Zstd,
            _ => Codec::BloscLz,
        };
        let type_size = match size(value(2, 1)) {
            t @ 1..=255 => t,
            _ => 1,
        };
        let (level, generation) = (value(4, 5).min(9), Generation::First);
        Blosc { encoder: Encoder { type_size, level, shuffling, codec, generation } }
    }
}

impl Filter for Blosc {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let mut chunk = Chunk::new(input)?;
        check_claim(chunk.plain, output)?;
        let plain = chunk.plain;
        blocks::decode_all(&mut chunk, plain, output)
    }

    fn decodes_in_order(&self) -> bool {
        true
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        Bound::AtMost(Bound::of_codec(plain).bytes().saturating_add(plain / 8))
    }

    fn decode_range(&self, input: &[u8], plain: usize, range: Range<usize>, output: &mut Output<'_>) -> Result<bool> {
        let mut chunk = Chunk::new(input)?;
        if chunk.plain != plain {
            return Err(Error::corrupt(format!("the chunk claims {} bytes, {plain} are expected", chunk.plain)));
        }
        blocks::decode_range(&mut chunk, range, output)?;
        Ok(true)
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let start = output.len();
        let encoded = self.encoder.encode(input, output)?;
        Ok(encoded && output.len() - start < input.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    #[test]
    fn every_codec_type_size_and_shuffle_comes_back() {
        let mut random = Random::new(42);
        let mut shrunk = 0;
        for codec in 0..6 {
            for type_size in [1, 2, 3, 4, 8, 16, 17, 255, 300] {
                for shuffle in 0..3 {
                    let filter = Blosc::new(&[2, 2, type_size, 0, 1 + random.below(9), shuffle, codec]);
                    if !filter.encoder.codec.encodes() {
                        continue;
                    }
                    let len = random.index(90_000);
                    let plain = random.bytes(len);
                    let Some(stored) = round_trip(&filter, &plain) else { continue };
                    shrunk += 1;
                    let from = random.index(plain.len());
                    let to = from + random.index(plain.len() - from + 1);
                    let mut part = vec![0; to - from];
                    let mut output = Output::exact(&mut part);
                    assert!(filter.decode_range(&stored, plain.len(), from..to, &mut output).unwrap());
                    assert!(part == plain[from..to]);
                }
            }
        }
        assert!(shrunk > 60, "only {shrunk} of 162 shrank");
    }

    #[test]
    fn short_and_damaged_streams_are_errors() {
        let plain: Vec<u8> = (0..3001u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for codec in 0..6 {
            let filter = Blosc::new(&[2, 2, 4, 0, 1, codec % 3, codec]);
            if !filter.encoder.codec.encodes() {
                continue;
            }
            let stored = round_trip(&filter, &plain).unwrap();
            for len in (0..stored.len()).step_by(3) {
                assert!(filter.decode(&stored[..len], &mut Output::exact(&mut vec![0; plain.len()])).is_err());
            }
            survives_damage(&filter, &stored, plain.len(), 2000);
        }
    }
}
