//! Regular hyperslabs, as HDF5 has them: along each dimension `count` blocks of `block` elements, one every `stride`.
//!
//! ```text
//! start 1, stride 4, count 3, block 2        . # # . . # # . . # # .
//! ```
//! The count may be unlimited: as many as the dimension has room for.

use crate::error::{Error, Result};
use crate::selection::block::{Block, Joined, Run};
use crate::selection::shape;

/// How many blocks a hyperslab has along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockCount {
    /// This many.
    Exactly(u64),
    /// As many as the dimension has room for; a last one that fits only in part is cut.
    Unlimited,
}

/// One dimension of a hyperslab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first element.
    pub start: u64,
    /// From the start of one block to the start of the next.
    pub stride: u64,
    /// How many blocks.
    pub count: BlockCount,
    /// Elements per block.
    pub block: u64,
}

impl Span {
    /// `count` elements from `start`.
    pub fn range(start: u64, count: u64) -> Span {
        Span { start, stride: count.max(1), count: BlockCount::Exactly(1), block: count }
    }

    /// `count` blocks of `block` elements from `start`, one every `stride`.
    pub fn blocks(start: u64, stride: u64, count: u64, block: u64) -> Span {
        Span { start, stride, count: BlockCount::Exactly(count), block }
    }
}

/// A regular hyperslab: the product of its dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hyperslab {
    axes: Vec<Axis>,
}

/// A checked dimension: `count` blocks, the last one `last` elements long; touching blocks are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Axis {
    start: u64,
    stride: u64,
    count: u64,
    block: u64,
    last: u64,
}

impl Axis {
    /// A dimension of `size` elements under `span`. A block that reaches beyond is an error unless the count is
    /// unlimited.
    fn new(span: &Span, size: u64) -> Result<Axis> {
        let Span { start, stride, count, block } = *span;
        let overlap = || Error::invalid(format!("hyperslab has blocks of {block} elements every {stride}"));
        let mut axis = match count {
            BlockCount::Exactly(count) => Axis { start, stride, count, block, last: block },
            BlockCount::Unlimited => {
                if stride == 0 || block == 0 {
                    return Err(overlap());
                }
                let room = size.saturating_sub(start);
                let count = room.div_ceil(stride);
                let last = if count == 0 { block } else { block.min(room - (count - 1) * stride) };
                Axis { start, stride, count, block, last }
            }
        };
        if axis.count == 0 || axis.block == 0 {
            return Ok(Axis { start: 0, stride: 1, count: 0, block: 0, last: 0 });
        }
        if axis.count > 1 && axis.stride < axis.block {
            return Err(overlap());
        }
        let end = (axis.count - 1).checked_mul(axis.stride).and_then(|n| n.checked_add(start)?.checked_add(axis.last));
        if end.is_none_or(|end| end > size) {
            return Err(Error::out_of_bounds(format!(
                "{} blocks of {block} elements from {start}, one every {stride}, along a dimension of {size}",
                axis.count
            )));
        }
        if axis.count == 1 || axis.stride == axis.block {
            axis.block = (axis.count - 1) * axis.stride + axis.last;
            (axis.last, axis.stride, axis.count) = (axis.block, axis.block, 1);
        }
        Ok(axis)
    }

    fn len(&self) -> u64 {
        if self.count == 0 { 0 } else { (self.count - 1) * self.block + self.last }
    }

    fn at(&self, k: u64) -> u64 {
        self.start + k / self.block * self.stride + k % self.block
    }

    fn position(&self, at: u64) -> Option<u64> {
        let from = at.checked_sub(self.start)?;
        let (block, within) = (from / self.stride.max(1), from % self.stride.max(1));
        let len = if block + 1 == self.count { self.last } else { self.block };
        (block < self.count && within < len).then(|| block * self.block + within)
    }

    /// The parts within `[low, high)`: at most a cut first block, whole blocks, a cut last block.
    fn within(&self, low: u64, high: u64) -> Vec<Axis> {
        let one =
            |start: u64, end: u64| Axis { start, stride: end - start, count: 1, block: end - start, last: end - start };
        let end = |b: u64| self.start + b * self.stride + if b + 1 == self.count { self.last } else { self.block };
        // The first block that ends behind `low`, and the number of blocks that start before `high`.
        let mut first = low.saturating_sub(self.start) / self.stride.max(1);
        if first < self.count && end(first) <= low {
            first += 1;
        }
        let mut behind = high.saturating_sub(self.start).div_ceil(self.stride.max(1)).min(self.count);
        let mut parts = vec![];
        let start = |b: u64| self.start + b * self.stride;
        if first >= behind {
            return parts;
        }
        let cut_low = start(first) < low;
        if cut_low || first + 1 == behind {
            parts.push(one(start(first).max(low), end(first).min(high)));
            first += 1;
        }
        let cut_high = first < behind && (end(behind - 1) > high || end(behind - 1) - start(behind - 1) < self.block);
        behind -= u64::from(cut_high);
        if first < behind {
            let axis = Axis { start: start(first), count: behind - first, last: self.block, ..*self };
            parts.push(if axis.count == 1 { one(axis.start, axis.start + axis.block) } else { axis });
        }
        if cut_high {
            parts.push(one(start(behind), end(behind).min(high)));
        }
        parts
    }
}

