//! Irregular hyperslabs: the union of any blocks, in row-major order, each element once.
//!
//! A union is kept as a tree of intervals, one level per dimension, so that counting elements and finding the k-th
//! costs a search per dimension, and listing them costs what is listed:
//!
//! ```text
//! # # . .      rows 0..1  ->  columns 0..2
//! # # # #      rows 1..2  ->  columns 0..4
//! . . # #      rows 2..3  ->  columns 2..4
//! ```

use crate::error::{Error, Result};
use crate::selection::block::{Block, Joined, Run};
use crate::selection::shape;

/// Intervals that a union may be cut into. Blocks that all overlap each other could ask for far more than they are.
const MOST_INTERVALS: usize = 1 << 22;

/// A union of blocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Union {
    blocks: Vec<Block>,
    rank: usize,
    /// The first level is the last in the list.
    levels: Vec<Level>,
}

/// The intervals along one dimension, in order and apart from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Level {
    intervals: Vec<Interval>,
    count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Interval {
    low: u64,
    high: u64,
    /// Elements of the level that come before this interval.
    before: u64,
    /// Elements per coordinate, and the level that lists them (none along the last dimension).
    each: u64,
    below: Option<usize>,
}

impl Union {
    /// The union of `blocks`, which lie within `shape`.
    ///
    /// Errors: `OutOfBounds` if one does not, `Invalid` if the ranks differ or are 0, `Limit` if the blocks overlap in
    /// so many ways that the union is far larger than its list.
    pub fn new(blocks: Vec<Block>, shape: &[u64]) -> Result<Union> {
        if shape.is_empty() {
            return Err(Error::invalid("a scalar has no blocks"));
        }
        blocks.iter().try_for_each(|block| block.check(shape))?;
        shape::count(shape)?;
        let mut union = Union { rank: shape.len(), levels: vec![], blocks };
        union.blocks.retain(|block| !block.is_empty());
        let mut left = MOST_INTERVALS;
        let all: Vec<usize> = (0..union.blocks.len()).collect();
        union.build(&all, 0, &mut left)?;
        Ok(union)
    }

    /// Adds the level of `members` along `axis`, after the levels below it; gives its place.
    fn build(&mut self, members: &[usize], axis: usize, left: &mut usize) -> Result<usize> {
        let mut edges: Vec<(u64, bool, usize)> = vec![];
        for &b in members {
            edges.extend([(self.blocks[b].start[axis], true, b), (self.blocks[b].end(axis), false, b)]);
        }
        edges.sort_unstable();
        let (mut level, mut active, mut low) = (Level::default(), Vec::<usize>::new(), 0);
        for (at, begins, b) in edges {
            if at > low && !active.is_empty() {
                *left =
                    left.checked_sub(active.len()).ok_or_else(|| Error::limit("blocks overlap in too many ways"))?;
                self.append(&mut level, (low, at), &active, axis, left)?;
            }
            low = at;
            match active.binary_search(&b) {
                Ok(place) if !begins => drop(active.remove(place)),
                Err(place) if begins => active.insert(place, b),
                Ok(_) | Err(_) => {}
            }
        }
        self.levels.push(level);
        Ok(self.levels.len() - 1)
    }

    fn append(
        &mut self,
        level: &mut Level,
        (low, high): (u64, u64),
        active: &[usize],
        axis: usize,
        left: &mut usize,
    ) -> Result<()> {
        let below = if axis + 1 < self.rank { Some(self.build(active, axis + 1, left)?) } else { None };
        let each = below.map_or(1, |b| self.levels[b].count);
        let before = level.count;
        level.count += (high - low) * each;
        match level.intervals.last_mut() {
            Some(last) if below.is_none() && last.high == low => last.high = high,
            _ => level.intervals.push(Interval { low, high, before, each, below }),
        }
        Ok(())
    }

    fn top(&self) -> &Level {
        self.levels.last().expect("every union has a level")
    }

    /// The blocks, as given but for empty ones.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many elements.
    pub fn count(&self) -> u64 {
        self.top().count
    }

    /// The smallest block that holds all; `None` if empty.
    pub fn bounds(&self) -> Option<Block> {
        let mut bounds = self.blocks.first()?.clone();
        for block in &self.blocks {
            for axis in 0..self.rank {
                let end = bounds.end(axis).max(block.end(axis));
                bounds.start[axis] = bounds.start[axis].min(block.start[axis]);
                bounds.count[axis] = end - bounds.start[axis];
            }
        }
        Some(bounds)
    }

    /// The coordinates of its element number `k`, in row-major order.
    pub fn coordinates(&self, mut k: u64) -> Option<Vec<u64>> {
        let mut level = self.top();
        let mut coordinates = Vec::with_capacity(self.rank);
        if k >= level.count {
            return None;
        }
        loop {
            let interval = level.intervals[level.intervals.partition_point(|i| i.before <= k) - 1];
            k -= interval.before;
            coordinates.push(interval.low + k / interval.each);
            k %= interval.each;
            match interval.below {
                Some(below) => level = &self.levels[below],
                None => return Some(coordinates),
            }
        }
    }

