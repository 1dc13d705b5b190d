//! Selections as a user writes them, and what they come to for a shape.
//!
//! ```text
//! [-1, 2..9;3, .., [4, 0, 4]]  of shape [3, 11, 5]    ->    result shape [3, 3]: one int drops its dimension
//! ```
//! Rules are NumPy's, but several lists select the product of what each selects, as in h5py for one list.

use std::ops::RangeFull;

use crate::error::{Error, Result};
use crate::selection::block::Block;
use crate::selection::points::Points;
use crate::selection::shape;

/// What is wanted along one dimension (or, for the last three, around them). Negative numbers count from the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// One element; the dimension is dropped from the result.
    At(i64),
    /// Elements from `start` to before `stop`, every `step`-th, in reverse if `step` is negative. Ends outside the
    /// dimension are cut, as in NumPy.
    Range {
        /// The first; without it the first of all (the last, in reverse).
        start: Option<i64>,
        /// The end, exclusive; without it all.
        stop: Option<i64>,
        /// Not 0.
        step: i64,
    },
    /// These elements, in any order, repeats allowed.
    List(Vec<i64>),
    /// `count` blocks of `block` elements, one every `stride`.
    Blocks {
        /// The first element.
        start: u64,
        /// From block to block.
        stride: u64,
        /// How many blocks.
        count: u64,
        /// Elements per block.
        block: u64,
    },
    /// The elements whose value is `true`: a mask of one dimension, or of several, of which the result has one then: a
    /// list in row-major order.
    Mask {
        /// The mask's shape.
        shape: Vec<u64>,
        /// Its values, in row-major order.
        values: Vec<bool>,
    },
    /// A new dimension of one element in the result.
    NewAxis,
    /// As many whole dimensions as are not mentioned.
    Ellipsis,
}

impl Index {
    /// A whole dimension.
    pub const ALL: Index = Index::Range { start: None, stop: None, step: 1 };

    /// How many of the array's dimensions it speaks of.
    fn rank(&self) -> usize {
        match self {
            Index::NewAxis | Index::Ellipsis => 0,
            Index::Mask { shape, .. } => shape.len(),
            Index::At(_) | Index::Range { .. } | Index::List(_) | Index::Blocks { .. } => 1,
        }
    }
}

/// What is wanted of an array, not yet checked against a shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Selection {
    /// One index per dimension; missing ones at the end select all.
    Indices(Vec<Index>),
    /// Single elements, in this order; the result is a list.
    Points(Vec<Vec<i64>>),
}

/// What is selected along one dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AxisSelection {
    /// `count` elements from `start`, `step` apart (1 if there are fewer than two).
    Range {
        /// The first element.
        start: u64,
        /// From one to the next; never 0.
        step: i64,
        /// How many.
        count: u64,
    },
    /// These elements; a list that is an ascending range is always a `Range`.
    List(Vec<u64>),
}

impl AxisSelection {
    /// How many elements.
    pub fn count(&self) -> u64 {
        match self {
            AxisSelection::Range { count, .. } => *count,
            AxisSelection::List(list) => list.len() as u64,
        }
    }

    pub(super) fn range(start: u64, step: i64, count: u64) -> AxisSelection {
        match count {
            0 => AxisSelection::Range { start: 0, step: 1, count },
            1 => AxisSelection::Range { start, step: 1, count },
            _ => AxisSelection::Range { start, step, count },
        }
    }

    /// `list`, or the range it is.
    pub(super) fn list(list: Vec<u64>) -> AxisSelection {
        let count = list.len() as u64;
        let step = match list[..] {
            [] => return AxisSelection::range(0, 1, 0),
            [one] => return AxisSelection::range(one, 1, 1),
            [first, second, ..] => second.checked_sub(first).and_then(|step| i64::try_from(step).ok()),
        };
        match step {
            Some(step) if step > 0 && list.windows(2).all(|w| w[1].checked_sub(w[0]) == Some(step.unsigned_abs())) => {
                AxisSelection::range(list[0], step, count)
            }
            _ => AxisSelection::List(list),
        }
    }
}

