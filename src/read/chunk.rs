//! One chunk of a read: fetched, decoded, and what is wanted of it placed.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::place;
use super::reading::Reading;
use super::rows::Rows;
use super::sources::too_large;
use crate::error::{Error, Place, Result};
use crate::filter::{AT_ONCE, Output, Pipeline, Scatter, Scratch};
use crate::manifest::Chunks;
use crate::plan::{ChunkRead, ReadPlan};
use crate::selection::{Block, ChunkSelection, Destination, shape};
use crate::wire::{ByteRange, SourceId};

/// Buffers that are used again for the next chunk.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    stored: Vec<u8>,
    pub(super) chunk: Vec<u8>,
    scratch: Scratch,
}

/// Where what is wanted of a chunk goes.
pub(super) enum Slot<'s, 'a> {
    /// Rows of its own.
    Own(Rows<'a>),
    /// Elements here and there in the result, where other chunks have theirs.
    Shared(&'s Mutex<&'a mut [u8]>),
}

/// Reads the chunks of a plan.
pub(super) struct ChunkReader<'a> {
    reading: &'a Reading<'a>,
    pub(super) plan: &'a ReadPlan,
    pub(super) selection: ChunkSelection,
    /// The selection as a block, if it is one.
    block: Option<Block>,
    /// Bytes of a chunk.
    pub(super) bytes: usize,
}

impl<'a> ChunkReader<'a> {
    pub(super) fn new(reading: &'a Reading<'a>, plan: &'a ReadPlan) -> Result<ChunkReader<'a>> {
        let chunks = reading.chunks.ok_or_else(|| Error::invalid("a plan of chunks for data without any"))?;
        let selection = chunks.grid().select(&plan.selected)?;
        let chunk_shape = chunks.grid().chunk_shape();
        let bytes =
            shape::count(chunk_shape).ok().and_then(|n| usize::try_from(n).ok()?.checked_mul(plan.element_size));
        let limit = reading.sources.container.loaded.limits().chunk;
        let bytes = bytes.filter(|n| u64::try_from(*n).is_ok_and(|n| n <= limit)).ok_or_else(|| {
            let error = Error::limit(format!("a chunk of shape {chunk_shape:?} is beyond the limit of {limit} bytes"));
            plan.chunks.iter().take(1).fold(error, |error, first| error.at(chunk_place(chunks, first)))
        })?;
        Ok(ChunkReader { reading, plan, selection, block: plan.selected.as_block(), bytes })
    }

    /// Reads one chunk. Errors say which.
    pub(super) fn read(&self, read: &ChunkRead, slot: Slot<'_, '_>, buffers: &mut Buffers) -> Result<()> {
        self.describe(read).and_then(|fetched| self.place(&fetched, slot, buffers)).map_err(|e| self.named(read, e))
    }

    /// As `read`, for a chunk of which the stored bytes were fetched ahead, or could not be.
    pub(super) fn read_fetched(
        &self,
        read: &ChunkRead,
        slot: Slot<'_, '_>,
        stored: Result<Vec<u8>>,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let placed = stored.and_then(|stored| {
            buffers.stored = stored;
            let fetched = Fetched { is_here: true, ..self.describe(read)? };
            self.place(&fetched, slot, buffers)
        });
        placed.map_err(|e| self.named(read, e))
    }

    /// The range of the source to fetch for a chunk.
    pub(super) fn range(&self, read: &ChunkRead) -> Result<ByteRange> {
        let range = self.describe(read).and_then(|fetched| fetched.range(self.bytes));
        range.and_then(|range| self.reading.sources.position(range)).map_err(|e| self.named(read, e))
    }

    fn named(&self, read: &ChunkRead, error: Error) -> Error {
        match self.reading.chunks {
            Some(chunks) => error.at(chunk_place(chunks, read)),
            None => error,
        }
    }

    fn describe<'r>(&self, read: &'r ChunkRead) -> Result<Fetched<'r>> {
        let grid = self.selection.grid();
        let coordinates = grid.coordinates(read.number).ok_or_else(|| Error::invalid("a chunk outside the shape"))?;
        let covered = grid.block(&coordinates);
        let part = self.block.as_ref().and_then(|block| covered.intersect(block));
        let is_partial = covered.count != grid.chunk_shape();
        Ok(Fetched {
            raw: self.reading.pipeline.is_none() || (is_partial && self.reading.partial_unfiltered),
            inside: part.map(|part| relative(&part, &covered)),
            is_here: false,
            read,
        })
    }

    fn place(&self, fetched: &Fetched<'_>, slot: Slot<'_, '_>, buffers: &mut Buffers) -> Result<()> {
        match slot {
            Slot::Own(mut rows) => match &fetched.inside {
                Some(inside) if inside.count == self.selection.grid().chunk_shape() => {
                    self.fill(fetched, &mut rows, buffers)
                }
                Some(inside) => {
                    let chunk = self.plain(fetched, buffers)?;
                    self.copy(chunk, inside, &mut rows)
                }
                None => Err(Error::invalid("a chunk outside the selection")),
            },
            Slot::Shared(result) => {
                let chunk = self.plain(fetched, buffers)?;
                let bytes = &mut **result.lock().unwrap_or_else(PoisonError::into_inner);
                let result = Destination { bytes, shape: self.plan.selected.aligned_shape() };
                place::place(&self.selection, fetched.read.touched, chunk, result, self.plan.element_size)
            }
        }
    }

    /// Decodes a chunk that is wanted as a whole into its rows.
    fn fill(&self, fetched: &Fetched<'_>, rows: &mut Rows<'_>, buffers: &mut Buffers) -> Result<()> {
        let mask = fetched.read.filter_mask;
        let Buffers { stored, scratch, .. } = buffers;
        if let Some(place) = rows.one() {
            if fetched.raw && !fetched.is_here {
                return self.reading.sources.read(SourceId(0), fetched.range(self.bytes)?, place);
            }
            self.fetch(fetched, stored)?;
            if !fetched.raw {
                return self.pipeline()?.decode(stored, mask, scratch, &mut Output::exact(place));
            }
        } else {
            self.fetch(fetched, stored)?;
        }
        if fetched.raw {
            rows.put(0, stored);
            return Ok(());
        }
        self.pipeline()?.decode(stored, mask, scratch, &mut Output::scattered(rows, self.bytes))
    }

    /// Fetches the stored bytes, if they are not here.
    fn fetch(&self, fetched: &Fetched<'_>, stored: &mut Vec<u8>) -> Result<()> {
        if fetched.is_here { Ok(()) } else { self.reading.sources.stored(fetched.range(self.bytes)?, stored) }
    }

    /// The elements of a chunk in memory, at least those that are wanted.
    fn plain<'b>(&self, fetched: &Fetched<'_>, buffers: &'b mut Buffers) -> Result<&'b [u8]> {
        let Buffers { stored, chunk, scratch } = buffers;
        self.fetch(fetched, stored)?;
        if fetched.raw {
            return Ok(stored);
        }
        let (shape, mask) = (self.selection.grid().chunk_shape(), fetched.read.filter_mask);
        let wanted = fetched.inside.as_ref().and_then(|inside| stretch(inside, shape, self.plan.element_size));
        match wanted {
            // Where a filter has no blocks, a range costs a copy.
            Some(range) if range.len() <= self.bytes / 2 && self.bytes <= AT_ONCE => {
                if chunk.len() != self.bytes {
                    chunk.clear();
                    chunk.resize(self.bytes, 0);
                }
                let mut output = Output::exact(&mut chunk[range.clone()]);
                self.pipeline()?.decode_range(stored, mask, range, scratch, &mut output)?;
            }
            _ => self.pipeline()?.decode_whole(stored, mask, scratch, chunk)?,
        }
        Ok(chunk)
    }

    /// Copies the elements at `inside` of a chunk to its rows.
    fn copy(&self, chunk: &[u8], inside: &Block, rows: &mut Rows<'_>) -> Result<()> {
        let bytes = |n: u64| usize::try_from(n).ok().and_then(|n| n.checked_mul(self.plan.element_size));
        let mut position = 0;
        for run in inside.runs(self.selection.grid().chunk_shape())? {
            let found = bytes(run.start).zip(bytes(run.start + run.count)).and_then(|(from, to)| chunk.get(from..to));
            let found = found.ok_or_else(too_large)?;
            rows.put(position, found);
            position += found.len();
        }
        Ok(())
    }

    fn pipeline(&self) -> Result<&Pipeline> {
        self.reading.pipeline.ok_or_else(|| Error::invalid("a filtered chunk without a pipeline"))
    }
}

