//! The grid of chunks over an array, and the chunks that a selection touches.
//!
//! ```text
//! shape [5, 7] in chunks [2, 3]: grid [3, 3]     chunk [1, 2] is number 5, its block: start [2, 6], count [2, 1]
//! ```

use bitvec::prelude::{BitVec, Lsb0};

use crate::error::{Error, Result};
use crate::selection::axis_transfer::AxisTransfer;
use crate::selection::block::Block;
use crate::selection::index::{Selected, Wanted};
use crate::selection::pieces::AxisChunks;
use crate::selection::points::Points;
use crate::selection::shape;
use crate::selection::transfer::Transfer;

/// A shape cut into chunks of one shape. Chunks at the edges may reach beyond the array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Grid {
    /// The array's shape, that of a chunk, and how many chunks along each dimension: one piece of memory, as every
    /// selection of chunks has a grid.
    sizes: Vec<u64>,
    len: u64,
}

impl Grid {
    /// An array of `shape` in chunks of shape `chunk`.
    ///
    /// Errors: `Invalid` if the ranks differ or a chunk is empty, `Limit` if the chunks cannot be counted.
    pub fn new(shape: &[u64], chunk: &[u64]) -> Result<Grid> {
        shape::check_rank(shape)?;
        if shape.len() != chunk.len() {
            return Err(Error::invalid(format!("chunks of shape {chunk:?} for an array of shape {shape:?}")));
        }
        if chunk.contains(&0) {
            return Err(Error::invalid(format!("chunks of shape {chunk:?} have no elements")));
        }
        let counts: Vec<u64> = shape.iter().zip(chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
        let len = shape::count(&counts)?;
        Ok(Grid { sizes: [shape, chunk, &counts].concat(), len })
    }

    fn part(&self, n: usize) -> &[u64] {
        let rank = self.sizes.len() / 3;
        &self.sizes[n * rank..(n + 1) * rank]
    }

    /// The array's shape.
    pub fn shape(&self) -> &[u64] {
        self.part(0)
    }

    /// The shape of a whole chunk.
    pub fn chunk_shape(&self) -> &[u64] {
        self.part(1)
    }

    /// How many chunks along each dimension.
    pub fn counts(&self) -> &[u64] {
        self.part(2)
    }

    /// How many chunks.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is no chunk.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The row-major number of the chunk at `coordinates`, counted in chunks.
    pub fn number(&self, coordinates: &[u64]) -> Option<u64> {
        shape::number(self.counts(), coordinates)
    }

    /// The coordinates, counted in chunks, of chunk `number`.
    pub fn coordinates(&self, number: u64) -> Option<Vec<u64>> {
        shape::coordinates(self.counts(), number)
    }

    /// The block of the array that the chunk at `coordinates` covers, cut at the array's edge.
    pub fn block(&self, coordinates: &[u64]) -> Block {
        let start: Vec<u64> = coordinates.iter().zip(self.chunk_shape()).map(|(at, chunk)| at * chunk).collect();
        let room = start.iter().zip(self.shape()).zip(self.chunk_shape());
        let count = room.map(|((start, size), chunk)| size.saturating_sub(*start).min(*chunk)).collect();
        Block { start, count }
    }

    /// The block of chunks, counted in chunks, that meet `block`, which is not empty and lies in the array.
    pub fn around(&self, block: &Block) -> Block {
        let (mut start, mut count) = (Vec::new(), Vec::new());
        for (axis, chunk) in self.chunk_shape().iter().enumerate() {
            start.push(block.start[axis] / chunk);
            count.push(block.end(axis).div_ceil(*chunk) - block.start[axis] / chunk);
        }
        Block { start, count }
    }

    /// The chunks that meet `block`.
    pub fn meet(&self, block: &Block) -> Result<ChunkSelection> {
        self.select(&Selected::block(block, self.shape())?)
    }

    /// The chunks that `selected` touches. Costs the lists and points in it, not the chunks.
    ///
    /// Errors: `Invalid` if it was made for another shape.
    pub fn select(&self, selected: &Selected) -> Result<ChunkSelection> {
        if selected.shape() != self.shape() {
            return Err(Error::invalid(format!("selection of shape {:?} on {:?}", selected.shape(), self.shape())));
        }
        let parts = match selected.wanted() {
            Wanted::Axes(axes) => {
                let sizes = self.shape().iter().zip(self.chunk_shape());
                Parts::Axes(
                    axes.iter().zip(sizes).map(|(a, (&size, &chunk))| AxisChunks::new(a, size, chunk)).collect(),
                )
            }
            Wanted::Points(points) => Parts::Points(self.group(points)),
        };
        Ok(ChunkSelection { grid: self.clone(), parts })
    }

    /// The points by chunk; within a chunk in their order.
    fn group(&self, points: &Points) -> Vec<PointGroup> {
        let chunk_of = |point: &[u64]| {
            let places = point.iter().zip(self.chunk_shape()).zip(self.counts());
            places.fold(0, |number, ((at, chunk), count)| number * count + at / chunk)
        };
        let mut sorted: Vec<(u64, u64)> = points.iter().map(chunk_of).zip(0..).collect();
        sorted.sort_unstable();
        let members = |group: &[(u64, u64)]| PointGroup {
            number: group[0].0,
            points: group.iter().map(|&(_, k)| (k, points.coordinates(k).expect("one of them"))).collect(),
        };
        sorted.chunk_by(|a, b| a.0 == b.0).map(members).collect()
    }
}

/// The chunks that a selection touches; see [`Grid::select`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChunkSelection {
    grid: Grid,
    parts: Parts,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Parts {
    Axes(Vec<AxisChunks>),
    Points(Vec<PointGroup>),
}

/// Points of one chunk, each with its place in the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct PointGroup {
    number: u64,
    points: Vec<(u64, Vec<u64>)>,
}

