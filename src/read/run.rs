//! Runs a plan: fetches, decodes, places.

use std::ops::Range;

use bytes::Bytes;

use super::rows::Rows;
use super::{place, planner};
use crate::error::{Error, Place, Result};
use crate::filter::{AT_ONCE, Output, Pipeline, Scratch};
use crate::manifest::Chunks;
use crate::object::Container;
use crate::plan::{ChunkRead, Gather, PieceRead, ReadPlan};
use crate::selection::{Block, ChunkSelection, Destination};
use crate::storage::{ByteSource, SharedSource, read_at};
use crate::wire::{ByteRange, SourceId};

/// The files that a dataset's data lie in.
#[derive(Clone, Debug)]
pub struct SourceTable<'a> {
    /// The file of the dataset: source 0.
    pub container: &'a Container,
    /// External raw files: source 1 is the first.
    pub others: Vec<SharedSource>,
}

/// What reading needs besides the plan.
#[derive(Debug)]
pub struct Reading<'a> {
    /// Where the bytes are.
    pub sources: SourceTable<'a>,
    /// One element that stands for what is stored nowhere; zeros if absent.
    pub fill: Option<&'a [u8]>,
    /// The chunks that the plan was made from, if the data are chunked.
    pub chunks: Option<&'a Chunks>,
    /// The filters.
    pub pipeline: Option<&'a Pipeline>,
    /// Whether chunks that reach over the edge are stored without filters.
    pub partial_unfiltered: bool,
}

/// Reads below this many bytes go through what is loaded of the file, as their neighbours probably will.
const SMALL: u64 = 16 << 10;

/// Buffers that are used again for the next chunk.
#[derive(Debug, Default)]
struct Buffers {
    stored: Vec<u8>,
    chunk: Vec<u8>,
    scratch: Scratch,
}

