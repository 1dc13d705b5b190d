//! HDF5 in pure Rust: reads real HDF5 files with no libhdf5 and no C.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod convert;
pub mod error;
pub mod filter;
pub mod format;
pub mod limits;
pub mod selection;
pub mod stage;
pub mod storage;
pub mod wire;

pub use error::{Error, ErrorKind, Place, Result};
pub use limits::Limits;
