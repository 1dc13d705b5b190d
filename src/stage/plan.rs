//! Plans: what an operation on a staged array will do, as plain data that can be printed, compared and kept.
//!
//! ```text
//! SetItemPlan
//!   slabs.append(empty((6, 2)))  # slabs[2]
//!   # 3 transfers from slabs[1] to slabs[2]
//!   slabs[2][0:2, 0:2] = slabs[1][10:12, 0:2]
//!   ...
//! ```
//! A plan holds no element and no slab. Boxes are computed when asked for: a chunk costs 24 bytes per transfer.

use crate::selection::{AxisTransfer, Block, ChunkSelection, Grid, Transfer};

/// One end of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Side {
    /// A slab of the array, by number.
    Slab(usize),
    /// The value that is written.
    Value,
    /// The result that is read.
    Result,
}

/// Which elements of a chunk move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Part {
    /// Those that are selected.
    Selected,
    /// All within the array's shape.
    Whole,
}

/// A chunk that takes part in a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cell {
    /// Which of the chunks that the plan's selection touches.
    pub touched: u64,
    /// The row of the source slab at which it begins (0 if the source is no slab).
    pub source_row: u64,
    /// The row of the destination slab at which it begins (0 if the destination is no slab).
    pub destination_row: u64,
}

/// All elements that move between one source and one destination.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TransferPlan {
    /// Where from.
    pub source: Side,
    /// Where to.
    pub destination: Side,
    /// Which elements of each chunk.
    pub part: Part,
    /// Which of the plan's selections the cells count in.
    pub selection: usize,
    /// Whether the chunks live at the destination afterwards.
    pub moves: bool,
    /// The chunks, in order.
    pub cells: Vec<Cell>,
}

impl TransferPlan {
    /// Calls `each` with the transfers of `cell`, in order. Slab coordinates are those of the whole slab.
    pub fn each_transfer(&self, selections: &[ChunkSelection], cell: &Cell, each: impl FnMut(&mut [AxisTransfer])) {
        self.each_in(selections, cell, &mut vec![], each);
    }

    pub(crate) fn each_in(
        &self,
        selections: &[ChunkSelection],
        cell: &Cell,
        axes: &mut Vec<AxisTransfer>,
        mut each: impl FnMut(&mut [AxisTransfer]),
    ) {
        let selection = &selections[self.selection];
        let mut finish = |axes: &mut [AxisTransfer]| {
            self.orient(axes, cell);
            each(axes);
        };
        match self.part {
            Part::Selected => selection.each_transfer(cell.touched, axes, finish),
            Part::Whole => {
                selection.whole_chunk(cell.touched, axes);
                finish(axes);
            }
        }
    }

    /// From chunk coordinates and result coordinates to those of the two sides.
    fn orient(&self, axes: &mut [AxisTransfer], cell: &Cell) {
        for axis in axes.iter_mut() {
            match (self.source, self.destination) {
                (_, Side::Result) => {}
                (Side::Value, _) => {
                    (axis.source_start, axis.destination_start) = (axis.destination_start, axis.source_start);
                    (axis.source_stride, axis.destination_stride) = (axis.destination_stride, axis.source_stride);
                }
                (Side::Slab(_) | Side::Result, _) => {
                    (axis.destination_start, axis.destination_stride) = (axis.source_start, axis.source_stride);
                }
            }
        }
        if let Some(first) = axes.first_mut() {
            first.source_start += cell.source_row;
            first.destination_start += cell.destination_row;
        }
    }

    /// All its transfers, in order.
    pub fn transfers(&self, selections: &[ChunkSelection]) -> Vec<Transfer> {
        let mut transfers = Vec::with_capacity(self.cells.len());
        for cell in &self.cells {
            self.each_transfer(selections, cell, |axes| transfers.push(Transfer { axes: axes.to_vec() }));
        }
        transfers
    }

