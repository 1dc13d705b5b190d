//! From a manifest and a block to the plan of the read. Pure.

use crate::error::{Error, Result};
use crate::manifest::{Chunks, Manifest, Segment};
use crate::plan::{ChunkRead, PieceRead, ReadPlan};
use crate::selection::{Block, shape};

/// The plan of reading `block` of a dataset of this shape, whose elements have `element_size` bytes.
///
/// Errors are `OutOfBounds` if the block does not lie within the shape. Inline and virtual data need no plan here: the
/// former are there, the latter are read from their sources.
pub fn plan(manifest: &Manifest, shape: &[u64], element_size: usize, block: &Block) -> Result<ReadPlan> {
    block.check(shape)?;
    let mut plan =
        ReadPlan { block: block.clone(), element_size, fills: false, pieces: Vec::new(), chunks: Vec::new() };
    match manifest {
        Manifest::Segments { segments, .. } => plan_segments(&mut plan, segments, shape)?,
        Manifest::Chunks(chunks) => plan_chunks(&mut plan, chunks)?,
        Manifest::Inline(_) | Manifest::Virtual(_) => plan.fills = true,
    }
    Ok(plan)
}

fn plan_segments(plan: &mut ReadPlan, segments: &[Segment], shape: &[u64]) -> Result<()> {
    let size = u64::try_from(plan.element_size).map_err(|_| Error::limit("an element is larger than memory"))?;
    let overflow = || Error::limit("the dataset is larger than 64 bits can count");
    let mut destination = 0u64;
    for run in plan.block.runs(shape)? {
        let mut start = run.start.checked_mul(size).ok_or_else(overflow)?;
        let end = run.count.checked_mul(size).and_then(|n| n.checked_add(start)).ok_or_else(overflow)?;
        let first = segments.partition_point(|s| s.start.saturating_add(s.size) <= start);
        for segment in &segments[first..] {
            let (from, to) = (segment.start.max(start), segment.start.saturating_add(segment.size).min(end));
            if from >= to {
                break;
            }
            plan.fills |= from > start;
            let addr = segment.addr.plus(from - segment.start)?;
            let at = destination + (from - start);
            plan.pieces.push(PieceRead { source: segment.source, addr, size: to - from, destination: at });
            destination = at + (to - from);
            start = to;
        }
        plan.fills |= start < end;
        destination += end - start;
    }
    Ok(())
}

fn plan_chunks(plan: &mut ReadPlan, chunks: &Chunks) -> Result<()> {
    let grid = chunks.grid();
    let touched = grid.meet(&plan.block)?;
    let whole = plan.block.count == grid.shape();
    if whole && touched.len() != u64::try_from(chunks.len()).unwrap_or(u64::MAX) {
        plan.fills = true;
    }
    let in_place = |number: u64| -> Result<bool> {
        let Some(coordinates) = grid.coordinates(number) else { return Ok(false) };
        let part = grid.block(&coordinates);
        let full = part.count == grid.chunk_shape() && part.intersect(&plan.block).as_ref() == Some(&part);
        Ok(full && is_contiguous(&part, &plan.block)?)
    };
    let mut add = |place: crate::manifest::ChunkPlace| -> Result<()> {
        plan.chunks.push(ChunkRead {
            number: place.number,
            addr: place.addr,
            size: place.size,
            filter_mask: place.filter_mask,
            in_place: in_place(place.number)?,
        });
        Ok(())
    };
    if whole {
        return chunks.iter().try_for_each(add);
    }
    let mut fills = false;
    for touched in touched.iter() {
        match chunks.get(touched.number()) {
            Some(place) => add(place)?,
            None => fills = true,
        }
    }
    plan.fills = fills;
    Ok(())
}

/// Whether `part`, which lies in `block`, is contiguous in a row-major array of the block's shape.
fn is_contiguous(part: &Block, block: &Block) -> Result<bool> {
    let start: Vec<u64> = part.start.iter().zip(&block.start).map(|(a, b)| a - b).collect();
    let first = Block::new(&start, &part.count).runs(&block.count)?.next();
    Ok(first.is_some_and(|run| Some(run.count) == shape::count(&part.count).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{ChunkPlace, ChunksBuilder};
    use crate::selection::Grid;
    use crate::wire::{Addr, SourceId};

    #[test]
    fn segments_become_pieces_and_holes_are_filled() {
        let segment = |start, addr, size| Segment { start, source: SourceId(0), addr: Addr(addr), size };
        let manifest =
            Manifest::Segments { segments: vec![segment(0, 1000, 20), segment(24, 5000, 36)], files: vec![] };
        let plan = plan(&manifest, &[3, 5], 4, &Block::new(&[0, 1], &[2, 4])).unwrap();
        let pieces: Vec<_> = plan.pieces.iter().map(|p| (p.addr.0, p.size, p.destination)).collect();
        assert_eq!(pieces, [(1004, 16, 0), (5000, 16, 16)]);
        assert!(!plan.fills);
        let short = Manifest::Segments { segments: vec![segment(0, 1000, 20)], files: vec![] };
        assert!(super::plan(&short, &[3, 5], 4, &Block::all(&[3, 5])).unwrap().fills);
    }

    #[test]
    fn only_whole_rows_of_chunks_are_decoded_into_place() {
        let mut builder = ChunksBuilder::new(Grid::new(&[5, 6], &[2, 6]).unwrap());
        for number in 0..3 {
            builder.push(ChunkPlace { number, addr: Addr(100 * number), size: 48, filter_mask: 0 });
        }
        let manifest = Manifest::Chunks(builder.finish().unwrap());
        let whole = plan(&manifest, &[5, 6], 4, &Block::all(&[5, 6])).unwrap();
        assert_eq!(whole.chunks.iter().map(|c| c.in_place).collect::<Vec<_>>(), [true, true, false]);
        let part = plan(&manifest, &[5, 6], 4, &Block::new(&[1, 0], &[2, 6])).unwrap();
        assert_eq!(part.chunks.iter().map(|c| (c.number, c.in_place)).collect::<Vec<_>>(), [(0, false), (1, false)]);
    }
}
