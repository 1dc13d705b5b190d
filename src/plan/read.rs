//! The plan of a read: which bytes are fetched, and where the elements in them go.

use std::fmt;

use crate::selection::Selected;
use crate::wire::{Addr, SourceId};

/// The plan of a read of a selection of a dataset into row-major memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPlan {
    /// What is read.
    pub selected: Selected,
    /// Bytes of an element.
    pub element_size: usize,
    /// Whether some elements are stored nowhere and are the fill value.
    pub fills: bool,
    /// Bytes that are elements as they are, in ascending order of their destination.
    pub pieces: Vec<PieceRead>,
    /// Stretches of contiguous data of which single elements are wanted.
    pub gathers: Vec<Gather>,
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

/// A stretch of contiguous data that is fetched as one, and its selected elements placed. Contiguous data are cut into
/// tiles for this, as if they were chunked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gather {
    /// Which of the tiles that the selection touches.
    pub touched: u64,
    /// Whether some of its elements are stored nowhere.
    pub fills: bool,
    /// What is fetched; destinations are positions in the tile.
    pub pieces: Vec<PieceRead>,
}

/// A chunk that is fetched and decoded, and its selected part placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRead {
    /// Row-major number in the grid of the dataset's shape.
    pub number: u64,
    /// Which of the chunks that the selection touches.
    pub touched: u64,
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
        let gathered = self.gathers.iter().flat_map(|gather| &gather.pieces);
        let pieces = self.pieces.iter().chain(gathered).map(|piece| piece.size);
        pieces.chain(self.chunks.iter().map(|chunk| chunk.size)).fold(0, u64::saturating_add)
    }
}

impl fmt::Display for ReadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (result, shape) = (self.selected.result_shape(), self.selected.shape());
        writeln!(f, "ReadPlan of {result:?} out of {shape:?}, {} bytes to fetch", self.fetched())?;
        if self.fills {
            writeln!(f, "  fill what is not stored")?;
        }
        for p in &self.pieces {
            writeln!(f, "  {} bytes at {} of source {} to byte {}", p.size, p.addr, p.source.0, p.destination)?;
        }
        for p in self.gathers.iter().flat_map(|gather| &gather.pieces) {
            writeln!(f, "  {} bytes at {} of source {}, and place", p.size, p.addr, p.source.0)?;
        }
        for c in &self.chunks {
            let how = if c.in_place { "into place" } else { "and place" };
            writeln!(f, "  chunk {}: decode {} bytes at {} {how}", c.number, c.size, c.addr)?;
        }
        Ok(())
    }
}
