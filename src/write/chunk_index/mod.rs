//! Chunk indexes: from the chunks of a dataset to the blocks that find them. Specification VII. One file per index.

mod arrays;
mod extensible_array;
mod fixed_array;
mod trees;

use super::compatibility::Compatibility;
use crate::error::{Error, Result};
use crate::format::message::data_layout::{ChunkIndex, Chunked};
use crate::index::Numbering;
use crate::manifest::Chunks;
use crate::selection::shape;
use crate::wire::Sizes;
use crate::wire::place::Place;

/// The chunks of a dataset that was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indexed<'a> {
    /// Where they lie.
    pub chunks: &'a Chunks,
    /// The dataset's largest shape.
    pub max_shape: &'a [Option<u64>],
    /// Bytes of an element.
    pub element_size: u32,
    /// Whether there are filters.
    pub filtered: bool,
}

/// Elements of a fixed array at most: it has one for every chunk of the largest shape, stored or not.
const LARGEST_FIXED: u64 = 1 << 24;

/// The index that libhdf5 chooses; a version 2 B-tree where a fixed array would be too large for what a largest shape only
/// allows. `implicit` says that the chunks are all there, one after the other, if that needs no other index.
pub(crate) fn chosen(
    level: Compatibility,
    shape: &[u64],
    max_shape: &[Option<u64>],
    chunk: &[u64],
    implicit: bool,
) -> ChunkIndex {
    if level < Compatibility::V110 {
        return ChunkIndex::BTreeV1;
    }
    let mut counts = max_shape.iter().zip(chunk).map(|(max, chunk)| max.unwrap_or(0).div_ceil(*chunk));
    let array = counts.try_fold(1, u64::checked_mul).filter(|count| *count <= LARGEST_FIXED);
    let fixed = shape.iter().zip(max_shape).all(|(size, max)| Some(*size) == *max);
    match max_shape.iter().filter(|max| max.is_none()).count() {
        0 if fixed && shape == chunk => ChunkIndex::Single { filtered: None },
        0 if implicit => ChunkIndex::Implicit,
        0 if array.is_some() => ChunkIndex::FixedArray { page_bits: fixed_array::PAGE_BITS },
        1 => extensible_array::USUAL,
        _ => trees::USUAL,
    }
}

impl Indexed<'_> {
    /// Places the index that `layout` names, and writes down in it where it is.
    pub(super) fn build(&self, space: &mut dyn Place, layout: &mut Chunked) -> Result<()> {
        if self.chunks.is_empty() {
            return Ok(());
        }
        let first = self.chunks.iter().next();
        layout.address = match &mut layout.index {
            ChunkIndex::BTreeV1 => Some(trees::build_v1(space, self)?),
            ChunkIndex::Single { filtered } => {
                if let (Some(filtered), Some(first)) = (filtered, first) {
                    *filtered = (first.size, first.filter_mask);
                }
                first.map(|chunk| chunk.addr)
            }
            // All chunks are there, one after the other.
            ChunkIndex::Implicit => first.map(|chunk| chunk.addr),
            ChunkIndex::FixedArray { page_bits } => Some(fixed_array::build(space, self, *page_bits)?),
            index @ ChunkIndex::ExtensibleArray { .. } => Some(extensible_array::build(space, self, index)?),
            ChunkIndex::BTreeV2 { .. } => Some(trees::build_v2(space, self)?),
        };
        Ok(())
    }

    fn numbering(&self, front: Option<usize>) -> Result<Numbering> {
        Numbering::new(self.chunks.grid().chunk_shape(), self.max_shape, front, self.chunks.grid())
    }

    /// Coordinates of a chunk, counted in chunks.
    fn coordinates(&self, number: u64) -> Result<Vec<u64>> {
        let grid = self.chunks.grid();
        grid.coordinates(number).ok_or_else(|| Error::invalid("a chunk lies outside of the shape"))
    }

    /// Bytes of a whole chunk without filters.
    fn chunk_bytes(&self) -> Result<u64> {
        let elements = shape::count(self.chunks.grid().chunk_shape())?;
        elements
            .checked_mul(self.element_size.into())
            .ok_or_else(|| Error::limit("a chunk is larger than 64 bits count"))
    }

    /// Width of the stored size of filtered chunks: a byte more than that of the size without filters, so that chunks may
    /// grow; that of all lengths for chunks that only version 5 of the layout can hold.
    fn size_width(&self, sizes: Sizes) -> Result<u8> {
        let bytes = self.chunk_bytes()?;
        if bytes > u64::from(u32::MAX) {
            return Ok(sizes.lengths);
        }
        let width = 1 + (bytes.max(1).ilog2() + 8) / 8;
        Ok(u8::try_from(width).unwrap_or(8).min(8).min(sizes.lengths))
    }
}
