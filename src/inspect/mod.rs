//! What faces print: the tree of a file, datatypes in one notation, digests that do not depend on storage.

pub mod canonical;
pub mod notation;
pub mod tree;

pub use canonical::{Canonical, Digest};
pub use tree::{Tree, TreeObject};