/// What a [`Selection`] comes to for an array of known shape: every element exists, every dimension is accounted for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selected {
    shape: Vec<u64>,
    wanted: Wanted,
    aligned: Vec<u64>,
    result: Vec<u64>,
    /// For each dimension of the array that of the result it became.
    places: Vec<Option<usize>>,
}

/// A product over dimensions, or a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wanted {
    Axes(Vec<AxisSelection>),
    Points(Points),
}

impl Selected {
    /// All of an array of `shape`.
    pub fn all(shape: &[u64]) -> Selected {
        Selected::ranges(shape, &vec![0; shape.len()], shape)
    }

    /// `block` of an array of `shape`.
    pub fn block(block: &Block, shape: &[u64]) -> Result<Selected> {
        block.check(shape)?;
        Ok(Selected::ranges(shape, &block.start, &block.count))
    }

    fn ranges(shape: &[u64], start: &[u64], count: &[u64]) -> Selected {
        let axes = start.iter().zip(count).map(|(&start, &count)| AxisSelection::range(start, 1, count)).collect();
        Selected::product(axes, shape)
    }

    /// What `axes` select of an array of `shape`, with all dimensions.
    pub(super) fn product(axes: Vec<AxisSelection>, shape: &[u64]) -> Selected {
        let counts: Vec<u64> = axes.iter().map(AxisSelection::count).collect();
        let places = (0..counts.len()).map(Some).collect();
        Selected { shape: shape.to_vec(), wanted: Wanted::Axes(axes), aligned: counts.clone(), result: counts, places }
    }

    /// A list of points of an array of `shape`.
    pub(super) fn points(points: Points, shape: &[u64]) -> Selected {
        let result = vec![points.count()];
        of_points(points, shape, result, 0)
    }

    /// The array's shape.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The shape of the result.
    pub fn result_shape(&self) -> &[u64] {
        &self.result
    }

    /// The shape of the result in the array's rank, for transfers: dropped dimensions have one element, new ones are
    /// left out, a list of points lies along the last dimension. The elements lie in memory as in the result's shape.
    pub fn aligned_shape(&self) -> &[u64] {
        &self.aligned
    }

    /// For each dimension of the array the dimension of the result it became; `None` for those that were dropped. A
    /// list of points counts as the last dimension, and as the last of the result where that has several.
    pub fn result_dimensions(&self) -> &[Option<usize>] {
        &self.places
    }

    /// Itself as a block of the array, if it is one and its elements keep their order.
    pub fn as_block(&self) -> Option<Block> {
        let mut block = Block { start: Vec::new(), count: Vec::new() };
        for axis in self.axes()? {
            let AxisSelection::Range { start, step: 1, count } = axis else { return None };
            block.start.push(*start);
            block.count.push(*count);
        }
        Some(block)
    }

    /// The smallest block of the array that holds all of it; `None` if nothing is selected.
    pub fn bounds(&self) -> Option<Block> {
        let axes = match &self.wanted {
            Wanted::Axes(axes) => axes,
            Wanted::Points(points) => return points.bounds(),
        };
        let mut bounds = Block { start: Vec::new(), count: Vec::new() };
        for axis in axes {
            let (low, high) = match axis {
                AxisSelection::Range { start, step, count } => {
                    let reach = step.unsigned_abs().checked_mul(count.checked_sub(1)?)?;
                    if *step < 0 { (start - reach, *start) } else { (*start, start + reach) }
                }
                AxisSelection::List(list) => (*list.iter().min()?, *list.iter().max()?),
            };
            bounds.start.push(low);
            bounds.count.push(high - low + 1);
        }
        Some(bounds)
    }

    /// The number of elements of the result.
    pub fn count(&self) -> Result<u64> {
        shape::count(&self.result)
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.result.contains(&0)
    }

    /// What is selected along each dimension; `None` if it is a list of points.
    pub fn axes(&self) -> Option<&[AxisSelection]> {
        match &self.wanted {
            Wanted::Axes(axes) => Some(axes),
            Wanted::Points(_) => None,
        }
    }

    pub(crate) fn wanted(&self) -> &Wanted {
        &self.wanted
    }
}

impl Selection {
    /// Everything.
    pub fn all() -> Selection {
        Selection::Indices(vec![])
    }

