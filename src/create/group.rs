//! Groups of a new file.

use std::sync::Arc;

use super::attributes::attribute_methods;
use super::shared::Shared;
use super::values::Values;
use crate::convert::{H5Type, Reference};
use crate::error::{Error, Place, Result};
use crate::format::message::datatype::Datatype;
use crate::write::{Body, Draft, Group, Object, ObjectId, Target};

/// A group of a file that is being written. Cheap to clone.
#[derive(Clone, Debug)]
pub struct NewGroup {
    pub(super) shared: Arc<Shared>,
    pub(super) id: ObjectId,
    pub(super) path: String,
}

impl NewGroup {
    /// Its path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// A new group at `path`, with all groups on the way to it.
    ///
    /// Errors are `Conflict` if there is something already.
    pub fn create_group(&self, path: &str) -> Result<NewGroup> {
        let mut group = Group::default();
        group.order = self.shared.track_order.then_some(true);
        let id = self.add(path, self.object(Body::Group(group)))?;
        Ok(self.handle(id, path))
    }

    /// The group at `path`, which is made if it is not there.
    ///
    /// Errors are `Conflict` if there is something else.
    pub fn require_group(&self, path: &str) -> Result<NewGroup> {
        let id = self.shared.with(|draft| self.groups(draft, self.start(path), names(path)))?;
        Ok(self.handle(id, path))
    }

    /// The group at `path`.
    ///
    /// Errors are `NotFound`, and `WrongType` if it is something else.
    pub fn group(&self, path: &str) -> Result<NewGroup> {
        let id = self.shared.with(|draft| self.find(draft, path))?;
        self.shared.with(|draft| match draft.object(id).body {
            Body::Group(_) => Ok(self.handle(id, path)),
            _ => Err(Error::wrong_type(format!("{path:?} is no group"))),
        })
    }

    /// A soft link at `path` to whatever is at `target`.
    pub fn link_soft(&self, target: &str, path: &str) -> Result<()> {
        self.link(path, Target::Soft(target.as_bytes().to_vec()))
    }

    /// One more path to the object at `target`.
    ///
    /// Errors are `NotFound` if there is none, and `Conflict` if there is something at `path`.
    pub fn link_hard(&self, target: &str, path: &str) -> Result<()> {
        let id = self.shared.with(|draft| self.find(draft, target))?;
        self.link(path, Target::Hard(id))
    }

    /// A link at `path` to the object at `target` in another file.
    ///
    /// Errors are `Unsupported` for files that the earliest libhdf5 reads.
    pub fn link_external(&self, file: &str, target: &str, path: &str) -> Result<()> {
        if self.shared.level() == crate::write::Compatibility::Earliest {
            return Err(Error::unsupported("an external link cannot be written for Earliest"));
        }
        if file.contains('\0') || target.contains('\0') {
            return Err(Error::invalid("a name with a NUL in it"));
        }
        self.link(path, Target::External([&[0], file.as_bytes(), &[0], target.as_bytes(), &[0]].concat()))
    }

    /// Commits the datatype of `T` at `path`, for [`of_type`](super::DatasetBuilder::of_type).
    pub fn commit<T: H5Type>(&self, path: &str) -> Result<NewNamedType> {
        self.commit_type(&T::type_descriptor(), path)
    }

    /// Commits any datatype at `path`.
    pub fn commit_type(&self, datatype: &Datatype, path: &str) -> Result<NewNamedType> {
        let datatype = self.shared.level().datatype(datatype)?;
        let id = self.add(path, self.object(Body::NamedType(datatype.clone())))?;
        let path = self.handle(id, path).path;
        Ok(NewNamedType { shared: Arc::clone(&self.shared), id, path, datatype })
    }

    /// A reference to it, for datasets and attributes of [`Reference`].
    pub fn reference(&self) -> Result<Reference> {
        self.shared.with(|draft| draft.promise(self.id)).map(Reference::to)
    }

    pub(super) fn object(&self, body: Body) -> Object {
        Object { attribute_order: self.shared.track_order.then_some(true), ..Object::new(body) }
    }

