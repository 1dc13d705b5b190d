//! Files written anew: the same objects, links, attributes, types and data, as another version of HDF5 would store them.
//!
//! ```
//! use hdfive::repack::Repack;
//! use hdfive::write::Compatibility;
//!
//! # fn main() -> hdfive::Result<()> {
//! let old = hdfive::File::open("testdata/readme/weather.h5")?;
//! let path = std::env::temp_dir().join("weather-for-everybody.h5");
//! let left_out = Repack::new().compatibility(Compatibility::Earliest).write(&old, &path)?;
//! assert!(left_out.is_empty());
//! let new = hdfive::File::open(&path)?;
//! assert_eq!(new.dataset("lat")?.read::<f32>()?, old.dataset("lat")?.read::<f32>()?);
//! # Ok(()) }
//! ```

mod datasets;
mod elements;
mod names;
mod restored;
mod rules;

use std::collections::HashMap;
use std::path::Path;

use bytes::Bytes;

use names::Names;
use rules::Rules;

use crate::create::{Filters, Layout, Site};
use crate::error::{Error, Place, Result};
use crate::format::message::attribute::Embedded;
use crate::handle::{Attribute, File, Group, Link, LinkTarget, Object, StorageLayout, TreeObject};
use crate::inspect::Tree;
use crate::storage::{ByteSink, FileSink};
use crate::wire::Addr;
use crate::write::{self, Body, Compatibility, Draft, FileSpaceStrategy, NumberedAttribute, ObjectId, Target};

/// How a file is written anew.
#[derive(Clone, Debug, Default)]
pub struct Repack {
    compatibility: Option<Compatibility>,
    user_block: u64,
    file_space: FileSpaceStrategy,
    rules: Rules,
}

impl Repack {
    /// As libhdf5 1.8 reads it, without a user block.
    #[must_use]
    pub fn new() -> Repack {
        Repack::default()
    }

    /// The oldest libhdf5 that has to read the new file.
    #[must_use]
    pub fn compatibility(mut self, level: Compatibility) -> Repack {
        self.compatibility = Some(level);
        self
    }

    /// Bytes before the HDF5 file begins, for the user: 0, 512, 1024, 2048, ...
    #[must_use]
    pub fn user_block(mut self, bytes: u64) -> Repack {
        self.user_block = bytes;
        self
    }

    /// How libhdf5 finds space when it changes the new file.
    #[must_use]
    pub fn file_space(mut self, strategy: FileSpaceStrategy) -> Repack {
        self.file_space = strategy;
        self
    }

    /// Elements go through these filters instead of their own; datasets in one piece are cut into chunks for it, unless
    /// there are no filters.
    ///
    /// Not those that a filter is not for, nor texts, sequences and references, which lie where filters do not reach.
    #[must_use]
    pub fn filters(mut self, filters: Filters) -> Repack {
        self.rules.filters = Some(filters);
        self
    }

    /// Datasets of this rank are stored in chunks of this shape.
    #[must_use]
    pub fn chunk(mut self, shape: impl AsRef<[u64]>) -> Repack {
        self.rules.layout = Some(Layout::Chunks(Some(shape.as_ref().to_vec())));
        self
    }

    /// Datasets are stored in chunks of a shape that suits most ways of reading.
    #[must_use]
    pub fn chunked(mut self) -> Repack {
        self.rules.layout = Some(Layout::Chunks(None));
        self
    }

    /// Datasets that cannot grow are stored in one piece, without filters.
    #[must_use]
    pub fn contiguous(mut self) -> Repack {
        self.rules.layout = Some(Layout::Contiguous);
        self
    }

    /// Filters, chunks and layout are for the datasets at these paths only, and those in the groups there.
    #[must_use]
    pub fn only<P: Into<String>>(mut self, paths: impl IntoIterator<Item = P>) -> Repack {
        self.rules.only = paths.into_iter().map(|path| path.into().trim_matches('/').to_owned()).collect();
        self
    }

