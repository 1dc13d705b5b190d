//! From a manifest and a selection to the plan of the read. Pure.

use crate::error::{Error, Result};
use crate::filter::Pipeline;
use crate::manifest::{ChunkPlace, Chunks, Manifest, Segment};
use crate::plan::{ChunkRead, Gather, PieceRead, ReadPlan};
use crate::selection::{Block, ChunkSelection, Grid, Selected, shape};
use crate::wire::SourceId;

/// Bytes of a tile of contiguous data at most, unless an element is larger; and of runs that are read on their own, at
/// least a quarter of that.
const TILE: usize = 64 << 10;

/// The plan of reading what is `selected` of a dataset whose elements have `element_size` bytes and whose chunks go through
/// `pipeline`.
///
/// Inline and virtual data need no plan here: the former are there, the latter are read from their sources.
pub fn plan(
    manifest: &Manifest,
    pipeline: Option<&Pipeline>,
    element_size: usize,
    selected: Selected,
) -> Result<ReadPlan> {
    let (pieces, gathers, chunks) = (Vec::new(), Vec::new(), Vec::new());
    let mut plan = ReadPlan { selected, element_size, fills: false, pieces, gathers, chunks };
    match manifest {
        Manifest::Segments { segments, .. } => plan_segments(&mut plan, segments)?,
        Manifest::Chunks(chunks) => plan_chunks(&mut plan, chunks, pipeline.is_none_or(Pipeline::is_empty))?,
        Manifest::Inline(_) | Manifest::Virtual(_) => plan.fills = true,
    }
    Ok(plan)
}

/// An array cut into tiles that are contiguous in row-major order, of at most `bytes` bytes or one element.
pub fn tiles(shape: &[u64], element_size: usize, bytes: usize) -> Result<Grid> {
    let mut room = u64::try_from(bytes / element_size.max(1)).unwrap_or(u64::MAX).max(1);
    let mut tile = vec![1; shape.len()];
    for (own, size) in tile.iter_mut().zip(shape).rev() {
        *own = room.min((*size).max(1));
        if *own < *size {
            break;
        }
        room /= *own;
    }
    Grid::new(shape, &tile)
}

/// The tiles that gathering touches.
pub(super) fn gathered(selected: &Selected, element_size: usize) -> Result<ChunkSelection> {
    tiles(selected.shape(), element_size, TILE)?.select(selected)
}

fn plan_segments(plan: &mut ReadPlan, segments: &[Segment]) -> Result<()> {
    let size = u64::try_from(plan.element_size).map_err(|_| Error::limit("an element is larger than memory"))?;
    let overflow = || Error::limit("the dataset is larger than 64 bits can count");
    let bytes = |elements: u64| elements.checked_mul(size).ok_or_else(overflow);
    bytes(shape::count(plan.selected.shape())?)?;
    let long = u64::try_from(TILE / 4).unwrap_or(u64::MAX);
    if let Some(block) = plan.selected.as_block() {
        let mut runs = block.runs(plan.selected.shape())?.peekable();
        let count = runs.peek().map_or(0, |run| run.count);
        if bytes(count)? >= long || Some(count) == shape::count(&block.count).ok() {
            let mut destination = 0;
            for run in runs {
                let (start, end) = (bytes(run.start)?, bytes(run.start + run.count)?);
                plan.fills |= cut(segments, (start, end), destination, &mut plan.pieces)?;
                destination += end - start;
            }
            return Ok(());
        }
    }
    let selection = gathered(&plan.selected, plan.element_size)?;
    for i in 0..selection.len() {
        let Some(origin) = selection.get(i).and_then(|tile| shape::number(plan.selected.shape(), &tile.block().start))
        else {
            continue;
        };
        let (low, high) = reach(&selection, i)?;
        let (start, end) = (bytes(origin + low)?, bytes(origin + high + 1)?);
        let mut pieces = Vec::new();
        let fills = cut(segments, (start, end), bytes(low)?, &mut pieces)?;
        plan.gathers.push(Gather { touched: i, fills, pieces });
    }
    Ok(())
}