    /// How many transfers there are.
    pub fn count(&self, selections: &[ChunkSelection]) -> usize {
        match self.part {
            Part::Selected => {
                let selection = &selections[self.selection];
                self.cells.iter().map(|cell| selection.transfer_count(cell.touched)).sum()
            }
            Part::Whole => self.cells.len(),
        }
    }
}

/// What happens to the slabs: first new ones are appended, then elements move, then slabs shrink and are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SlabChanges {
    /// The number that the first new slab gets.
    pub first: usize,
    /// The shapes of the new slabs.
    pub append: Vec<Vec<u64>>,
    /// What the cells of the transfers count in.
    pub selections: Vec<ChunkSelection>,
    /// Elements that move, in order.
    pub transfers: Vec<TransferPlan>,
    /// Slabs that lose rows at their end, and how many they keep.
    pub shrink: Vec<(usize, u64)>,
    /// Slabs that are given up.
    pub drop: Vec<usize>,
}

impl SlabChanges {
    /// Whether nothing happens.
    pub fn is_empty(&self) -> bool {
        self.append.is_empty() && self.transfers.is_empty() && self.shrink.is_empty() && self.drop.is_empty()
    }
}

/// Reading a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GetItemPlan {
    /// The shape of the result.
    pub output_shape: Vec<u64>,
    /// The same in the array's rank: dropped dimensions have one element.
    pub aligned_shape: Vec<u64>,
    /// For each dimension of the array whether the result has it.
    pub kept: Vec<bool>,
    /// What the cells count in: the chunks of the selection.
    pub selections: Vec<ChunkSelection>,
    /// Elements that are copied to the result.
    pub transfers: Vec<TransferPlan>,
}

/// Writing a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SetItemPlan {
    /// The shape that the value is broadcast to.
    pub value_shape: Vec<u64>,
    /// For each dimension of the array whether the value has it.
    pub kept: Vec<bool>,
    /// What happens to the slabs.
    pub changes: SlabChanges,
}

/// Loading all base chunks into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoadPlan {
    /// What happens to the slabs.
    pub changes: SlabChanges,
}

/// Changing the shape.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ResizePlan {
    /// The new shape.
    pub shape: Vec<u64>,
    /// Trimmed slabs that are first padded to whole chunks, because the array grows beyond them.
    pub untrimmed: Vec<usize>,
    /// What happens to the slabs.
    pub changes: SlabChanges,
}

/// Where the chunks are that differ from fill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChangesPlan {
    /// One entry per chunk that is not on the full slab, row-major over the grid.
    pub changes: Vec<Change>,
}

/// A chunk that is not on the full slab.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Change {
    /// The part of the array it covers.
    pub block: Block,
    /// The slab that holds it.
    pub slab: usize,
    /// The row at which it begins there.
    pub row: u64,
}

/// A chunk that is to be hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HashCell {
    /// The chunk's number in the grid; `None` for the chunk of the full slab.
    pub chunk: Option<u64>,
    /// The slab that holds it.
    pub slab: usize,
    /// The row at which it begins there.
    pub row: u64,
}

/// Hashing all chunks whose hash is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HashPlan {
    /// The grid, for the extents of the chunks.
    pub grid: Grid,
    /// The chunks, by slab and row.
    pub cells: Vec<HashCell>,
}

impl HashPlan {
    /// The extent of a chunk: smaller than a chunk at the array's edge.
    pub fn extent(&self, cell: &HashCell) -> Vec<u64> {
        match cell.chunk.and_then(|number| self.grid.coordinates(number)) {
            Some(coordinates) => self.grid.block(&coordinates).count,
            None => self.grid.chunk_shape().to_vec(),
        }
    }
}

/// Storing what is new and forgetting the staged slabs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CommitPlan {
    /// The new base slab, if anything survives, and what goes there.
    pub changes: SlabChanges,
    /// Where each staged chunk is afterwards: its number in the grid, slab and row.
    pub redirected: Vec<(u64, usize, u64)>,
    /// For each chunk of the new slab which cell of the hash plan it was.
    pub stored: Vec<usize>,
}
