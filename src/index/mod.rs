//! Data layouts: from the message of a dataset to the manifest of its chunks. One file per chunk index.

mod btree_v1;
mod btree_v2;
mod extensible_array;
mod fixed_array;
mod implicit;
mod numbering;
mod single;
pub mod virtual_layout;

use crate::error::{Error, Result};
use crate::format::message::data_layout::{ChunkIndex, Chunked};
use crate::manifest::{ChunkPlace, Chunks, ChunksBuilder};
use crate::object::{Scope, Step};
use crate::selection::{Grid, shape};
use crate::wire::Addr;
pub(crate) use numbering::Numbering;

/// What all chunk indexes of a dataset depend on.
#[derive(Debug)]
struct Indexed<'a> {
    layout: &'a Chunked,
    /// Where the index is.
    addr: Addr,
    max_shape: &'a [Option<u64>],
    /// Bytes of a whole chunk without filters.
    chunk_bytes: u64,
    /// Whether the dataset has filters.
    filtered: bool,
    grid: Grid,
}

/// The stored chunks of a dataset with this layout, shape and largest shape.
///
/// Chunks outside the current shape are left out: they are what a smaller shape left behind.
pub fn chunks(
    scope: Scope<'_>,
    layout: &Chunked,
    shape: &[u64],
    max_shape: &[Option<u64>],
    filtered: bool,
) -> Step<Chunks> {
    if layout.shape().len() != shape.len() {
        let what = format!("chunks of rank {} in a dataset of rank {}", layout.shape().len(), shape.len());
        return Err(Error::corrupt(what).into());
    }
    let chunk_bytes = shape::count(&layout.dimensions)?;
    let grid = Grid::new(shape, layout.shape())?;
    let Some(addr) = layout.address else { return Ok(ChunksBuilder::new(grid).finish()?) };
    if grid.is_empty() && !matches!(layout.index, ChunkIndex::BTreeV1 | ChunkIndex::BTreeV2 { .. }) {
        return Ok(ChunksBuilder::new(grid).finish()?);
    }
    let indexed = Indexed { layout, addr, max_shape, chunk_bytes, filtered, grid };
    match &layout.index {
        ChunkIndex::BTreeV1 => btree_v1::chunks(scope, indexed),
        ChunkIndex::Single { filtered } => single::chunks(indexed, *filtered),
        ChunkIndex::Implicit => implicit::chunks(scope, indexed),
        ChunkIndex::FixedArray { .. } => fixed_array::chunks(scope, indexed),
        ChunkIndex::ExtensibleArray { .. } => extensible_array::chunks(scope, indexed),
        ChunkIndex::BTreeV2 { .. } => btree_v2::chunks(scope, indexed),
    }
}

impl Indexed<'_> {
    fn rank(&self) -> Result<u8> {
        u8::try_from(self.layout.shape().len()).map_err(|_| Error::corrupt("the rank is over 255"))
    }

    /// The number in the current grid of the chunk at these coordinates, counted in chunks; `None` outside of it.
    fn number(&self, scaled: &[u64]) -> Option<u64> {
        self.grid.number(scaled)
    }

    /// A chunk stored at `addr`, with size and mask as the index says them.
    fn place(&self, number: u64, addr: Addr, size: Option<u64>, filter_mask: u32) -> ChunkPlace {
        match size {
            Some(size) if self.filtered => ChunkPlace { number, addr, size, filter_mask },
            _ => ChunkPlace { number, addr, size: self.chunk_bytes, filter_mask: 0 },
        }
    }

    fn numbering(&self, front: Option<usize>) -> Result<Numbering> {
        Numbering::new(self.layout.shape(), self.max_shape, front, &self.grid)
    }
}
