//! Carrying out plans: one copy loop over the transfers, in parallel over chunks where there is much to move.
//!
//! Chunks of one destination slab lie one behind the other, so each can be written by another thread. A result that is
//! read is cut into bands along its first real dimension. Transfers that reach beyond a trimmed slab are cut.

use crate::error::{Error, Result};
use crate::selection::{AxisTransfer, ChunkSelection, Destination, STREAM, Source, Steps, Transfer, shape};
use crate::stage::parallel::{each, threads};
use crate::stage::plan::{Cell, GetItemPlan, Side, TransferPlan};
use crate::stage::slabs::{BaseSlab, Memory};
use crate::stage::texts::Texts;

/// Bytes below which threads cost more than they bring.
const PARALLEL: usize = 1 << 20;

/// Where elements come from.
#[derive(Clone, Copy)]
pub(crate) enum From<'a> {
    /// The full slab: one element.
    Fill(&'a [u8]),
    Memory(Memory<'a>),
    Value(Value<'a>),
    Base(&'a dyn BaseSlab),
}

/// A value that is written, in the array's rank.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) shape: &'a [u64],
    /// For each dimension whether one element stands for all.
    pub(crate) broadcast: &'a [bool],
}

/// Cuts a transfer to what a source and a destination of these shapes have. `false` if nothing is left.
fn clip(axes: &mut [AxisTransfer], source: Option<&[u64]>, destination: Option<&[u64]>) -> bool {
    let room = |start: u64, stride: i64, size: u64| match size.saturating_sub(start) {
        0 => 0,
        left if stride == 1 => left,
        _ if stride <= 0 => u64::MAX,
        left => left.div_ceil(stride.unsigned_abs()),
    };
    for (n, axis) in axes.iter_mut().enumerate() {
        if let Some(shape) = source {
            axis.count = axis.count.min(room(axis.source_start, axis.source_stride, shape[n]));
        }
        if let Some(shape) = destination {
            axis.count = axis.count.min(room(axis.destination_start, axis.destination_stride, shape[n]));
        }
    }
    axes.iter().all(|axis| axis.count > 0)
}

/// The row-major array that elements come from, and the transfer in its coordinates; `None` if nothing is left of it.
fn absolute<'a>(from: &From<'a>, axes: &mut [AxisTransfer], to: &[u64]) -> Result<Option<Source<'a>>> {
    const ONE: [u64; shape::MAX_RANK] = [1; shape::MAX_RANK];
    let (own, source) = match from {
        From::Memory(memory) => (Some(memory.shape), Source { bytes: memory.bytes, shape: memory.array }),
        From::Fill(element) => (None, Source { bytes: element, shape: &ONE[..axes.len()] }),
        From::Value(value) => (None, Source { bytes: value.bytes, shape: value.shape }),
        From::Base(_) => return Err(Error::invalid("a base slab is read in one go")),
    };
    if !clip(axes, own, Some(to)) {
        return Ok(None);
    }
    match from {
        From::Memory(memory) => {
            axes.iter_mut().zip(memory.start).for_each(|(axis, start)| axis.source_start += start);
        }
        From::Fill(_) => axes.iter_mut().for_each(|axis| (axis.source_start, axis.source_stride) = (0, 0)),
        From::Value(value) => {
            let broadcast = axes.iter_mut().zip(value.broadcast).filter(|(_, one)| **one);
            broadcast.for_each(|(axis, _)| (axis.source_start, axis.source_stride) = (0, 0));
        }
        From::Base(_) => {}
    }
    Ok(Some(source))
}

/// A slab that is written: its bytes, the row-major array they are, and the slab's shape within it.
pub(crate) struct To<'a> {
    pub(crate) bytes: &'a mut [u8],
    pub(crate) array: &'a [u64],
    pub(crate) shape: &'a [u64],
    /// The row of the slab at which the bytes begin.
    pub(crate) first: u64,
}

/// What all steps of one execution share.
pub(crate) struct Job<'a> {
    pub(crate) selections: &'a [ChunkSelection],
    pub(crate) chunk: &'a [u64],
    pub(crate) size: usize,
    pub(crate) texts: &'a Texts,
}

