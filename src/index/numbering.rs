//! How implicit, fixed and extensible arrays number chunks: row-major over the grid of the *maximum* shape, with the
//! unlimited axis of an extensible array moved to the front.

use crate::error::{Error, Result};
use crate::selection::{Block, Grid};

/// Translates numbers of an array's elements to numbers of chunks in the current grid.
#[derive(Debug)]
pub(crate) struct Numbering {
    /// Axes from the slowest to the fastest.
    order: Vec<usize>,
    /// For each place in `order` how many elements one step is.
    steps: Vec<u64>,
    grid: Grid,
    /// Whether both number chunks alike, as far as the current grid goes.
    identical: bool,
    /// The wanted chunks, with their axes in that order, if not all are.
    wanted: Option<Block>,
}

impl Numbering {
    /// The numbering for chunks of shape `chunk` under `max_shape`, with axis `front` moved to the front.
    pub(crate) fn new(chunk: &[u64], max_shape: &[Option<u64>], front: Option<usize>, grid: &Grid) -> Result<Self> {
        let mut order: Vec<usize> = (0..chunk.len()).collect();
        if let Some(front) = front {
            order.remove(front);
            order.insert(0, front);
        }
        let mut steps = vec![1u64; order.len()];
        for place in (1..order.len()).rev() {
            let axis = order[place];
            let Some(max) = max_shape[axis] else {
                return Err(Error::corrupt(
                    "a second dimension of the dataset is unlimited, the index has no place for it",
                ));
            };
            let step = steps[place].checked_mul(max.div_ceil(chunk[axis]).max(1));
            steps[place - 1] =
                step.ok_or_else(|| Error::corrupt("the chunks of the largest shape cannot be counted"))?;
        }
        let same = |axis: usize| max_shape[axis].is_some_and(|max| max.div_ceil(chunk[axis]) == grid.counts()[axis]);
        let identical = order.iter().enumerate().all(|(place, axis)| place == *axis)
            && order.iter().skip(1).all(|axis| same(*axis));
        Ok(Numbering { order, steps, grid: grid.clone(), identical, wanted: None })
    }

    /// The same where only a block of chunks, counted in chunks, is wanted.
    pub(crate) fn within(mut self, wanted: &Block) -> Numbering {
        let part = |of: &[u64]| self.order.iter().map(|axis| of[*axis]).collect();
        self.wanted = Some(Block { start: part(&wanted.start), count: part(&wanted.count) });
        self
    }

    /// The elements from `first` on, of `count`, that stand for wanted chunks; others are not passed.
    pub(crate) fn wanted(&self, first: u64, count: usize) -> impl Iterator<Item = u64> {
        let end = u64::try_from(count).map_or(u64::MAX, |count| first.saturating_add(count));
        let next = move |number| self.next(number).filter(|next| *next < end);
        std::iter::successors(next(first), move |number| next(number + 1))
    }

    /// The first element from `number` on that stands for a wanted chunk.
    fn next(&self, number: u64) -> Option<u64> {
        let Some(wanted) = &self.wanted else { return Some(number) };
        let mut rest = number;
        let step = |step: &u64| {
            let at = rest / step;
            rest %= step;
            at
        };
        let at: Vec<u64> = self.steps.iter().map(step).collect();
        let next = wanted.first_from(&at)?;
        next.iter().zip(&self.steps).try_fold(0u64, |sum, (at, step)| sum.checked_add(at.checked_mul(*step)?))
    }

    /// Whether there is a wanted chunk among the elements from `first` to `end`.
    pub(crate) fn wants(&self, first: u64, end: u64) -> bool {
        self.next(first).is_some_and(|next| next < end)
    }

    /// One more than the largest element number that a chunk of the current grid has.
    pub(crate) fn end(&self) -> u64 {
        if self.grid.is_empty() {
            return 0;
        }
        let last = self
            .order
            .iter()
            .zip(&self.steps)
            .map(|(axis, step)| (self.grid.counts()[*axis] - 1).saturating_mul(*step));
        last.fold(1, u64::saturating_add)
    }

    /// The chunk in the current grid that element `number` stands for; `None` outside of the current shape.
    pub(crate) fn chunk(&self, number: u64) -> Option<u64> {
        if self.identical {
            return (number < self.grid.len()).then_some(number);
        }
        let mut coordinates = vec![0; self.order.len()];
        let mut rest = number;
        for (axis, step) in self.order.iter().zip(&self.steps) {
            coordinates[*axis] = rest / step;
            rest %= step;
        }
        self.grid.number(&coordinates)
    }

    /// The element that stands for the chunk at `coordinates`, counted in chunks.
    pub(crate) fn element(&self, coordinates: &[u64]) -> Option<u64> {
        let parts = self.order.iter().zip(&self.steps);
        parts
            .map(|(axis, step)| coordinates[*axis].checked_mul(*step))
            .try_fold(0u64, |sum, part| sum.checked_add(part?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_over_the_largest_shape_with_the_unlimited_axis_in_front() {
        let grid = Grid::new(&[4, 6, 10], &[2, 3, 5]).unwrap();
        let max = [Some(7), None, Some(25)];
        let numbering = Numbering::new(&[2, 3, 5], &max, Some(1), &grid).unwrap();
        // Axes in the order 1, 0, 2 with 5 chunks along axis 2 and 4 along axis 0.
        assert_eq!(numbering.element(&[1, 1, 1]), Some(20 + 5 + 1));
        assert_eq!(numbering.chunk(26), grid.number(&[1, 1, 1]));
        assert_eq!(numbering.chunk(2), None, "beyond the current shape along axis 2");
        assert_eq!(numbering.end(), 27);
        for number in 0..grid.len() {
            let element = numbering.element(&grid.coordinates(number).unwrap()).unwrap();
            assert_eq!(numbering.chunk(element), Some(number));
        }
    }

    #[test]
    fn elements_of_wanted_chunks_are_found_without_passing_the_others() {
        let grid = Grid::new(&[4, 6, 10], &[2, 3, 5]).unwrap();
        let max = [Some(7), None, Some(25)];
        let wanted = Block::new(&[0, 1, 1], &[2, 1, 1]);
        let numbering = Numbering::new(&[2, 3, 5], &max, Some(1), &grid).unwrap().within(&wanted);
        let all: Vec<u64> = numbering.wanted(0, 1000).collect();
        let elements = [[0, 1, 1], [1, 1, 1]].map(|at| numbering.element(&at).unwrap());
        assert_eq!(all, elements);
        assert!(numbering.wants(elements[0], elements[0] + 1) && !numbering.wants(elements[0] + 1, elements[1]));
    }

    #[test]
    fn equal_grids_number_alike() {
        let grid = Grid::new(&[4, 6], &[2, 3]).unwrap();
        let numbering = Numbering::new(&[2, 3], &[None, Some(5)], None, &grid).unwrap();
        assert!(numbering.identical);
        assert_eq!((numbering.chunk(3), numbering.chunk(4)), (Some(3), None));
    }
}
