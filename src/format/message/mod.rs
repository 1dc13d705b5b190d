//! The messages of object headers, one file each.

pub mod filter_pipeline;