/// Transfers on their way to one destination. One that does the same as the last, as far on as that was from the one
/// before, becomes part of it: neighbouring chunks move as one.
struct Joining<'a> {
    bytes: &'a mut [u8],
    shape: &'a [u64],
    size: usize,
    /// Whether what moves in all is too much for the cache.
    streams: bool,
    source: Option<&'a [u8]>,
    held: Steps,
    next: Steps,
    done: Result<()>,
}

impl<'a> Joining<'a> {
    /// For elements of so many bytes, and so many bytes in all.
    fn new(bytes: &'a mut [u8], shape: &'a [u64], (size, all): (usize, usize)) -> Self {
        let (held, next) = (Steps::default(), Steps::default());
        Joining { bytes, shape, size, streams: all >= STREAM, source: None, held, next, done: Ok(()) }
    }

    /// Takes a transfer from `from`, whose coordinates are those of a slab or value.
    fn push(&mut self, from: &From<'a>, axes: &mut [AxisTransfer]) {
        if let Err(error) = self.try_push(from, axes) {
            self.done = Err(error);
        }
    }

    fn try_push(&mut self, from: &From<'a>, axes: &mut [AxisTransfer]) -> Result<()> {
        let Some(source) = absolute(from, axes, self.shape)? else { return Ok(()) };
        let (from, to) = ((source.shape, source.bytes.len()), (self.shape, self.bytes.len()));
        if self.next.set(axes, from, to, self.size)? {
            let same = self.source.is_some_and(|held| std::ptr::eq(held, source.bytes));
            if !(same && self.held.joins(&self.next)) {
                self.flush();
                self.held.take(&self.next);
                self.source = Some(source.bytes);
            }
        }
        Ok(())
    }

    fn flush(&mut self) {
        if let Some(source) = self.source.take() {
            self.held.run(source, self.bytes, (self.size, self.streams));
        }
    }

    fn finish(mut self) -> Result<()> {
        self.flush();
        self.done
    }
}