    /// Adds an object at `path`.
    pub(super) fn add(&self, path: &str, object: Object) -> Result<ObjectId> {
        self.check_free(path)?;
        let id = self.shared.with(|draft| Ok(draft.add(object)))?;
        self.link(path, Target::Hard(id))?;
        Ok(id)
    }

    /// Links to something at `path`, with all groups on the way to it.
    pub(super) fn link(&self, path: &str, target: Target) -> Result<()> {
        let (on_the_way, name) = split(path)?;
        let linked = self.shared.with(|draft| {
            let group = self.groups(draft, self.start(path), on_the_way)?;
            draft.link_next(group, name.as_bytes(), target)
        });
        linked.map_err(|e| self.at(e, path))
    }

    /// `Conflict` if there is something at `path`.
    pub(super) fn check_free(&self, path: &str) -> Result<()> {
        let (on_the_way, name) = split(path)?;
        let (start, mut names) = (self.start(path), on_the_way);
        let taken = self.shared.with(|draft| {
            let group = names.try_fold(start, |group, name| match draft.find(group, name.as_bytes()) {
                Some(Target::Hard(id)) => Some(*id),
                _ => None,
            });
            Ok(group.is_some_and(|group| draft.find(group, name.as_bytes()).is_some()))
        })?;
        let conflict = || self.at(Error::conflict(format!("there is a link {name:?} already")), path);
        if taken { Err(conflict()) } else { Ok(()) }
    }

    /// Where a path begins.
    fn start(&self, path: &str) -> ObjectId {
        if path.starts_with('/') { Draft::ROOT } else { self.id }
    }

    /// The group to which `names` lead, made where it is not there.
    fn groups<'n>(&self, draft: &mut Draft, start: ObjectId, names: impl Iterator<Item = &'n str>) -> Result<ObjectId> {
        let mut at = start;
        for name in names {
            at = match draft.find(at, name.as_bytes()) {
                Some(Target::Hard(id)) => *id,
                Some(_) => return Err(Error::conflict(format!("{name:?} is a link to somewhere else"))),
                None => {
                    let mut group = Group::default();
                    group.order = self.shared.track_order.then_some(true);
                    let id = draft.add(self.object(Body::Group(group)));
                    draft.link_next(at, name.as_bytes(), Target::Hard(id))?;
                    id
                }
            };
        }
        Ok(at)
    }

    fn find(&self, draft: &Draft, path: &str) -> Result<ObjectId> {
        let mut at = self.start(path);
        for name in names(path) {
            at = match draft.find(at, name.as_bytes()) {
                Some(Target::Hard(id)) => *id,
                _ => return Err(self.at(Error::not_found(format!("there is no {name:?}")), path)),
            };
        }
        Ok(at)
    }

    pub(super) fn below(&self, path: &str) -> String {
        if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.path.trim_end_matches('/')) }
    }

    pub(super) fn at(&self, error: Error, path: &str) -> Error {
        error.at(Place::Object(self.below(path)))
    }

    fn handle(&self, id: ObjectId, path: &str) -> NewGroup {
        NewGroup { shared: Arc::clone(&self.shared), id, path: self.below(path) }
    }
}

attribute_methods!(NewGroup);

/// The names of a path.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty() && *name != ".")
}

/// The names on the way, and the last one.
fn split(path: &str) -> Result<(impl Iterator<Item = &str>, &str)> {
    let all: Vec<&str> = names(path).collect();
    let last = all.last().copied().ok_or_else(|| Error::invalid(format!("{path:?} is no name")))?;
    let count = all.len() - 1;
    Ok((all.into_iter().take(count), last))
}

/// A committed datatype of a file that is being written.
#[derive(Clone, Debug)]
pub struct NewNamedType {
    pub(super) shared: Arc<Shared>,
    pub(super) id: ObjectId,
    path: String,
    pub(super) datatype: Datatype,
}

impl NewNamedType {
    /// Its path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The datatype.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }
}

attribute_methods!(NewNamedType);