impl ChunkSelection {
    /// The grid it was selected from.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// How many chunks are touched.
    pub fn len(&self) -> u64 {
        match &self.parts {
            Parts::Axes(axes) => axes.iter().map(AxisChunks::len).product(),
            Parts::Points(groups) => groups.len() as u64,
        }
    }

    /// Whether no chunk is touched.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is touched along each dimension; `None` if the selection is a list of points.
    pub fn axes(&self) -> Option<&[AxisChunks]> {
        match &self.parts {
            Parts::Axes(axes) => Some(axes),
            Parts::Points(_) => None,
        }
    }

    /// The `i`-th touched chunk, in ascending order of chunk numbers.
    pub fn get(&self, i: u64) -> Option<Touched<'_>> {
        match &self.parts {
            Parts::Axes(axes) => {
                let counts: Vec<u64> = axes.iter().map(AxisChunks::len).collect();
                let places = shape::coordinates(&counts, i)?;
                let coordinates: Vec<u64> = axes.iter().zip(&places).map(|(axis, &i)| axis.chunk(i)).collect();
                let number = self.grid.number(&coordinates)?;
                Some(Touched { selection: self, place: i, part: Part::Axes { axes, places }, coordinates, number })
            }
            Parts::Points(groups) => {
                let group = groups.get(usize::try_from(i).ok()?)?;
                let coordinates = self.grid.coordinates(group.number)?;
                let part = Part::Points(group);
                Some(Touched { selection: self, place: i, part, coordinates, number: group.number })
            }
        }
    }

    /// The touched chunks, in ascending order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = Touched<'_>> {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    /// The number in `grid` of each touched chunk, in order; `None` where `grid` has no such chunk. `grid` may be
    /// another than the one that was selected from: a resize looks at old chunks in a new grid.
    pub fn numbers(&self, grid: &Grid) -> Vec<Option<u64>> {
        let mut numbers = vec![None; shape::index(self.len())];
        self.each_number(grid, |i, number| numbers[shape::index(i)] = Some(number));
        numbers
    }

    /// Calls `each` with every touched chunk that `grid` has, in order: which of the touched, and its number in `grid`.
    pub fn each_number(&self, grid: &Grid, mut each: impl FnMut(u64, u64)) {
        let axes = match &self.parts {
            Parts::Axes(axes) => axes,
            Parts::Points(groups) => {
                let number = |group: &PointGroup| grid.number(&self.grid.coordinates(group.number)?);
                let known = (0..).zip(groups).filter_map(|(i, group)| Some((i, number(group)?)));
                return known.for_each(|(i, number)| each(i, number));
            }
        };
        let Some((last, outer)) = axes.split_last() else { return each(0, 0) };
        if self.is_empty() {
            return;
        }
        let (mut at, mut lens) = ([0; shape::MAX_RANK], [0; shape::MAX_RANK]);
        let (at, lens) = (&mut at[..outer.len()], &mut lens[..outer.len()]);
        lens.iter_mut().zip(outer).for_each(|(len, axis)| *len = axis.len());
        let below = |axis: &AxisChunks, i: u64, count: u64| Some(axis.chunk(i)).filter(|chunk| *chunk < count);
        let count = grid.counts()[outer.len()];
        for row in (0..).step_by(shape::index(last.len())) {
            let mut places = outer.iter().zip(&*at).zip(grid.counts());
            if let Some(head) =
                places.try_fold(0, |head, ((axis, &i), &count)| Some(head * count + below(axis, i, count)?))
            {
                let chunks = (0..last.len()).map_while(|i| Some((i, below(last, i, count)?)));
                chunks.for_each(|(i, chunk)| each(row + i, head * count + chunk));
            }
            if !shape::advance(at, lens) {
                return;
            }
        }
    }

    /// Which of the touched chunks are wholly selected, one bit each, in order.
    pub fn wholly(&self) -> BitVec<usize, Lsb0> {
        let Parts::Axes(axes) = &self.parts else {
            return self.iter().map(|touched| touched.wholly()).collect();
        };
        let mut mask: BitVec<usize, Lsb0> = BitVec::repeat(true, 1);
        for axis in axes {
            let own = axis.all_wholly();
            let none = BitVec::<usize, Lsb0>::repeat(false, own.len());
            let mut longer = BitVec::with_capacity(mask.len() * own.len());
            for whole in mask {
                longer.extend_from_bitslice(if whole { &own } else { &none });
            }
            mask = longer;
        }
        mask
    }

    /// Calls `each` with every transfer of the `i`-th touched chunk, as [`Touched::transfers`] lists them, in `axes`,
    /// whose memory is used again.
    pub fn each_transfer(&self, i: u64, axes: &mut Vec<AxisTransfer>, mut each: impl FnMut(&mut [AxisTransfer])) {
        let Parts::Axes(chunks) = &self.parts else {
            for transfer in self.get(i).iter().flat_map(Touched::transfers) {
                axes.clear();
                axes.extend(transfer.axes);
                each(axes);
            }
            return;
        };
        let (mut left, mut places, mut pieces) = (i, [0u64; shape::MAX_RANK], [0usize; shape::MAX_RANK]);
        let (places, pieces) = (&mut places[..chunks.len()], &mut pieces[..chunks.len()]);
        for (axis, place) in chunks.iter().zip(&mut *places).rev() {
            let len = axis.len();
            (*place, left) = (left % len, left / len);
        }
        loop {
            axes.clear();
            let chosen = chunks.iter().zip(&*places).zip(&*pieces);
            axes.extend(chosen.filter_map(|((axis, &i), &n)| axis.piece(i, n)).map(AxisTransfer::from));
            each(axes);
            let more = chunks.iter().zip(&*places).zip(&mut *pieces).rev().any(|((axis, &i), n)| {
                *n = if *n + 1 < axis.pieces(i) { *n + 1 } else { 0 };
                *n > 0
            });
            if !more {
                return;
            }
        }
    }

    /// How many transfers the `i`-th touched chunk has.
    pub fn transfer_count(&self, i: u64) -> usize {
        let mut count = 0;
        self.each_transfer(i, &mut vec![], |_| count += 1);
        count
    }

    /// What copies the `i`-th touched chunk as a whole, within the array, to the same place of another chunk.
    pub fn whole_chunk(&self, i: u64, transfer: &mut Vec<AxisTransfer>) {
        let one = |count| AxisTransfer {
            source_start: 0,
            destination_start: 0,
            count,
            source_stride: 1,
            destination_stride: 1,
        };
        transfer.clear();
        let Parts::Axes(axes) = &self.parts else {
            let extent = self.get(i).map_or_else(Vec::new, |touched| touched.block().count);
            return transfer.extend(extent.into_iter().map(one));
        };
        let mut left = i;
        for axis in axes.iter().rev() {
            transfer.push(one(axis.extent(left % axis.len())));
            left /= axis.len();
        }
        transfer.reverse();
    }
}