    /// Which of its elements lies at `coordinates`, counted in row-major order; `None` if it is not selected.
    pub fn position(&self, coordinates: &[u64]) -> Option<u64> {
        let (mut level, mut k) = (self.top(), 0);
        for &at in coordinates {
            let place = level.intervals.partition_point(|i| i.low <= at).checked_sub(1)?;
            let interval = level.intervals[place];
            if at >= interval.high {
                return None;
            }
            k += interval.before + (at - interval.low) * interval.each;
            if let Some(below) = interval.below {
                level = &self.levels[below];
            }
        }
        Some(k)
    }

    /// What lies within `block`.
    pub fn within(&self, block: &Block) -> Result<Union> {
        let blocks: Vec<Block> = self.blocks.iter().filter_map(|own| own.intersect(block)).collect();
        let shape: Vec<u64> = (0..self.rank).map(|axis| self.bounds().map_or(0, |b| b.end(axis))).collect();
        Union::new(blocks, &shape)
    }

    /// Its contiguous runs within a row-major array of `shape`, in order and joined where they touch.
    pub fn runs(&self, shape: &[u64]) -> Result<impl Iterator<Item = Run> + '_> {
        if let Some(bounds) = self.bounds() {
            bounds.check(shape)?;
        }
        shape::count(shape)?;
        let strides = shape::strides(shape)?;
        let first = Cursor { level: self.top(), interval: 0, at: 0, base: 0 };
        Ok(Joined::new(Runs { union: self, strides, path: vec![first] }))
    }
}

/// Where a walk stands in one level.
struct Cursor<'a> {
    level: &'a Level,
    interval: usize,
    /// Coordinate within the interval.
    at: u64,
    /// Row-major number of the coordinates chosen above.
    base: u64,
}

struct Runs<'a> {
    union: &'a Union,
    strides: Vec<u64>,
    path: Vec<Cursor<'a>>,
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        loop {
            let depth = self.path.len();
            let cursor = self.path.last_mut()?;
            let Some(interval) = cursor.level.intervals.get(cursor.interval) else {
                self.path.pop();
                continue;
            };
            let at = interval.low + cursor.at;
            let start = cursor.base + at * self.strides[depth - 1];
            let Some(below) = interval.below else {
                cursor.interval += 1;
                return Some(Run { start, count: interval.high - interval.low });
            };
            cursor.at += 1;
            if at + 1 == interval.high {
                (cursor.interval, cursor.at) = (cursor.interval + 1, 0);
            }
            self.path.push(Cursor { level: &self.union.levels[below], interval: 0, at: 0, base: start });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use proptest::prelude::*;

    const SHAPE: [u64; 3] = [4, 5, 7];

    fn block() -> impl Strategy<Value = Block> {
        let axis = |size: u64| (0..size, 0..size).prop_map(move |(start, count)| (start, count.min(size - start)));
        (axis(4), axis(5), axis(7)).prop_map(|(a, b, c)| Block::new(&[a.0, b.0, c.0], &[a.1, b.1, c.1]))
    }

    proptest! {
        #[test]
        fn a_union_lists_each_element_once_in_row_major_order(blocks in prop::collection::vec(block(), 0..6), cut in block()) {
            let union = Union::new(blocks.clone(), &SHAPE).unwrap();
            let at = |n: u64| shape::coordinates(&SHAPE, n).unwrap();
            let expected: Vec<u64> = (0..140).filter(|&n| blocks.iter().any(|b| b.contains(&at(n)))).collect();
            let list = |u: &Union| -> Vec<u64> {
                u.runs(&SHAPE).unwrap().flat_map(|r| r.start..r.start + r.count).collect()
            };
            prop_assert_eq!(&list(&union), &expected);
            prop_assert_eq!(union.count(), expected.len() as u64);
            for n in 0..140 {
                let k = expected.binary_search(&n).ok().map(|k| k as u64);
                prop_assert_eq!(union.position(&at(n)), k);
            }
            for (k, &n) in expected.iter().enumerate() {
                prop_assert_eq!(union.coordinates(k as u64), Some(at(n)));
            }
            prop_assert_eq!(union.coordinates(union.count()), None);
            let inside: Vec<u64> = expected.into_iter().filter(|&n| cut.contains(&at(n))).collect();
            prop_assert_eq!(list(&union.within(&cut).unwrap()), inside);
        }
    }

    #[test]
    fn a_union_costs_its_blocks_not_its_elements() {
        let huge = 1 << 20;
        let blocks = vec![Block::new(&[0, 0, 0], &[huge, huge, 3]), Block::new(&[1, 2, 5], &[huge, 7, huge])];
        let union = Union::new(blocks, &[huge + 1, huge, huge + 5]).unwrap();
        assert_eq!(union.count(), huge * huge * 3 + huge * 7 * huge);
        assert_eq!(union.position(&union.coordinates(1 << 40).unwrap()), Some(1 << 40));
    }

    #[test]
    fn blocks_that_cannot_be_are_errors() {
        let kind = |block: Block, shape: &[u64]| Union::new(vec![block], shape).unwrap_err().kind();
        assert_eq!(kind(Block::new(&[1, 2], &[3, 4]), &[3, 6]), ErrorKind::OutOfBounds);
        assert_eq!(kind(Block::new(&[], &[]), &[]), ErrorKind::Invalid);
    }
}
