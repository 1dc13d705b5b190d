//! What is wanted of an array: shapes, selections, the chunks they meet, and the transfers that move the elements.
//!
//! Everything here is plain data and arithmetic: no file, no address, no bytes but in the copy loop.
//!
//! | what is wanted | type |
//! |---|---|
//! | a box | [`Block`] |
//! | what a user writes: integers, ranges, lists, masks | [`Selection`], resolved to [`Selected`] |
//! | what HDF5 stores in region references and virtual layouts | [`Elements`]: [`Hyperslab`], [`Union`], [`Points`] |
//! | which chunks that touches, and which part of each | [`Grid`], [`Touched`] |
//! | what goes where | [`Transfer`], [`Run`] |

mod axis_transfer;
mod block;
mod elements;
mod grid;
mod hyperslab;
mod index;
mod irregular;
mod notation;
mod parse;
mod parts;
mod pieces;
mod points;
pub mod shape;
mod steps;
pub(crate) mod stream;
mod transfer;

pub use axis_transfer::AxisTransfer;
pub use block::{Block, BlockRuns, Run};
pub use elements::{Elements, Pair, paired};
pub use grid::{ChunkSelection, Grid, Touched};
pub use hyperslab::{BlockCount, Hyperslab, Span};
pub use index::{AxisSelection, Index, Selected, Selection};
pub use irregular::Union;
pub use notation::Ends;
pub use parts::Parts;
pub use pieces::{AxisChunks, Piece};
pub use points::Points;
pub(crate) use steps::{STREAM, Steps};
pub use transfer::{Destination, Source, Transfer, copy};
