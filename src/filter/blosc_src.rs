//! Blosc, filter 32001, by the C library C-Blosc in the crate `blosc-src`. Nothing uses it unasked.
//!
//! Unsafe, as C functions are called.

use std::ffi::{CStr, c_int};
use std::ptr;

use blosc_src::{blosc_cbuffer_validate, blosc_compress_ctx, blosc_decompress_ctx};

use super::blosc::Blosc;
use super::blosc::encoder::Shuffling;
use super::codec::Codec;
use super::scratch::with_buffer;
use super::{Bound, ChunkInfo, Filter, Output, SharedFilter, check_claim, expansion};
use crate::error::{Error, Result};
use crate::format::message::filter_pipeline::FilterDescription;

/// The filter blosc on the C library, for [`Registry::with`](super::Registry::with).
///
/// ```
/// use hdfive::filter::{Registry, blosc_src};
///
/// let registry = Registry::default().with(32001, blosc_src);
/// ```
pub fn blosc_src(description: &FilterDescription, _: ChunkInfo) -> Result<SharedFilter> {
    Ok(std::sync::Arc::new(BloscSrc { parameters: Blosc::new(&description.client_data) }))
}

/// Blosc with the same parameters as ours.
#[derive(Clone, Copy, Debug)]
struct BloscSrc {
    parameters: Blosc,
}

/// Decodes a chunk that was found to fill `to`.
fn decode(input: &[u8], to: &mut [u8]) -> Result<()> {
    // SAFETY: the chunk was validated with its length, and the library writes no more than the length of `to`.
    let len = unsafe { blosc_decompress_ctx(input.as_ptr().cast(), to.as_mut_ptr().cast(), to.len(), 1) };
    if usize::try_from(len) == Ok(to.len()) {
        return Ok(());
    }
    Err(Error::corrupt(format!("C-Blosc gives {len}, {} bytes are expected", to.len())))
}

impl Filter for BloscSrc {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let mut plain = 0;
        // SAFETY: the length is that of the slice, and the size goes to a number.
        if unsafe { blosc_cbuffer_validate(input.as_ptr().cast(), input.len(), ptr::from_mut(&mut plain)) } != 0 {
            return Err(Error::corrupt("C-Blosc finds no chunk of its format"));
        }
        check_claim(plain, output)?;
        if plain == 0 {
            return Ok(());
        }
        match output.slice(plain)? {
            Some(to) => decode(input, to),
            None => with_buffer(plain, |to| decode(input, to).and_then(|()| output.write(to))),
        }
    }

    fn decodes_in_order(&self) -> bool {
        true
    }

    /// Unlike ours, the library knows no chunks of one value: every block is coded, at best as a frame of zstd.
    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_mul(expansion::ZSTD)
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        self.parameters.encoded_bound(plain)
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let encoder = self.parameters.encoder;
        let codec: &CStr = match encoder.codec {
            Codec::BloscLz => c"blosclz",
            Codec::Lz4 => c"lz4",
            Codec::Lz4High => c"lz4hc",
            Codec::Snappy => c"snappy",
            Codec::Zlib => c"zlib",
            Codec::Zstd => c"zstd",
        };
        let shuffle = match encoder.shuffling {
            Shuffling::None => 0,
            Shuffling::Bytes => 1,
            Shuffling::Bits => 2,
        };
        let start = output.len();
        output.resize(start + input.len(), 0);
        let level = c_int::try_from(encoder.level).unwrap_or(9);
        let (from, to) = (input.as_ptr().cast(), output[start..].as_mut_ptr().cast());
        // SAFETY: the lengths are those of the slices, and the name of the codec ends with a zero.
        let len = unsafe {
            let (size, codec) = (encoder.type_size, codec.as_ptr());
            blosc_compress_ctx(level, shuffle, size, input.len(), from, to, input.len(), codec, 0, 1)
        };
        let Ok(len) = usize::try_from(len) else {
            return Err(Error::invalid(format!("C-Blosc fails to encode with {len}")));
        };
        output.truncate(start + len);
        Ok(len > 0 && len < input.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    #[test]
    fn either_decodes_what_the_other_encodes() {
        let mut random = Random::new(43);
        let mut shrunk = 0;
        for round in 0..1000 {
            let (codec, shuffle) = (round % 6, random.below(3));
            let type_size = [1, 2, 3, 4, 8, 16, 17, 255][random.index(8)];
            let ours = Blosc::new(&[2, 2, type_size, 0, random.below(10), shuffle, codec]);
            if !ours.encoder.codec.encodes() {
                continue;
            }
            let theirs = BloscSrc { parameters: ours };
            let most = if round % 40 == 0 { 900_000 } else { 20_000 };
            let len = 1 + random.index(most);
            let plain = random.bytes(len);
            let pairs: [(&dyn Filter, &dyn Filter); 2] = [(&ours, &theirs), (&theirs, &ours)];
            for (from, to) in pairs {
                let mut stored = Vec::new();
                if !from.encode(&plain, &mut stored).unwrap() {
                    continue;
                }
                shrunk += 1;
                let mut back = vec![0xaa; len];
                to.decode(&stored, &mut Output::exact(&mut back)).unwrap();
                assert!(back == plain, "{from:?} to {to:?}, {len} bytes");
            }
        }
        assert!(shrunk > 1000, "only {shrunk} of 2000 shrank");
    }

    #[test]
    fn damage_is_survived() {
        let plain: Vec<u8> = (0..3001u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for codec in 0..6 {
            let filter = BloscSrc { parameters: Blosc::new(&[2, 2, 4, 0, 5, 1, codec]) };
            let stored = round_trip(&filter, &plain).unwrap();
            survives_damage(&filter, &stored, plain.len(), 1000);
            let zeros = round_trip(&filter, &[0; 4 << 20]).unwrap();
            assert!(filter.decoded_bound(zeros.len()) >= 4 << 20);
            assert!(filter.decoded_bound(1 << 20) < usize::MAX);
        }
    }
}
