//! Files.

use std::path::Path;
use std::sync::Arc;

use super::attribute::Attribute;
use super::core::{Core, Node};
use super::dataset::Dataset;
use super::group::{Group, Object};
use super::named_type::NamedType;
use super::options::OpenOptions;
use crate::convert::Heaps;
use crate::error::Result;
use crate::format::message::file_space_info::FileSpace;
use crate::storage::Purpose;
use crate::wire::Sizes;

/// An HDF5 file, open for reading. Cheap to clone; closed when the last handle of it is dropped.
///
/// ```no_run
/// # fn main() -> hdfive::Result<()> {
/// let file = hdfive::File::open("weather.h5")?;
/// for name in file.root()?.names()? {
///     println!("{name}");
/// }
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct File {
    core: Arc<Core>,
}

/// `File("weather.h5")`.
impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("File").field(&self.core).finish()
    }
}

/// What a file says about itself as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// Version of the superblock.
    pub superblock_version: u8,
    /// Bytes before the superblock.
    pub user_block: u64,
    /// Widths of addresses and lengths.
    pub sizes: Sizes,
    /// Half of the largest number of entries of a symbol-table node.
    pub symbol_leaf_k: u16,
    /// Half of the largest number of children of a version 1 B-tree node of groups.
    pub symbol_internal_k: u16,
    /// The same for chunks.
    pub chunk_k: u16,
    /// Type flags and smallest message of each index of shared messages; `None` if the file shares none.
    pub shared_messages: Option<Vec<(u16, u32)>>,
    /// How free space is managed, if the file says so.
    pub file_space: Option<FileSpace>,
}

impl File {
    pub(super) fn new(core: Arc<Core>) -> Self {
        File { core }
    }

    /// Opens the file at `path` for reading.
    ///
    /// Errors are `NotFound`, `Io`, `NotHdf5`, `Corrupt`, `Unsupported`; all name the file.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        OpenOptions::new().open(path)
    }

    /// Opens the file at `url`; see [`OpenOptions::open_url`].
    #[cfg(feature = "http")]
    pub fn open_url(url: &str) -> Result<File> {
        OpenOptions::new().open_url(url)
    }

    /// Opens a file that is in memory.
    pub fn from_bytes(bytes: impl Into<bytes::Bytes>) -> Result<File> {
        OpenOptions::new().open_source(Arc::new(crate::storage::MemorySource::new(bytes)), "memory")
    }

    /// The file below its handles, for the rooms that print it.
    pub(crate) fn container(&self) -> &crate::object::Container {
        &self.core.container
    }

    /// Where elements of variable length lie, for decoding elements that were read as stored; see
    /// [`H5Type::decoder`](crate::H5Type::decoder).
    pub fn heaps(&self) -> Heaps<'_> {
        Heaps::new(self.container())
    }

    /// Another file that this one names.
    pub(super) fn other(&self, name: &str, purpose: Purpose) -> Result<File> {
        self.core.other(name, purpose).map(File::new)
    }

    /// The name by which it was opened; `memory` for one in memory.
    pub fn filename(&self) -> &str {
        &self.core.name
    }

    /// What is odd about the file without making it unreadable: an open writer, missing bytes.
    pub fn warnings(&self) -> &[String] {
        &self.core.container.warnings
    }

    /// What the file says about itself as a whole.
    pub fn facts(&self) -> FileFacts {
        let container = &self.core.container;
        FileFacts {
            superblock_version: container.superblock.number(),
            user_block: container.user_block,
            sizes: container.loaded.sizes(),
            symbol_leaf_k: container.leaf_k,
            symbol_internal_k: container.internal_k,
            chunk_k: container.chunk_k,
            shared_messages: container
                .shared_messages
                .as_ref()
                .map(|table| table.indexes.iter().map(|index| (index.message_types, index.min_size)).collect()),
            file_space: container.file_space.clone(),
        }
    }

    /// The root group.
    pub fn root(&self) -> Result<Group> {
        let node = Node::open(Arc::clone(&self.core), self.core.container.root, "/")?;
        Ok(Group { node })
    }

    /// The attribute of the root group called `name`. `NotFound` if there is none.
    ///
    /// ```
    /// # fn main() -> hdfive::Result<()> {
    /// let file = hdfive::File::open("testdata/readme/weather.h5")?;
    /// let title: String = file.attribute("title")?.read_scalar()?;
    /// # assert_eq!(title, "A week of weather");
    /// # Ok(()) }
    /// ```
    pub fn attribute(&self, name: &str) -> Result<Attribute> {
        self.root()?.attribute(name)
    }

    /// The attributes of the root group, sorted by name. One that cannot be understood is an error in its place.
    pub fn attributes(&self) -> Result<Vec<Result<Attribute>>> {
        self.root()?.attributes()
    }

    /// The object at `path`; see [`Group::object`].
    pub fn object(&self, path: &str) -> Result<Object> {
        self.root()?.object(path)
    }

    /// The group at `path`; see [`Group::group`].
    pub fn group(&self, path: &str) -> Result<Group> {
        self.root()?.group(path)
    }

    /// The dataset at `path`; see [`Group::dataset`].
    pub fn dataset(&self, path: &str) -> Result<Dataset> {
        self.root()?.dataset(path)
    }

    /// The committed datatype at `path`; see [`Group::named_type`].
    pub fn named_type(&self, path: &str) -> Result<NamedType> {
        self.root()?.named_type(path)
    }
}
