//! Plans: what will be read or written, as plain data, before anything happens.

pub mod advise;
mod read;

pub use read::{ChunkRead, Gather, PieceRead, ReadPlan};