impl Job<'_> {
    /// Carries out `plans`, whose destination is one slab: in each cells are sorted by row, and no two share one.
    pub(crate) fn to_slab(&self, plans: &[(&TransferPlan, From<'_>)], to: To<'_>) -> Result<()> {
        for (plan, from) in plans {
            if let From::Base(base) = from {
                let transfers = self.listed(plan, base.shape(), to.shape);
                base.read(&transfers, Destination { bytes: &mut *to.bytes, shape: to.array }, self.texts)?;
            }
        }
        let (row, chunk) = (row_bytes(to.array, self.size), shape::index(self.chunk[0]));
        let cells: usize = plans.iter().map(|(plan, _)| plan.cells.len()).sum();
        let (batch, bytes) = (batch_len(cells, chunk * row), cells * chunk * row);
        if batch >= cells {
            return plans.iter().try_for_each(|plan| {
                let to = To { bytes: &mut *to.bytes, ..to };
                self.cells_to_slab(plan, &plan.0.cells, to, bytes)
            });
        }
        // Each batch of cells gets its part of the slab.
        let (mut rest, mut at, mut parts) = (to.bytes, 0, vec![]);
        for (plan, cells) in plans.iter().flat_map(|plan| plan.0.cells.chunks(batch).map(move |cells| (plan, cells))) {
            let (first, last) = (cells[0].destination_row, cells[cells.len() - 1].destination_row);
            let start = (shape::index(first) * row).clamp(at, at + rest.len());
            let behind = std::mem::take(&mut rest).split_at_mut(start - at).1;
            let len = (shape::index(last - first + self.chunk[0]) * row).min(behind.len());
            let (part, behind) = behind.split_at_mut(len);
            parts.push((plan, cells, part));
            (rest, at) = (behind, start + len);
        }
        each(parts, |(plan, cells, part)| {
            let first = cells[0].destination_row;
            let (mut shape, mut array) = ([0; shape::MAX_RANK], [0; shape::MAX_RANK]);
            let (shape, array) = (&mut shape[..to.shape.len()], &mut array[..to.array.len()]);
            shape.copy_from_slice(to.shape);
            array.copy_from_slice(to.array);
            shape[0] = to.shape[0].saturating_sub(first);
            array[0] = (part.len() / row.max(1)) as u64;
            self.cells_to_slab(plan, cells, To { bytes: part, array, shape, first }, bytes)
        })
    }

    /// Moves `cells` of a plan to a slab or a part of it, where `bytes` move in all.
    fn cells_to_slab(
        &self,
        (plan, from): &(&TransferPlan, From<'_>),
        cells: &[Cell],
        to: To<'_>,
        bytes: usize,
    ) -> Result<()> {
        if let From::Base(_) = from {
            return Ok(());
        }
        let mut joining = Joining::new(to.bytes, to.array, (self.size, bytes));
        let mut axes = Vec::with_capacity(to.shape.len());
        for cell in cells {
            plan.each_in(self.selections, cell, &mut axes, |axes| {
                axes[0].destination_start -= to.first;
                if clip(axes, None, Some(to.shape)) {
                    joining.push(from, axes);
                }
            });
        }
        joining.finish()
    }

    /// The transfers of `plan`, cut to the shapes of both sides.
    fn listed(&self, plan: &TransferPlan, source: &[u64], destination: &[u64]) -> Vec<Transfer> {
        let (mut transfers, mut axes) = (vec![], vec![]);
        for cell in &plan.cells {
            plan.each_in(self.selections, cell, &mut axes, |axes| {
                if clip(axes, Some(source), Some(destination)) {
                    transfers.push(Transfer { axes: axes.to_vec() });
                }
            });
        }
        transfers
    }

    /// Carries out `plan`: base slabs that are not memory first, each in one go, then everything else.
    pub(crate) fn to_result<'a>(
        &self,
        plan: &'a GetItemPlan,
        out: &mut [u8],
        from: impl Fn(usize) -> Result<From<'a>>,
    ) -> Result<()> {
        let mut others = Vec::with_capacity(plan.transfers.len());
        for transfers in &plan.transfers {
            let Side::Slab(slab) = transfers.source else { continue };
            match from(slab)? {
                From::Base(base) => {
                    let listed = self.listed(transfers, base.shape(), &plan.aligned_shape);
                    base.read(&listed, Destination { bytes: out, shape: &plan.aligned_shape }, self.texts)?;
                }
                memory @ (From::Fill(_) | From::Memory(_) | From::Value(_)) => others.push((transfers, memory)),
            }
        }
        let all = (self.size, out.len());
        let one = |n: usize| others[n].0.cells.iter().map(move |cell| (n, cell));
        let Some(bands) = Bands::new(plan, self.chunk, (out.len(), self.size)) else {
            let mut joining = Joining::new(out, &plan.aligned_shape, all);
            let mut axes = Vec::with_capacity(plan.aligned_shape.len());
            for (n, cell) in (0..others.len()).flat_map(one) {
                let (transfers, memory) = &others[n];
                transfers.each_in(self.selections, cell, &mut axes, |axes| joining.push(memory, axes));
            }
            return joining.finish();
        };
        let mut buckets: Vec<Vec<(usize, &Cell)>> = vec![vec![]; bands.count(out.len())];
        for (n, cell) in (0..others.len()).flat_map(one) {
            bands.of(&self.selections[0], cell.touched).for_each(|band| buckets[band].push((n, cell)));
        }
        let parts: Vec<_> = buckets.into_iter().zip(out.chunks_mut(bands.bytes)).enumerate().collect();
        each(parts, |(band, (mut bucket, part))| {
            // In the order of the result's memory, whatever slabs the chunks are on.
            bucket.sort_unstable_by_key(|(_, cell)| cell.touched);
            let (low, mut shape) = (band as u64 * bands.len, plan.aligned_shape.clone());
            shape[bands.axis] = bands.len.min(shape[bands.axis] - low);
            let mut axes = Vec::with_capacity(shape.len());
            let mut joining = Joining::new(part, &shape, all);
            for (n, cell) in bucket {
                let (transfers, memory) = &others[n];
                transfers.each_in(self.selections, cell, &mut axes, |axes| {
                    if cut(&mut axes[bands.axis], low, shape[bands.axis]) {
                        joining.push(memory, axes);
                    }
                });
            }
            joining.finish()
        })
    }
}

/// The bytes of a row of a slab.
fn row_bytes(array: &[u64], size: usize) -> usize {
    array[1..].iter().map(|n| shape::index(*n)).product::<usize>() * size
}

/// How many chunks of `bytes` one thread should take at a time.
fn batch_len(chunks: usize, bytes: usize) -> usize {
    if chunks.saturating_mul(bytes) < PARALLEL || threads() == 1 {
        return chunks.max(1);
    }
    chunks.div_ceil(4 * threads()).max(1)
}

/// Cuts one dimension to destinations in `[low, low + len)` and counts them from `low`. `false` if nothing is left.
fn cut(axis: &mut AxisTransfer, low: u64, len: u64) -> bool {
    let (step, start) = (i128::from(axis.destination_stride), i128::from(axis.destination_start));
    let (low, high) = (i128::from(low), i128::from(low) + i128::from(len));
    let (first, end) = if step > 0 {
        (
            (low - start).div_euclid(step) + i128::from((low - start).rem_euclid(step) != 0),
            (high - 1 - start).div_euclid(step) + 1,
        )
    } else {
        let down = -step;
        ((start - high).div_euclid(down) + 1, (start - low).div_euclid(down) + 1)
    };
    let (first, end) = (first.max(0), end.min(i128::from(axis.count)));
    if first >= end {
        return false;
    }
    let fits = |n: i128| u64::try_from(n).expect("within the transfer");
    axis.source_start = fits(i128::from(axis.source_start) + first * i128::from(axis.source_stride));
    axis.destination_start = fits(start + first * step - low);
    axis.count = fits(end - first);
    true
}

/// A result cut along a dimension.
struct Bands {
    axis: usize,
    /// Elements of the dimension per band, and bytes.
    len: u64,
    bytes: usize,
}

impl Bands {
    /// How to cut the result of `plan`, of `len` bytes; `None` if it is not worth it.
    fn new(plan: &GetItemPlan, chunk: &[u64], (len, size): (usize, usize)) -> Option<Bands> {
        let threads = threads();
        plan.selections.first()?.axes()?;
        if len < PARALLEL {
            return None;
        }
        let axis = plan.aligned_shape.iter().position(|n| *n > 1)?;
        let bands = plan.aligned_shape[axis].min(4 * threads as u64);
        let rows = plan.aligned_shape[axis].div_ceil(bands).next_multiple_of(chunk[axis]);
        let unit: u64 = plan.aligned_shape[axis + 1..].iter().product();
        Some(Bands { axis, len: rows, bytes: shape::index(rows * unit) * size })
    }

    fn count(&self, len: usize) -> usize {
        len.div_ceil(self.bytes)
    }

    /// The bands that a touched chunk has elements in.
    fn of(&self, selection: &ChunkSelection, touched: u64) -> std::ops::RangeInclusive<usize> {
        let axes = selection.axes().unwrap_or(&[]);
        let inner: u64 = axes[self.axis + 1..].iter().map(|axis| axis.len()).product();
        let axis = &axes[self.axis];
        let place = touched / inner % axis.len();
        let (mut low, mut high) = (u64::MAX, 0);
        for piece in (0..axis.pieces(place)).filter_map(|n| axis.piece(place, n)) {
            let reach = (piece.count - 1) * piece.value_step.unsigned_abs();
            let first = if piece.value_step < 0 { piece.value_start - reach } else { piece.value_start };
            (low, high) = (low.min(first), high.max(first + reach));
        }
        shape::index(low / self.len)..=shape::index(high / self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_a_dimension_keeps_the_elements_of_the_band() {
        for (start, stride, count) in [(3u64, 1i64, 9u64), (2, 3, 5), (14, -1, 11), (13, -4, 4)] {
            for (low, len) in [(0, 4), (4, 5), (9, 7)] {
                let axis = AxisTransfer {
                    source_start: 100,
                    destination_start: start,
                    count,
                    source_stride: 2,
                    destination_stride: stride,
                };
                let at = |from: u64, k: u64, by: i64| from.checked_add_signed(i64::try_from(k).unwrap() * by).unwrap();
                let list = |a: &AxisTransfer, low: u64| -> Vec<(u64, u64)> {
                    let one = |k| (at(a.source_start, k, 2), low + at(a.destination_start, k, stride));
                    (0..a.count).map(one).collect()
                };
                let mut expected = list(&axis, 0);
                expected.retain(|(_, to)| (low..low + len).contains(to));
                let mut part = axis;
                let found = if cut(&mut part, low, len) { list(&part, low) } else { vec![] };
                assert_eq!(found, expected);
            }
        }
    }
}
