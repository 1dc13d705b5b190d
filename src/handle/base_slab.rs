//! Datasets as the base of staged arrays.
//!
//! ```text
//! dataset [4, 5] in chunks [2, 3]          the slab, [8, 3]: chunk n begins at row 2 n
//!
//! 0 0 0 1 1                                0 0 0
//! 0 0 0 1 1                                0 0 0
//! 2 2 2 3 3                                1 1 .
//! 2 2 2 3 3                                1 1 .      ...
//! ```

use std::ops::Range;

use super::dataset::Dataset;
use super::element_type::element_type;
use crate::convert::element::ElementType;
use crate::error::{Error, Result};
use crate::selection::{AxisTransfer, Block, Destination, Grid, Source, Transfer, copy, shape};
use crate::stage::parallel::{map_all, threads};
use crate::stage::{BaseSlab, Texts};

/// Bytes that are held at a time on their way from the file to where they are wanted, beside one chunk per thread.
const AT_ONCE: usize = 32 << 20;

/// A dataset as a base slab: its chunks one below the other, in row-major order.
///
/// Chunk `n` begins at row `n * chunk[0]`. What lies beyond the dataset's edge in the last chunks is never written to a
/// destination.
#[derive(Clone, Debug)]
pub struct DatasetSlab {
    dataset: Dataset,
    element: ElementType,
    grid: Grid,
    shape: Vec<u64>,
}

impl DatasetSlab {
    /// `dataset` in chunks of shape `chunk`, which need not be those that it is stored in.
    ///
    /// Errors: `Invalid` for another rank, a scalar, a null dataspace or an empty chunk; `Unsupported` for elements that
    /// hold sequences of variable length; `Limit` if the chunks cannot be counted.
    pub fn new(dataset: &Dataset, chunk: &[u64]) -> Result<DatasetSlab> {
        if dataset.shape().is_empty() {
            return Err(Error::invalid("a dataset of no dimensions has no chunks"));
        }
        let element = element_type(dataset.datatype())?;
        let grid = Grid::new(dataset.shape(), chunk)?;
        let mut shape = chunk.to_vec();
        let rows = grid.len().checked_mul(chunk[0]);
        shape[0] =
            rows.ok_or_else(|| Error::limit(format!("{} chunks of shape {chunk:?} are too many", grid.len())))?;
        Ok(DatasetSlab { dataset: dataset.clone(), element, grid, shape })
    }

    /// The dataset.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The grid of chunks.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The elements of `block` of the dataset, as a buffer has them.
    fn elements(&self, block: &Block, texts: &Texts) -> Result<Vec<u8>> {
        let selected = self.dataset.select(block);
        if self.element != ElementType::Text {
            return selected.read_bytes();
        }
        let decoded: Vec<String> = selected.read()?;
        Ok(texts.numbers(decoded.iter().map(String::as_str)))
    }
}

impl BaseSlab for DatasetSlab {
    fn element(&self) -> &ElementType {
        &self.element
    }

    fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Every chunk is read once for all transfers that follow each other, several at a time.
    fn read(&self, transfers: &[Transfer], destination: Destination<'_>, texts: &Texts) -> Result<()> {
        let mut parts = vec![];
        for transfer in transfers {
            self.cut(transfer, &mut parts)?;
        }
        let reads = parts.chunk_by(|a, b| a.number == b.number).map(|parts| self.whole(parts));
        let reads: Vec<Read<'_>> = reads.collect::<Result<_>>()?;
        let (Destination { bytes, shape }, size) = (destination, self.element.size());
        let chunk = shape::count(self.grid.chunk_shape())?.saturating_mul(size as u64);
        let batch = (AT_ONCE as u64 / chunk.max(1)).max(threads() as u64);
        for reads in reads.chunks(usize::try_from(batch).unwrap_or(usize::MAX)) {
            let read = map_all(reads, |read| self.elements(&read.block, texts))?;
            for (read, elements) in reads.iter().zip(&read) {
                for part in read.parts {
                    let axes = part.within(&read.block.start);
                    let source = Source { bytes: elements, shape: &read.block.count };
                    copy(&axes, source, Destination { bytes, shape }, size)?;
                }
            }
        }
        Ok(())
    }
}

