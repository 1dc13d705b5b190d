//! Elements of a dataspace as HDF5 selects them, and how two selections of one size pair up.

use crate::error::{Error, Result};
use crate::selection::block::{Block, Run};
use crate::selection::hyperslab::{Hyperslab, Span};
use crate::selection::irregular::Union;
use crate::selection::points::Points;
use crate::selection::shape;

/// A selection as region references and virtual layouts store it, against a known shape.
///
/// Its elements have an order, in which they pair up with those of another selection: row-major, or the order of the
/// list for points.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Elements {
    /// A regular hyperslab; a block, all and nothing are ones too.
    Hyperslab(Hyperslab),
    /// A union of blocks.
    Union(Union),
    /// Points in any order.
    Points(Points),
}

impl Elements {
    /// Every element of `shape`.
    pub fn all(shape: &[u64]) -> Result<Elements> {
        let spans: Vec<Span> = shape.iter().map(|&size| Span::range(0, size)).collect();
        Ok(Elements::Hyperslab(Hyperslab::new(&spans, shape)?))
    }

    /// No element of an array of `rank` dimensions.
    pub fn none(rank: usize) -> Elements {
        Elements::Points(Points::none(rank))
    }

    /// The elements of `block`, which lies within `shape`.
    pub fn block(block: &Block, shape: &[u64]) -> Result<Elements> {
        block.check(shape)?;
        let spans: Vec<Span> = block.start.iter().zip(&block.count).map(|(&s, &n)| Span::range(s, n)).collect();
        Ok(Elements::Hyperslab(Hyperslab::new(&spans, shape)?))
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        match self {
            Elements::Hyperslab(slab) => slab.rank(),
            Elements::Union(union) => union.rank(),
            Elements::Points(points) => points.rank(),
        }
    }

    /// How many elements.
    pub fn count(&self) -> u64 {
        match self {
            Elements::Hyperslab(slab) => slab.count(),
            Elements::Union(union) => union.count(),
            Elements::Points(points) => points.count(),
        }
    }

    /// The smallest block that holds all of them; `None` if there are none.
    pub fn bounds(&self) -> Option<Block> {
        match self {
            Elements::Hyperslab(slab) => slab.bounds(),
            Elements::Union(union) => union.bounds(),
            Elements::Points(points) => points.bounds(),
        }
    }

    /// The coordinates of element number `k` in the selection's order.
    pub fn coordinates(&self, k: u64) -> Option<Vec<u64>> {
        match self {
            Elements::Hyperslab(slab) => slab.coordinates(k),
            Elements::Union(union) => union.coordinates(k),
            Elements::Points(points) => points.coordinates(k),
        }
    }

    /// The number, in the selection's order, of the element at `coordinates`; the first such one among points.
    pub fn position(&self, coordinates: &[u64]) -> Option<u64> {
        match self {
            Elements::Hyperslab(slab) => slab.position(coordinates),
            Elements::Union(union) => union.position(coordinates),
            Elements::Points(points) => {
                points.iter().position(|point| point == coordinates).map(|k| u64::try_from(k).expect("a count"))
            }
        }
    }

    /// What lies within `block`, in parts that do not overlap. Numbers of elements are those of each part, not of the
    /// whole: use [`position`](Elements::position) on the whole.
    pub fn within(&self, block: &Block) -> Result<Vec<Elements>> {
        Ok(match self {
            Elements::Hyperslab(slab) => slab.within(block).into_iter().map(Elements::Hyperslab).collect(),
            Elements::Union(union) => vec![Elements::Union(union.within(block)?)],
            Elements::Points(points) => vec![Elements::Points(points.within(block))],
        })
    }

    /// Contiguous runs within a row-major array of `shape`, in the selection's order, joined where they touch.
    pub fn runs<'a>(&'a self, shape: &[u64]) -> Result<Box<dyn Iterator<Item = Run> + 'a>> {
        Ok(match self {
            Elements::Hyperslab(slab) => Box::new(slab.runs(shape)?),
            Elements::Union(union) => Box::new(union.runs(shape)?),
            Elements::Points(points) => Box::new(points.runs(shape)?),
        })
    }
}

/// Elements that pair up: so many from `source` on in one array belong to those from `destination` on in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The row-major number of the first in the source.
    pub source: u64,
    /// The row-major number of the first in the destination.
    pub destination: u64,
    /// How many.
    pub count: u64,
}

/// The k-th element of `source` in an array of shape `source_shape` with the k-th of `destination`, as runs.
///
/// Errors: `Invalid` if the selections differ in their number of elements; those of [`Elements::runs`].
pub fn paired<'a>(
    source: &'a Elements,
    source_shape: &[u64],
    destination: &'a Elements,
    destination_shape: &[u64],
) -> Result<impl Iterator<Item = Pair> + 'a> {
    let (from, to) = (source.count(), destination.count());
    if from != to {
        return Err(Error::invalid(format!("a selection of {from} elements for one of {to}")));
    }
    shape::check_rank(source_shape)?;
    let (mut sources, mut destinations) = (source.runs(source_shape)?, destination.runs(destination_shape)?);
    let none = Run { start: 0, count: 0 };
    let (mut s, mut d) = (none, none);
    Ok(std::iter::from_fn(move || {
        if s.count == 0 {
            s = sources.next()?;
        }
        if d.count == 0 {
            d = destinations.next()?;
        }
        let count = s.count.min(d.count);
        let pair = Pair { source: s.start, destination: d.start, count };
        for run in [&mut s, &mut d] {
            run.start += count;
            run.count -= count;
        }
        Some(pair)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn selections_pair_up_in_their_order() {
        let (from, to) = ([4, 6], [3, 5, 7]);
        let source = Elements::block(&Block::new(&[1, 2], &[2, 3]), &from).unwrap();
        let points = vec![2, 4, 6, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 1, 0, 0];
        let destination = Elements::Points(Points::new(points, &to).unwrap());
        let pairs: Vec<_> = paired(&source, &from, &destination, &to).unwrap().collect();
        let expected = [(8, 104, 1), (9, 0, 2), (14, 2, 2), (16, 35, 1)];
        assert_eq!(pairs, expected.map(|(source, destination, count)| Pair { source, destination, count }));
        for k in 0..6 {
            assert_eq!(destination.position(&destination.coordinates(k).unwrap()), Some(k));
        }
    }

    #[test]
    fn selections_of_different_sizes_do_not_pair() {
        let all = Elements::all(&[3, 5]).unwrap();
        let error = paired(&all, &[3, 5], &Elements::none(2), &[3, 5]).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(Elements::none(2).bounds(), None);
        assert_eq!(all.bounds(), Some(Block::all(&[3, 5])));
    }

    #[test]
    fn every_kind_can_be_cut_to_a_block() {
        let shape = [3, 5];
        let kinds = [
            Elements::all(&shape).unwrap(),
            Elements::Union(Union::new(vec![Block::all(&shape)], &shape).unwrap()),
            Elements::Points(Points::from_mask(&[true; 15], &shape).unwrap()),
        ];
        for elements in kinds {
            let parts = elements.within(&Block::new(&[1, 3], &[9, 9])).unwrap();
            let runs: Vec<_> = parts[0].runs(&shape).unwrap().map(|r| (r.start, r.count)).collect();
            assert_eq!(runs, [(8, 2), (13, 2)]);
            assert_eq!((elements.rank(), elements.count(), elements.position(&[1, 2])), (2, 15, Some(7)));
        }
    }
}
