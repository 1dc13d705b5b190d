//! A block: a box of elements, and the contiguous runs it is made of in a row-major array.
//!
//! ```text
//! start [1, 2], count [2, 3] in shape [4, 6]      runs: 3 from 8, 3 from 14
//! . . . . . .
//! . . # # # .
//! . . # # # .
//! . . . . . .
//! ```

use std::fmt;

use crate::error::{Error, Result};
use crate::selection::shape;

/// A box of elements of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Block {
    /// The first element.
    pub start: Vec<u64>,
    /// How many elements, per dimension.
    pub count: Vec<u64>,
}

/// As in NumPy: `[2:4, 0:10]`.
impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (axis, (&start, &count)) in self.start.iter().zip(&self.count).enumerate() {
            write!(f, "{}{start}:{}", if axis > 0 { ", " } else { "" }, start.saturating_add(count))?;
        }
        f.write_str("]")
    }
}

/// Elements that lie one behind the other in a row-major array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// The row-major number of the first.
    pub start: u64,
    /// How many.
    pub count: u64,
}

impl Block {
    /// The block of `count` elements per dimension from `start`.
    pub fn new(start: &[u64], count: &[u64]) -> Block {
        Block { start: start.to_vec(), count: count.to_vec() }
    }

    /// The block that covers `shape`.
    pub fn all(shape: &[u64]) -> Block {
        Block { start: vec![0; shape.len()], count: shape.to_vec() }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.start.len()
    }

    /// Whether it holds no element.
    pub fn is_empty(&self) -> bool {
        self.count.contains(&0)
    }

    /// The end along `axis`: the first coordinate behind the block.
    pub fn end(&self, axis: usize) -> u64 {
        self.start[axis].saturating_add(self.count[axis])
    }

    /// Whether `coordinates` lie in it.
    pub fn contains(&self, coordinates: &[u64]) -> bool {
        (0..self.rank()).all(|a| coordinates[a] >= self.start[a] && coordinates[a] - self.start[a] < self.count[a])
    }

    /// Checks that it lies within `shape`; [`OutOfBounds`](crate::ErrorKind::OutOfBounds) if not.
    pub fn check(&self, shape: &[u64]) -> Result<()> {
        if self.rank() != shape.len() || self.count.len() != shape.len() {
            return Err(Error::invalid(format!("selection has rank {}, the shape {shape:?}", self.rank())));
        }
        let fits = |a: usize| self.start[a].checked_add(self.count[a]).is_some_and(|end| end <= shape[a]);
        match (0..shape.len()).find(|&a| !fits(a)) {
            None => Ok(()),
            Some(a) => Err(Error::out_of_bounds(format!(
                "{} elements from {} along dimension {a}, which has {}",
                self.count[a], self.start[a], shape[a]
            ))),
        }
    }

    /// The first of its coordinates, in row-major order, that does not stand before `at`.
    pub fn first_from(&self, at: &[u64]) -> Option<Vec<u64>> {
        if self.is_empty() || at.len() != self.rank() {
            return None;
        }
        // Up to the first dimension along which `at` lies outside, both are the same.
        let Some(outside) = (0..self.rank()).find(|&axis| !(self.start[axis]..self.end(axis)).contains(&at[axis]))
        else {
            return Some(at.to_vec());
        };
        let mut first = [&at[..outside], &self.start[outside..]].concat();
        if at[outside] < self.start[outside] {
            return Some(first);
        }
        let next = (0..outside).rev().find(|&axis| at[axis] + 1 < self.end(axis))?;
        first[next] += 1;
        first[next + 1..].copy_from_slice(&self.start[next + 1..]);
        Some(first)
    }

    /// What it has in common with `other`; `None` if nothing.
    pub fn intersect(&self, other: &Block) -> Option<Block> {
        let mut both = self.clone();
        for axis in 0..self.rank() {
            both.start[axis] = self.start[axis].max(other.start[axis]);
            both.count[axis] = self.end(axis).min(other.end(axis)).saturating_sub(both.start[axis]);
        }
        (!both.is_empty()).then_some(both)
    }

    /// Its contiguous runs within a row-major array of `shape`, in order and as long as they can be.
    ///
    /// Errors: `OutOfBounds` if it does not lie within the shape, `Limit` if the shape is too large to number.
    pub fn runs(&self, shape: &[u64]) -> Result<BlockRuns> {
        self.check(shape)?;
        if self.is_empty() {
            return Ok(BlockRuns { at: vec![], outer: vec![], strides: vec![], start: 0, run: 0, done: true });
        }
        shape::count(shape)?;
        let strides = shape::strides(shape)?;
        let start = self.start.iter().zip(&strides).map(|(s, n)| s * n).sum();
        // Dimensions behind the last one that is not covered wholly lie within one run.
        let ragged = (0..shape.len()).rev().find(|&a| self.count[a] != shape[a]).unwrap_or(0);
        let run = self.count.get(ragged).map_or(1, |n| n * strides[ragged]);
        let outer = self.count[..ragged].to_vec();
        Ok(BlockRuns { at: vec![0; ragged], outer, strides, start, run, done: false })
    }
}

