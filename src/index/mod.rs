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
use crate::selection::{Block, Grid, shape};
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
    /// Which chunks are wanted, counted in chunks, if not all are.
    within: Option<Block>,
}

/// The stored chunks of a dataset with this layout, shape and largest shape: all, or only those `within` a block of chunks,
/// counted in chunks, for which no more is read of the index than leads to them.
///
/// Chunks outside the current shape are left out: they are what a smaller shape left behind.
pub fn chunks(
    scope: Scope<'_>,
    layout: &Chunked,
    shape: &[u64],
    max_shape: &[Option<u64>],
    filtered: bool,
    within: Option<&Block>,
) -> Step<Chunks> {
    if layout.shape().len() != shape.len() {
        let what = format!("chunks of rank {} in a dataset of rank {}", layout.shape().len(), shape.len());
        return Err(Error::corrupt(what).into());
    }
    let chunk_bytes = shape::count(&layout.dimensions)?;
    let grid = Grid::new(shape, layout.shape())?;
    if within.is_some_and(|block| block.rank() != shape.len()) {
        return Err(Error::invalid(format!("a block of chunks of a dataset of rank {}", shape.len())).into());
    }
    let Some(addr) = layout.address else { return Ok(ChunksBuilder::new(grid).finish()?) };
    if grid.is_empty() && !matches!(layout.index, ChunkIndex::BTreeV1 | ChunkIndex::BTreeV2 { .. }) {
        return Ok(ChunksBuilder::new(grid).finish()?);
    }
    let inside = within.map(|block| block.intersect(&Block::all(grid.counts())));
    if let Some(None) = inside {
        return Ok(ChunksBuilder::new(grid).finish()?);
    }
    let within = inside.flatten();
    let indexed = Indexed { layout, addr, max_shape, chunk_bytes, filtered, grid, within };
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

    /// The number in the current grid of the chunk at these coordinates, counted in chunks; `None` outside of it, and for one
    /// that is not wanted.
    fn number(&self, scaled: &[u64]) -> Option<u64> {
        self.grid.number(scaled).filter(|_| self.within.as_ref().is_none_or(|block| block.contains(scaled)))
    }

    /// Those of a node's `children` that may lead to wanted chunks. `between` are the coordinates, one after the other, of
    /// chunks that part the children: all of the one before it stand before it, none of the next one. Where they are not in
    /// order, all children may.
    fn leading<T>(&self, children: Vec<T>, between: &[u64]) -> Vec<T> {
        let Some(block) = &self.within else { return children };
        let bounds: Vec<&[u64]> = between.chunks(block.rank().max(1)).collect();
        if !bounds.is_sorted() || bounds.len() + 1 != children.len() {
            return children;
        }
        let origin = vec![0; block.rank()];
        let leads = |i: usize| {
            let first = block.first_from(if i == 0 { &origin } else { bounds[i - 1] });
            first.is_some_and(|first| bounds.get(i).is_none_or(|end| first[..] < **end))
        };
        (0..).zip(children).filter(|(i, _)| leads(*i)).map(|(_, child)| child).collect()
    }

    /// A chunk stored at `addr`, with size and mask as the index says them.
    fn place(&self, number: u64, addr: Addr, size: Option<u64>, filter_mask: u32) -> ChunkPlace {
        match size {
            Some(size) if self.filtered => ChunkPlace { number, addr, size, filter_mask },
            _ => ChunkPlace { number, addr, size: self.chunk_bytes, filter_mask: 0 },
        }
    }

    fn numbering(&self, front: Option<usize>) -> Result<Numbering> {
        let numbering = Numbering::new(self.layout.shape(), self.max_shape, front, &self.grid)?;
        Ok(match &self.within {
            Some(block) => numbering.within(block),
            None => numbering,
        })
    }
}