impl Hyperslab {
    /// The hyperslab `spans` of an array of `shape`.
    ///
    /// Errors: `Invalid` if the ranks differ or blocks overlap, `OutOfBounds` if it does not lie within the shape,
    /// `Limit` if its elements cannot be counted.
    pub fn new(spans: &[Span], shape: &[u64]) -> Result<Hyperslab> {
        if spans.len() != shape.len() {
            return Err(Error::invalid(format!("hyperslab of rank {} on shape {shape:?}", spans.len())));
        }
        let axes = spans.iter().zip(shape).map(|(span, &size)| Axis::new(span, size)).collect::<Result<Vec<_>>>()?;
        let counts: Vec<u64> = axes.iter().map(Axis::len).collect();
        shape::count(&counts)?;
        Ok(Hyperslab { axes })
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// How many elements it selects along each dimension.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(Axis::len).collect()
    }

    /// How many elements it selects.
    pub fn count(&self) -> u64 {
        self.axes.iter().map(Axis::len).product()
    }

    /// The smallest block that holds it; `None` if it is empty.
    pub fn bounds(&self) -> Option<Block> {
        let count = |a: &Axis| if a.count == 0 { 0 } else { (a.count - 1) * a.stride + a.last };
        let start = self.axes.iter().map(|a| a.start).collect();
        let block = Block { start, count: self.axes.iter().map(count).collect() };
        (!block.is_empty()).then_some(block)
    }

    /// Itself as a block, if it is one without gaps.
    pub fn as_block(&self) -> Option<Block> {
        self.bounds().filter(|b| b.count == self.shape())
    }

    /// The coordinates of its element number `k`, in row-major order.
    pub fn coordinates(&self, k: u64) -> Option<Vec<u64>> {
        let digits = shape::coordinates(&self.shape(), k)?;
        Some(self.axes.iter().zip(digits).map(|(axis, digit)| axis.at(digit)).collect())
    }

    /// Which of its elements lies at `coordinates`, counted in row-major order; `None` if it is not selected.
    pub fn position(&self, coordinates: &[u64]) -> Option<u64> {
        let mut k = 0;
        for (axis, &at) in self.axes.iter().zip(coordinates) {
            k = k * axis.len() + axis.position(at)?;
        }
        Some(k)
    }

    /// What lies within `block`, as hyperslabs that do not overlap (cut blocks at the edges are parts of their own).
    pub fn within(&self, block: &Block) -> Vec<Hyperslab> {
        let mut parts = vec![Hyperslab { axes: vec![] }];
        for (a, axis) in self.axes.iter().enumerate() {
            let cut = axis.within(block.start[a], block.end(a));
            let extend = |part: &Hyperslab, axis: &Axis| Hyperslab { axes: [&part.axes[..], &[*axis]].concat() };
            parts = parts.iter().flat_map(|part| cut.iter().map(move |axis| extend(part, axis))).collect();
        }
        parts
    }

    /// Its contiguous runs within a row-major array of `shape`, in order and joined where they touch.
    ///
    /// Errors: `OutOfBounds` if it does not lie within the shape, `Limit` if the shape is too large to number.
    pub fn runs(&self, shape: &[u64]) -> Result<impl Iterator<Item = Run> + use<>> {
        if let Some(bounds) = self.bounds() {
            bounds.check(shape)?;
        }
        shape::count(shape)?;
        // Dimensions that are covered wholly at the end make one longer run.
        let covered = |a: usize| self.axes[a].count == 1 && self.axes[a].block == shape[a];
        let last = (1..self.rank()).rev().find(|&a| !covered(a)).unwrap_or(0);
        let axes = if self.count() == 0 { vec![] } else { self.axes[..self.rank().min(last + 1)].to_vec() };
        let empty = self.count() == 0;
        let rows =
            Rows { at: vec![0; axes.len().saturating_sub(1)], axes, strides: shape::strides(shape)?, block: 0, empty };
        Ok(Joined::new(rows))
    }
}

/// The blocks of the last dimension, row by row.
struct Rows {
    axes: Vec<Axis>,
    strides: Vec<u64>,
    at: Vec<u64>,
    block: u64,
    empty: bool,
}

