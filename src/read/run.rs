//! Runs a plan: fetches, decodes, places. Pieces, tiles and chunks are tasks that several threads share, each reading what
//! it decodes; see `lanes.rs`. From remote sources, what they need goes out together; see `ahead.rs`.

use std::sync::{Mutex, PoisonError};

use super::ahead::{self, BATCH};
use super::chunk::{Buffers, ChunkReader, Slot};
use super::reading::Reading;
use super::rows::Deal;
use super::sources::{SMALL, too_large};
use super::{lanes, place, planner};
use crate::error::{Error, Result};
use crate::plan::{ChunkRead, Gather, PieceRead, ReadPlan};
use crate::selection::{ChunkSelection, Destination, shape};
use crate::wire::{ByteRange, SourceId};

impl Reading<'_> {
    /// Reads what `plan` says into `into`, which is as large as the planned selection. What is read, and the error if there
    /// is one, do not depend on the number of threads.
    pub fn run(&self, plan: &ReadPlan, into: &mut [u8]) -> Result<()> {
        if plan.fills {
            place::fill(into, self.fill);
        }
        if self.sources.remote().is_some() && plan.fetched() <= SMALL {
            self.load(plan)?;
        }
        self.sources.read_pieces(&plan.pieces, into, self.threads)?;
        self.gather(plan, into)?;
        self.read_chunks(plan, into)
    }

    /// Loads the few bytes that `plan` takes of the dataset's own file, at once.
    fn load(&self, plan: &ReadPlan) -> Result<()> {
        let own = |piece: &&PieceRead| piece.source == SourceId(0);
        let pieces = plan.gathers.iter().flat_map(|gather| &gather.pieces).chain(&plan.pieces).filter(own);
        let mut ranges: Vec<ByteRange> = pieces.map(|piece| ByteRange::new(piece.addr, piece.size)).collect();
        ranges.extend(plan.chunks.iter().map(|chunk| ByteRange::new(chunk.addr, chunk.size)));
        // Whatever reaches beyond the end is an error of the one who reads it.
        ranges.retain(|range| self.sources.position(*range).is_ok());
        self.sources.load(&ranges)
    }

    fn gather(&self, plan: &ReadPlan, into: &mut [u8]) -> Result<()> {
        if plan.gathers.is_empty() {
            return Ok(());
        }
        let selection = planner::gathered(&plan.selected, plan.element_size)?;
        let tile = shape::in_memory(shape::count(selection.grid().chunk_shape())?)?;
        let tile = tile.checked_mul(plan.element_size).ok_or_else(too_large)?;
        let fetched = plan
            .gathers
            .iter()
            .flat_map(|gather| &gather.pieces)
            .fold(0, |sum: u64, piece| sum.saturating_add(piece.size));
        if self.sources.remote().is_some() && fetched > SMALL {
            return self.gather_in_batches(plan, &selection, tile, into);
        }
        let (result, tasks) = (Mutex::new(into), plan.gathers.iter());
        lanes::run(lanes::number(self.threads, tasks.len(), fetched), tasks, |buffer: &mut Vec<u8>, gather| {
            buffer.resize(tile, 0);
            self.gather_tile(plan, &selection, gather, &result, buffer)
        })
    }

    /// As `gather`, the tiles of a batch being asked for together.
    fn gather_in_batches(
        &self,
        plan: &ReadPlan,
        selection: &ChunkSelection,
        tile: usize,
        into: &mut [u8],
    ) -> Result<()> {
        let most = usize::try_from(BATCH).unwrap_or(usize::MAX) / tile.max(1);
        let mut tiles = Vec::new();
        for batch in plan.gathers.chunks(most.max(1)) {
            tiles.resize(tile.checked_mul(batch.len()).ok_or_else(too_large)?, 0);
            let mut pieces = Vec::new();
            for ((gather, own), start) in batch.iter().zip(tiles.chunks_mut(tile)).zip((0u64..).step_by(tile)) {
                if gather.fills {
                    place::fill(own, self.fill);
                }
                let piece = |piece: &PieceRead| PieceRead { destination: piece.destination + start, ..*piece };
                pieces.extend(gather.pieces.iter().map(piece));
            }
            self.sources.read_at_once(&pieces, &mut tiles)?;
            for (gather, own) in batch.iter().zip(tiles.chunks(tile)) {
                let result = Destination { bytes: &mut *into, shape: plan.selected.aligned_shape() };
                place::place(selection, gather.touched, own, result, plan.element_size)?;
            }
        }
        Ok(())
    }

    fn gather_tile(
        &self,
        plan: &ReadPlan,
        selection: &ChunkSelection,
        gather: &Gather,
        result: &Mutex<&mut [u8]>,
        tile: &mut [u8],
    ) -> Result<()> {
        if gather.fills {
            place::fill(tile, self.fill);
        }
        self.sources.read_pieces(&gather.pieces, tile, 1)?;
        let bytes = &mut **result.lock().unwrap_or_else(PoisonError::into_inner);
        let result = Destination { bytes, shape: plan.selected.aligned_shape() };
        place::place(selection, gather.touched, tile, result, plan.element_size)
    }

    fn read_chunks(&self, plan: &ReadPlan, into: &mut [u8]) -> Result<()> {
        if plan.chunks.is_empty() {
            return Ok(());
        }
        let (reader, tasks) = (ChunkReader::new(self, plan)?, plan.chunks.len());
        let decoded = u64::try_from(reader.bytes.saturating_mul(tasks)).unwrap_or(u64::MAX);
        let lanes = lanes::number(self.threads, tasks, decoded);
        let is_block = plan.selected.as_block().is_some();
        let deal = if is_block { Deal::new(into, &reader.selection, plan.element_size) } else { Err(into) };
        match deal {
            Ok(mut deal) => {
                let mut dealt = 0;
                // Chunks that are not stored, or were read as pieces, have rows too, which nobody takes.
                let tasks = plan.chunks.iter().map(|chunk| {
                    let skipped = chunk.touched.checked_sub(dealt).and_then(|n| usize::try_from(n).ok());
                    dealt = chunk.touched.saturating_add(1);
                    let rows = skipped.and_then(|skipped| deal.nth(skipped));
                    let rows =
                        rows.ok_or_else(|| Error::invalid("a plan of chunks that the selection does not touch"))?;
                    Ok((chunk, Slot::Own(rows)))
                });
                self.each_chunk(&reader, lanes, tasks)
            }
            Err(into) => {
                let result = Mutex::new(into);
                let tasks = plan.chunks.iter().map(|chunk| Ok((chunk, Slot::Shared(&result))));
                self.each_chunk(&reader, lanes, tasks)
            }
        }
    }

    /// Reads chunks, each to its slot.
    fn each_chunk<'p, 's, 'a: 's>(
        &self,
        reader: &ChunkReader<'_>,
        lanes: usize,
        tasks: impl Iterator<Item = Result<(&'p ChunkRead, Slot<'s, 'a>)>> + Send,
    ) -> Result<()> {
        match self.sources.remote() {
            Some(source) if reader.plan.fetched() > SMALL => {
                let tasks = tasks.map(|task| {
                    let (chunk, slot) = task?;
                    Ok(((chunk, slot), reader.range(chunk)?))
                });
                ahead::run(source, lanes, tasks, |buffers: &mut Buffers, (chunk, slot), stored| {
                    reader.read_fetched(chunk, slot, stored, buffers)
                })
            }
            _ => lanes::run(lanes, tasks, |buffers: &mut Buffers, task| {
                let (chunk, slot) = task?;
                reader.read(chunk, slot, buffers)
            }),
        }
    }
}
