//! Groups and their links.

use std::fmt;
use std::sync::Arc;

use super::attribute::object_methods;
use super::core::{Core, Node, each_in_parallel};
use super::dataset::Dataset;
use super::named_type::NamedType;
use crate::convert::notation::text;
use crate::error::Result;
use crate::format::message::link::{self, LinkTarget as Stored};
use crate::limits::Purse;
use crate::object::links::{self, LinkStorage};
use crate::object::{Header, ObjectKind};
use crate::wire::Addr;

/// A group.
#[derive(Clone)]
pub struct Group {
    pub(super) node: Node,
}

/// `Group("/surface" in "weather.h5")`.
impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Group").field(&self.node).finish()
    }
}

object_methods!(Group);

/// Any object.
#[derive(Clone, Debug)]
pub enum Object {
    /// A group.
    Group(Group),
    /// A dataset.
    Dataset(Dataset),
    /// A committed datatype.
    NamedType(NamedType),
}

/// An object in the tree of a file, and the links that lead on from there.
#[derive(Debug)]
pub struct TreeObject {
    /// Its canonical path, as bytes.
    pub path: Vec<u8>,
    /// The object, or why it cannot be opened.
    pub object: Result<Object>,
    /// Its links, if it is a group; or why they cannot be listed.
    pub links: Result<Vec<Link>>,
}

/// A link of a group.
#[derive(Clone, PartialEq, Eq)]
pub struct Link {
    /// The name's bytes.
    pub name: Vec<u8>,
    /// Creation order, if the group tracks it.
    pub creation_order: Option<u64>,
    /// What it leads to.
    pub target: LinkTarget,
}

/// What a link leads to.
#[derive(Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// An object of the same file, by the address of its header.
    Hard(Addr),
    /// A path in the same file.
    Soft(Vec<u8>),
    /// A path in another file.
    External {
        /// The file's name.
        file: Vec<u8>,
        /// The path in it.
        path: Vec<u8>,
    },
    /// Something that only the application that made it understands.
    User {
        /// The registered class.
        class: u8,
        /// What the class keeps.
        data: Vec<u8>,
    },
}

/// `Link { name: "lat", creation_order: None, target: Hard(Addr(6416)) }`: names as text.
impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("name", &text(&self.name))
            .field("creation_order", &self.creation_order)
            .field("target", &self.target)
            .finish()
    }
}

impl fmt::Debug for LinkTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkTarget::Hard(addr) => f.debug_tuple("Hard").field(addr).finish(),
            LinkTarget::Soft(path) => f.debug_tuple("Soft").field(&text(path)).finish(),
            LinkTarget::External { file, path } => {
                f.debug_struct("External").field("file", &text(file)).field("path", &text(path)).finish()
            }
            LinkTarget::User { class, data } => {
                f.debug_struct("User").field("class", class).field("data", data).finish()
            }
        }
    }
}

impl Link {
    /// The name; bytes that are not UTF-8 are replaced.
    pub fn name(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }

    fn of(link: link::Link) -> Link {
        let target = match link.target {
            Stored::Hard(addr) => LinkTarget::Hard(addr),
            Stored::Soft(path) => LinkTarget::Soft(path),
            Stored::External(ref data) => match link.target.external() {
                Some((file, path)) => LinkTarget::External { file: file.to_vec(), path: path.to_vec() },
                None => LinkTarget::User { class: 64, data: data.clone() },
            },
            Stored::User { class, data } => LinkTarget::User { class, data },
        };
        Link { name: link.name, creation_order: link.creation_order, target }
    }
}

/// Bytes of memory that an object takes.
fn weight(header: &Header, path: &[u8]) -> u64 {
    u64::try_from(size_of_val(&header.messages[..]) + path.len()).unwrap_or(u64::MAX)
}

impl Object {
    pub(super) fn open(core: Arc<Core>, addr: Addr, path: &str) -> Result<Object> {
        Self::of(Node::open(core, addr, path)?)
    }

    pub(super) fn of(node: Node) -> Result<Object> {
        Ok(match node.header.kind().map_err(|e| node.at(e))? {
            ObjectKind::Group => Object::Group(Group { node }),
            ObjectKind::Dataset => Object::Dataset(Dataset::open(node)?),
            ObjectKind::NamedType => Object::NamedType(NamedType { node }),
        })
    }

    /// Its links; none unless it is a group.
    pub fn links(&self) -> Result<Vec<Link>> {
        match self {
            Object::Group(group) => group.links(),
            Object::Dataset(_) | Object::NamedType(_) => Ok(Vec::new()),
        }
    }

    /// What kind of object it is, in a word.
    pub fn kind(&self) -> ObjectKind {
        match self {
            Object::Group(_) => ObjectKind::Group,
            Object::Dataset(_) => ObjectKind::Dataset,
            Object::NamedType(_) => ObjectKind::NamedType,
        }
    }

    /// Address of its object header: the object's identity within its file.
    pub fn address(&self) -> Addr {
        match self {
            Object::Group(group) => group.address(),
            Object::Dataset(dataset) => dataset.address(),
            Object::NamedType(datatype) => datatype.address(),
        }
    }

    /// Bytes of memory that it takes.
    pub(crate) fn weight(&self) -> u64 {
        let node = match self {
            Object::Group(group) => &group.node,
            Object::Dataset(dataset) => dataset.node(),
            Object::NamedType(datatype) => &datatype.node,
        };
        weight(&node.header, node.path.as_bytes())
    }

    /// The path by which it was opened.
    pub fn path(&self) -> &str {
        match self {
            Object::Group(group) => group.path(),
            Object::Dataset(dataset) => dataset.path(),
            Object::NamedType(datatype) => datatype.path(),
        }
    }