impl Reading<'_> {
    /// Reads what `plan` says into `into`, which is as large as the planned selection.
    pub fn run(&self, plan: &ReadPlan, into: &mut [u8]) -> Result<()> {
        if plan.fills {
            place::fill(into, self.fill);
        }
        self.read_pieces(&plan.pieces, into)?;
        let mut buffers = Buffers::default();
        if !plan.gathers.is_empty() {
            let selection = planner::gathered(&plan.selected, plan.element_size)?;
            plan.gathers.iter().try_for_each(|gather| self.gather(plan, &selection, gather, into, &mut buffers))?;
        }
        if !plan.chunks.is_empty() {
            let Some(chunks) = self.chunks else {
                return Err(Error::invalid("a plan of chunks for data without any"));
            };
            let wanted = Wanted { selection: chunks.grid().select(&plan.selected)?, block: plan.selected.as_block() };
            for chunk in &plan.chunks {
                let read = self.read_chunk(plan, &wanted, chunk, into, &mut buffers);
                read.map_err(|e| e.at(self.chunk_place(chunk)))?;
            }
        }
        Ok(())
    }

    fn gather(
        &self,
        plan: &ReadPlan,
        selection: &ChunkSelection,
        gather: &Gather,
        into: &mut [u8],
        buffers: &mut Buffers,
    ) -> Result<()> {
        let tile = crate::selection::shape::count(selection.grid().chunk_shape())?;
        let bytes = usize::try_from(tile).ok().and_then(|n| n.checked_mul(plan.element_size)).ok_or_else(too_large)?;
        let tile = &mut buffers.chunk;
        tile.resize(bytes, 0);
        if gather.fills {
            place::fill(tile, self.fill);
        }
        self.read_pieces(&gather.pieces, tile)?;
        let result = Destination { bytes: into, shape: plan.selected.aligned_shape() };
        place::place(selection, gather.touched, tile, result, plan.element_size)
    }

    fn chunk_place(&self, chunk: &ChunkRead) -> Place {
        let grid = self.chunks.map(Chunks::grid);
        let coordinates = grid.and_then(|grid| Some(grid.block(&grid.coordinates(chunk.number)?).start));
        Place::Chunk { origin: coordinates.unwrap_or_default(), address: chunk.addr.0 }
    }

    fn read_pieces(&self, pieces: &[PieceRead], into: &mut [u8]) -> Result<()> {
        for piece in pieces {
            let start = usize::try_from(piece.destination).map_err(|_| too_large())?;
            let size = usize::try_from(piece.size).map_err(|_| too_large())?;
            let slot = start.checked_add(size).and_then(|end| into.get_mut(start..end));
            let slot = slot.ok_or_else(|| Error::invalid("the buffer is smaller than the planned selection"))?;
            self.sources.read(piece.source, ByteRange::new(piece.addr, piece.size), slot)?;
        }
        Ok(())
    }

    fn read_chunk(
        &self,
        plan: &ReadPlan,
        wanted: &Wanted,
        read: &ChunkRead,
        into: &mut [u8],
        buffers: &mut Buffers,
    ) -> Result<()> {
        let (selection, grid) = (&wanted.selection, wanted.selection.grid());
        let coordinates = grid.coordinates(read.number).ok_or_else(|| Error::invalid("a chunk outside the shape"))?;
        let covered = grid.block(&coordinates);
        let partial = covered.count != grid.chunk_shape();
        let elements = grid.chunk_shape().iter().try_fold(1u64, |n, &d| n.checked_mul(d));
        let bytes = elements.and_then(|n| usize::try_from(n).ok()?.checked_mul(plan.element_size));
        let limit = self.sources.container.loaded.limits().chunk;
        let bytes = bytes.filter(|n| u64::try_from(*n).is_ok_and(|n| n <= limit)).ok_or_else(|| {
            Error::limit(format!("a chunk of shape {:?} is beyond the limit of {limit} bytes", grid.chunk_shape()))
        })?;
        let raw = self.pipeline.is_none() || (partial && self.partial_unfiltered);
        let Buffers { stored, chunk, scratch } = buffers;
        let range = ByteRange::new(read.addr, read.size);
        if read.in_place {
            let start = wanted.start(&covered.start)?;
            let slot =
                start.checked_mul(plan.element_size).and_then(|start| into.get_mut(start..start.checked_add(bytes)?));
            let slot = slot.ok_or_else(|| Error::invalid("the buffer is smaller than the planned selection"))?;
            if raw {
                return self.sources.read(SourceId(0), raw_range(read, bytes)?, slot);
            }
            self.sources.stored(range, stored)?;
            return self.pipeline()?.decode(stored, read.filter_mask, scratch, &mut Output::exact(slot));
        }
        if raw {
            self.sources.stored(raw_range(read, bytes)?, stored)?;
            let result = Destination { bytes: into, shape: plan.selected.aligned_shape() };
            return place::place(selection, read.touched, stored, result, plan.element_size);
        }
        self.sources.stored(range, stored)?;
        let part = wanted.block.as_ref().and_then(|block| covered.intersect(block));
        if let Some((part, block)) = part.as_ref().zip(wanted.block.as_ref())
            && part.count == grid.chunk_shape()
            && let Some(mut rows) = Rows::new(into, part, block, plan.element_size)
        {
            let mut output = Output::scattered(&mut rows, bytes);
            return self.pipeline()?.decode(stored, read.filter_mask, scratch, &mut output);
        }
        match part.and_then(|part| stretch(&part, &covered, grid.chunk_shape(), plan.element_size)) {
            // Where a filter has no blocks, a range costs a copy.
            Some(range) if range.len() <= bytes / 2 && bytes <= AT_ONCE => {
                if chunk.len() != bytes {
                    chunk.clear();
                    chunk.resize(bytes, 0);
                }
                let mut output = Output::exact(&mut chunk[range.clone()]);
                self.pipeline()?.decode_range(stored, read.filter_mask, range, scratch, &mut output)?;
            }
            _ => self.pipeline()?.decode_whole(stored, read.filter_mask, scratch, chunk)?,
        }
        let result = Destination { bytes: into, shape: plan.selected.aligned_shape() };
        place::place(selection, read.touched, chunk, result, plan.element_size)
    }

    fn pipeline(&self) -> Result<&Pipeline> {
        self.pipeline.ok_or_else(|| Error::invalid("a filtered chunk without a pipeline"))
    }
}

