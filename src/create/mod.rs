//! New files: [`File::create`](crate::File::create) or a [`FileBuilder`], groups, datasets and attributes, and
//! [`NewFile::close`].
//!
//! ```
//! use hdfive::File;
//!
//! # fn main() -> hdfive::Result<()> {
//! let path = std::env::temp_dir().join("hdfive-create-example.h5");
//! let file = File::create(&path)?;
//! file.attr("title", "Weather")?;
//! let surface = file.create_group("surface")?;
//! let rain = vec![0u16; 28 * 11 * 16];
//! let mut dataset = surface.new_dataset::<u16>().shape([28, 11, 16]).chunk([7, 11, 16]).deflate(4).create("rain")?;
//! dataset.write(&rain)?;
//! dataset.attr("units", "mm")?;
//! file.close()?;
//! assert_eq!(File::open(&path)?.dataset("surface/rain")?.read::<u16>()?, rain);
//! # Ok(()) }
//! ```
//!
//! Until it is closed the file has another name in the same folder; a file that was there before stays until then.

mod attributes;
mod builder;
mod chunks;
mod dataset;
mod dimensions;
mod external;
mod filters;
mod group;
mod pipeline;
mod settings;
mod shared;
mod site;
mod values;
mod virtual_layout;
mod writer;

use std::path::Path;
use std::sync::{Arc, OnceLock};

pub use builder::DatasetBuilder;
pub use dataset::NewDataset;
pub use filters::{Blosc, BloscShuffle};
pub use group::{NewGroup, NewNamedType};
pub use pipeline::Filters;
pub use settings::{AllocTime, FillTime};
pub(crate) use settings::{Layout, Settings};
pub(crate) use site::Site;
pub use values::{Scalar, Values};
pub use virtual_layout::VirtualSource;
pub(crate) use writer::Writer;

use crate::error::{Error, Place, Result};
use crate::filter::Registry;
use crate::format::message::dataspace::{Dataspace, Kind};
use crate::handle::File;
use crate::storage::{ByteSink, FileSink, MemorySink};
use crate::write::{Body, Compatibility, Draft, FileSpaceStrategy};
use shared::Shared;

/// How a new file is made.
#[derive(Debug, Default)]
pub struct FileBuilder {
    compatibility: Compatibility,
    user_block: u64,
    track_order: bool,
    file_space: FileSpaceStrategy,
    registry: Registry,
}

impl FileBuilder {
    /// A file as libhdf5 1.8 and all later ones read it, without a user block.
    pub fn new() -> FileBuilder {
        FileBuilder::default()
    }

    /// The oldest libhdf5 that has to read the file.
    #[must_use]
    pub fn compatibility(mut self, level: Compatibility) -> FileBuilder {
        self.compatibility = level;
        self
    }

    /// Bytes before the HDF5 file begins, for the user: 0, 512, 1024, 2048, ...
    #[must_use]
    pub fn user_block(mut self, bytes: u64) -> FileBuilder {
        self.user_block = bytes;
        self
    }

    /// How libhdf5 finds space when it changes the file.
    #[must_use]
    pub fn file_space(mut self, strategy: FileSpaceStrategy) -> FileBuilder {
        self.file_space = strategy;
        self
    }

    /// Links and attributes are numbered as they are created, as netCDF-4 wants it. Not for `Earliest`.
    #[must_use]
    pub fn track_order(mut self, track: bool) -> FileBuilder {
        self.track_order = track;
        self
    }

