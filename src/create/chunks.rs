//! Chunks of a new dataset: those written as a whole go through the filters at once, on all cores; those written in part
//! wait in memory for the rest.

use std::collections::{BTreeMap, HashMap};

use super::site::Site;
use crate::error::{Error, Result};
use crate::filter::{Output, Pipeline, Scratch};
use crate::index::Numbering;
use crate::manifest::{ChunkPlace, Chunks, ChunksBuilder};
use crate::selection::{Block, ChunkSelection, Destination, Grid, Selected, Source, Transfer, copy, shape};
use crate::wire::Addr;

/// Bytes of partly written chunks that wait at most. Beyond that all are written as they are; what is written to them
/// later makes them be written once more.
const WAITING: usize = 256 << 20;

/// Bytes of chunks that are encoded at once, at least one chunk for each thread.
const AT_ONCE: usize = 16 << 20;

/// The chunks of a dataset that is being written.
#[derive(Debug)]
pub(super) struct ChunkWriter {
    grid: Grid,
    element_size: usize,
    /// Bytes of a whole chunk.
    bytes: usize,
    /// One element that stands for what is not written; zeros if absent.
    fill: Option<Vec<u8>>,
    pipeline: Option<Pipeline>,
    rules: Rules,
    placed: BTreeMap<u64, ChunkPlace>,
    waiting: HashMap<u64, Waiting>,
}

/// What is said about chunks besides their shape and filters.
#[derive(Debug)]
pub(super) struct Rules {
    /// Whether chunks that reach over the edge are stored without filters.
    pub(super) partial_unfiltered: bool,
    /// Along which dimensions the array may grow: chunks that its edge cuts wait for that.
    pub(super) may_grow: Vec<bool>,
    /// Whether chunks that nobody writes are stored too.
    pub(super) is_early: bool,
    /// Where they are if they have no index.
    pub(super) implicit: Option<Implicit>,
}

/// Chunks that lie one after the other, as many as the largest shape has.
#[derive(Debug)]
pub(super) struct Implicit {
    start: Addr,
    max_shape: Vec<Option<u64>>,
}

impl Implicit {
    /// Space for all chunks of `bytes` bytes.
    pub(super) fn new(site: &Site, grid: &Grid, max_shape: &[Option<u64>], bytes: usize) -> Result<Implicit> {
        let counts =
            max_shape.iter().zip(grid.chunk_shape()).map(|(max, chunk)| max.unwrap_or(u64::MAX).div_ceil(*chunk));
        let all = counts.chain([bytes as u64]).try_fold(1, u64::checked_mul);
        let all = all.ok_or_else(|| Error::limit("the chunks are more bytes than 64 bits can count"))?;
        let start = site.with(|draft| draft.space.reserve_data(all))?;
        Ok(Implicit { start, max_shape: max_shape.to_vec() })
    }

    fn place(&self, grid: &Grid, number: u64, bytes: usize) -> Result<Addr> {
        let numbering = Numbering::new(grid.chunk_shape(), &self.max_shape, None, grid)?;
        let element = grid.coordinates(number).and_then(|at| numbering.element(&at));
        let element = element.ok_or_else(|| Error::out_of_bounds(format!("there is no chunk {number}")))?;
        self.start.plus(element.saturating_mul(bytes as u64))
    }
}

/// A chunk that is written in part.
#[derive(Debug)]
struct Waiting {
    bytes: Vec<u8>,
    /// Elements that were written to it.
    written: u64,
}

/// A chunk as it will be stored.
struct Encoded {
    number: u64,
    data: Vec<u8>,
    filter_mask: u32,
}

impl ChunkWriter {
    pub(super) fn new(
        grid: Grid,
        element_size: usize,
        fill: Option<Vec<u8>>,
        pipeline: Option<Pipeline>,
        rules: Rules,
    ) -> Result<ChunkWriter> {
        let elements = shape::in_memory(shape::count(grid.chunk_shape())?)?;
        let bytes = elements.checked_mul(element_size).ok_or_else(|| Error::limit("a chunk is larger than memory"))?;
        let (placed, waiting) = (BTreeMap::new(), HashMap::new());
        Ok(ChunkWriter { grid, element_size, bytes, fill, pipeline, rules, placed, waiting })
    }