/// A chunk that a selection touches.
#[derive(Clone, Debug)]
pub struct Touched<'a> {
    selection: &'a ChunkSelection,
    /// Which of the touched chunks.
    place: u64,
    part: Part<'a>,
    coordinates: Vec<u64>,
    number: u64,
}

#[derive(Clone, Debug)]
enum Part<'a> {
    /// For each dimension which of its touched chunks.
    Axes {
        axes: &'a [AxisChunks],
        places: Vec<u64>,
    },
    Points(&'a PointGroup),
}

impl Touched<'_> {
    /// The chunk's row-major number in the grid.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The chunk's coordinates, counted in chunks.
    pub fn coordinates(&self) -> &[u64] {
        &self.coordinates
    }

    /// The block of the array that it covers, cut at the edge.
    pub fn block(&self) -> Block {
        self.selection.grid.block(&self.coordinates)
    }

    /// Whether all its elements (within the array) are selected.
    pub fn wholly(&self) -> bool {
        match &self.part {
            Part::Axes { axes, places } => axes.iter().zip(places).all(|(axis, &i)| axis.wholly(i)),
            Part::Points(group) => {
                let mut distinct: Vec<&[u64]> = group.points.iter().map(|(_, point)| &point[..]).collect();
                distinct.sort_unstable();
                distinct.dedup();
                distinct.len() as u64 == self.block().count.iter().product::<u64>()
            }
        }
    }

    /// What copies its selected part from the chunk (the source, of the grid's chunk shape) to the result (of
    /// [`Selected::aligned_shape`]), in order. One transfer, unless lists or points cut the part into several.
    pub fn transfers(&self) -> Vec<Transfer> {
        match &self.part {
            Part::Axes { .. } => {
                let mut transfers = vec![];
                self.selection
                    .each_transfer(self.place, &mut vec![], |axes| transfers.push(Transfer { axes: axes.to_vec() }));
                transfers
            }
            Part::Points(group) => self.point_transfers(group),
        }
    }

    fn point_transfers(&self, group: &PointGroup) -> Vec<Transfer> {
        let mut transfers: Vec<Transfer> = vec![];
        let mut before: Option<&(u64, Vec<u64>)> = None;
        for here in &group.points {
            let next = before.is_some_and(|(place, point)| {
                let (Some((last, head)), Some((own, own_head))) = (point.split_last(), here.1.split_last()) else {
                    return false;
                };
                here.0 == place + 1 && *own == last + 1 && head == own_head
            });
            match transfers.last_mut().and_then(|transfer| transfer.axes.last_mut()) {
                Some(last) if next => last.count += 1,
                _ => transfers.push(self.point_transfer(here)),
            }
            before = Some(here);
        }
        transfers
    }

    fn point_transfer(&self, (place, point): &(u64, Vec<u64>)) -> Transfer {
        let within: Vec<u64> =
            point.iter().zip(self.selection.grid.chunk_shape()).map(|(at, chunk)| at % chunk).collect();
        let mut result = vec![0; point.len()];
        if let Some(last) = result.last_mut() {
            *last = *place;
        }
        Transfer::block(&within, &result, &vec![1; point.len()])
    }
}