impl Iterator for Rows {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        if self.empty {
            return None;
        }
        let Some((last, outer)) = self.axes.split_last() else {
            self.empty = true;
            return Some(Run { start: 0, count: 1 });
        };
        let stride = self.strides[outer.len()];
        let row: u64 = outer.iter().zip(&self.at).zip(&self.strides).map(|((a, &k), n)| a.at(k) * n).sum();
        let start = row + (last.start + self.block * last.stride) * stride;
        self.block += 1;
        let count = if self.block == last.count { last.last } else { last.block };
        if self.block == last.count {
            let counts: Vec<u64> = outer.iter().map(Axis::len).collect();
            self.empty = !shape::advance(&mut self.at, &counts);
            self.block = 0;
        }
        Some(Run { start, count: count * stride })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use proptest::prelude::*;

    /// A dimension that fits, and its size.
    fn span() -> impl Strategy<Value = (Span, u64)> {
        (0..4u64, 1..4u64, 0..3u64, 0..4u64, 0..3u64).prop_map(|(start, block, gap, count, spare)| {
            let stride = block + gap;
            let size = start + (count.max(1) - 1) * stride + block + spare;
            if spare == 1 && count > 0 {
                return (Span { start, stride, count: BlockCount::Unlimited, block }, size);
            }
            (Span::blocks(start, stride, count, block), size)
        })
    }

    pub(crate) fn hyperslab() -> impl Strategy<Value = (Hyperslab, Vec<u64>)> {
        prop::collection::vec(span(), 0..4).prop_map(|axes| {
            let (spans, shape): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
            (Hyperslab::new(&spans, &shape).unwrap(), shape)
        })
    }

    fn numbers(runs: impl Iterator<Item = Run>) -> Vec<u64> {
        runs.flat_map(|r| r.start..r.start + r.count).collect()
    }

    proptest! {
        #[test]
        fn runs_positions_and_parts_agree((slab, shape) in hyperslab(), low in 0..5u64, len in 0..6u64) {
            let total = shape::count(&shape).unwrap();
            let selected: Vec<u64> = (0..total)
                .filter(|&n| slab.position(&shape::coordinates(&shape, n).unwrap()).is_some())
                .collect();
            prop_assert_eq!(slab.count(), selected.len() as u64);
            let runs: Vec<Run> = slab.runs(&shape).unwrap().collect();
            prop_assert!(runs.windows(2).all(|w| w[0].start + w[0].count < w[1].start));
            prop_assert_eq!(&numbers(runs.into_iter()), &selected);
            for (k, &n) in selected.iter().enumerate() {
                let at = shape::coordinates(&shape, n).unwrap();
                prop_assert_eq!(slab.position(&at), Some(k as u64));
                prop_assert_eq!(slab.coordinates(k as u64), Some(at));
            }
            prop_assert_eq!(slab.coordinates(selected.len() as u64), None);

            let block = Block { start: vec![low; shape.len()], count: vec![len; shape.len()] };
            let inside = |n: &&u64| block.contains(&shape::coordinates(&shape, **n).unwrap());
            let expected: Vec<u64> = selected.iter().filter(inside).copied().collect();
            let mut got = vec![];
            for part in slab.within(&block) {
                got.extend(numbers(part.runs(&shape).unwrap()));
            }
            got.sort_unstable();
            prop_assert_eq!(got, expected);
        }
    }

    #[test]
    fn blocks_that_touch_are_one_block() {
        let slab = Hyperslab::new(&[Span::blocks(1, 2, 3, 2), Span::range(4, 5)], &[7, 11]).unwrap();
        assert_eq!(slab.as_block(), Some(Block::new(&[1, 4], &[6, 5])));
        let slab = Hyperslab::new(&[Span::blocks(1, 3, 2, 2)], &[7]).unwrap();
        assert_eq!(slab.as_block(), None);
        assert_eq!(slab.bounds(), Some(Block::new(&[1], &[5])));
    }

    #[test]
    fn an_unlimited_count_fills_the_dimension_and_cuts_the_last_block() {
        let span = Span { start: 1, stride: 4, count: BlockCount::Unlimited, block: 3 };
        let at = |size: u64| Hyperslab::new(&[span], &[size]).unwrap().count();
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 11].map(at), [0, 0, 1, 2, 3, 3, 4, 8]);
    }

    #[test]
    fn hyperslabs_that_cannot_be_are_errors() {
        let kind = |span| Hyperslab::new(&[span], &[11]).unwrap_err().kind();
        assert_eq!(kind(Span::blocks(1, 2, 3, 4)), ErrorKind::Invalid);
        assert_eq!(kind(Span::blocks(1, 5, 3, 2)), ErrorKind::OutOfBounds);
        assert_eq!(kind(Span::blocks(u64::MAX, u64::MAX, 3, 2)), ErrorKind::OutOfBounds);
        assert_eq!(kind(Span { start: 0, stride: 0, count: BlockCount::Unlimited, block: 1 }), ErrorKind::Invalid);
        assert_eq!(Hyperslab::new(&[Span::range(0, 1)], &[]).unwrap_err().kind(), ErrorKind::Invalid);
    }
}
