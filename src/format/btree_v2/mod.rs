//! Version 2 B-trees: links and attributes in dense storage, shared messages, huge objects, chunks of datasets with two
//! or more unlimited dimensions. Specification III.A.2.
//!
//! ```text
//! header ──> root: records and children ──> ... ──> leaf: records
//! ```
//! Records stand in nodes of every level, between the children.

mod header;
mod node;
mod record;

pub use header::{Header, Layout};
pub use node::{Child, Node, NodeContext};
pub use record::{
    AttributeCreationOrder, AttributeName, Chunk, ChunkRecord, ChunkRow, FilteredChunk, FilteredChunkContext,
    HugeDirect, HugeDirectFiltered, HugeIndirect, HugeIndirectFiltered, LinkCreationOrder, LinkName, Record,
};
#[cfg(any(test, feature = "testing"))]
pub use {header::header, node::node, record::testing::*};