/// The bytes of an unfiltered chunk; a larger space may be reserved for it.
fn raw_range(read: &ChunkRead, bytes: usize) -> Result<ByteRange> {
    let size = u64::try_from(bytes).map_err(|_| too_large())?;
    if read.size < size {
        return Err(Error::corrupt(format!("{} bytes are stored of an unfiltered chunk of {bytes}", read.size)));
    }
    Ok(ByteRange::new(read.addr, size))
}

/// The bytes of a chunk from the first to the last element of `part`, which lies in the chunk that covers `covered`.
fn stretch(part: &Block, covered: &Block, chunk_shape: &[u64], size: usize) -> Option<Range<usize>> {
    let first: Vec<u64> = part.start.iter().zip(&covered.start).map(|(a, b)| a - b).collect();
    let last: Vec<u64> = first.iter().zip(&part.count).map(|(first, count)| first + count - 1).collect();
    let number = |at: &[u64]| usize::try_from(crate::selection::shape::number(chunk_shape, at)?).ok();
    Some(number(&first)?.checked_mul(size)?..number(&last)?.checked_add(1)?.checked_mul(size)?)
}

/// What is wanted of the chunks, once for all of them.
struct Wanted {
    selection: ChunkSelection,
    /// The selection as a block, if it is one.
    block: Option<Block>,
}

impl Wanted {
    /// Number of the element at `start` in the block, which there is where chunks are decoded into place.
    fn start(&self, start: &[u64]) -> Result<usize> {
        let block = self.block.as_ref();
        let block = block.ok_or_else(|| Error::invalid("only chunks of a block are decoded into place"))?;
        let relative: Vec<u64> = start.iter().zip(&block.start).map(|(a, b)| a - b).collect();
        let number = crate::selection::shape::number(&block.count, &relative);
        number.and_then(|n| usize::try_from(n).ok()).ok_or_else(too_large)
    }
}

fn beyond(range: ByteRange) -> Error {
    Error::corrupt(format!("{} bytes at {} reach beyond the end of the file", range.size, range.addr))
}

fn too_large() -> Error {
    Error::limit("the selection is larger than memory")
}

impl SourceTable<'_> {
    /// The stored bytes of `range` of the dataset's own file, to `buffer`, which grows once they are known to be there.
    pub(crate) fn stored(&self, range: ByteRange, buffer: &mut Vec<u8>) -> Result<()> {
        let loaded = &self.container.loaded;
        let position = range.addr.plus(loaded.base())?;
        let stretch = loaded.stretch(position.0);
        if position.plus(range.size)?.0 > stretch.end {
            return Err(beyond(range));
        }
        let size = usize::try_from(range.size).map_err(|_| too_large())?;
        buffer.resize(size, 0);
        self.read(SourceId(0), range, buffer)
    }

    /// Reads `range` of a source into `slot`, which is as large.
    pub(crate) fn read(&self, source: SourceId, range: ByteRange, slot: &mut [u8]) -> Result<()> {
        let loaded = &self.container.loaded;
        if let Some(other) = source.0.checked_sub(1) {
            let other = usize::try_from(other).ok().and_then(|i| self.others.get(i));
            let other = other.ok_or_else(|| Error::invalid("the manifest names a source that is not open"))?;
            return read_external(other.as_ref(), range, slot);
        }
        if range.size <= SMALL {
            let found: Bytes = crate::storage::run(loaded, |view| view.bytes(range))?;
            slot.copy_from_slice(&found);
            return Ok(());
        }
        let position = range.addr.plus(loaded.base())?;
        if position.plus(range.size)?.0 > loaded.stretch(position.0).end {
            return Err(beyond(range));
        }
        read_at(loaded.source().as_ref(), position.0, slot)
    }
}

/// External raw files may end early: what is not there is zeros, as in libhdf5.
fn read_external(source: &dyn ByteSource, range: ByteRange, slot: &mut [u8]) -> Result<()> {
    let there = source.len()?.saturating_sub(range.addr.0).min(range.size);
    let there = usize::try_from(there).map_err(|_| too_large())?;
    let (read, rest) = slot.split_at_mut(there);
    rest.fill(0);
    if read.is_empty() { Ok(()) } else { read_at(source, range.addr.0, read) }
}