/// The first and the last number, within the tile, of an element that is selected of it.
fn reach(selection: &ChunkSelection, i: u64) -> Result<(u64, u64)> {
    let strides = shape::strides(selection.grid().chunk_shape())?;
    let (mut low, mut high) = (u64::MAX, 0);
    selection.each_transfer(i, &mut Vec::new(), |axes| {
        let end = |axis: &crate::selection::AxisTransfer| {
            let last = axis.source_stride.unsigned_abs().saturating_mul(axis.count.saturating_sub(1));
            axis.source_start.saturating_add(last)
        };
        low = low.min(axes.iter().zip(&strides).map(|(axis, n)| axis.source_start * n).sum());
        high = high.max(axes.iter().zip(&strides).map(|(axis, n)| end(axis) * n).sum());
    });
    Ok((low.min(high), high))
}

/// The pieces of segments that hold the bytes from `start` to `end`, placed from `destination` on; and whether some of
/// these bytes are in none.
fn cut(segments: &[Segment], (start, end): (u64, u64), destination: u64, pieces: &mut Vec<PieceRead>) -> Result<bool> {
    let (mut at, mut fills) = (start, false);
    let first = segments.partition_point(|s| s.start.saturating_add(s.size) <= start);
    for segment in &segments[first..] {
        let (from, to) = (segment.start.max(at), segment.start.saturating_add(segment.size).min(end));
        if from >= to {
            break;
        }
        fills |= from > at;
        let addr = segment.addr.plus(from - segment.start)?;
        let destination = destination + (from - start);
        push(pieces, PieceRead { source: segment.source, addr, size: to - from, destination });
        at = to;
    }
    Ok(fills || at < end)
}

/// Adds a piece, or makes the last one longer if it goes on there.
fn push(pieces: &mut Vec<PieceRead>, piece: PieceRead) {
    match pieces.last_mut() {
        Some(last)
            if last.source == piece.source
                && last.addr.0.checked_add(last.size) == Some(piece.addr.0)
                && last.destination + last.size == piece.destination =>
        {
            last.size += piece.size;
        }
        _ => pieces.push(piece),
    }
}

/// Chunks that are stored as they are and go to the result in one piece are pieces of it, neighbours one piece.
fn plan_chunks(plan: &mut ReadPlan, chunks: &Chunks, unfiltered: bool) -> Result<()> {
    let grid = chunks.grid();
    let selection = grid.select(&plan.selected)?;
    let block = plan.selected.as_block();
    let is_whole = block.as_ref().is_some_and(|block| block.count == grid.shape());
    let places = block.map(|block| InPlace::new(grid, &block, plan.element_size)).transpose()?.flatten();
    let mut add = |place: ChunkPlace, touched: u64| {
        let ChunkPlace { number, addr, size, filter_mask } = place;
        let destination = places.as_ref().and_then(|places| places.position(number));
        match (&places, destination) {
            (Some(InPlace { bytes, .. }), Some(destination)) if unfiltered && size >= *bytes => {
                push(&mut plan.pieces, PieceRead { source: SourceId(0), addr, size: *bytes, destination });
            }
            _ => {
                let in_place = destination.is_some();
                plan.chunks.push(ChunkRead { number, touched, addr, size, filter_mask, in_place });
            }
        }
    };
    if is_whole {
        plan.fills = selection.len() != u64::try_from(chunks.len()).unwrap_or(u64::MAX);
        chunks.iter().for_each(|place| add(place, place.number));
        return Ok(());
    }
    let mut fills = false;
    selection.each_number(grid, |touched, number| match chunks.get(number) {
        Some(place) => add(place, touched),
        None => fills = true,
    });
    plan.fills = fills;
    Ok(())
}

/// Where whole chunks go that lie in one piece in the block that is read.
struct InPlace {
    /// Bytes of a chunk.
    bytes: u64,
    /// For each dimension, the last one first: how many chunks the grid has, which of them lie wholly in the block, how many
    /// bytes of the result the first of these is from its start, and each from the one before.
    axes: Vec<(u64, std::ops::Range<u64>, u64, u64)>,
}

