//! The plan of a read: which bytes are fetched, and where the elements in them go.

use std::fmt;

use crate::selection::Block;
use crate::wire::{Addr, SourceId};

/// The plan of a read of a block of a dataset into row-major memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPlan {
    /// The block that is read.
    pub block: Block,
    /// Bytes of an element.
    pub element_size: usize,
    /// Whether some elements are stored nowhere and are the fill value.
    pub fills: bool,
    /// Bytes that are elements as they are, in ascending order of their destination.
    pub pieces: Vec<PieceRead>,
    /// Chunks, in ascending order of their numbers.
    pub chunks: Vec<ChunkRead>,
}

/// Bytes that go to the destination as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceRead {
    /// The file they lie in.
    pub source: SourceId,
    /// Where they lie there.
    pub addr: Addr,
    /// How many they are.
    pub size: u64,
    /// Position of the first in the destination, in bytes.
    pub destination: u64,
}

/// A chunk that is fetched and decoded, and its selected part placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRead {
    /// Row-major number in the grid of the dataset's shape.
    pub number: u64,
    /// Where its stored bytes lie.
    pub addr: Addr,
    /// How many they are.
    pub size: u64,
    /// Filters that were skipped.
    pub filter_mask: u32,
    /// Whether its elements are contiguous in the destination, so that it can be decoded into place.
    pub in_place: bool,
}

impl ReadPlan {
    /// Bytes that are fetched.
    pub fn fetched(&self) -> u64 {
        let pieces = self.pieces.iter().map(|piece| piece.size);
        pieces.chain(self.chunks.iter().map(|chunk| chunk.size)).fold(0, u64::saturating_add)
    }
}

impl fmt::Display for ReadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "ReadPlan of {:?} from {:?}, {} bytes to fetch",
            self.block.count,
            self.block.start,
            self.fetched()
        )?;
        if self.fills {
            writeln!(f, "  fill what is not stored")?;
        }
        for p in &self.pieces {
            writeln!(f, "  {} bytes at {} of source {} to byte {}", p.size, p.addr, p.source.0, p.destination)?;
        }
        for c in &self.chunks {
            let how = if c.in_place { "into place" } else { "and place" };
            writeln!(f, "  chunk {}: decode {} bytes at {} {how}", c.number, c.size, c.addr)?;
        }
        Ok(())
    }
}
