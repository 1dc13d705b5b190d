//! Fractal heaps: links and attributes in dense storage, shared messages. Specification III.G.
//!
//! ```text
//! heap id ──> managed: an offset in a space that blocks of growing size cover
//!             header ──> root: direct block, or indirect block ──> ... ──> direct block: objects
//!         ──> huge:    an object of its own, found through a version 2 B-tree or directly
//!         ──> tiny:    the object is the id
//! ```
//! The blocks of an indirect block stand in rows of equal width; from the second row on, each row's blocks are twice as
//! large as those of the row before (the doubling table). Rows of blocks that are too large to be direct are indirect.

mod block;
mod header;
mod heap_id;

pub use block::{Child, DirectBlock, DirectContext, IndirectBlock, IndirectContext};
pub use header::{DoublingTable, Filters, Header, Root, TablePlace};
pub use heap_id::{HeapId, IdContext, Location};
#[cfg(any(test, feature = "testing"))]
pub use {
    block::{direct_block, indirect_block},
    header::{header, table},
    heap_id::heap_id,
};
