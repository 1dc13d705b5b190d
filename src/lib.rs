//! HDF5 in pure Rust: reads and writes real HDF5 files with no libhdf5 and no C.
//!
//! Begin at [`File`]: it gives a [`Group`] or a [`Dataset`] by its path. [`Dataset::read`] reads all of a dataset,
//! [`Dataset::select`] a part that [`s!`] describes, [`Dataset::chunks`] and [`Dataset::rows`] one part after another.
//! [`H5Type`](trait@H5Type) says what can be read as what; `#[derive(H5Type)]` adds structs and enums of your own.
//!
//! ```
//! let file = hdfive::File::open("testdata/readme/weather.h5")?;
//! let first: Vec<f32> = file.dataset("/surface/temperature")?.select(hdfive::s![0, 0, ..3]).read()?;
//! assert_eq!(first, [280.0, 280.1, 280.2]);
//! # Ok::<(), hdfive::Error>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod convert;
pub mod create;
pub mod error;
pub mod filter;
pub mod format;
pub mod handle;
pub mod index;
pub mod inspect;
pub mod limits;
pub mod manifest;
mod memory;
pub mod netcdf;
pub mod object;
pub mod plan;
pub mod read;
#[cfg(feature = "refs")]
pub mod refs;
pub mod repack;
pub mod selection;
pub mod stage;
pub mod storage;
pub mod wire;
pub mod write;

#[cfg(feature = "derive")]
pub use hdfive_derive::H5Type;

pub use convert::{Conversion, DateTime64, H5Type, Reference, TimeUnit, Value, ValueArray};
pub use create::{FileBuilder, NewFile};
pub use error::{Error, ErrorKind, Place, Result};
pub use format::message::datatype::Datatype;
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

    #[cfg(feature = "http")]
    #[doc = include_str!("../docs/remote.md")]
    struct Remote;
}