    /// With filters of the user's own.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> FileBuilder {
        self.registry = registry;
        self
    }

    /// Creates the file at `path`. What is there now is replaced when the new file is closed.
    ///
    /// Errors are `Io`, `Invalid` for a user block or pages of another size, and `Unsupported` for what the compatibility
    /// level cannot have: a tracked order, a file space strategy.
    pub fn create(self, path: impl AsRef<Path>) -> Result<NewFile> {
        let path = path.as_ref();
        let at = |e: Error| e.at(Place::File(path.display().to_string()));
        self.create_in(Box::new(FileSink::create(path).map_err(at)?)).map_err(at)
    }

    /// Creates the file in memory; [`NewFile::close_in_memory`] gives its bytes.
    pub fn create_in_memory(self) -> Result<NewFile> {
        let bytes = Arc::new(OnceLock::new());
        let file = self.create_in(Box::new(MemorySink::new(Arc::clone(&bytes))))?;
        Ok(NewFile { memory: Some(bytes), ..file })
    }

    /// Creates the file anywhere.
    pub fn create_in(self, sink: Box<dyn ByteSink>) -> Result<NewFile> {
        if self.track_order && self.compatibility == Compatibility::Earliest {
            return Err(Error::unsupported("creation order cannot be tracked for Earliest"));
        }
        let mut draft = Draft::new(sink, self.compatibility, self.user_block, self.file_space)?;
        if self.track_order {
            let root = draft.object_mut(Draft::ROOT);
            root.attribute_order = Some(true);
            if let Body::Group(group) = &mut root.body {
                group.order = Some(true);
            }
        }
        let shared = Arc::new(Shared::new(draft, self.registry, self.track_order));
        Ok(NewFile { root: NewGroup { shared, id: Draft::ROOT, path: "/".to_owned() }, memory: None })
    }
}

impl File {
    /// Creates a file at `path` that libhdf5 1.8 and all later ones read; [`FileBuilder`] has more to say. What is there
    /// now is replaced when the new file is closed.
    ///
    /// Errors are `Io`.
    pub fn create(path: impl AsRef<Path>) -> Result<NewFile> {
        FileBuilder::new().create(path)
    }
}

/// A file that is being written. It is also its root group.
///
/// Dropped without [`close`](NewFile::close) it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    root: NewGroup,
    memory: Option<Arc<OnceLock<Vec<u8>>>>,
}

impl NewFile {
    /// Writes the first bytes of the user block.
    ///
    /// Errors are `Invalid` if it has fewer bytes, and `Io`.
    pub fn write_user_block(&self, bytes: &[u8]) -> Result<()> {
        self.root.shared.with(|draft| draft.space.write_before(bytes))
    }

    /// Writes what is not written yet, and gives the file its name.
    ///
    /// Errors are those of writing; then what was there before stays. Handles that are left can write nothing more.
    pub fn close(self) -> Result<()> {
        dimensions::finish(&self.root.shared)?;
        self.root.shared.close()
    }

    /// Writes what is not written yet, and gives the bytes of a file that was created in memory.
    ///
    /// Errors are `Invalid` for any other file, which is closed all the same.
    pub fn close_in_memory(self) -> Result<Vec<u8>> {
        let NewFile { root, memory } = self;
        NewFile { root, memory: None }.close()?;
        let bytes = memory.map(Arc::try_unwrap).and_then(Result::ok).and_then(OnceLock::into_inner);
        bytes.ok_or_else(|| Error::invalid("the file is not in memory"))
    }
}

impl std::ops::Deref for NewFile {
    type Target = NewGroup;

    fn deref(&self) -> &NewGroup {
        &self.root
    }
}

/// The dataspace of an array; of a scalar, if it has no dimensions.
fn dataspace(shape: Vec<u64>, max_shape: Option<Vec<Option<u64>>>) -> Result<Dataspace> {
    let kind = if shape.is_empty() { Kind::Scalar } else { Kind::Simple };
    if let Some(max) = &max_shape
        && (max.len() != shape.len() || shape.iter().zip(max).any(|(size, max)| max.is_some_and(|max| max < *size)))
    {
        return Err(Error::invalid(format!("a maximum shape of {max:?} for a shape of {shape:?}")));
    }
    Ok(Dataspace { version: 2, kind, shape, max_shape, old: None })
}

/// The dataspace of nothing.
fn null_dataspace() -> Dataspace {
    Dataspace { version: 2, kind: Kind::Null, shape: Vec::new(), max_shape: None, old: None }
}