impl InPlace {
    /// `None` if none does.
    fn new(grid: &Grid, block: &Block, element_size: usize) -> Result<Option<InPlace>> {
        let (chunk, count) = (grid.chunk_shape(), &block.count);
        // The dimensions behind the first in which a chunk has more than one element have to be wanted as they are.
        let ragged = (0..chunk.len()).rev().find(|axis| chunk[*axis] != count[*axis]);
        if chunk.iter().take(ragged.unwrap_or(0)).any(|size| *size != 1) {
            return Ok(None);
        }
        let overflow = || Error::limit("the selection is larger than 64 bits can count");
        let size = u64::try_from(element_size).map_err(|_| overflow())?;
        shape::count(count)?.checked_mul(size).ok_or_else(overflow)?;
        let (strides, mut axes) = (shape::strides(count)?, Vec::new());
        for (axis, stride) in strides.iter().enumerate().rev() {
            let (start, whole) =
                (block.start[axis], block.start[axis].div_ceil(chunk[axis])..block.end(axis) / chunk[axis]);
            if whole.is_empty() {
                return Ok(None);
            }
            let before = (whole.start * chunk[axis] - start) * stride * size;
            axes.push((grid.counts()[axis], whole, before, chunk[axis] * stride * size));
        }
        // A chunk that lies in the block has no more elements than that.
        Ok(Some(InPlace { bytes: shape::count(chunk)? * size, axes }))
    }