    /// Writes the elements in `values`, which lie as the selection's result does.
    pub(super) fn write(&mut self, site: &Site, selected: &Selected, values: &[u8]) -> Result<()> {
        let selection = self.grid.select(selected)?;
        let shape = selected.aligned_shape();
        let mut whole = Vec::new();
        for (touched, i) in selection.iter().zip(0..) {
            let number = touched.number();
            if touched.wholly() && !self.may_grow(number) {
                self.waiting.remove(&number);
                whole.push((number, i));
            } else {
                self.write_part(site, &selection, (number, i), values, shape)?;
            }
        }
        let job = |(number, i): (u64, u64), scratch: &mut Scratch| {
            let mut chunk = self.blank();
            gather(&selection, i, Source { bytes: values, shape }, &mut chunk, self.element_size)?;
            self.encode(number, chunk, scratch)
        };
        let placed = self.in_batches(site, &whole, job)?;
        self.placed.extend(placed);
        let full = self.full()?;
        self.write_waiting(site, full)?;
        if self.waiting.len().saturating_mul(self.bytes) > WAITING {
            let all = self.waiting.keys().copied().collect();
            self.write_waiting(site, all)?;
        }
        Ok(())
    }

    /// Stores a chunk that went through the filters already, but for those that `filter_mask` names.
    pub(super) fn write_raw(&mut self, site: &Site, index: &[u64], filter_mask: u32, data: &[u8]) -> Result<()> {
        let is_inside = index.len() == self.grid.counts().len()
            && index.iter().zip(self.grid.counts()).all(|(at, count)| at < count);
        let number = self.grid.number(index).filter(|_| is_inside);
        let number = number.ok_or_else(|| Error::out_of_bounds(format!("there is no chunk {index:?}")))?;
        if self.pipeline.is_none() && (data.len() != self.bytes || filter_mask != 0) {
            return Err(Error::invalid(format!("{} bytes for an unfiltered chunk of {}", data.len(), self.bytes)));
        }
        self.waiting.remove(&number);
        let place = self.place(site, &[Encoded { number, data: data.to_vec(), filter_mask }])?;
        self.placed.extend(place.into_iter().map(|place| (number, place)));
        Ok(())
    }

    /// Lets the array have another shape; what lies outside of it is given up.
    pub(super) fn resize(&mut self, site: &Site, shape: &[u64]) -> Result<()> {
        let grid = Grid::new(shape, self.grid.chunk_shape())?;
        let shrinks = shape.iter().zip(self.grid.shape()).any(|(new, old)| new < old);
        let same_rows =
            self.grid.counts().get(1..) == grid.counts().get(1..) && shape.get(1..) == self.grid.shape().get(1..);
        if shrinks || self.rules.partial_unfiltered {
            self.reload_cut(site, &grid, if same_rows && !shrinks { self.last_row() } else { 0 })?;
        }
        if !same_rows || shrinks {
            let moved = |number: &u64| {
                let coordinates = self.grid.coordinates(*number)?;
                let is_inside = coordinates.iter().zip(grid.counts()).all(|(at, count)| at < count);
                grid.number(&coordinates).filter(|_| is_inside)
            };
            let placed = self.placed.iter().filter_map(|(number, place)| Some((moved(number)?, *place)));
            let placed = placed.map(|(number, place)| (number, ChunkPlace { number, ..place })).collect();
            let waiting = self.waiting.drain().filter_map(|(number, chunk)| Some((moved(&number)?, chunk))).collect();
            (self.placed, self.waiting) = (placed, waiting);
        }
        self.grid = grid;
        Ok(())
    }

    /// Number of the first chunk of the last row of chunks.
    fn last_row(&self) -> u64 {
        let per_row = self.grid.counts().iter().skip(1).product::<u64>();
        self.grid.counts().first().map_or(0, |rows| rows.saturating_sub(1).saturating_mul(per_row))
    }

    /// Takes back into memory the chunks from a number on of which `grid`, which the array is about to have, shows more or
    /// less than now: what it shows less of becomes fill values, and whether they are filtered may change.
    fn reload_cut(&mut self, site: &Site, grid: &Grid, from: u64) -> Result<()> {
        let waiting = self.waiting.keys().copied().filter(|number| *number >= from);
        let numbers: Vec<u64> = self.placed.range(from..).map(|(number, _)| *number).chain(waiting).collect();
        for number in numbers {
            let Some(coordinates) = self.grid.coordinates(number) else { continue };
            let (before, after) = (self.grid.block(&coordinates), grid.block(&coordinates));
            let common = before.intersect(&after).unwrap_or_else(|| Block::new(&before.start, &vec![0; before.rank()]));
            if before == after || common.is_empty() {
                continue;
            }
            self.waiting_chunk(site, number)?;
            let mut chunk = self.blank();
            if let Some(waiting) = self.waiting.get_mut(&number) {
                let (shape, origin) = (self.grid.chunk_shape(), vec![0; common.rank()]);
                let from = Source { bytes: &waiting.bytes, shape };
                let to = Destination { bytes: &mut chunk, shape };
                Transfer::block(&origin, &origin, &common.count).copy(from, to, self.element_size)?;
                *waiting = Waiting { bytes: chunk, written: 0 };
            }
        }
        Ok(())
    }

