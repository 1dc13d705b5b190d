//! Extensible arrays: the chunk index of datasets with one unlimited dimension. Specification VII.D.
//!
//! ```text
//! header ──> index block: first elements
//!                         ──> data blocks of the first super blocks, which have no block of their own
//!                         ──> super blocks ──> data blocks: elements, or pages of elements
//! ```
//! Super block `u` has 2^(u/2) data blocks of 2^((u+1)/2) times the least number of elements, so that the array doubles
//! from one to the next.

mod blocks;
mod header;

pub use super::chunk_element::{Page, PageContext};
pub use blocks::{DataBlock, DataBlockContext, IndexBlock, PagePlace, SuperBlock, SuperBlockContext};
pub use header::{Header, Layout, Parameters, Place};
#[cfg(any(test, feature = "testing"))]
pub use {
    blocks::{data_block, index_block, super_block},
    header::{header, layout},
};