    /// Writes `file` anew to `path`; names of other files are changed so that they lead where they led. What was there is
    /// replaced when all is written, and stays if it fails.
    ///
    /// Gives what was left out: objects that cannot be read, and what the compatibility level cannot hold. Errors are
    /// those of reading and writing, and `Invalid` if `path` is the file itself: what is left out would be lost.
    pub fn write(&self, file: &File, path: impl AsRef<Path>) -> Result<Vec<LeftOut>> {
        self.write_watched(file, path, &mut |_, _| ())
    }

    /// As [`write`](Self::write); `progress` is told how many of how many bytes of elements are copied.
    pub fn write_watched(
        &self,
        file: &File,
        path: impl AsRef<Path>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<LeftOut>> {
        if crate::storage::is_same_file(Path::new(file.filename()), path.as_ref()) {
            let what = "the new file would take the place of the one that it is made from";
            return Err(Error::invalid(what).at(Place::File(path.as_ref().display().to_string())));
        }
        let names = Names::moved(Path::new(file.filename()), path.as_ref());
        self.copy(file, Box::new(FileSink::create(path)?), names, progress)
    }

    /// Writes `file` anew to a sink, as [`write`](Self::write) does, with the names of other files as they are.
    pub fn write_to(&self, file: &File, sink: Box<dyn ByteSink>) -> Result<Vec<LeftOut>> {
        self.copy(file, sink, Names::default(), &mut |_, _| ())
    }

    fn copy(
        &self,
        file: &File,
        sink: Box<dyn ByteSink>,
        names: Names,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<LeftOut>> {
        let level = self.compatibility.unwrap_or_default();
        let draft = Draft::new(sink, level, self.user_block, self.file_space)?;
        let site = Site::new(draft, file.heaps().container().registry.clone());
        let (rules, ids) = (&self.rules, HashMap::new());
        let tree = Tree::walk(file)?;
        let total = tree.objects.iter().map(|found| match &found.object {
            Ok(Object::Dataset(dataset)) => dataset.stored_size().unwrap_or(0),
            _ => 0,
        });
        let progress = Progress { done: 0, total: total.fold(0, u64::saturating_add), tell: progress };
        let mut copier = Copier { file, site, names, rules, ids, progress, left_out: Vec::new() };
        let mut bodies = Vec::new();
        for (number, found) in tree.objects.iter().enumerate() {
            match copier.holds(found) {
                Ok(object) => {
                    let id = if number == 0 { Draft::ROOT } else { copier.site.draft()?.add(placeholder()) };
                    copier.ids.insert(object.address(), id);
                    // Where an object will be can be promised when it is known how large its header is at least.
                    copier.order(object, id)?;
                    bodies.push((object, found));
                }
                Err(why) => copier.leave_out(&found.path, None, why),
            }
        }
        copier.unlinked_types(&bodies)?;
        for (object, found) in bodies {
            let place = || Place::Object(String::from_utf8_lossy(&found.path).into_owned());
            copier.object(object, found).map_err(|e| e.at(place()))?;
        }
        copier.site.close()?;
        Ok(copier.left_out)
    }
}

/// Something that is not in the new file.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// The object, or the one whose attribute it is.
    pub path: String,
    /// The attribute, if it is one.
    pub attribute: Option<String>,
    /// Why it was left out.
    pub why: Error,
}

/// `PATH: why`, and `PATH@ATTRIBUTE: why`.
impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let attribute = self.attribute.as_ref().map(|name| format!("@{name}")).unwrap_or_default();
        write!(f, "{}{attribute}: {}", self.path, self.why)
    }
}

fn placeholder() -> write::Object {
    write::Object::new(Body::Group(write::Group::default()))
}

/// How many bytes of elements are copied.
struct Progress<'a> {
    done: u64,
    total: u64,
    tell: &'a mut dyn FnMut(u64, u64),
}

impl Progress<'_> {
    fn advance(&mut self, bytes: u64) {
        self.done = self.done.saturating_add(bytes).min(self.total);
        (self.tell)(self.done, self.total);
    }
}