    /// The attribute called `name`. `NotFound` if there is none.
    pub fn attribute(&self, name: &str) -> Result<super::Attribute> {
        match self {
            Object::Group(group) => group.attribute(name),
            Object::Dataset(dataset) => dataset.attribute(name),
            Object::NamedType(datatype) => datatype.attribute(name),
        }
    }

    /// Its attributes, sorted by name. One that cannot be understood is an error in its place.
    pub fn attributes(&self) -> Result<Vec<Result<super::Attribute>>> {
        match self {
            Object::Group(group) => group.attributes(),
            Object::Dataset(dataset) => dataset.attributes(),
            Object::NamedType(datatype) => datatype.attributes(),
        }
    }
}

impl Group {
    /// All links, sorted by the bytes of their names.
    pub fn links(&self) -> Result<Vec<Link>> {
        let links = self.node.run(|scope| links::list(scope, &self.node.header))?;
        Ok(links.into_iter().map(Link::of).collect())
    }

    /// The names of all links, sorted; bytes that are not UTF-8 are replaced.
    pub fn names(&self) -> Result<Vec<String>> {
        Ok(self.links()?.iter().map(Link::name).collect())
    }

    /// The link called `name`, if there is one.
    pub fn link(&self, name: &str) -> Result<Option<Link>> {
        let link = self.node.run(|scope| links::find(scope, &self.node.header, name.as_bytes()))?;
        Ok(link.map(Link::of))
    }

    /// How links are stored, and whether their creation order is tracked and indexed.
    pub fn link_storage(&self) -> Result<(LinkStorage, bool, bool)> {
        self.node.run(|scope| links::storage(scope, &self.node.header))
    }

    /// The object at `path`, from this group or, if it begins with a slash, from the root group. Soft and external
    /// links are followed.
    ///
    /// Errors are `NotFound`, and `Denied` for external links out of the folder.
    pub fn object(&self, path: &str) -> Result<Object> {
        let (core, addr) = self.node.core.follow(self.node.header.addr, &self.node.path, path.as_bytes())?;
        Object::open(core, addr, &self.node.below(path))
    }

    /// The objects with their headers at these addresses, by their paths, each or why it cannot be opened. Where
    /// requests are dear, all headers are asked for at once, and then all links; elsewhere all cores open objects and list groups.
    ///
    /// `purse` pays for what stays in memory: headers may share most of their messages, and paths grow with depth.
    pub(crate) fn objects_at(&self, places: Vec<(Addr, Vec<u8>)>, purse: &Purse) -> Result<Vec<TreeObject>> {
        let core = &self.node.core;
        let pays = |header: Header, path: &[u8]| purse.pay(weight(&header, path)).map(|()| header);
        let place = |header: Result<Header>, path: Vec<u8>| {
            let header = header.and_then(|header| pays(header, &path));
            let node = Node::of(Arc::clone(core), header, &String::from_utf8_lossy(&path));
            let object = node.and_then(Object::of);
            let links = object.as_ref().map_or(Ok(Vec::new()), Object::links).and_then(|links| {
                let names: usize = links.iter().map(|link| link.name.len() + size_of::<Link>()).sum();
                purse.pay(u64::try_from(names).unwrap_or(u64::MAX)).map(|()| links)
            });
            TreeObject { links, path, object }
        };
        if core.container.loaded.reads_on_the_spot() {
            return Ok(each_in_parallel(places, |(addr, path)| {
                place(purse.pay(1).and_then(|()| core.header(addr)), path)
            }));
        }
        let addrs: Vec<Addr> = places.iter().map(|(addr, _)| *addr).collect();
        let headers = core.headers(&addrs)?;
        core.load_links(&headers)?;
        let headers = headers.into_iter().zip(places);
        Ok(headers.map(|(header, (_, path))| place(header, path)).collect())
    }

    /// What the objects of the whole file may take in memory: a few times its size.
    pub(crate) fn purse_for_all(&self) -> Purse {
        let loaded = &self.node.core.container.loaded;
        loaded.limits().purse(loaded.len().saturating_mul(2))
    }

    /// The object with its header at `addr`, which a hard link or a reference gave.
    pub fn object_at(&self, addr: Addr, path: &str) -> Result<Object> {
        Object::open(Arc::clone(&self.node.core), addr, path)
    }

    /// The group at `path`. `WrongType` if it is something else.
    pub fn group(&self, path: &str) -> Result<Group> {
        match self.object(path)? {
            Object::Group(group) => Ok(group),
            Object::Dataset(other) => Err(other.node().is_not("a dataset", "a group")),
            Object::NamedType(other) => Err(other.node.is_not("a datatype", "a group")),
        }
    }

    /// The dataset at `path`. `WrongType` if it is something else.
    pub fn dataset(&self, path: &str) -> Result<Dataset> {
        match self.object(path)? {
            Object::Dataset(dataset) => Ok(dataset),
            Object::Group(other) => Err(other.node.is_not("a group", "a dataset")),
            Object::NamedType(other) => Err(other.node.is_not("a datatype", "a dataset")),
        }
    }

    /// The committed datatype at `path`. `WrongType` if it is something else.
    pub fn named_type(&self, path: &str) -> Result<NamedType> {
        match self.object(path)? {
            Object::NamedType(datatype) => Ok(datatype),
            Object::Group(other) => Err(other.node.is_not("a group", "a datatype")),
            Object::Dataset(other) => Err(other.node().is_not("a dataset", "a datatype")),
        }
    }
}