    /// Writes what waits; gives where all chunks are.
    pub(super) fn finish(mut self, site: &Site) -> Result<Chunks> {
        let all = self.waiting.keys().copied().collect();
        self.write_waiting(site, all)?;
        if self.rules.is_early {
            self.write_rest(site)?;
        }
        let mut chunks = ChunksBuilder::new(self.grid);
        self.placed.into_values().for_each(|place| chunks.push(place));
        chunks.finish()
    }

    /// Whether the chunks need no index.
    pub(super) fn is_implicit(&self) -> bool {
        self.rules.implicit.is_some()
    }

    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    fn write_part(
        &mut self,
        site: &Site,
        selection: &ChunkSelection,
        (number, i): (u64, u64),
        values: &[u8],
        shape: &[u64],
    ) -> Result<()> {
        self.waiting_chunk(site, number)?;
        let Some(chunk) = self.waiting.get_mut(&number) else { return Ok(()) };
        chunk.written += gather(selection, i, Source { bytes: values, shape }, &mut chunk.bytes, self.element_size)?;
        Ok(())
    }

    /// Has a chunk wait, as it is now.
    fn waiting_chunk(&mut self, site: &Site, number: u64) -> Result<()> {
        if !self.waiting.contains_key(&number) {
            let bytes = match self.placed.get(&number) {
                Some(place) => self.load(site, *place)?,
                None => self.blank(),
            };
            self.waiting.insert(number, Waiting { bytes, written: 0 });
        }
        Ok(())
    }

    /// A chunk of fill values.
    fn blank(&self) -> Vec<u8> {
        let mut chunk = vec![0; self.bytes];
        if self.fill.is_some() {
            crate::read::fill(&mut chunk, self.fill.as_deref());
        }
        chunk
    }

    /// A chunk that was written before.
    fn load(&self, site: &Site, place: ChunkPlace) -> Result<Vec<u8>> {
        let mut stored = vec![0; shape::in_memory(place.size)?];
        site.read(place.addr, &mut stored)?;
        let Some(pipeline) = self.pipeline.as_ref().filter(|_| !self.is_raw(place.number)) else { return Ok(stored) };
        let mut chunk = vec![0; self.bytes];
        pipeline.decode(&stored, place.filter_mask, &mut Scratch::default(), &mut Output::exact(&mut chunk))?;
        Ok(chunk)
    }

    /// Along which dimensions the edge of the array cuts a chunk.
    fn cuts(&self, number: u64) -> impl Iterator<Item = bool> {
        let block = self.grid.coordinates(number).map(|at| self.grid.block(&at).count).unwrap_or_default();
        let chunk = self.grid.chunk_shape();
        block.into_iter().zip(chunk).map(|(there, size)| there != *size)
    }

    /// Whether a chunk is stored without filters, as the edge cuts it.
    fn is_raw(&self, number: u64) -> bool {
        self.rules.partial_unfiltered && self.cuts(number).any(|cut| cut)
    }

    /// Whether a chunk that the edge cuts may come to have more elements.
    fn may_grow(&self, number: u64) -> bool {
        self.cuts(number).zip(&self.rules.may_grow).any(|(cut, may_grow)| cut && *may_grow)
    }

    fn encode(&self, number: u64, chunk: Vec<u8>, scratch: &mut Scratch) -> Result<Encoded> {
        let Some(pipeline) = self.pipeline.as_ref().filter(|_| !self.is_raw(number)) else {
            return Ok(Encoded { number, data: chunk, filter_mask: 0 });
        };
        let (data, filter_mask) = pipeline.encode(&chunk, scratch)?;
        Ok(Encoded { number, data: data.to_vec(), filter_mask })
    }

    /// The chunks of which as many elements were written as there are.
    fn full(&self) -> Result<Vec<u64>> {
        let mut full = Vec::new();
        for (number, chunk) in &self.waiting {
            let block = self.grid.coordinates(*number).map(|at| self.grid.block(&at));
            let there = block.map_or(Ok(0), |block| shape::count(&block.count))?;
            if chunk.written >= there && !self.may_grow(*number) {
                full.push(*number);
            }
        }
        Ok(full)
    }

    fn write_waiting(&mut self, site: &Site, mut numbers: Vec<u64>) -> Result<()> {
        numbers.sort_unstable();
        let chunks: HashMap<u64, Vec<u8>> =
            numbers.iter().filter_map(|number| Some((*number, self.waiting.remove(number)?.bytes))).collect();
        let job = |number: u64, scratch: &mut Scratch| {
            self.encode(number, chunks.get(&number).cloned().unwrap_or_default(), scratch)
        };
        let placed = self.in_batches(site, &numbers, job)?;
        self.placed.extend(placed);
        Ok(())
    }
}

