//! HDF5 in pure Rust: reads real HDF5 files with no libhdf5 and no C.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod convert;
pub mod error;
pub mod filter;
pub mod format;
pub mod handle;
pub mod index;
pub mod inspect;
pub mod limits;
pub mod manifest;
pub mod netcdf;
pub mod object;
pub mod plan;
pub mod read;
pub mod selection;
pub mod stage;
pub mod storage;
pub mod wire;

#[cfg(feature = "derive")]
pub use hdfive_derive::H5Type;

pub use convert::{Conversion, DateTime64, H5Type, Reference, TimeUnit, Value, ValueArray};
pub use error::{Error, ErrorKind, Place, Result};
pub use handle::{
    Attribute, Dataset, DatasetSelection, DatasetSlab, Dimension, Driver, File, Group, Link, LinkTarget,
    MissingSources, NamedType, Object, OpenOptions,
};
pub use limits::Limits;

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the pages for users of other libraries compile and run.
#[cfg(all(doctest, feature = "derive", feature = "half", feature = "ndarray", feature = "num-complex"))]
mod pages {
    #[doc = include_str!("../docs/for-h5py-users.md")]
    struct H5py;

    #[doc = include_str!("../docs/for-hdf5-metno-users.md")]
    struct Hdf5Metno;
}
