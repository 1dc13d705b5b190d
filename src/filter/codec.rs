//! The codecs that bitshuffle, blosc and blosc2 put inside their own framing.

use super::deflate;
use super::inflate::inflate;
use super::lz4_block::{self, Effort};
use crate::error::{Error, Result};

/// A codec that fills a slice of known size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    BloscLz,
    Lz4,
    /// Encodes harder; the data are the same format.
    Lz4High,
    Snappy,
    Zlib,
    Zstd,
}

impl Codec {
    /// Whether this build has the codec.
    #[cfg(test)]
    pub(super) fn is_built(self) -> bool {
        match self {
            Codec::BloscLz | Codec::Lz4 | Codec::Lz4High | Codec::Zlib => true,
            Codec::Snappy => cfg!(feature = "snappy"),
            Codec::Zstd => cfg!(feature = "zstd"),
        }
    }

    /// Whether this build encodes with it on this machine.
    #[cfg(test)]
    pub(super) fn encodes(self) -> bool {
        let encodes = self.is_built() && (self != Codec::Zstd || super::testing::zstd_encodes());
        if self.is_built() && !encodes {
            println!("zstd does not encode on this machine: skipped");
        }
        encodes
    }

    /// Decodes `input`, which has to fill `to`.
    pub(super) fn decode(self, input: &[u8], to: &mut [u8]) -> Result<()> {
        match self {
            Codec::BloscLz => super::blosc::blosclz::decode(input, to),
            Codec::Lz4 | Codec::Lz4High => lz4_block::decode(input, to),
            Codec::Zlib => inflate(input, to),
            Codec::Snappy => snappy::decode(input, to),
            Codec::Zstd => zstd::decode(input, to),
        }
    }

    /// Appends `input`, encoded. The level is the codec's own.
    pub(super) fn encode(self, input: &[u8], level: i32, output: &mut Vec<u8>) -> Result<()> {
        match self {
            Codec::BloscLz => super::blosc::blosclz::encode(input, level, output),
            Codec::Lz4 => lz4_block::encode(input, Effort::Fast, output),
            Codec::Lz4High => lz4_block::encode(input, high_effort(level), output),
            Codec::Zlib => deflate::zlib_compress(level.cast_unsigned().min(9), input, output)?,
            Codec::Snappy => snappy::encode(input, output)?,
            Codec::Zstd => zstd::encode(input, level, output)?,
        }
        Ok(())
    }
}

/// How many earlier places a level tries.
fn high_effort(level: i32) -> Effort {
    Effort::High(4 << level.clamp(1, 9))
}

#[cfg(feature = "snappy")]
use super::snappy;
#[cfg(feature = "zstd")]
use super::zstd;

#[cfg(not(feature = "snappy"))]
mod snappy {
    use crate::error::Result;

    pub(super) fn decode(_: &[u8], _: &mut [u8]) -> Result<()> {
        Err(super::left_out("snappy"))
    }

    pub(super) fn encode(_: &[u8], _: &mut Vec<u8>) -> Result<()> {
        Err(super::left_out("snappy"))
    }
}

#[cfg(not(feature = "zstd"))]
mod zstd {
    use crate::error::Result;

    pub(super) fn decode(_: &[u8], _: &mut [u8]) -> Result<()> {
        Err(super::left_out("zstd"))
    }

    pub(super) fn encode(_: &[u8], _: i32, _: &mut Vec<u8>) -> Result<()> {
        Err(super::left_out("zstd"))
    }
}

#[cfg_attr(all(feature = "snappy", feature = "zstd"), expect(dead_code, reason = "nothing is left out"))]
fn left_out(codec: &'static str) -> Error {
    Error::unsupported(format!("codec {codec} is not in this build; the feature `{codec}` has it"))
}