/// A chunk that is to be fetched.
struct Fetched<'a> {
    read: &'a ChunkRead,
    /// Whether it is stored without filters.
    raw: bool,
    /// What is wanted of it, counted from its own start, if a block is wanted.
    inside: Option<Block>,
    /// Whether its stored bytes were fetched before.
    is_here: bool,
}

impl Fetched<'_> {
    /// The bytes to fetch. More space may be reserved for an unfiltered chunk than its `bytes`.
    fn range(&self, bytes: usize) -> Result<ByteRange> {
        let ChunkRead { addr, size, .. } = *self.read;
        if !self.raw {
            return Ok(ByteRange::new(addr, size));
        }
        let wanted = u64::try_from(bytes).map_err(|_| too_large())?;
        if size < wanted {
            return Err(Error::corrupt(format!("{size} bytes are stored of an unfiltered chunk of {bytes}")));
        }
        Ok(ByteRange::new(addr, wanted))
    }
}

fn chunk_place(chunks: &Chunks, read: &ChunkRead) -> Place {
    let grid = chunks.grid();
    let origin = grid.coordinates(read.number).map(|at| grid.block(&at).start).unwrap_or_default();
    Place::Chunk { origin, address: read.addr.0 }
}

/// `part`, counted from the start of the chunk that covers `covered`.
fn relative(part: &Block, covered: &Block) -> Block {
    let start = part.start.iter().zip(&covered.start).map(|(part, chunk)| part - chunk).collect();
    Block { start, count: part.count.clone() }
}

/// The bytes of a chunk from the first to the last element of `inside`.
fn stretch(inside: &Block, chunk_shape: &[u64], size: usize) -> Option<Range<usize>> {
    let last: Vec<u64> = inside.start.iter().zip(&inside.count).map(|(first, count)| first + count - 1).collect();
    let number = |at: &[u64]| usize::try_from(shape::number(chunk_shape, at)?).ok();
    Some(number(&inside.start)?.checked_mul(size)?..number(&last)?.checked_add(1)?.checked_mul(size)?)
}