/// A file that is being written anew.
struct Copier<'a> {
    file: &'a File,
    site: Site,
    names: Names,
    rules: &'a Rules,
    progress: Progress<'a>,
    /// Objects of the new file, by the addresses of their headers in the old one.
    ids: HashMap<Addr, ObjectId>,
    left_out: Vec<LeftOut>,
}

impl Copier<'_> {
    fn leave_out(&mut self, path: &[u8], attribute: Option<String>, why: Error) {
        let path = String::from_utf8_lossy(path).into_owned();
        self.left_out.push(LeftOut { path, attribute, why });
    }

    /// Takes along the committed datatypes to which no link leads, for the sake of what is of their type.
    fn unlinked_types(&mut self, bodies: &[(&Object, &TreeObject)]) -> Result<()> {
        for (object, _) in bodies {
            let mut types = match object {
                Object::Dataset(dataset) => vec![dataset.committed_datatype()?],
                Object::Group(_) | Object::NamedType(_) => Vec::new(),
            };
            types.extend(object.attributes()?.into_iter().flatten().map(|attribute| attribute.committed_datatype()));
            for addr in types.into_iter().flatten() {
                if self.ids.contains_key(&addr) {
                    continue;
                }
                let found = self.file.root()?.object_at(addr, "a datatype without a link")?;
                if let Object::NamedType(named) = &found {
                    let datatype = self.site.level.datatype(&named.datatype()?)?;
                    let id = self.site.draft()?.add(write::Object::new(Body::NamedType(datatype)));
                    self.ids.insert(addr, id);
                }
            }
        }
        Ok(())
    }

    /// The committed datatype at an address, which one more thing is of.
    fn committed(&mut self, addr: Option<Addr>) -> Result<Option<ObjectId>> {
        let Some(id) = addr.and_then(|addr| self.ids.get(&addr).copied()) else { return Ok(None) };
        self.site.draft()?.object_mut(id).links += 1;
        Ok(Some(id))
    }

    /// The object, if it can be read and the new file can hold it.
    fn holds<'t>(&self, found: &'t TreeObject) -> Result<&'t Object> {
        let object = found.object.as_ref().map_err(Error::clone)?;
        found.links.as_ref().map_err(Error::clone)?;
        match object {
            Object::Group(_) => {}
            Object::Dataset(dataset) => {
                self.site.level.datatype(dataset.datatype())?;
                if dataset.layout() == StorageLayout::Virtual && self.site.level < Compatibility::V110 {
                    let what = format!("a virtual dataset cannot be written for {:?}", self.site.level);
                    return Err(Error::unsupported(what));
                }
                dataset.manifest()?;
            }
            Object::NamedType(named) => drop(self.site.level.datatype(&named.datatype()?)?),
        }
        Ok(object)
    }

    /// Takes over whether creation order of attributes is tracked, where that can be said.
    fn order(&mut self, object: &Object, id: ObjectId) -> Result<()> {
        let (tracked, indexed) = match object {
            Object::Group(group) => group.attribute_order(),
            Object::Dataset(dataset) => dataset.attribute_order(),
            Object::NamedType(datatype) => datatype.attribute_order(),
        };
        if self.site.level > Compatibility::Earliest {
            self.site.draft()?.object_mut(id).attribute_order = tracked.then_some(indexed);
        }
        Ok(())
    }

    fn object(&mut self, object: &Object, found: &TreeObject) -> Result<()> {
        let Some(id) = self.ids.get(&object.address()).copied() else { return Ok(()) };
        let body = match object {
            Object::Group(group) => {
                self.group(id, group, found)?;
                None
            }
            Object::Dataset(dataset) => Some(Body::Dataset(Box::new(self.dataset(dataset, &found.path)?))),
            Object::NamedType(named) => {
                let datatype = elements::widened(&named.datatype()?, self.file.heaps().container().loaded.sizes());
                Some(Body::NamedType(self.site.level.datatype(&datatype)?))
            }
        };
        let (comment, modified) = match object {
            Object::Group(group) => (group.comment()?, group.modified()?),
            Object::Dataset(dataset) => (dataset.comment()?, dataset.modified()?),
            Object::NamedType(named) => (named.comment()?, named.modified()?),
        };
        let attributes = self.attributes(object, found)?;
        let new = self.site.draft()?.object_mut(id);
        if let Some(body) = body {
            new.body = body;
        }
        (new.comment, new.attributes) = (comment, attributes);
        new.modified = modified.and_then(|seconds| u32::try_from(seconds).ok());
        Ok(())
    }

    fn attributes(&mut self, object: &Object, found: &TreeObject) -> Result<Vec<NumberedAttribute>> {
        let mut all = Vec::new();
        for attribute in object.attributes()? {
            match attribute {
                Ok(attribute) => all.push(attribute),
                Err(why) => self.leave_out(&found.path, Some("?".to_owned()), why),
            }
        }
        all.sort_by_key(Attribute::creation_order);
        let mut attributes = Vec::with_capacity(all.len());
        for (attribute, place) in all.iter().zip(0..) {
            match self.attribute(attribute) {
                Ok(message) => {
                    let order = attribute.creation_order().and_then(|order| u16::try_from(order).ok());
                    let name = Bytes::copy_from_slice(attribute.name_bytes());
                    attributes.push(NumberedAttribute { order: order.unwrap_or(place), name, message });
                }
                Err(why) => self.leave_out(&found.path, Some(attribute.name()), why),
            }
        }
        Ok(attributes)
    }

    fn group(&mut self, id: ObjectId, group: &Group, found: &TreeObject) -> Result<()> {
        let (_, tracked, indexed) = group.link_storage()?;
        let tracked = tracked && self.site.level > Compatibility::Earliest;
        if let Body::Group(new) = &mut self.site.draft()?.object_mut(id).body
            && tracked
        {
            new.order = Some(indexed);
        }
        let mut links: Vec<&Link> = found.links.as_ref().map_err(Error::clone)?.iter().collect();
        links.sort_by_key(|link| link.creation_order);
        for (link, place) in links.into_iter().zip(0..) {
            let path = [found.path.as_slice(), if found.path == b"/" { b"" } else { b"/" }, &link.name].concat();
            let outside = |what: &str| Error::unsupported(format!("{what} cannot be written for Earliest"));
            let target = match &link.target {
                LinkTarget::Hard(addr) => match self.ids.get(addr) {
                    Some(id) => Target::Hard(*id),
                    // Why the object is left out was said, unless it has another path.
                    None => continue,
                },
                LinkTarget::Soft(path) => Target::Soft(path.clone()),
                LinkTarget::External { .. } | LinkTarget::User { .. } if self.site.level == Compatibility::Earliest => {
                    self.leave_out(&path, None, outside("a link out of the file"));
                    continue;
                }
                LinkTarget::External { file, path } => {
                    Target::External([&[0], self.names.file(file).as_slice(), &[0], path.as_slice(), &[0]].concat())
                }
                LinkTarget::User { class, data } => Target::User { class: *class, data: data.clone() },
            };
            if let Err(why) = self.site.draft()?.link(id, link.creation_order.unwrap_or(place), &link.name, target) {
                self.leave_out(&path, None, why);
            }
        }
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute) -> Result<Bytes> {
        let level = self.site.level;
        let sizes = self.file.heaps().container().loaded.sizes();
        let stored = attribute.datatype();
        let wide = elements::widened(stored, sizes);
        let size = usize::try_from(stored.size).unwrap_or(usize::MAX);
        let count = attribute.dataspace().element_count().and_then(|n| usize::try_from(n).ok());
        let bytes = count.and_then(|count| attribute.bytes().get(..count.checked_mul(size)?));
        let bytes = bytes.ok_or_else(|| Error::corrupt("the elements of the attribute are cut short"))?;
        let data = Bytes::from(self.elements(bytes, stored, &wide)?);
        let datatype = match self.committed(attribute.committed_datatype())? {
            Some(id) => Embedded::Shared(write::shared(self.site.draft()?.promise(id)?, level)),
            None => Embedded::Here(level.datatype(&wide)?),
        };
        let name = (attribute.name_bytes(), attribute.name_is_utf8());
        write::attribute(level, name, datatype, attribute.dataspace(), data)
    }
}
