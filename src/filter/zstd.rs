//! Zstandard, filter 32015: the chunk is one or more zstd frames, RFC 8878. Client value 0 is the level, 3 if absent.
//!
//! The decoder of the crate `zrip` appends to a vector, so decoding into a slice costs one copy. Its encoder has the
//! levels up to 4, and takes higher ones for 4.

use std::cell::RefCell;

use super::{Bound, Filter, Output, expansion};
use crate::error::{Error, Result};

/// Zstandard at a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zstd {
    level: i32,
}

impl Zstd {
    pub(super) fn new(client_data: &[u32]) -> Self {
        Zstd { level: client_data.first().map_or(3, |level| level.cast_signed()) }
    }
}

thread_local! {
    static DECODER: RefCell<(zrip::DecompressContext, Vec<u8>)> = RefCell::default();
    /// One for [`SEARCHES_ALL`], one for all other levels: to change between the two costs more than to encode.
    static ENCODERS: RefCell<[Option<zrip::CompressContext>; 2]> = const { RefCell::new([None, None]) };
}

/// Decoded bytes beyond which a thread does not keep its buffer: new memory for every chunk costs as much as decoding.
const KEPT: usize = 16 << 20;

/// Hands what `input` decodes to, at most `limit` bytes, to `take`.
fn decoded(input: &[u8], limit: usize, take: impl FnOnce(&[u8]) -> Result<()>) -> Result<()> {
    DECODER.with(|decoder| {
        let (context, buffer) = &mut *decoder.borrow_mut();
        buffer.clear();
        if limit <= KEPT {
            // Growing step by step would end with more than is kept.
            buffer.reserve_exact(limit);
        }
        let result = context.decompress_into_with_limit(input, buffer, limit);
        let result = result.map_err(|error| Error::corrupt(error.to_string())).and_then(|_| take(buffer));
        if buffer.capacity() > KEPT {
            *buffer = Vec::new();
        }
        result
    })
}

/// Decodes `input`, which has to fill `to`.
pub(super) fn decode(input: &[u8], to: &mut [u8]) -> Result<()> {
    decoded(input, to.len(), |plain| {
        if plain.len() != to.len() {
            return Err(Error::corrupt(format!("the stream gives {} bytes, {} are expected", plain.len(), to.len())));
        }
        to.copy_from_slice(plain);
        Ok(())
    })
}

/// The only level that searches all data; others pass over data whose bytes are all about as frequent, which for
/// ramps is a mistake.
const SEARCHES_ALL: i32 = -7;

/// Appends `input` as a frame, with its size and without a checksum.
pub(super) fn encode(input: &[u8], level: i32, output: &mut Vec<u8>) -> Result<()> {
    if cfg!(target_endian = "big") {
        // What the crate's encoder writes on such a machine does not decode to the same bytes.
        return Err(Error::unsupported("zstd encodes on little-endian machines only"));
    }
    let level = match level {
        // The crate's level 2 gives up a tenth of the size that users of libzstd's expect; its level 3 does not.
        0 | 2 => 3,
        level => level.clamp(SEARCHES_ALL, 4),
    };
    let start = output.len();
    encode_at(input, level, output)?;
    if output.len() - start > input.len() / 16 * 15 && level != SEARCHES_ALL {
        let middle = output.len();
        encode_at(input, SEARCHES_ALL, output)?;
        if output.len() - middle < middle - start {
            output.drain(start..middle);
        } else {
            output.truncate(middle);
        }
    }
    Ok(())
}

fn encode_at(input: &[u8], level: i32, output: &mut Vec<u8>) -> Result<()> {
    let failed = |error: zrip::CompressError| Error::invalid(error.to_string());
    ENCODERS.with(|encoders| {
        let encoder = &mut encoders.borrow_mut()[usize::from(level == SEARCHES_ALL)];
        let context = match encoder {
            Some(context) => {
                context.set_level(level).map_err(failed)?;
                context
            }
            None => encoder.insert(zrip::CompressContext::new(level).map_err(failed)?),
        };
        context.set_content_checksum(false);
        output.extend_from_slice(&context.compress(input).map_err(failed)?);
        Ok(())
    })
}

impl Filter for Zstd {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        decoded(input, output.room(), |plain| output.write(plain))
    }

    fn decodes_in_order(&self) -> bool {
        true
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_mul(expansion::ZSTD)
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        Bound::of_codec(plain)
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        encode(input, self.level, output)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage, zstd_encodes};

    /// A frame; where nothing encodes, of one block with the bytes as they are.
    fn frame(filter: Zstd, plain: &[u8]) -> Vec<u8> {
        if zstd_encodes() {
            return round_trip(&filter, plain).unwrap();
        }
        let len = u32::try_from(plain.len()).unwrap().to_le_bytes();
        let block = (u32::try_from(plain.len()).unwrap() << 3 | 1).to_le_bytes();
        [&[0x28, 0xb5, 0x2f, 0xfd, 0xa0][..], &len, &block[..3], plain].concat()
    }

    #[test]
    fn every_level_comes_back() {
        if !zstd_encodes() {
            return println!("zstd does not encode on this machine: skipped");
        }
        let mut random = Random::new(23);
        for level in [-9, -1, 0, 1, 3, 4, 19, 22i32] {
            for len in [0, 1, 5003, 140_001] {
                round_trip(&Zstd::new(&[level.cast_unsigned()]), &random.bytes(len)).unwrap();
            }
        }
    }

    #[test]
    fn short_and_damaged_streams_are_errors() {
        let plain: Vec<u8> = (0..3001u32).map(|i| (i / 7 % 50).to_le_bytes()[0]).collect();
        let filter = Zstd::new(&[]);
        let stored = frame(filter, &plain);
        for len in 1..stored.len() {
            let mut back = vec![0; plain.len()];
            let mut output = Output::exact(&mut back);
            let result = filter.decode(&stored[..len], &mut output).and_then(|()| output.finish());
            assert!(result.is_err(), "cut to {len}");
        }
        survives_damage(&filter, &stored, plain.len(), 5000);
    }
}
