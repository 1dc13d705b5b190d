//! The chunk manifest: where the data of a dataset lie, as plain data that can be printed, compared and kept.

use std::fmt;

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::format::encoded_selection::EncodedSelection;
use crate::selection::{Block, Elements, Grid};
use crate::wire::{Addr, SourceId};

/// Where the data of a dataset lie.
#[derive(Clone, Debug, PartialEq)]
pub enum Manifest {
    /// In the object header: here they are.
    Inline(Bytes),
    /// In pieces, one after the other in row-major order; what no piece covers was never written.
    Segments {
        /// The pieces, in order.
        segments: Vec<Segment>,
        /// Names of other files: source 1 is the first.
        files: Vec<String>,
    },
    /// In chunks; those that are missing were never written.
    Chunks(Chunks),
    /// In other datasets; what no mapping covers is fill value.
    Virtual(Vec<Mapping>),
}

/// A piece of contiguous data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Position of its first byte in the dataset's elements, row-major.
    pub start: u64,
    /// The file it lies in.
    pub source: SourceId,
    /// Where it lies there.
    pub addr: Addr,
    /// Bytes.
    pub size: u64,
}

/// Elements of another dataset that stand for elements of a virtual one: the k-th for the k-th.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// The other dataset's file; `.` is the same file.
    pub file: String,
    /// Path of the other dataset.
    pub dataset: String,
    /// Which elements of the other dataset, whose shape is known when it is read.
    pub source: EncodedSelection,
    /// Where the selection ends along its unlimited axis, if it has one.
    pub source_end: Option<u64>,
    /// Which elements of the virtual dataset.
    pub destination: Elements,
}

/// Where one stored chunk lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPlace {
    /// Row-major number over the grid of the current shape.
    pub number: u64,
    /// Where its stored bytes lie.
    pub addr: Addr,
    /// How many they are.
    pub size: u64,
    /// Filters that were skipped, bit 0 for the first of the pipeline.
    pub filter_mask: u32,
}

/// The stored chunks of a dataset, in ascending order of their numbers, in columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunks {
    grid: Grid,
    numbers: Numbers,
    addresses: Vec<u64>,
    sizes: Column<u64>,
    masks: Column<u32>,
}

/// Chunk numbers: all of them from 0 on, or these.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Numbers {
    All,
    These(Vec<u64>),
}

/// A column whose values are stored once while they are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Column<T> {
    Same(T),
    Each(Vec<T>),
}

impl<T: Copy + PartialEq> Column<T> {
    fn get(&self, i: usize) -> T {
        match self {
            Column::Same(value) => *value,
            Column::Each(values) => values[i],
        }
    }

    fn push(&mut self, before: usize, value: T) {
        match self {
            Column::Same(same) if before == 0 => *same = value,
            Column::Same(same) if *same == value => {}
            Column::Same(same) => {
                let mut values = vec![*same; before];
                values.push(value);
                *self = Column::Each(values);
            }
            Column::Each(values) => values.push(value),
        }
    }
}

impl Chunks {
    /// The grid of the current shape.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// How many chunks are stored.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether no chunk is stored.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// Bytes of all stored chunks.
    pub fn stored_size(&self) -> u64 {
        self.iter().fold(0, |sum, chunk| sum.saturating_add(chunk.size))
    }

    /// Where chunk `number` lies, if it is stored.
    pub fn get(&self, number: u64) -> Option<ChunkPlace> {
        let i = match &self.numbers {
            Numbers::All => usize::try_from(number).ok()?,
            Numbers::These(numbers) => numbers.binary_search(&number).ok()?,
        };
        (i < self.len()).then(|| self.row(i))
    }

    /// The stored chunks that meet `block`, in ascending order of their numbers; others are not passed.
    ///
    /// Errors: `OutOfBounds` if the block does not lie in the array.
    pub fn meet(&self, block: &Block) -> Result<Vec<ChunkPlace>> {
        let mut found = Vec::new();
        self.grid.meet(block)?.each_number(&self.grid, |_, number| found.extend(self.get(number)));
        Ok(found)
    }

    /// All stored chunks in ascending order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = ChunkPlace> + '_ {
        (0..self.len()).map(|i| self.row(i))
    }

    fn row(&self, i: usize) -> ChunkPlace {
        let number = match &self.numbers {
            Numbers::All => u64::try_from(i).expect("because memory is smaller than 64 bits"),
            Numbers::These(numbers) => numbers[i],
        };
        ChunkPlace { number, addr: Addr(self.addresses[i]), size: self.sizes.get(i), filter_mask: self.masks.get(i) }
    }
}

/// Gathers the chunks of an index in the order in which the index has them.
#[derive(Debug)]
pub struct ChunksBuilder {
    chunks: Chunks,
    ascending: bool,
    last: Option<u64>,
}