    /// What it comes to for an array of `shape`.
    ///
    /// Errors: `OutOfBounds` for an element that does not exist or too many indices; `Invalid` for a second ellipsis,
    /// a step of 0, a mask of another shape; `Unsupported` for a mask of no dimensions; `Limit` if a mask of several
    /// but not all dimensions comes to more elements than can be listed.
    pub fn resolve(&self, shape: &[u64]) -> Result<Selected> {
        shape::check_rank(shape)?;
        match self {
            Selection::Indices(indices) => resolve(indices, shape),
            Selection::Points(points) => resolve_points(points, shape),
        }
    }
}

impl From<&Selection> for Selection {
    fn from(selection: &Selection) -> Selection {
        selection.clone()
    }
}

impl From<RangeFull> for Selection {
    fn from(_: RangeFull) -> Selection {
        Selection::all()
    }
}

impl From<&Block> for Selection {
    fn from(block: &Block) -> Selection {
        let axes = block.start.iter().zip(&block.count);
        let index = |(&start, &count): (&u64, &u64)| Index::Blocks { start, stride: 1, count: 1, block: count };
        Selection::Indices(axes.map(index).collect())
    }
}

impl From<Block> for Selection {
    fn from(block: Block) -> Selection {
        Selection::from(&block)
    }
}

impl From<Index> for Selection {
    fn from(index: Index) -> Selection {
        Selection::Indices(vec![index])
    }
}

fn resolve_points(points: &[Vec<i64>], shape: &[u64]) -> Result<Selected> {
    let mut coordinates = Vec::with_capacity(points.len() * shape.len());
    for point in points {
        if point.len() != shape.len() {
            return Err(Error::invalid(format!("point {point:?} for shape {shape:?}")));
        }
        for (axis, (&at, &size)) in point.iter().zip(shape).enumerate() {
            coordinates.push(wrap(at, size, axis)?);
        }
    }
    Ok(Selected::points(Points::new(coordinates, shape)?, shape))
}

/// A selection of points that lie along dimension `place` of the result.
fn of_points(points: Points, shape: &[u64], result: Vec<u64>, place: usize) -> Selected {
    let (mut aligned, mut places) = (vec![1; shape.len()], vec![None; shape.len()]);
    if let (Some(last), Some(of_last)) = (aligned.last_mut(), places.last_mut()) {
        *last = points.count();
        *of_last = Some(place);
    }
    Selected { shape: shape.to_vec(), wanted: Wanted::Points(points), aligned, result, places }
}

fn resolve(indices: &[Index], shape: &[u64]) -> Result<Selected> {
    if indices.iter().filter(|index| **index == Index::Ellipsis).count() > 1 {
        return Err(Error::invalid("more than one ellipsis"));
    }
    let used: usize = indices.iter().map(Index::rank).sum();
    let Some(rest) = shape.len().checked_sub(used) else {
        return Err(Error::out_of_bounds(format!("{used} indices for an array of rank {}", shape.len())));
    };
    let rest = vec![Index::ALL; rest];
    let (before, after) = match indices.iter().position(|index| *index == Index::Ellipsis) {
        Some(at) => (&indices[..at], &indices[at + 1..]),
        None => (indices, &[][..]),
    };
    let (mut axes, mut factors) = (Vec::with_capacity(shape.len()), vec![]);
    let (mut aligned, mut result, mut places) = (vec![], vec![], vec![]);
    let mut axis = 0;
    for index in before.iter().chain(&rest).chain(after) {
        let selection = match index {
            Index::NewAxis | Index::Ellipsis => {
                result.push(1);
                continue;
            }
            Index::Mask { shape: mask, values } if mask.len() != 1 => {
                let own = &shape[axis..axis + mask.len()];
                if mask[..] != *own {
                    return Err(Error::invalid(format!("mask of shape {mask:?} for dimensions {own:?}")));
                }
                if mask.is_empty() && !shape.is_empty() {
                    return Err(Error::unsupported("a mask of no dimensions"));
                }
                let points = Points::from_mask(values, own)?;
                result.push(points.count());
                factors.extend(axes.drain(..).map(Factor::Axis));
                factors.push(Factor::Mask(points));
                axis += mask.len();
                continue;
            }
            _ => along(index, shape[axis], axis)?,
        };
        aligned.push(selection.count());
        let kept = !matches!(index, Index::At(_));
        places.push(kept.then_some(result.len()));
        if kept {
            result.push(selection.count());
        }
        axes.push(selection);
        axis += 1;
    }
    if factors.is_empty() {
        return Ok(Selected { shape: shape.to_vec(), wanted: Wanted::Axes(axes), aligned, result, places });
    }
    factors.extend(axes.into_iter().map(Factor::Axis));
    let place = result.len().saturating_sub(1);
    Ok(of_points(product(&factors, shape)?, shape, result, place))
}

