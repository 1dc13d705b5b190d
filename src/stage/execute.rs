//! Carrying out plans: one copy loop over the transfers, in parallel over chunks where there is much to move.
//!
//! Chunks of one destination slab lie one behind the other, so each can be written by another thread. A result that is
//! read is cut into bands along its first real dimension. Transfers that reach beyond a trimmed slab are cut.

use crate::convert::cast::cast_to;
use crate::convert::element::ElementType;
use crate::error::{Error, Result};
use crate::selection::{AxisTransfer, ChunkSelection, Destination, STREAM, Source, Steps, Transfer, shape};
use crate::stage::parallel::{each, threads};
use crate::stage::plan::{Cell, GetItemPlan, TransferPlan};
use crate::stage::slabs::{BaseSlab, Memory};
use crate::stage::texts::Texts;

/// Bytes below which threads cost more than they bring.
const PARALLEL: usize = 1 << 20;

/// Bytes that are cast at a time on their way to a result, so that they stay in the cache between.
const AT_ONCE: usize = 1 << 17;

/// Where elements come from.
#[derive(Clone, Copy)]
pub(crate) enum From<'a> {
    /// The full slab: one element.
    Fill(&'a [u8]),
    Memory(Memory<'a>),
    /// The same, of elements that are still to be cast from this type.
    Before(Memory<'a>, &'a ElementType),
    Value(Value<'a>),
    Base(&'a dyn BaseSlab),
}

/// A value that is written, in the array's rank.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(crate) bytes: &'a [u8],
    /// Where it is 1, one element stands for all.
    pub(crate) shape: &'a [u64],
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
        From::Memory(memory) | From::Before(memory, _) => {
            (Some(memory.shape), Source { bytes: memory.bytes, shape: memory.array })
        }
        From::Fill(element) => (None, Source { bytes: element, shape: &ONE[..axes.len()] }),
        From::Value(value) => (None, Source { bytes: value.bytes, shape: value.shape }),
        From::Base(_) => return Err(Error::invalid("a base slab is read in one go")),
    };
    if !clip(axes, own, Some(to)) {
        return Ok(None);
    }
    match from {
        From::Memory(memory) | From::Before(memory, _) => {
            axes.iter_mut().zip(memory.start).for_each(|(axis, start)| axis.source_start += start);
        }
        From::Fill(_) => axes.iter_mut().for_each(|axis| (axis.source_start, axis.source_stride) = (0, 0)),
        From::Value(value) => {
            let broadcast = axes.iter_mut().zip(value.shape).filter(|(_, own)| **own == 1);
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
}

/// What all steps of one execution share.
pub(crate) struct Job<'a> {
    pub(crate) selections: &'a [ChunkSelection],
    pub(crate) chunk: &'a [u64],
    pub(crate) element: &'a ElementType,
    pub(crate) texts: &'a Texts,
}

/// Transfers on their way to one destination. One that does the same as the last, as far on as that was from the one
/// before, becomes part of it: neighbouring chunks move as one.
struct Joining<'a, 'b> {
    bytes: &'b mut [u8],
    shape: &'b [u64],
    size: usize,
    /// Whether what moves in all is too much for the cache.
    streams: bool,
    source: Option<&'a [u8]>,
    held: Steps,
    next: Steps,
    done: Result<()>,
}

impl<'a, 'b> Joining<'a, 'b> {
    /// For elements of so many bytes, and so many bytes in all.
    fn new(Destination { bytes, shape }: Destination<'b>, (size, all): (usize, usize)) -> Self {
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

/// A plan and where its elements come from.
pub(crate) type Flow<'a> = (&'a TransferPlan, From<'a>);

/// All cells of some plans, in order.
fn cells<'a>(flows: &'a [Flow<'a>]) -> impl Iterator<Item = (&'a Flow<'a>, &'a Cell)> {
    flows.iter().flat_map(|flow| flow.0.cells.iter().map(move |cell| (flow, cell)))
}

impl Job<'_> {
    /// Carries out plans whose destination is one slab: in each cells are sorted by row, and no two share one.
    pub(crate) fn to_slab(&self, mut flows: Vec<Flow<'_>>, to: To<'_>) -> Result<()> {
        let size = self.element.size();
        self.read_bases(&mut flows, Destination { bytes: &mut *to.bytes, shape: to.array }, to.shape)?;
        let (row, chunk) = (row_bytes(to.array, size), shape::index(self.chunk[0]));
        let count: usize = flows.iter().map(|(plan, _)| plan.cells.len()).sum();
        let (batch, bytes) = (batch_len(count, chunk * row), count * chunk * row);
        if batch >= count {
            let destination = Destination { bytes: to.bytes, shape: to.array };
            return self.move_to(cells(&flows), destination, (size, bytes), |axes| clip(axes, None, Some(to.shape)));
        }
        // Each batch of cells gets its part of the slab.
        let mut all: Vec<_> = cells(&flows).collect();
        let (mut rest, mut at, mut parts) = (to.bytes, 0, vec![]);
        for cells in all.chunks_mut(batch) {
            let (first, last) = (cells[0].1.destination_row, cells[cells.len() - 1].1.destination_row);
            let start = (shape::index(first) * row).clamp(at, at + rest.len());
            let behind = std::mem::take(&mut rest).split_at_mut(start - at).1;
            let len = (shape::index(last - first + self.chunk[0]) * row).min(behind.len());
            let (part, behind) = behind.split_at_mut(len);
            parts.push((first, cells, part));
            (rest, at) = (behind, start + len);
        }
        each(parts, |(first, cells, part)| {
            // In the order of the grid: columns of chunks that come from one array have lines of the cache in common.
            cells.sort_unstable_by_key(|(_, cell)| cell.touched);
            let (mut shape, mut array) = (to.shape.to_vec(), to.array.to_vec());
            shape[0] = to.shape[0].saturating_sub(first);
            array[0] = (part.len() / row.max(1)) as u64;
            let destination = Destination { bytes: part, shape: &array };
            self.move_to(cells.iter().copied(), destination, (size, bytes), |axes| {
                axes[0].destination_start -= first;
                clip(axes, None, Some(&shape))
            })
        })
    }

    /// Moves the elements of `cells`, each of so many bytes and so many bytes in all, as far as `cut` leaves something of
    /// a transfer.
    fn move_to<'a>(
        &self,
        cells: impl Iterator<Item = (&'a Flow<'a>, &'a Cell)>,
        destination: Destination<'_>,
        bytes: (usize, usize),
        cut: impl Fn(&mut [AxisTransfer]) -> bool,
    ) -> Result<()> {
        let mut axes = Vec::with_capacity(destination.shape.len());
        let mut joining = Joining::new(destination, bytes);
        for ((plan, from), cell) in cells {
            plan.each_in(self.selections, cell, &mut axes, |axes| {
                if cut(axes) {
                    joining.push(from, axes);
                }
            });
        }
        joining.finish()
    }

    /// Reads what comes from base slabs that are not memory, each in one go, and takes it out of `flows`. Elements go to
    /// the first, of `shape`, of `destination`.
    fn read_bases(&self, flows: &mut Vec<Flow<'_>>, destination: Destination<'_>, shape: &[u64]) -> Result<()> {
        let Destination { bytes, shape: array } = destination;
        for (plan, from) in flows.extract_if(.., |(_, from)| matches!(from, From::Base(_))) {
            if let From::Base(base) = from {
                let listed = self.listed(plan, base.shape(), shape);
                base.read(&listed, Destination { bytes, shape: array }, self.texts)?;
            }
        }
        Ok(())
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

    /// Carries out `plan`: what is still to be cast, then base slabs that are not memory, each in one go, then
    /// everything else.
    pub(crate) fn to_result(&self, plan: &GetItemPlan, mut flows: Vec<Flow<'_>>, out: &mut [u8]) -> Result<()> {
        let before = |(_, from): &Flow<'_>| match from {
            From::Before(_, element) => Some((*element).clone()),
            From::Fill(_) | From::Memory(_) | From::Value(_) | From::Base(_) => None,
        };
        if let Some(element) = flows.iter().find_map(before) {
            // All of one type: that which the array had.
            let uncast: Vec<_> = flows.extract_if(.., |flow| before(flow).is_some()).collect();
            self.to_bands(plan, &uncast, out, &element)?;
        }
        let shape = &plan.aligned_shape;
        self.read_bases(&mut flows, Destination { bytes: &mut *out, shape }, shape)?;
        self.to_bands(plan, &flows, out, self.element)
    }

    /// Moves elements of type `before` to a result, in bands on several threads where that is worth it.
    fn to_bands(&self, plan: &GetItemPlan, flows: &[Flow<'_>], out: &mut [u8], before: &ElementType) -> Result<()> {
        let (all, shape) = (out.len(), &plan.aligned_shape);
        let uncast = if before == self.element { 0 } else { all / self.element.size() * before.size() };
        let bands = (uncast / AT_ONCE).max(4 * threads()) as u64;
        let Some(bands) = Bands::new(plan, self.chunk, (all, self.element.size()), bands) else {
            return self.to_band(cells(flows), (out, shape, all), before, |_| true);
        };
        let mut buckets: Vec<Vec<(&Flow<'_>, &Cell)>> = vec![vec![]; bands.count(all)];
        for (flow, cell) in cells(flows) {
            bands.of(&self.selections[0], cell.touched).for_each(|band| buckets[band].push((flow, cell)));
        }
        let parts: Vec<_> = buckets.into_iter().zip(out.chunks_mut(bands.bytes)).enumerate().collect();
        each(parts, |(band, (mut bucket, part))| {
            // In the order of the result's memory, whatever slabs the chunks are on.
            bucket.sort_unstable_by_key(|(_, cell)| cell.touched);
            let (low, mut shape) = (band as u64 * bands.len, shape.clone());
            shape[bands.axis] = bands.len.min(shape[bands.axis] - low);
            let len = shape[bands.axis];
            self.to_band(bucket.into_iter(), (part, &shape, all), before, |axes| cut(&mut axes[bands.axis], low, len))
        })
    }

    /// Moves elements of type `before` to a part of a result of `all` bytes. If they are to be cast, the whole part is:
    /// what else belongs there comes later.
    fn to_band<'a>(
        &self,
        cells: impl Iterator<Item = (&'a Flow<'a>, &'a Cell)>,
        (part, shape, all): (&mut [u8], &[u64], usize),
        before: &ElementType,
        cut: impl Fn(&mut [AxisTransfer]) -> bool,
    ) -> Result<()> {
        if before == self.element {
            return self.move_to(cells, Destination { bytes: part, shape }, (before.size(), all), cut);
        }
        let mut uncast = vec![0; part.len() / self.element.size() * before.size()];
        let all = uncast.len();
        self.move_to(cells, Destination { bytes: &mut uncast, shape }, (before.size(), all), cut)?;
        cast_to(&uncast, before, part, self.element)
    }
}

/// The bytes of a row of a slab.
fn row_bytes(array: &[u64], size: usize) -> usize {
    array[1..].iter().map(|n| shape::index(*n)).product::<usize>() * size
}

/// How many chunks of `bytes` one thread should take at a time.
fn batch_len(chunks: usize, bytes: usize) -> usize {
    if chunks.saturating_mul(bytes) < PARALLEL {
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
    /// How to cut the result of `plan`, of `len` bytes, into about so many; `None` if it is not worth it.
    fn new(plan: &GetItemPlan, chunk: &[u64], (len, size): (usize, usize), bands: u64) -> Option<Bands> {
        plan.selections.first()?.axes()?;
        if len < PARALLEL {
            return None;
        }
        let axis = plan.aligned_shape.iter().position(|n| *n > 1)?;
        let bands = plan.aligned_shape[axis].min(bands);
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