/// The part of a transfer that comes from one chunk; its source coordinates are those of the dataset.
struct Part {
    number: u64,
    axes: Vec<AxisTransfer>,
}

/// What is read for several parts of one chunk.
struct Read<'a> {
    block: Block,
    parts: &'a [Part],
}

impl Part {
    /// Its transfer, with the source counted from `origin`.
    fn within(&self, origin: &[u64]) -> Vec<AxisTransfer> {
        let mut axes = self.axes.clone();
        axes.iter_mut().zip(origin).for_each(|(axis, at)| axis.source_start -= at);
        axes
    }
}

/// The coordinates that a transfer takes along one dimension.
fn reach(axis: &AxisTransfer) -> Result<Range<u64>> {
    let far = i128::from(axis.source_start) + i128::from(axis.count - 1) * i128::from(axis.source_stride);
    let far = u64::try_from(far).map_err(|_| Error::out_of_bounds(format!("a transfer that reaches to {far}")))?;
    Ok(axis.source_start.min(far)..axis.source_start.max(far).saturating_add(1))
}

impl DatasetSlab {
    /// Cuts a transfer from the slab at the borders of chunks, and to what the dataset has of each.
    fn cut(&self, transfer: &Transfer, parts: &mut Vec<Part>) -> Result<()> {
        let rows = self.grid.chunk_shape()[0];
        let Some((first, others)) = transfer.axes.split_first() else { return Ok(()) };
        let mut left = *first;
        while left.count > 0 && others.iter().all(|axis| axis.count > 0) {
            let (number, row) = (left.source_start / rows, left.source_start % rows);
            let step = left.source_stride.unsigned_abs();
            let room = if left.source_stride < 0 { row } else { rows - 1 - row };
            let count = room.checked_div(step).map_or(left.count, |steps| left.count.min(steps + 1));
            let own = AxisTransfer { source_start: row, count, ..left };
            let coordinates = self.grid.coordinates(number);
            let block = self.grid.block(&coordinates.ok_or_else(|| Error::out_of_bounds(format!("row {row}")))?);
            let mut axes = Vec::with_capacity(transfer.axes.len());
            axes.push(own);
            axes.extend_from_slice(others);
            if clip(&mut axes, &block) {
                parts.push(Part { number, axes });
            }
            left.count -= count;
            if left.count > 0 {
                let steps = i64::try_from(count).map_err(|_| Error::limit("a transfer beyond 63 bits"))?;
                let moved = |start: u64, stride: i64| start.checked_add_signed(stride.checked_mul(steps)?);
                let outside = || Error::out_of_bounds("a transfer that reaches beyond 64 bits");
                left.source_start = moved(left.source_start, left.source_stride).ok_or_else(outside)?;
                left.destination_start = moved(left.destination_start, left.destination_stride).ok_or_else(outside)?;
            }
        }
        Ok(())
    }

    /// The smallest block that all `parts` of one chunk lie in.
    fn whole<'a>(&self, parts: &'a [Part]) -> Result<Read<'a>> {
        let (mut low, mut high) = (vec![u64::MAX; self.shape.len()], vec![0; self.shape.len()]);
        for part in parts {
            for (n, axis) in part.axes.iter().enumerate() {
                let reach = reach(axis)?;
                (low[n], high[n]) = (low[n].min(reach.start), high[n].max(reach.end));
            }
        }
        let count = high.iter().zip(&low).map(|(high, low)| high - low).collect();
        Ok(Read { block: Block { start: low, count }, parts })
    }
}

/// Cuts a transfer from a chunk to the elements that the chunk has within the dataset, which are `block`, and counts
/// them from the start of the dataset. `false` if nothing is left.
fn clip(axes: &mut [AxisTransfer], block: &Block) -> bool {
    for (axis, (&start, &count)) in axes.iter_mut().zip(block.start.iter().zip(&block.count)) {
        if axis.source_stride > 0 {
            let room = count.saturating_sub(axis.source_start).div_ceil(axis.source_stride.unsigned_abs());
            axis.count = axis.count.min(room);
        }
        axis.source_start = axis.source_start.saturating_add(start);
    }
    axes.iter().all(|axis| axis.count > 0)
}
