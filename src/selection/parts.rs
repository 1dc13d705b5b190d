//! A selection in parts, for elements that are more than memory holds.

use crate::selection::index::{AxisSelection, Selected, Wanted};
use crate::selection::shape;

/// The parts of a selection, in row-major order.
#[derive(Clone, Debug)]
pub struct Parts {
    whole: Selected,
    /// Elements of a part along each dimension: single ones in those before the one that is cut, all in those behind.
    step: Vec<u64>,
    /// Where the next part begins; `None` behind the last one.
    at: Option<Vec<u64>>,
}

impl Selected {
    /// Itself in parts of at most `elements` (one at least), in row-major order: one after the other they have its elements
    /// in its order. A part has the dimensions of the array, none dropped and none new.
    ///
    /// `tile` says how many elements along each dimension are stored together: parts are a multiple of that where they are
    /// as large.
    pub fn parts(&self, elements: u64, tile: Option<&[u64]>) -> Parts {
        let counts = self.counts();
        let (mut step, mut room) = (vec![1; counts.len()], elements.max(1));
        for axis in (0..counts.len()).rev() {
            if counts[axis] > room {
                let tile = tile.and_then(|tile| tile.get(axis)).filter(|&&tile| 0 < tile && tile <= room);
                step[axis] = room - tile.map_or(0, |tile| room % tile);
                break;
            }
            step[axis] = counts[axis];
            room /= counts[axis].max(1);
        }
        let at = (!self.is_empty()).then(|| vec![0; counts.len()]);
        Parts { whole: self.clone(), step, at }
    }

    /// How many elements along each dimension; the number of points of a list.
    fn counts(&self) -> Vec<u64> {
        match self.wanted() {
            Wanted::Axes(axes) => axes.iter().map(AxisSelection::count).collect(),
            Wanted::Points(points) => vec![points.count()],
        }
    }
}

impl Iterator for Parts {
    type Item = Selected;

    fn next(&mut self) -> Option<Selected> {
        let at = self.at.take()?;
        let counts = self.whole.counts();
        let lengths: Vec<u64> =
            (at.iter().zip(&counts).zip(&self.step)).map(|((&at, &count), &step)| step.min(count - at)).collect();
        let mut next = at.clone();
        for axis in (0..next.len()).rev() {
            next[axis] += lengths[axis];
            if next[axis] < counts[axis] {
                self.at = Some(next);
                break;
            }
            next[axis] = 0;
        }
        Some(self.whole.part(&at, &lengths))
    }
}

impl Selected {
    /// The `counts` elements from the `starts` on along each dimension, of those that are selected; of a list, so many.
    fn part(&self, starts: &[u64], counts: &[u64]) -> Selected {
        let ends = starts.iter().zip(counts);
        match self.wanted() {
            Wanted::Axes(axes) => {
                let axes = axes.iter().zip(ends).map(|(axis, (&start, &count))| axis.part(start, count)).collect();
                Selected::product(axes, self.shape())
            }
            Wanted::Points(points) => Selected::points(points.part(starts[0], counts[0]), self.shape()),
        }
    }
}

impl AxisSelection {
    /// The `count` elements from the `first` on.
    fn part(&self, first: u64, count: u64) -> AxisSelection {
        match self {
            AxisSelection::Range { start, step, .. } => {
                AxisSelection::range(start.wrapping_add_signed(step.wrapping_mul(first.cast_signed())), *step, count)
            }
            AxisSelection::List(list) => {
                AxisSelection::list(list[shape::index(first)..shape::index(first + count)].to_vec())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::s;
    use crate::selection::{Points, Selection};

    /// The elements of a selection, as numbers of the array's elements.
    fn elements(selected: &Selected) -> Vec<u64> {
        let number = |at: &[u64]| shape::number(selected.shape(), at).unwrap();
        let Some(axes) = selected.axes() else {
            let Wanted::Points(points) = selected.wanted() else { unreachable!() };
            return points.iter().map(number).collect();
        };
        let mut all = vec![vec![]];
        for axis in axes {
            let along: Vec<u64> = match axis {
                AxisSelection::Range { start, step, count } => {
                    (0..*count).map(|k| start.checked_add_signed(step * i64::try_from(k).unwrap()).unwrap()).collect()
                }
                AxisSelection::List(list) => list.clone(),
            };
            all = all.iter().flat_map(|head| along.iter().map(|&k| [&head[..], &[k]].concat())).collect();
        }
        all.iter().map(|at| number(at)).collect()
    }

    #[test]
    fn parts_have_the_elements_of_the_whole_in_its_order() {
        let mask = crate::selection::Index::Mask { shape: vec![3, 4], values: (0..12).map(|n| n % 3 == 0).collect() };
        let selections = [
            s![],
            s![..;-1, 1, ..;2],
            s![[2, 0, 2], .., ..;-3],
            s![crate::selection::Index::NewAxis, -1],
            s![mask, 1..],
            s![0..0],
            Selection::Points(vec![vec![2, 3, 4], vec![0, 0, 0], vec![2, 3, 4]]),
        ];
        for selection in selections {
            let whole = selection.resolve(&[3, 4, 5]).unwrap();
            for most in [0, 1, 2, 5, 7, 19, 20, 21, 60, u64::MAX] {
                let parts: Vec<Selected> = whole.parts(most, Some(&[2, 2, 2])).collect();
                assert!(parts.iter().all(|part| (1..=most.max(1)).contains(&part.count().unwrap())), "{selection:?}");
                let listed: Vec<u64> = parts.iter().flat_map(elements).collect();
                assert_eq!(listed, elements(&whole), "{selection:?} in parts of {most}");
            }
        }
        assert_eq!(s![].resolve(&[]).unwrap().parts(1, None).count(), 1);
        assert_eq!(Points::none(1).count(), 0);
    }

    #[test]
    fn parts_are_multiples_of_what_is_stored_together() {
        let starts = |most| -> Vec<Vec<u64>> {
            let whole = Selected::all(&[10, 6]);
            whole.parts(most, Some(&[4, 6])).map(|part| part.as_block().unwrap().start).collect()
        };
        assert_eq!(starts(35), [[0, 0], [4, 0], [8, 0]]);
        assert_eq!(starts(60), [[0, 0]]);
        assert_eq!(starts(12), [[0, 0], [2, 0], [4, 0], [6, 0], [8, 0]]);
    }
}