/// See [`Block::runs`].
#[derive(Clone, Debug)]
pub struct BlockRuns {
    at: Vec<u64>,
    outer: Vec<u64>,
    strides: Vec<u64>,
    start: u64,
    run: u64,
    done: bool,
}

impl Iterator for BlockRuns {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        if self.done {
            return None;
        }
        let before: u64 = self.at.iter().zip(&self.strides).map(|(x, n)| x * n).sum();
        self.done = !shape::advance(&mut self.at, &self.outer);
        Some(Run { start: self.start + before, count: self.run })
    }
}

/// Joins runs that touch: `runs` in the order of the selection, out come the longest runs in that order.
#[derive(Clone, Debug)]
pub(crate) struct Joined<I> {
    runs: I,
    held: Option<Run>,
}

impl<I: Iterator<Item = Run>> Joined<I> {
    pub(crate) fn new(runs: I) -> Self {
        Joined { runs, held: None }
    }
}

impl<I: Iterator<Item = Run>> Iterator for Joined<I> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        for run in self.runs.by_ref() {
            match &mut self.held {
                Some(held) if held.start + held.count == run.start => held.count += run.count,
                held => {
                    if let Some(ready) = held.replace(run) {
                        return Some(ready);
                    }
                }
            }
        }
        self.held.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn runs(start: &[u64], count: &[u64], shape: &[u64]) -> Vec<(u64, u64)> {
        Block::new(start, count).runs(shape).unwrap().map(|r| (r.start, r.count)).collect()
    }

    #[test]
    fn runs_are_as_long_as_they_can_be() {
        assert_eq!(runs(&[1, 2], &[2, 3], &[4, 6]), [(8, 3), (14, 3)]);
        assert_eq!(runs(&[0, 0, 0], &[3, 5, 7], &[3, 5, 7]), [(0, 105)]);
        assert_eq!(runs(&[1, 0, 0], &[2, 5, 7], &[3, 5, 7]), [(35, 70)]);
        assert_eq!(runs(&[1, 2, 0], &[2, 2, 7], &[3, 5, 7]), [(49, 14), (84, 14)]);
        assert_eq!(runs(&[], &[], &[]), [(0, 1)]);
        assert_eq!(Block::new(&[1, 2], &[2, 3]).to_string(), "[1:3, 2:5]");
        assert_eq!(runs(&[1, 5], &[2, 0], &[3, 5]), []);
        assert_eq!(runs(&[2, 0], &[1, 0], &[3, 0]), []);
    }

    #[test]
    fn a_block_outside_the_shape_is_out_of_bounds() {
        let kind = |start: &[u64], count: &[u64]| Block::new(start, count).runs(&[3, 5]).unwrap_err().kind();
        assert_eq!(kind(&[1, 2], &[2, 4]), ErrorKind::OutOfBounds);
        assert_eq!(kind(&[u64::MAX, 0], &[2, 4]), ErrorKind::OutOfBounds);
        assert_eq!(kind(&[1], &[2]), ErrorKind::Invalid);
    }

    #[test]
    fn intersection_is_what_both_have() {
        let a = Block::new(&[1, 2], &[4, 5]);
        assert_eq!(a.intersect(&Block::new(&[3, 0], &[9, 4])), Some(Block::new(&[3, 2], &[2, 2])));
        assert_eq!(a.intersect(&Block::new(&[5, 0], &[9, 4])), None);
        assert!(a.contains(&[4, 6]) && !a.contains(&[5, 6]) && !a.contains(&[4, 1]));
    }

    #[test]
    fn the_first_coordinates_from_some_on_are_found() {
        let block = Block::new(&[1, 2, 0], &[2, 3, 2]);
        let shape = [5, 7, 4];
        let all: Vec<Vec<u64>> = (0..5 * 7 * 4).map(|n| shape::coordinates(&shape, n).unwrap()).collect();
        for at in &all {
            let wanted = all.iter().find(|other| *other >= at && block.contains(other));
            assert_eq!(block.first_from(at).as_ref(), wanted, "from {at:?}");
        }
        assert_eq!(Block::new(&[1], &[0]).first_from(&[0]), None);
    }

    #[test]
    fn touching_runs_are_joined() {
        let runs = [(0, 2), (2, 3), (7, 1), (8, 4), (3, 2)].map(|(start, count)| Run { start, count });
        let joined: Vec<_> = Joined::new(runs.into_iter()).map(|r| (r.start, r.count)).collect();
        assert_eq!(joined, [(0, 5), (7, 5), (3, 2)]);
    }
}
