//! Points: elements listed one by one, in an order that matters and with repeats allowed.

use crate::error::{Error, Result};
use crate::selection::block::{Block, Joined, Run};
use crate::selection::shape;

/// A list of elements of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Points {
    rank: usize,
    /// Coordinates of all points, one point after the other.
    coordinates: Vec<u64>,
    count: usize,
}

impl Points {
    /// No point of an array of `rank` dimensions.
    pub fn none(rank: usize) -> Points {
        Points { rank, coordinates: vec![], count: 0 }
    }

    /// The points of `coordinates`: `shape.len()` numbers each, one point after the other.
    ///
    /// Errors: `Invalid` if the numbers do not divide into points, `OutOfBounds` if a point lies outside `shape`.
    pub fn new(coordinates: Vec<u64>, shape: &[u64]) -> Result<Points> {
        let rank = shape.len();
        let Some(0) = coordinates.len().checked_rem(rank) else {
            return Err(Error::invalid(format!("{} coordinates for points of rank {rank}", coordinates.len())));
        };
        let points = Points { rank, count: coordinates.len() / rank, coordinates };
        let outside = |point: &&[u64]| point.iter().zip(shape).any(|(at, size)| at >= size);
        if let Some(point) = points.iter().find(outside) {
            return Err(Error::out_of_bounds(format!("point {point:?} in shape {shape:?}")));
        }
        Ok(points)
    }

    /// The `true` elements of a mask of `shape`, in row-major order.
    ///
    /// Errors: `Invalid` if the mask has not one value per element.
    pub fn from_mask(mask: &[bool], shape: &[u64]) -> Result<Points> {
        if shape::count(shape)? != mask.len() as u64 {
            return Err(Error::invalid(format!("mask of {} elements for shape {shape:?}", mask.len())));
        }
        let mut points = Points::none(shape.len());
        for (n, _) in mask.iter().enumerate().filter(|(_, selected)| **selected) {
            points.coordinates.extend(shape::coordinates(shape, n as u64).expect("one value per element"));
            points.count += 1;
        }
        Ok(points)
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many points.
    pub fn count(&self) -> u64 {
        self.count as u64
    }

    /// The coordinates of each point, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.count).map(|k| self.point(k))
    }

    fn point(&self, k: usize) -> &[u64] {
        &self.coordinates[k * self.rank..(k + 1) * self.rank]
    }

    /// The coordinates of point number `k`.
    pub fn coordinates(&self, k: u64) -> Option<Vec<u64>> {
        let k = usize::try_from(k).ok().filter(|&k| k < self.count)?;
        Some(self.point(k).to_vec())
    }

    /// The `count` points from number `first` on.
    pub(super) fn part(&self, first: u64, count: u64) -> Points {
        let [first, count] = [shape::index(first), shape::index(count)];
        let coordinates = self.coordinates[first * self.rank..(first + count) * self.rank].to_vec();
        Points { rank: self.rank, coordinates, count }
    }

    /// The smallest block that holds all points; `None` if there are none.
    pub fn bounds(&self) -> Option<Block> {
        let (mut low, mut high) = (self.coordinates(0)?, self.coordinates(0)?);
        for point in self.iter() {
            for (axis, &at) in point.iter().enumerate() {
                low[axis] = low[axis].min(at);
                high[axis] = high[axis].max(at);
            }
        }
        let count = low.iter().zip(&high).map(|(low, high)| high - low + 1).collect();
        Some(Block { start: low, count })
    }

    /// The points that lie within `block`, in the order of the list.
    pub fn within(&self, block: &Block) -> Points {
        let mut inside = Points::none(self.rank);
        for point in self.iter().filter(|point| block.contains(point)) {
            inside.coordinates.extend_from_slice(point);
            inside.count += 1;
        }
        inside
    }

    /// Runs of points that lie one behind the other in a row-major array of `shape`, in the order of the list.
    pub fn runs(&self, shape: &[u64]) -> Result<impl Iterator<Item = Run> + '_> {
        if let Some(bounds) = self.bounds() {
            bounds.check(shape)?;
        }
        shape::count(shape)?;
        let strides = shape::strides(shape)?;
        let start = move |point: &[u64]| point.iter().zip(&strides).map(|(at, n)| at * n).sum();
        Ok(Joined::new(self.iter().map(move |point| Run { start: start(point), count: 1 })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn points_keep_their_order_and_repeats() {
        let points = Points::new(vec![2, 4, 0, 1, 0, 2, 0, 3, 2, 4], &[3, 5]).unwrap();
        assert_eq!(points.count(), 5);
        let runs: Vec<_> = points.runs(&[3, 5]).unwrap().map(|r| (r.start, r.count)).collect();
        assert_eq!(runs, [(14, 1), (1, 3), (14, 1)]);
        assert_eq!(points.bounds(), Some(Block::new(&[0, 1], &[3, 4])));
        assert_eq!(points.coordinates(4), Some(vec![2, 4]));
        assert_eq!(points.coordinates(5), None);
        let inside = points.within(&Block::new(&[0, 2], &[1, 9]));
        assert_eq!(inside.iter().collect::<Vec<_>>(), [[0, 2], [0, 3]]);
    }

    #[test]
    fn a_mask_selects_in_row_major_order() {
        let mask = [false, true, false, false, false, true];
        let points = Points::from_mask(&mask, &[2, 3]).unwrap();
        assert_eq!(points.iter().collect::<Vec<_>>(), [[0, 1], [1, 2]]);
        assert_eq!(Points::from_mask(&mask, &[2, 4]).unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(Points::from_mask(&[true], &[]).unwrap().count(), 1);
    }

    #[test]
    fn points_outside_are_out_of_bounds() {
        assert_eq!(Points::new(vec![1, 5], &[3, 5]).unwrap_err().kind(), ErrorKind::OutOfBounds);
        assert_eq!(Points::new(vec![1, 4, 2], &[3, 5]).unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(Points::new(vec![], &[3, 5]).unwrap().bounds(), None);
    }
}
