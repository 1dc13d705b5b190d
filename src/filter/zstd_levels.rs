//! Zstandard, filter 32015, at all of its levels, by the encoder of the crate `structured-zstd`. Nothing uses it unasked.

use std::sync::Arc;

use structured_zstd::encoding::{CompressionLevel, compress_slice_to_vec};

use super::zstd::Zstd;
use super::{Bound, ChunkInfo, Filter, Output, SharedFilter};
use crate::error::Result;
use crate::format::message::filter_pipeline::FilterDescription;

/// The filter zstd whose levels 5 to 22 are levels of their own, for [`Registry::with`](super::Registry::with). Without it
/// they are taken for 4. It decodes as the other one does.
///
/// ```
/// use hdfive::filter::{Registry, zstd_levels};
///
/// let registry = Registry::default().with(32015, zstd_levels);
/// ```
pub fn zstd_levels(description: &FilterDescription, _: ChunkInfo) -> Result<SharedFilter> {
    Ok(Arc::new(ZstdLevels { up_to_four: Zstd::new(&description.client_data) }))
}

#[derive(Clone, Copy, Debug)]
struct ZstdLevels {
    up_to_four: Zstd,
}

impl Filter for ZstdLevels {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        self.up_to_four.decode(input, output)
    }

    fn decodes_in_order(&self) -> bool {
        self.up_to_four.decodes_in_order()
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        self.up_to_four.decoded_bound(stored)
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        self.up_to_four.encoded_bound(plain)
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        match self.up_to_four.level() {
            level @ 5.. => output.extend(compress_slice_to_vec(input, CompressionLevel::Level(level.min(22)))),
            _ => return self.up_to_four.encode(input, output),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip};

    #[test]
    fn every_level_comes_back_and_high_ones_are_smaller() {
        let mut random = Random::new(25);
        let words: Vec<Vec<u8>> = (2..40).map(|len| random.bytes(len)).collect();
        let plain: Vec<u8> = (0..4000).flat_map(|_| words[random.index(words.len())].clone()).collect();
        let size = |level: u32| {
            let filter = ZstdLevels { up_to_four: Zstd::new(&[level]) };
            round_trip(&filter, &plain).unwrap().len()
        };
        let sizes: Vec<usize> = (1..=22).map(size).collect();
        assert!(sizes[18] < sizes[3], "{sizes:?}");
        for level in [5, 12, 22] {
            let filter = ZstdLevels { up_to_four: Zstd::new(&[level]) };
            for len in [0, 1, 500, 140_001] {
                round_trip(&filter, &random.bytes(len)).unwrap();
            }
        }
    }
}
