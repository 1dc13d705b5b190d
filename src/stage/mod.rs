//! Staged arrays: changes to a chunked array, held in memory until they are committed.
//!
//! Chunks lie on *slabs*, and a map says for each chunk on which slab and where. Reading, writing, resizing, loading
//! and committing are *plans* first, plain values that can be printed, and then carried out. A commit stores only
//! chunks that are not there yet. Nothing here knows a file: base slabs and the sink of a commit are traits.
//!
//! Start at [`StagedArray`]; `docs/staged-arrays.md` teaches the idea by an example.

mod array;
mod commit;
mod create;
mod execute;
mod hash;
mod map;
pub(crate) mod parallel;
pub mod plan;
mod planner;
mod resize;
mod sha256;
mod show;
mod slabs;
mod texts;
mod values;
mod zeroed;

pub use array::{Access, StagedArray};
pub use commit::CommitReport;
pub use create::{Base, Role};
pub use hash::{Hash, hash_array};
pub use show::{Listing, Relocates};
pub use slabs::{BaseSlab, Memory, MemorySink, MemorySlab, NewSlab, Shared, SlabSink};
pub use texts::Texts;
pub use values::Array;
