//! The objects of a file that is being written.

use std::collections::HashMap;

use bytes::Bytes;

use super::compatibility::Compatibility;
use crate::error::{Error, Result};
use crate::format::message::data_layout::Chunked;
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::Datatype;
use crate::format::message::external_files::ExternalFiles;
use crate::format::message::fill_value::FillValue;
use crate::format::message::filter_pipeline::FilterPipeline;
use crate::format::message::shared::{Shared, SharedPlace};
use crate::manifest::Chunks;
use crate::wire::Addr;

/// Number of an object among those of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub(super) usize);

/// An object.
#[derive(Debug)]
pub struct Object {
    /// What it is.
    pub body: Body,
    /// Its attributes, in order of their creation.
    pub attributes: Vec<NumberedAttribute>,
    /// Whether the creation order of attributes is tracked, and if so whether it is indexed.
    pub attribute_order: Option<bool>,
    /// A comment on it.
    pub comment: Option<String>,
    /// When it was modified, in seconds since 1970.
    pub modified: Option<u32>,
    /// How many hard links lead to it.
    pub links: u32,
    /// Where its header will be, if somebody wanted to know before it was complete.
    pub promised: Option<Addr>,
}

/// An attribute, and when it was created.
#[derive(Clone, Debug)]
pub struct NumberedAttribute {
    /// Attributes that were created before it, those since deleted included.
    pub order: u16,
    /// Its name.
    pub name: Bytes,
    /// Its message, encoded.
    pub message: Bytes,
}

/// What an object is.
#[derive(Debug)]
pub enum Body {
    /// A group.
    Group(Group),
    /// A dataset.
    Dataset(Box<Dataset>),
    /// A committed datatype.
    NamedType(Datatype),
}

/// A group.
#[derive(Debug, Default)]
pub struct Group {
    /// Its links.
    pub(super) links: Vec<Link>,
    /// Their numbers by their names: none is given twice.
    pub(super) names: HashMap<Vec<u8>, usize>,
    /// Whether the creation order of links is tracked, and if so whether it is indexed.
    pub order: Option<bool>,
}

/// A link of a group.
#[derive(Clone, Debug)]
pub struct Link {
    /// Links of the group that were created before it, those since deleted included.
    pub order: u64,
    /// Its name.
    pub name: Vec<u8>,
    /// Whether the name is UTF-8 rather than ASCII.
    pub utf8: bool,
    /// What it leads to.
    pub target: Target,
}

/// What a link leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An object of this file.
    Hard(ObjectId),
    /// A path.
    Soft(Vec<u8>),
    /// A path in another file, encoded.
    External(Vec<u8>),
    /// What a class that applications register keeps.
    User {
        /// Number of the class.
        class: u8,
        /// What it keeps.
        data: Vec<u8>,
    },
}

/// A dataset.
#[derive(Debug)]
pub struct Dataset {
    /// The type of its elements.
    pub datatype: Datatype,
    /// The committed datatype that it is, if it is one.
    pub committed: Option<ObjectId>,
    /// Its shape.
    pub dataspace: Dataspace,
    /// Its fill value.
    pub fill: FillValue,
    /// Its filters.
    pub filters: Option<FilterPipeline>,
    /// Pieces of external raw data.
    pub external: Option<ExternalFiles>,
    /// How its elements are stored.
    pub storage: Storage,
}

/// How the elements of a dataset are stored.
#[derive(Debug)]
pub enum Storage {
    /// In the header.
    Compact(Bytes),
    /// In one piece, if at all.
    Contiguous(Option<Addr>, u64),
    /// In chunks.
    Chunked(Chunked, Chunks),
    /// In other datasets: where the mappings are.
    Virtual(Option<Addr>, u32),
}

/// What placing an object depends on.
pub struct Context {
    /// What may be written.
    pub level: Compatibility,
    /// Where the headers of objects are, by their numbers.
    pub addrs: Vec<Addr>,
}

impl Context {
    pub(super) fn addr(&self, ObjectId(number): ObjectId) -> Result<Addr> {
        self.addrs.get(number).copied().ok_or_else(|| Error::invalid("an object of another file"))
    }
}

impl Object {
    /// An object without links or attributes.
    pub fn new(body: Body) -> Object {
        Object {
            body,
            attributes: Vec::new(),
            attribute_order: None,
            comment: None,
            modified: None,
            links: 0,
            promised: None,
        }
    }
}

/// The message that stands for a committed datatype.
pub(crate) fn shared(header: Addr, level: Compatibility) -> Shared {
    let version = if level == Compatibility::Earliest { 2 } else { 3 };
    Shared { version, place: SharedPlace::Committed { header, kind: 2 }, reserved: (Vec::new(), 0) }
}
