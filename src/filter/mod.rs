//! Filters: what a chunk goes through between memory and file. One file per filter.
//!
//! A filter is configured once per dataset, from the client data in the filter pipeline message, and is then a pure
//! function from bytes to bytes. [`Output`] is where decoded bytes go: it knows how many are expected and how many may
//! be spent, and may be the caller's own memory. A [`Registry`] makes filters from their ids, a [`Pipeline`] runs those
//! of a dataset one after the other.

mod bits;
mod bitshuffle;
mod blocks;
mod blosc;
mod blosc2;
#[cfg(feature = "blosc-src")]
#[expect(unsafe_code, reason = "C functions are called")]
mod blosc_src;
#[cfg(feature = "bzip2")]
mod bzip2;
mod codec;
mod deflate;
mod expansion;
#[cfg(feature = "fcidecomp")]
mod fcidecomp;
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "compiled for AVX2 too; measured"))]
mod fletcher32;
mod inflate;
#[cfg(feature = "jpeg")]
mod jpeg;
mod lz;
mod lz4;
mod lz4_block;
#[expect(unsafe_code, reason = "copies without a check each; measured")]
mod lz4_fast;
mod lzf;
#[cfg(feature = "lzo")]
mod lzo;
mod nbit;
mod output;
mod pipeline;
mod quantise;
mod registry;
mod scale_offset;
mod scratch;
mod shuffle;
#[cfg(feature = "snappy")]
mod snappy;
mod szip;
#[cfg(feature = "vbz")]
mod vbz;
#[expect(unsafe_code, reason = "copies without a check each; measured")]
mod wild;
#[cfg(feature = "zfp")]
mod zfp;
#[cfg(feature = "zstd")]
mod zstd;
#[cfg(feature = "zstd-levels")]
mod zstd_levels;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod vectors;

use std::sync::Arc;

#[cfg(feature = "blosc-src")]
pub use blosc_src::blosc_src;
pub use output::{Output, Scatter};
pub(crate) use pipeline::AT_ONCE;
pub use pipeline::{Pipeline, Scratch};
pub use registry::{KNOWN, Known, Registry, Support, label};
#[cfg(feature = "zstd-levels")]
pub use zstd_levels::zstd_levels;

use crate::error::{Error, Result};

/// A filter, configured for one dataset. `decode` undoes it, `encode` applies it.
pub trait Filter: Send + Sync + std::fmt::Debug {
    /// Decodes the whole of `input` to `output`.
    ///
    /// Errors are `Corrupt` when the input is not what the filter writes, ends early, or gives more than the output's
    /// allowance. A scattered output is only given to filters whose `decodes_in_order` is true.
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()>;

    /// Whether `decode` only ever calls [`Output::write`], so that the output may be scattered.
    fn decodes_in_order(&self) -> bool {
        false
    }

    /// How large the encoded form of `plain` bytes may be. The pipeline bounds what flows between two filters with it.
    /// The default is for codecs that shrink most data, and grow none by more than an eighth and 64 KiB.
    fn encoded_bound(&self, plain: usize) -> Bound {
        Bound::of_codec(plain)
    }

    /// How many plain bytes `stored` ones can give at most. What a file claims beyond that is refused before memory is taken
    /// for it. The default is for formats in which a few bytes may stand for any number of them.
    fn decoded_bound(&self, _stored: usize) -> usize {
        usize::MAX
    }

    /// Decodes only bytes `range` of the plain data, where the format has independent blocks. `false` (the default)
    /// says that nothing was done and `decode` is to be used. `plain` is the size of all of the plain data, and the
    /// range lies within it.
    fn decode_range(
        &self,
        _input: &[u8],
        _plain: usize,
        _range: std::ops::Range<usize>,
        _output: &mut Output<'_>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Encodes `input`, appending to `output`. `false` says that the filter gives up on these bytes (they would not
    /// shrink), and is to be skipped with its bit in the filter mask set; what was appended is then of no use.
    ///
    /// `Unsupported` (the default) for filters that are only decoded.
    fn encode(&self, _input: &[u8], _output: &mut Vec<u8>) -> Result<bool> {
        Err(Error::unsupported("it is only decoded, not encoded"))
    }
}

/// What a filter may know about the chunks that it is configured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Size of a whole chunk before its first filter.
    pub bytes: usize,
    /// Size of one element of the dataset.
    pub element_size: usize,
}

/// How large the stored form of a number of plain bytes may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Always exactly this many bytes.
    Exactly(usize),
    /// Some size up to this many bytes.
    AtMost(usize),
}

impl Bound {
    /// The number of bytes, exact or not.
    pub fn bytes(self) -> usize {
        match self {
            Bound::Exactly(n) | Bound::AtMost(n) => n,
        }
    }

    /// What a codec that shrinks most data may at worst make of `plain` bytes.
    pub(crate) fn of_codec(plain: usize) -> Bound {
        Bound::AtMost(plain.saturating_add(plain / 8).saturating_add(64 << 10))
    }

    /// The size after another filter.
    fn then(self, filter: &dyn Filter) -> Bound {
        match (self, filter.encoded_bound(self.bytes())) {
            (Bound::Exactly(_), after) => after,
            (Bound::AtMost(_), after) => Bound::AtMost(after.bytes()),
        }
    }
}

/// A filter that can be shared by all chunks of a dataset.
pub type SharedFilter = Arc<dyn Filter>;

/// A client value as a size.
fn size(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// The end of a stream where more was needed.
fn ends_early() -> Error {
    Error::corrupt("the stream ends early")
}

/// Fails unless a size that the stream claims is the one that is wanted, or fits in the room.
fn check_claim(claimed: usize, output: &Output<'_>) -> Result<()> {
    match output.expected() {
        Some(expected) if expected - output.written() != claimed => {
            let wanted = expected - output.written();
            Err(Error::corrupt(format!("the stream claims {claimed} bytes, {wanted} are expected")))
        }
        None if claimed > output.room() => {
            Err(Error::corrupt(format!("the stream claims {claimed} bytes, {} are allowed", output.room())))
        }
        _ => Ok(()),
    }
}