impl From<crate::selection::pieces::Piece> for AxisTransfer {
    /// From the chunk to the result.
    fn from(piece: crate::selection::pieces::Piece) -> AxisTransfer {
        AxisTransfer {
            source_start: piece.chunk_start,
            destination_start: piece.value_start,
            count: piece.count,
            // A step beyond 63 bits has no second element to step to.
            source_stride: i64::try_from(piece.chunk_step).unwrap_or(1),
            destination_stride: piece.value_step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::selection::index::{Index, Selection};
    use crate::selection::transfer::{Destination, Source};
    use proptest::prelude::*;

    #[test]
    fn chunks_are_numbered_and_cut_at_the_edge() {
        let grid = Grid::new(&[5, 7], &[2, 3]).unwrap();
        assert_eq!((grid.counts(), grid.len()), (&[3, 3][..], 9));
        assert_eq!(grid.number(&[1, 2]), Some(5));
        assert_eq!(grid.coordinates(5), Some(vec![1, 2]));
        assert_eq!(grid.block(&[1, 2]), Block::new(&[2, 6], &[2, 1]));
        assert_eq!(grid.block(&[2, 2]), Block::new(&[4, 6], &[1, 1]));
        assert!(Grid::new(&[5, 0], &[2, 3]).unwrap().is_empty());
        assert_eq!(Grid::new(&[5, 7], &[2, 0]).unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(Grid::new(&[5, 7], &[2]).unwrap_err().kind(), ErrorKind::Invalid);
    }

    #[test]
    fn a_block_in_a_huge_grid_costs_what_it_touches() {
        let grid = Grid::new(&[1 << 40, 1 << 20], &[3, 5]).unwrap();
        let met = grid.meet(&Block::new(&[1 << 39, 7], &[3, 6])).unwrap();
        assert_eq!(met.len(), 4);
        let touched: Vec<_> = met.iter().map(|t| (t.coordinates().to_vec(), t.wholly())).collect();
        assert_eq!(touched[0], (vec![183_251_937_962, 1], false));
        assert_eq!(touched.len(), 4);
    }

    #[test]
    fn a_chunk_is_wholly_selected_when_all_its_elements_within_the_array_are() {
        let grid = Grid::new(&[5, 7], &[2, 3]).unwrap();
        let met = grid.meet(&Block::new(&[2, 3], &[3, 4])).unwrap();
        assert!(met.iter().all(|touched| touched.wholly()));
        assert_eq!(met.iter().map(|t| t.number()).collect::<Vec<_>>(), [4, 5, 7, 8]);
        let met = grid.meet(&Block::new(&[1, 3], &[4, 4])).unwrap();
        assert_eq!(met.iter().filter(Touched::wholly).count(), 4);
        assert_eq!(grid.meet(&Block::new(&[1, 3], &[5, 4])).unwrap_err().kind(), ErrorKind::OutOfBounds);
    }

    fn index(size: u64) -> impl Strategy<Value = Index> {
        let n = i64::try_from(size).unwrap();
        prop_oneof![
            (-n..n).prop_map(Index::At),
            (
                prop::option::of(-n - 2..n + 3),
                prop::option::of(-n - 2..n + 3),
                prop::sample::select(vec![-7, -2, -1, 1, 1, 2, 3, 9])
            )
                .prop_map(|(start, stop, step)| Index::Range { start, stop, step }),
            prop::collection::vec(-n..n, 0..7).prop_map(Index::List),
            prop::collection::vec(any::<bool>(), shape::index(size))
                .prop_map(move |values| Index::Mask { shape: vec![size], values }),
        ]
    }

    fn selection() -> impl Strategy<Value = Selection> {
        let point = (-5..5i64, -7..7i64, -4..4i64).prop_map(|(a, b, c)| vec![a, b, c]);
        prop_oneof![
            4 => (index(5), index(7), index(4)).prop_map(|(a, b, c)| Selection::Indices(vec![a, b, c])),
            1 => prop::collection::vec(point, 0..20).prop_map(Selection::Points),
            1 => prop::collection::vec(any::<bool>(), 140).prop_map(|values| {
                Selection::Indices(vec![Index::Mask { shape: vec![5, 7, 4], values }])
            }),
        ]
    }

    /// The coordinates that a selection means, one by one.
    fn listed(selected: &Selected) -> Vec<Vec<u64>> {
        use crate::selection::AxisSelection;
        let axes: Vec<Vec<u64>> = match selected.wanted() {
            Wanted::Points(points) => return points.iter().map(<[u64]>::to_vec).collect(),
            Wanted::Axes(axes) => axes
                .iter()
                .map(|axis| match axis {
                    AxisSelection::List(list) => list.clone(),
                    AxisSelection::Range { start, step, count } => (0..*count)
                        .map(|k| start.checked_add_signed(step * i64::try_from(k).unwrap()).unwrap())
                        .collect(),
                })
                .collect(),
        };
        axes.iter().fold(vec![vec![]], |heads, axis| {
            heads.iter().flat_map(|head| axis.iter().map(move |&at| [&head[..], &[at]].concat())).collect()
        })
    }

    proptest! {
        #[test]
        fn transfers_of_touched_chunks_give_the_selection(selection in selection(), c in (1..7u64, 1..9u64, 1..5u64)) {
            let grid = Grid::new(&[5, 7, 4], &[c.0, c.1, c.2]).unwrap();
            let selected = selection.resolve(grid.shape()).unwrap();
            let wanted = listed(&selected);
            prop_assert_eq!(selected.count().unwrap(), wanted.len() as u64);
            let element = |at: &[u64]| u8::try_from(shape::number(grid.shape(), at).unwrap()).unwrap();
            let mut result = vec![255; wanted.len()];
            let mut last = None;
            let met = grid.select(&selected).unwrap();
            for touched in met.iter() {
                prop_assert!(last < Some(touched.number()));
                last = Some(touched.number());
                let block = touched.block();
                let mut chunk = vec![254; shape::index(c.0 * c.1 * c.2)];
                let mut at = vec![0; 3];
                let mut whole = true;
                loop {
                    let place: Vec<u64> = block.start.iter().zip(&at).map(|(s, x)| s + x).collect();
                    chunk[shape::index(shape::number(grid.chunk_shape(), &at).unwrap())] = element(&place);
                    whole &= wanted.contains(&place);
                    if !shape::advance(&mut at, &block.count) {
                        break;
                    }
                }
                prop_assert_eq!(touched.wholly(), whole);
                prop_assert_eq!(met.wholly()[shape::index(touched.place)], whole);
                prop_assert_eq!(met.numbers(&grid)[shape::index(touched.place)], Some(touched.number()));
                for transfer in touched.transfers() {
                    let from = Source { bytes: &chunk, shape: grid.chunk_shape() };
                    let to = Destination { bytes: &mut result, shape: selected.aligned_shape() };
                    transfer.copy(from, to, 1).unwrap();
                }
            }
            prop_assert_eq!(result, wanted.iter().map(|at| element(at)).collect::<Vec<_>>());
        }
    }
}
