//! What users hold: files, groups, datasets, attributes, committed datatypes. Handles are cheap to clone, shared by
//! threads, and outlive the [`File`] value they came from. They have no cursor and hold no lock while they read.

mod adoption;
mod attribute;
mod base_slab;
mod chunks;
mod core;
mod dataset;
mod dimensions;
mod element_type;
mod file;
mod file_set;
mod group;
mod named_type;
mod options;
mod reference;
mod selected;
mod staged;
mod stored;
mod virtual_sources;

pub use crate::index::virtual_layout::StoredMapping;
pub use attribute::Attribute;
pub use base_slab::DatasetSlab;
pub(crate) use core::each_in_parallel;
pub use dataset::{Dataset, ExternalSegment, FilterInfo, StorageLayout};
pub use dimensions::Dimension;
#[cfg(feature = "refs")]
pub(crate) use element_type::is_ieee;
pub use file::{File, FileFacts};
pub use group::{Group, Link, LinkTarget, Object, TreeObject};
pub use named_type::NamedType;
pub use options::{Driver, MissingSources, OpenOptions};
pub use selected::DatasetSelection;