/// What an index selects of the dimensions it speaks of.
enum Factor {
    Axis(AxisSelection),
    Mask(Points),
}

impl Factor {
    fn count(&self) -> u64 {
        match self {
            Factor::Axis(axis) => axis.count(),
            Factor::Mask(points) => points.count(),
        }
    }

    /// Adds the coordinates of its `k`-th element.
    fn push(&self, k: u64, coordinates: &mut Vec<u64>) {
        match self {
            Factor::Axis(AxisSelection::Range { start, step, .. }) => {
                coordinates.push(start.wrapping_add_signed(step.wrapping_mul(k.cast_signed())));
            }
            Factor::Axis(AxisSelection::List(list)) => coordinates.push(list[shape::index(k)]),
            Factor::Mask(points) => coordinates.extend(points.coordinates(k).unwrap_or_default()),
        }
    }
}

/// Coordinates that a mask of several but not all dimensions may come to.
const MOST_COORDINATES: u64 = 1 << 24;

/// The product of what indices select, element by element.
fn product(factors: &[Factor], shape: &[u64]) -> Result<Points> {
    if let [Factor::Mask(points)] = factors {
        return Ok(points.clone());
    }
    let counts: Vec<u64> = factors.iter().map(Factor::count).collect();
    let count = shape::count(&counts)?;
    if count.checked_mul(shape.len() as u64).is_none_or(|all| all > MOST_COORDINATES) {
        return Err(Error::limit(format!("a mask of some dimensions that comes to {count} elements")));
    }
    let (mut coordinates, mut at) = (vec![], vec![0; counts.len()]);
    if count > 0 {
        loop {
            factors.iter().zip(&at).for_each(|(factor, &k)| factor.push(k, &mut coordinates));
            if !shape::advance(&mut at, &counts) {
                break;
            }
        }
    }
    Points::new(coordinates, shape)
}

/// What `index` selects along dimension `axis` of `size` elements.
fn along(index: &Index, size: u64, axis: usize) -> Result<AxisSelection> {
    Ok(match index {
        Index::At(at) => AxisSelection::range(wrap(*at, size, axis)?, 1, 1),
        Index::Range { start, stop, step } => range(*start, *stop, *step, size)?,
        Index::List(list) => {
            AxisSelection::list(list.iter().map(|&at| wrap(at, size, axis)).collect::<Result<Vec<_>>>()?)
        }
        Index::Blocks { start, stride, count, block } => blocks([*start, *stride, *count, *block], size, axis)?,
        Index::Mask { values, .. } => {
            if values.len() as u64 != size {
                return Err(Error::invalid(format!(
                    "mask of {} elements for dimension {axis}, which has {size}",
                    values.len()
                )));
            }
            let selected = values.iter().enumerate().filter(|(_, selected)| **selected);
            AxisSelection::list(selected.map(|(at, _)| at as u64).collect())
        }
        Index::NewAxis | Index::Ellipsis => AxisSelection::range(0, 1, size),
    })
}

/// A position that may count from the end.
fn wrap(at: i64, size: u64, axis: usize) -> Result<u64> {
    let from = if at < 0 { i128::from(size) } else { 0 } + i128::from(at);
    u64::try_from(from)
        .ok()
        .filter(|&from| from < size)
        .ok_or_else(|| Error::out_of_bounds(format!("index {at} along dimension {axis}, which has {size}")))
}