impl ChunksBuilder {
    /// No chunk yet of an array with this grid.
    pub fn new(grid: Grid) -> Self {
        let (numbers, addresses) = (Numbers::All, Vec::new());
        let chunks = Chunks { grid, numbers, addresses, sizes: Column::Same(0), masks: Column::Same(0) };
        ChunksBuilder { chunks, ascending: true, last: None }
    }

    /// The grid of the current shape.
    pub fn grid(&self) -> &Grid {
        &self.chunks.grid
    }

    /// Adds a chunk.
    pub fn push(&mut self, place: ChunkPlace) {
        let chunks = &mut self.chunks;
        let before = chunks.addresses.len();
        let dense = u64::try_from(before).ok() == Some(place.number);
        match &mut chunks.numbers {
            Numbers::All if dense => {}
            Numbers::All => {
                let end = u64::try_from(before).expect("because memory is smaller than 64 bits");
                chunks.numbers = Numbers::These((0..end).chain([place.number]).collect());
            }
            Numbers::These(numbers) => numbers.push(place.number),
        }
        chunks.addresses.push(place.addr.0);
        chunks.sizes.push(before, place.size);
        chunks.masks.push(before, place.filter_mask);
        self.ascending &= self.last.is_none_or(|last| last < place.number);
        self.last = Some(place.number);
    }

    /// The chunks, sorted. `Corrupt` if a chunk was added twice.
    pub fn finish(self) -> Result<Chunks> {
        if self.ascending {
            return Ok(self.chunks);
        }
        let mut rows: Vec<ChunkPlace> = self.chunks.iter().collect();
        rows.sort_unstable_by_key(|row| row.number);
        let mut sorted = ChunksBuilder::new(self.chunks.grid);
        for row in rows {
            if sorted.last == Some(row.number) {
                return Err(Error::corrupt(format!("the chunk index has chunk number {} twice", row.number)));
            }
            sorted.push(row);
        }
        Ok(sorted.chunks)
    }
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Manifest::Inline(bytes) => writeln!(f, "inline, {} bytes", bytes.len()),
            Manifest::Segments { segments, files } => {
                writeln!(f, "{} segments", segments.len())?;
                for s in segments {
                    let file = usize::try_from(s.source.0).ok().and_then(|i| files.get(i.checked_sub(1)?));
                    let file = file.map(|name| format!(" of {name}")).unwrap_or_default();
                    writeln!(f, "  bytes {}..{} at {}{file}", s.start, s.start.saturating_add(s.size), s.addr)?;
                }
                Ok(())
            }
            Manifest::Chunks(chunks) => {
                let stored = chunks.stored_size();
                writeln!(f, "{} of {} chunks, {stored} bytes stored", chunks.len(), chunks.grid.len())?;
                for chunk in chunks.iter() {
                    let at = chunks.grid.coordinates(chunk.number).unwrap_or_default();
                    let mask =
                        if chunk.filter_mask == 0 { String::new() } else { format!(" mask {:#x}", chunk.filter_mask) };
                    writeln!(f, "  {at:?} {} bytes at {}{mask}", chunk.size, chunk.addr)?;
                }
                Ok(())
            }
            Manifest::Virtual(mappings) => {
                writeln!(f, "{} mappings", mappings.len())?;
                for m in mappings {
                    writeln!(f, "  {} elements of {:?} in {:?}", m.destination.count(), m.dataset, m.file)?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(number: u64, addr: u64, size: u64, filter_mask: u32) -> ChunkPlace {
        ChunkPlace { number, addr: Addr(addr), size, filter_mask }
    }

    #[test]
    fn chunks_are_found_by_number_in_whatever_order_they_came() {
        let rows = [place(4, 400, 7, 0), place(0, 10, 5, 0), place(2, 300, 7, 1)];
        let mut builder = ChunksBuilder::new(Grid::new(&[5, 7], &[2, 3]).unwrap());
        rows.iter().for_each(|row| builder.push(*row));
        let chunks = builder.finish().unwrap();
        for row in rows {
            assert_eq!(chunks.get(row.number), Some(row));
        }
        assert_eq!(chunks.get(1), None);
        assert_eq!(chunks.stored_size(), 19);
        assert_eq!(chunks.meet(&Block::new(&[1, 2], &[2, 3])).unwrap(), [rows[1], rows[0]]);
        assert!(chunks.meet(&Block::new(&[1, 2], &[2, 6])).is_err());
    }

    #[test]
    fn equal_columns_are_stored_once_and_a_chunk_only_once() {
        let mut builder = ChunksBuilder::new(Grid::new(&[9], &[3]).unwrap());
        (0..3).for_each(|i| builder.push(place(i, 64 * i, 12, 0)));
        let chunks = builder.finish().unwrap();
        assert_eq!((&chunks.numbers, &chunks.sizes), (&Numbers::All, &Column::Same(12)));
        let mut twice = ChunksBuilder::new(Grid::new(&[9], &[3]).unwrap());
        [1, 0, 1].iter().for_each(|i| twice.push(place(*i, 0, 12, 0)));
        assert_eq!(twice.finish().unwrap_err().kind(), crate::ErrorKind::Corrupt);
    }
}