    /// Position in the result of the first byte of chunk `number`; `None` if the chunk is not wanted as a whole.
    fn position(&self, number: u64) -> Option<u64> {
        let (mut left, mut position) = (number, 0);
        for (chunks, whole, first, step) in &self.axes {
            let at = Some(left % chunks).filter(|at| whole.contains(at))?;
            position += first + (at - whole.start) * step;
            left /= chunks;
        }
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{ChunkInfo, Registry};
    use crate::format::message::filter_pipeline::{FilterDescription, FilterPipeline};
    use crate::manifest::ChunksBuilder;
    use crate::selection::{Index, Selection};
    use crate::wire::{Addr, SourceId};

    fn block(start: &[u64], count: &[u64], shape: &[u64]) -> Selected {
        Selected::block(&Block::new(start, count), shape).unwrap()
    }

    fn segment(start: u64, addr: u64, size: u64) -> Segment {
        Segment { start, source: SourceId(0), addr: Addr(addr), size }
    }

    #[test]
    fn segments_become_pieces_and_holes_are_filled() {
        let manifest =
            Manifest::Segments { segments: vec![segment(0, 1000, 20), segment(24, 5000, 36)], files: vec![] };
        let plan = plan(&manifest, None, 4, block(&[1, 0], &[2, 5], &[3, 5])).unwrap();
        let pieces: Vec<_> = plan.pieces.iter().map(|p| (p.addr.0, p.size, p.destination)).collect();
        assert_eq!(pieces, [(5000, 36, 4)]);
        assert!(plan.fills);
        let whole = Manifest::Segments { segments: vec![segment(0, 1000, 60)], files: vec![] };
        assert!(!super::plan(&whole, None, 4, Selected::all(&[3, 5])).unwrap().fills);
    }

    #[test]
    fn single_elements_of_contiguous_data_are_gathered_tile_by_tile() {
        let manifest = Manifest::Segments { segments: vec![segment(0, 1000, 4 << 20)], files: vec![] };
        let column = Selection::Indices(vec![Index::ALL, Index::At(3)]).resolve(&[2048, 512]).unwrap();
        let plan = plan(&manifest, None, 4, column).unwrap();
        // Tiles of 32 rows; of each the stretch from its first to its last wanted element.
        assert_eq!((plan.gathers.len(), plan.pieces.len()), (64, 0));
        let piece = plan.gathers[1].pieces[0];
        let first = 1000 + 4 * (32 * 512 + 3);
        assert_eq!((piece.addr.0, piece.size, piece.destination), (first, 4 * (31 * 512 + 1), 12));
    }

    #[test]
    fn only_whole_rows_of_chunks_are_decoded_into_place() {
        let mut builder = ChunksBuilder::new(Grid::new(&[5, 6], &[2, 6]).unwrap());
        for number in 0..3 {
            builder.push(ChunkPlace { number, addr: Addr(100 * number), size: 48, filter_mask: 0 });
        }
        let manifest = Manifest::Chunks(builder.finish().unwrap());
        let deflate = FilterDescription { id: 1, stored_name: vec![], flags: 0, client_data: vec![6], padding: vec![] };
        let filters = FilterPipeline { version: 2, reserved: vec![], filters: vec![deflate] };
        let info = ChunkInfo { bytes: 48, element_size: 4 };
        let pipeline = Pipeline::new(&filters, info, &Registry::default()).unwrap();
        let plan = |selected| super::plan(&manifest, Some(&pipeline), 4, selected).unwrap();
        let whole = plan(Selected::all(&[5, 6]));
        assert_eq!(whole.chunks.iter().map(|c| c.in_place).collect::<Vec<_>>(), [true, true, false]);
        let part = plan(block(&[1, 0], &[2, 6], &[5, 6]));
        assert_eq!(part.chunks.iter().map(|c| (c.number, c.in_place)).collect::<Vec<_>>(), [(0, false), (1, false)]);
        let steps = Selection::Indices(vec![Index::stepped(.., -4)]).resolve(&[5, 6]).unwrap();
        let part = plan(steps);
        assert_eq!(part.chunks.iter().map(|c| (c.number, c.touched)).collect::<Vec<_>>(), [(0, 0), (2, 1)]);
    }

    #[test]
    fn unfiltered_chunks_in_one_piece_are_pieces_and_neighbours_are_joined() {
        let mut builder = ChunksBuilder::new(Grid::new(&[7, 6], &[2, 6]).unwrap());
        for (number, addr) in [(0, 1000), (1, 1048), (2, 5000), (3, 5048)] {
            builder.push(ChunkPlace { number, addr: Addr(addr), size: 48, filter_mask: 0 });
        }
        let manifest = Manifest::Chunks(builder.finish().unwrap());
        let pieces =
            |plan: &ReadPlan| plan.pieces.iter().map(|p| (p.addr.0, p.size, p.destination)).collect::<Vec<_>>();
        let whole = plan(&manifest, None, 4, Selected::all(&[7, 6])).unwrap();
        // The last chunk reaches over the edge.
        assert_eq!(pieces(&whole), [(1000, 96, 0), (5000, 48, 96)]);
        assert_eq!(whole.chunks.iter().map(|c| (c.number, c.touched, c.in_place)).collect::<Vec<_>>(), [(3, 3, false)]);
        let part = plan(&manifest, None, 4, block(&[1, 0], &[4, 6], &[7, 6])).unwrap();
        assert_eq!(pieces(&part), [(1048, 48, 24)]);
        assert_eq!(part.chunks.iter().map(|c| c.number).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn a_chunk_is_in_one_piece_where_the_dimensions_behind_it_are_whole() {
        let grid = Grid::new(&[6, 9, 8], &[1, 3, 8]).unwrap();
        let position = |block: &Block, at: [u64; 3]| {
            let places = InPlace::new(&grid, block, 2).unwrap();
            places.and_then(|places| places.position(grid.number(&at).unwrap()))
        };
        let block = Block::new(&[2, 2, 0], &[3, 7, 8]);
        assert_eq!(position(&block, [3, 1, 0]), Some(((7 + 1) * 8) * 2));
        assert_eq!(position(&block, [3, 0, 0]), None);
        assert_eq!(position(&block, [1, 1, 0]), None);
        assert_eq!(position(&Block::new(&[0, 0, 1], &[6, 9, 7]), [0, 0, 0]), None);
        let thick = Grid::new(&[6, 9, 8], &[2, 3, 8]).unwrap();
        assert!(InPlace::new(&thick, &Block::all(&[6, 9, 8]), 2).unwrap().is_none());
    }

    #[test]
    fn tiles_are_contiguous() {
        let tile = |shape: &[u64], bytes| tiles(shape, 4, bytes).unwrap().chunk_shape().to_vec();
        assert_eq!(tile(&[3, 5, 7], 4 * 35), [1, 5, 7]);
        assert_eq!(tile(&[3, 5, 7], 4 * 23), [1, 3, 7]);
        assert_eq!(tile(&[3, 5, 7], 1), [1, 1, 1]);
        assert_eq!(tile(&[3, 5, 7], 1 << 20), [3, 5, 7]);
        assert_eq!(tile(&[0, 5], 1 << 20), [1, 5]);
    }
}
