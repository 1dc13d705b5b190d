//! Runs a plan: fetches, decodes, places. Pieces, tiles and chunks are tasks that several threads share, each reading what
//! it decodes; see `lanes.rs`.

use std::sync::{Mutex, PoisonError};

use super::chunk::{Buffers, ChunkReader, Slot};
use super::reading::Reading;
use super::rows::Deal;
use super::sources::too_large;
use super::{lanes, place, planner};
use crate::error::{Error, Result};
use crate::plan::{Gather, ReadPlan};
use crate::selection::{ChunkSelection, Destination, shape};

impl Reading<'_> {
    /// Reads what `plan` says into `into`, which is as large as the planned selection. What is read, and the error if there
    /// is one, do not depend on the number of threads.
    pub fn run(&self, plan: &ReadPlan, into: &mut [u8]) -> Result<()> {
        if plan.fills {
            place::fill(into, self.fill);
        }
        self.sources.read_pieces(&plan.pieces, into, self.threads)?;
        self.gather(plan, into)?;
        self.read_chunks(plan, into)
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
        let (result, tasks) = (Mutex::new(into), plan.gathers.iter());
        lanes::run(lanes::number(self.threads, tasks.len(), fetched), tasks, |buffer: &mut Vec<u8>, gather| {
            buffer.resize(tile, 0);
            self.gather_tile(plan, &selection, gather, &result, buffer)
        })
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
                    Ok((
                        chunk,
                        rows.ok_or_else(|| Error::invalid("a plan of chunks that the selection does not touch"))?,
                    ))
                });
                lanes::run(lanes, tasks, |buffers: &mut Buffers, task: Result<_>| {
                    let (chunk, rows) = task?;
                    reader.read(chunk, Slot::Own(rows), buffers)
                })
            }
            Err(into) => {
                let result = Mutex::new(into);
                lanes::run(lanes, plan.chunks.iter(), |buffers: &mut Buffers, chunk| {
                    reader.read(chunk, Slot::Shared(&result), buffers)
                })
            }
        }
    }
}
