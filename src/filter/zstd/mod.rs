//! Zstandard, filter 32015: the chunk is one or more zstd frames, RFC 8878. Client value 0 is the level, 3 if absent.
//!
//! Decoding is this crate's own: the whole input is at hand and the output is one slice, which a streaming decoder cannot
//! use. The encoder is that of the crate `zrip`, which has the levels up to 4 and takes higher ones for 4.

mod bits;
mod bytes;
#[expect(unsafe_code, reason = "copies without a check each, compiled for BMI2 too; measured")]
mod fast;
mod frame;
mod fse;
#[expect(unsafe_code, reason = "look-ups without a check each, compiled for BMI2 too; measured")]
mod huffman;
mod literals;
mod sequences;
mod xxhash;

use std::cell::RefCell;

use self::frame::Workspace;
use super::scratch::with_buffer;
use super::{Filter, Output, expansion};
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

    #[cfg(feature = "zstd-levels")]
    pub(super) fn level(self) -> i32 {
        self.level
    }
}

thread_local! {
    static WORKSPACE: RefCell<Box<Workspace>> = RefCell::default();
    /// One for [`SEARCHES_ALL`], one for all other levels: to change between the two costs more than to encode.
    static ENCODERS: RefCell<[Option<zrip::CompressContext>; 2]> = const { RefCell::new([None, None]) };
}

/// Decodes all frames of `input` to `to`, which may be larger; gives how many bytes that were.
pub(super) fn decode_some(input: &[u8], to: &mut [u8]) -> Result<usize> {
    WORKSPACE.with(|workspace| frame::decode(input, to, &mut workspace.borrow_mut()))
}

/// How many bytes the frames of `input` give at most, by what their headers and those of their blocks say.
pub(super) fn most(input: &[u8]) -> Result<usize> {
    frame::most(input)
}

/// Decodes `input`, which has to fill `to`.
pub(super) fn decode(input: &[u8], to: &mut [u8]) -> Result<()> {
    let len = decode_some(input, to)?;
    if len == to.len() {
        return Ok(());
    }
    Err(Error::corrupt(format!("the stream gives {len} bytes, {} are expected", to.len())))
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
        let room = output.room().min(most(input)?);
        let Some(to) = output.slice(room)? else {
            return with_buffer(room, |to| decode_some(input, to).and_then(|len| output.write(&to[..len])));
        };
        let len = decode_some(input, to)?;
        output.give_back(room - len);
        Ok(())
    }

    fn decodes_in_order(&self) -> bool {
        true
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_mul(expansion::ZSTD)
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

    /// By libzstd 1.5.4 at level 19: with a checksum, and without its size.
    const CHECKED: &str = "\
        28b52ffd64bc016503007209170710a00f4969c51f7798600569931e97b8baed74c15fcbafb791d4e039408215a03855eb9b917f\
        78f191b3d03cf64b25b59e5daa60478fcbe77398d756c90a142610f0ebc68c5ba3d1349aef177d0f977a4f3959fc649a88058977\
        170300c440b2fa4685ec210098013112bd2d\
        ";
    const UNSIZED: &str = "\
        28b52ffd00006503007209170710a00f4969c51f7798600569931e97b8baed74c15fcbafb791d4e039408215a03855eb9b917f78\
        f191b3d03cf64b25b59e5daa60478fcbe77398d756c90a142610f0ebc68c5ba3d1349aef177d0f977a4f3959fc649a8805897717\
        0300c440b2fa4685ec21009801\
        ";

    #[test]
    fn frames_of_libzstd_decode_alone_and_one_after_the_other() {
        let plain: Vec<u8> = (0..700u32).map(|i| (i * i / 7 % 23).to_le_bytes()[0]).collect();
        let bytes = |text: &str| -> Vec<u8> {
            let digits = text.as_bytes().as_chunks::<2>().0.iter().map(|d| std::str::from_utf8(d).unwrap());
            digits.map(|d| u8::from_str_radix(d, 16).unwrap()).collect()
        };
        let passed_over = bytes("5e2a4d1803000000616263");
        let (checked, sizeless) = (bytes(CHECKED), bytes(UNSIZED));
        let both = [&sizeless[..], &passed_over, &checked, b"trailing"].concat();
        let mut to = vec![0; 2 * plain.len()];
        for (stored, times) in [(&checked, 1), (&sizeless, 1), (&both, 2)] {
            assert_eq!(decode_some(stored, &mut to).unwrap(), times * plain.len());
            assert!(to[..times * plain.len()].chunks(plain.len()).all(|part| part == plain));
        }
        let mut wrong = checked;
        let end = wrong.len() - 1;
        wrong[end] ^= 1;
        assert!(decode_some(&wrong, &mut to).unwrap_err().message().starts_with("checksum"));
    }

    #[test]
    fn what_is_decoded_is_what_the_crate_decodes() {
        if !zstd_encodes() {
            return println!("zstd does not encode on this machine: skipped");
        }
        let mut random = Random::new(24);
        let mut context = zrip::DecompressContext::new();
        let mut good = 0;
        for round in 0..2000 {
            let len = random.index(if round % 50 == 0 { 300_000 } else { 5000 });
            let plain = random.bytes(len);
            let mut stored = Vec::new();
            encode(&plain, round % 12 - 7, &mut stored).unwrap();
            let mut to = vec![0xaa; len];
            decode(&stored, &mut to).unwrap();
            assert!(to == plain, "round {round}");
            for _ in 0..10 {
                let mut damaged = stored.clone();
                random.damage(&mut damaged);
                let mut theirs = Vec::new();
                let decoded = context.decompress_into_with_limit(&damaged, &mut theirs, len);
                if decode_some(&damaged, &mut to).is_ok_and(|ours| ours == theirs.len()) && decoded.is_ok() {
                    assert!(to[..theirs.len()] == theirs, "round {round}, damaged");
                    good += 1;
                }
            }
        }
        assert!(good > 1000, "only {good} damaged frames decoded on both sides");
    }

    #[test]
    fn memory_is_taken_for_what_the_headers_of_blocks_say() {
        // A frame that does not say its size, of one block that is a byte over and over.
        let frame = |len: u32| {
            let [a, b, c, _] = (len << 3 | 1 << 1 | 1).to_le_bytes();
            [0x28, 0xb5, 0x2f, 0xfd, 0, 0, a, b, c, 7]
        };
        let largest = 128 << 10;
        assert_eq!(most(&frame(largest)).unwrap(), 128 << 10);
        let mut grown = Vec::new();
        Zstd::new(&[]).decode(&frame(largest), &mut Output::growing(&mut grown, 1 << 30)).unwrap();
        assert!(grown == [7; 128 << 10] && grown.capacity() < 1 << 20, "{} bytes", grown.capacity());
        assert!(decode_some(&frame(largest + 1), &mut vec![0; 1 << 20]).is_err());
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