impl ChunkWriter {
    /// Encodes chunks, a batch at a time on all cores, and writes each batch while the next is encoded: in the order of
    /// `items`, whatever the number of threads.
    fn in_batches<I: Copy + Sync>(
        &self,
        site: &Site,
        items: &[I],
        encode: impl Fn(I, &mut Scratch) -> Result<Encoded> + Sync,
    ) -> Result<Vec<(u64, ChunkPlace)>> {
        let mut placed = Vec::with_capacity(items.len());
        let mut before: Vec<Encoded> = Vec::new();
        let mut write = |batch: &[Encoded]| -> Result<()> {
            placed.extend(self.place(site, batch)?.into_iter().map(|place| (place.number, place)));
            Ok(())
        };
        for batch in items.chunks((AT_ONCE / self.bytes.max(1)).max(threads())) {
            let (written, encoded) = both(|| write(&before), || each(batch, &encode));
            written?;
            before = encoded?;
        }
        write(&before)?;
        Ok(placed)
    }

    /// Puts chunks where they belong.
    fn place(&self, site: &Site, batch: &[Encoded]) -> Result<Vec<ChunkPlace>> {
        let Some(implicit) = &self.rules.implicit else {
            return site.place(&batch.iter().map(Encoded::stored).collect::<Vec<_>>());
        };
        let put = |chunk: &Encoded| {
            let (number, size, filter_mask) = (chunk.number, chunk.data.len() as u64, 0);
            let addr = implicit.place(&self.grid, number, self.bytes)?;
            site.with(|draft| draft.space.write(addr, &chunk.data))?;
            Ok(ChunkPlace { number, addr, size, filter_mask })
        };
        batch.iter().map(put).collect()
    }

    /// Stores what nobody wrote, where all is stored.
    fn write_rest(&mut self, site: &Site) -> Result<()> {
        let rest: Vec<u64> = (0..self.grid.len()).filter(|number| !self.placed.contains_key(number)).collect();
        let job = |number: u64, scratch: &mut Scratch| self.encode(number, self.blank(), scratch);
        let placed = self.in_batches(site, &rest, job)?;
        self.placed.extend(placed);
        Ok(())
    }
}

impl Encoded {
    fn stored(&self) -> (u64, &[u8], u32) {
        (self.number, &self.data, self.filter_mask)
    }
}

/// Copies what the selection takes of the `i`-th touched chunk from `values` to the chunk; gives how many elements.
pub(super) fn gather(
    selection: &ChunkSelection,
    i: u64,
    values: Source<'_>,
    chunk: &mut [u8],
    size: usize,
) -> Result<u64> {
    let (mut axes, mut done, mut count) = (Vec::new(), Ok(()), 0);
    selection.each_transfer(i, &mut axes, |axes| {
        // Transfers lead from chunks to results.
        for axis in &mut *axes {
            std::mem::swap(&mut axis.source_start, &mut axis.destination_start);
            std::mem::swap(&mut axis.source_stride, &mut axis.destination_stride);
        }
        count += axes.iter().fold(1, |count: u64, axis| count.saturating_mul(axis.count));
        if done.is_ok() {
            let chunk = Destination { bytes: &mut *chunk, shape: selection.grid().chunk_shape() };
            done = copy(axes, values, chunk, size);
        }
    });
    done.map(|()| count)
}

#[cfg(feature = "rayon")]
fn threads() -> usize {
    rayon::current_num_threads()
}

#[cfg(not(feature = "rayon"))]
fn threads() -> usize {
    1
}

#[cfg(feature = "rayon")]
fn both<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    rayon::join(a, b)
}

#[cfg(not(feature = "rayon"))]
fn both<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

#[cfg(feature = "rayon")]
fn each<I: Copy + Sync>(
    items: &[I],
    encode: &(impl Fn(I, &mut Scratch) -> Result<Encoded> + Sync),
) -> Result<Vec<Encoded>> {
    use rayon::prelude::*;
    items.par_iter().with_max_len(1).map_init(Scratch::default, |scratch, item| encode(*item, scratch)).collect()
}

#[cfg(not(feature = "rayon"))]
fn each<I: Copy>(items: &[I], encode: &impl Fn(I, &mut Scratch) -> Result<Encoded>) -> Result<Vec<Encoded>> {
    let mut scratch = Scratch::default();
    items.iter().map(|item| encode(*item, &mut scratch)).collect()
}