/// A range under NumPy's rules.
fn range(start: Option<i64>, stop: Option<i64>, step: i64, size: u64) -> Result<AxisSelection> {
    if step == 0 {
        return Err(Error::invalid("a range with a step of 0"));
    }
    let size = i128::from(size);
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let place = |at: Option<i64>, without: i128| match at {
        None => without,
        Some(at) => (i128::from(at) + if at < 0 { size } else { 0 }).clamp(low, high),
    };
    let (from, to) = (place(start, if step > 0 { low } else { high }), place(stop, if step > 0 { high } else { low }));
    let reach = if step > 0 { to - from } else { from - to };
    if reach <= 0 {
        return Ok(AxisSelection::range(0, 1, 0));
    }
    let fits = |n: i128| u64::try_from(n).expect("within a dimension");
    Ok(AxisSelection::range(fits(from), step, fits(reach - 1) / step.unsigned_abs() + 1))
}

fn blocks([start, stride, count, block]: [u64; 4], size: u64, axis: usize) -> Result<AxisSelection> {
    if count == 0 || block == 0 {
        return Ok(AxisSelection::range(0, 1, 0));
    }
    if count > 1 && stride < block {
        return Err(Error::invalid(format!("blocks of {block} elements every {stride}")));
    }
    let end = (count - 1).checked_mul(stride).and_then(|n| n.checked_add(start)?.checked_add(block));
    if end.is_none_or(|end| end > size) {
        return Err(Error::out_of_bounds(format!(
            "{count} blocks of {block} elements from {start} every {stride} along dimension {axis}, which has {size}"
        )));
    }
    let step = i64::try_from(stride).unwrap_or(i64::MAX);
    Ok(if count == 1 || stride == block {
        AxisSelection::range(start, 1, count * block)
    } else if block == 1 {
        AxisSelection::range(start, step, count)
    } else {
        AxisSelection::List((0..count).flat_map(|b| (0..block).map(move |k| start + b * stride + k)).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn range_of(start: Option<i64>, stop: Option<i64>, step: i64) -> Index {
        Index::Range { start, stop, step }
    }

    fn results(indices: &[Index], shape: &[u64]) -> Vec<u64> {
        Selection::Indices(indices.to_vec()).resolve(shape).unwrap().result_shape().to_vec()
    }

    fn kind(indices: &[Index], shape: &[u64]) -> ErrorKind {
        Selection::Indices(indices.to_vec()).resolve(shape).unwrap_err().kind()
    }

    #[test]
    fn ranges_follow_numpy() {
        let range = |start, stop, step| match range(start, stop, step, 11).unwrap() {
            AxisSelection::Range { start, step, count } => (start, step, count),
            AxisSelection::List(_) => unreachable!(),
        };
        assert_eq!(range(None, None, 1), (0, 1, 11));
        assert_eq!(range(Some(-3), None, 1), (8, 1, 3));
        assert_eq!(range(Some(2), Some(99), 4), (2, 4, 3));
        assert_eq!(range(None, None, -3), (10, -3, 4));
        assert_eq!(range(Some(-99), Some(5), 2), (0, 2, 3));
        assert_eq!(range(Some(7), Some(2), 1), (0, 1, 0));
        assert_eq!(range(Some(7), Some(2), -4), (7, -4, 2));
        assert_eq!(range(Some(7), Some(2), -5), (7, 1, 1));
        assert_eq!(range(Some(5), Some(-99), -2), (5, -2, 3));
    }

    #[test]
    fn result_shapes_drop_ints_and_gain_new_dimensions() {
        let shape = [3, 11, 5];
        assert_eq!(results(&[], &shape), shape);
        assert_eq!(results(&[Index::At(-1)], &shape), [11, 5]);
        assert_eq!(results(&[Index::At(2), range_of(Some(2), Some(9), 3), Index::List(vec![4, 0, 4])], &shape), [3, 3]);
        assert_eq!(results(&[Index::NewAxis, Index::Ellipsis, Index::NewAxis, Index::At(0)], &shape), [1, 3, 11, 1]);
        assert_eq!(results(&[Index::List(vec![1, 1]), Index::ALL, Index::List(vec![])], &shape), [2, 11, 0]);
        let mask = |shape: &[u64], values: &[bool]| Index::Mask { shape: shape.to_vec(), values: values.to_vec() };
        assert_eq!(results(&[mask(&[3], &[true, false, true]), Index::Ellipsis, Index::At(1)], &shape), [2, 11]);
        let full = mask(&[2, 3], &[true, false, true, true, false, false]);
        assert_eq!(results(&[Index::NewAxis, full.clone()], &[2, 3]), [1, 3]);
        assert_eq!(kind(std::slice::from_ref(&full), &[2, 4]), ErrorKind::Invalid);
        assert_eq!(results(&[full.clone(), range_of(Some(1), None, 2)], &[2, 3, 7]), [3, 3]);
        assert_eq!(results(&[Index::At(1), Index::NewAxis, full.clone(), Index::ALL], &[5, 2, 3, 7]), [1, 3, 7]);
        let selected = Selection::Indices(vec![full, range_of(Some(4), None, -4)]).resolve(&[2, 3, 5]).unwrap();
        let Wanted::Points(points) = selected.wanted() else { panic!("a mask is points") };
        let listed: Vec<&[u64]> = points.iter().collect();
        assert_eq!(listed, [[0, 0, 4], [0, 0, 0], [0, 2, 4], [0, 2, 0], [1, 0, 4], [1, 0, 0]]);
        assert_eq!(results(&[Index::Blocks { start: 1, stride: 4, count: 2, block: 3 }], &[11]), [6]);
        assert_eq!(
            Selection::from(&Block::new(&[1, 2], &[2, 3])).resolve(&[3, 5]).unwrap().as_block(),
            Some(Block::new(&[1, 2], &[2, 3]))
        );
        assert_eq!(Selection::from(Index::stepped(.., -1)).resolve(&[3, 5]).unwrap().as_block(), None);
        let points = Selection::Points(vec![vec![2, -1], vec![0, 0]]).resolve(&[3, 5]).unwrap();
        assert_eq!((points.result_shape(), points.aligned_shape()), (&[2][..], &[1, 2][..]));
    }

    #[test]
    fn lists_that_are_ranges_become_ranges() {
        let along = |list: &[i64]| along(&Index::List(list.to_vec()), 11, 0).unwrap();
        assert_eq!(along(&[1, 4, 7]), AxisSelection::Range { start: 1, step: 3, count: 3 });
        assert_eq!(along(&[-2]), AxisSelection::Range { start: 9, step: 1, count: 1 });
        assert_eq!(along(&[7, 4, 1]), AxisSelection::List(vec![7, 4, 1]));
        assert_eq!(along(&[4, 4]), AxisSelection::List(vec![4, 4]));
        assert_eq!(along(&[]), AxisSelection::Range { start: 0, step: 1, count: 0 });
    }

    #[test]
    fn indices_that_cannot_be_are_errors() {
        assert_eq!(kind(&[Index::At(3)], &[3, 5]), ErrorKind::OutOfBounds);
        assert_eq!(kind(&[Index::ALL, Index::List(vec![0, -6])], &[3, 5]), ErrorKind::OutOfBounds);
        assert_eq!(kind(&[Index::At(0), Index::At(0), Index::At(0)], &[3, 5]), ErrorKind::OutOfBounds);
        assert_eq!(kind(&[Index::Ellipsis, Index::Ellipsis], &[3, 5]), ErrorKind::Invalid);
        assert_eq!(kind(&[range_of(None, None, 0)], &[3, 5]), ErrorKind::Invalid);
        assert_eq!(kind(&[Index::Blocks { start: 1, stride: 4, count: 3, block: 3 }], &[11]), ErrorKind::OutOfBounds);
        assert_eq!(kind(&[Index::Blocks { start: 1, stride: 2, count: 2, block: 3 }], &[11]), ErrorKind::Invalid);
        let some = Index::Mask { shape: vec![3, 5], values: vec![true; 15] };
        assert_eq!(kind(std::slice::from_ref(&some), &[3, 5, 10_000_000]), ErrorKind::Limit);
        assert_eq!(kind(&[some], &[3, 6, 7]), ErrorKind::Invalid);
        let none = Index::Mask { shape: vec![], values: vec![true] };
        assert_eq!(kind(&[none], &[3, 5]), ErrorKind::Unsupported);
        assert_eq!(Selection::Points(vec![vec![1]]).resolve(&[3, 5]).unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(Selection::all().resolve(&[1; 33]).unwrap_err().kind(), ErrorKind::Invalid);
    }
}
