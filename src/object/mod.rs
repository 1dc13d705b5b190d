//! Objects: follows addresses from the superblock to headers, heaps, trees, links and attributes.
//!
//! Everything here is a job on a view: plain code that either has its bytes or stops with what is missing.

mod adopted;
pub mod attributes;
pub mod btree;
pub mod container;
pub mod datatype;
pub mod header;
pub mod heap;
pub mod links;
pub mod path;

pub use container::{Container, Scope};
pub use header::{Header, ObjectKind};

use crate::storage::Stop;

/// The result of a step of a job.
pub type Step<T> = std::result::Result<T, Stop>;
