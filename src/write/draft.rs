//! A new file before it is one: its objects are known, the data of its datasets are written, nothing leads to them yet.

use std::collections::hash_map::Entry;

use bytes::Bytes;

use super::assembly::Placed;
use super::compatibility::Compatibility;
use super::global_heap::GlobalHeap;
use super::header::HeaderBuilder;
use super::object::{Body, Context, Group, Link, NumberedAttribute, Object, ObjectId, Target};
use super::space::{FileSpaceStrategy, Space};
use super::symbol_table::LEAF_K;
use crate::error::{Error, Result};
use crate::format::btree_v1::{GroupKey, NodeKey};
use crate::format::message::file_space_info::{FileSpace, FileSpaceInfo};
use crate::format::superblock::{Old, Superblock, Version};
use crate::format::symbol_table;
use crate::storage::ByteSink;
use crate::wire::place::{Place, place_at};
use crate::wire::{Addr, Sizes, Structure};

/// A new file before it is one.
#[derive(Debug)]
pub struct Draft {
    /// What may be written.
    pub level: Compatibility,
    /// Where its blocks go.
    pub space: Space,
    /// What has no fixed size.
    pub heap: GlobalHeap,
    /// Position of address 0 in the file: what the user block takes.
    base: u64,
    strategy: FileSpaceStrategy,
    objects: Vec<Object>,
}

impl Draft {
    /// A file with an empty root group, behind a user block of so many bytes.
    ///
    /// Errors are `Invalid` unless these are 0 or a power of two from 512 on, or for pages of another size than is allowed;
    /// `Unsupported` for a strategy that the level does not know.
    pub fn new(
        sink: Box<dyn ByteSink>,
        level: Compatibility,
        user_block: u64,
        strategy: FileSpaceStrategy,
    ) -> Result<Draft> {
        if user_block != 0 && (user_block < 512 || !user_block.is_power_of_two()) {
            return Err(Error::invalid(format!("a user block of {user_block} bytes, not of 512, 1024, 2048, ...")));
        }
        let page_size = match strategy {
            FileSpaceStrategy::Page(size) if !(512..=1 << 30).contains(&size) => {
                return Err(Error::invalid(format!("pages of {size} bytes, not of 512 to 1,073,741,824")));
            }
            FileSpaceStrategy::Page(size) => Some(size),
            _ => None,
        };
        if strategy != FileSpaceStrategy::FsmAggr && level < Compatibility::V110 {
            return Err(Error::unsupported(format!("a file space strategy cannot be written for {level:?}")));
        }
        let mut space = Space::new(sink, user_block, page_size);
        let mut root = Object::new(Body::Group(Group::default()));
        root.links = 1;
        let first = superblock(level, user_block, (Addr(0), None), Addr(0)).size(Sizes::EIGHT, ())?;
        space.reserve(first as u64)?;
        Ok(Draft { level, space, heap: GlobalHeap::default(), base: user_block, strategy, objects: vec![root] })
    }

    /// The root group.
    pub const ROOT: ObjectId = ObjectId(0);

    /// Adds an object to which nothing leads yet.
    pub fn add(&mut self, object: Object) -> ObjectId {
        self.objects.push(object);
        ObjectId(self.objects.len() - 1)
    }

    /// An object.
    pub fn object(&self, ObjectId(number): ObjectId) -> &Object {
        &self.objects[number]
    }

    /// An object, to be changed.
    pub fn object_mut(&mut self, ObjectId(number): ObjectId) -> &mut Object {
        &mut self.objects[number]
    }

    /// Adds a link to a group, which was created after so many others.
    ///
    /// Errors are `Conflict` if there is one of this name, and `Invalid` if this cannot be a name, or is of no group.
    pub fn link(&mut self, group: ObjectId, order: u64, name: &[u8], target: Target) -> Result<()> {
        let text = || String::from_utf8_lossy(name).into_owned();
        if name.is_empty() || name == b"." || name.contains(&b'/') || name.contains(&0) {
            return Err(Error::invalid(format!("{:?} is no name of a link", text())));
        }
        let Body::Group(own) = &mut self.object_mut(group).body else {
            return Err(Error::invalid("the object is no group"));
        };
        let free = match own.names.entry(name.to_vec()) {
            Entry::Occupied(_) => return Err(Error::conflict(format!("there is a link {:?} already", text()))),
            Entry::Vacant(free) => free,
        };
        free.insert(own.links.len());
        own.links.push(Link { order, name: name.to_vec(), utf8: !name.is_ascii(), target: target.clone() });
        if let Target::Hard(id) = target {
            self.object_mut(id).links += 1;
        }
        Ok(())
    }

    /// Adds a link to a group, as the last one that was created.
    ///
    /// Errors are those of [`link`](Self::link).
    pub fn link_next(&mut self, group: ObjectId, name: &[u8], target: Target) -> Result<()> {
        let order = match &self.object(group).body {
            Body::Group(own) => own.links.len() as u64,
            _ => 0,
        };
        self.link(group, order, name, target)
    }

    /// What the link `name` of a group leads to; `None` also for an object that is no group.
    pub fn find(&self, group: ObjectId, name: &[u8]) -> Option<&Target> {
        let Body::Group(group) = &self.object(group).body else { return None };
        group.names.get(name).map(|number| &group.links[*number].target)
    }

    /// Gives an object an attribute, whose message is encoded, in place of the one of this name if there is one.
    ///
    /// Errors are `Unsupported` for more than 65,535 attributes.
    pub fn put_attribute(&mut self, id: ObjectId, name: Bytes, message: Bytes) -> Result<()> {
        let object = self.object_mut(id);
        if let Some(own) = object.attributes.iter_mut().find(|own| own.name == name) {
            own.message = message;
            return Ok(());
        }
        let next = object.attributes.last().map_or(Some(0), |last| last.order.checked_add(1));
        let order = next.ok_or_else(|| Error::unsupported("more than 65,535 attributes of an object"))?;
        object.attributes.push(NumberedAttribute { order, name, message });
        Ok(())
    }

    /// Where the header of an object will be.
    pub fn promise(&mut self, id: ObjectId) -> Result<Addr> {
        if let Some(addr) = self.object(id).promised {
            return Ok(addr);
        }
        let order = self.object(id).attribute_order;
        let size = HeaderBuilder::least_size(self.level == Compatibility::Earliest, order, self.space.sizes())?;
        let addr = self.space.reserve(size)?;
        self.object_mut(id).promised = Some(addr);
        Ok(addr)
    }

    /// Places everything that is not placed yet, and makes it a file.
    pub fn finish(mut self) -> Result<()> {
        self.heap.close(&mut self.space)?;
        let nowhere: Vec<Addr> = self.objects.iter().map(|object| object.promised.unwrap_or(Addr(0))).collect();
        let mut cx = Context { level: self.level, addrs: nowhere };
        // Datasets point at datatypes; groups at all, also at each other.
        self.place_objects(&mut cx, |body| matches!(body, Body::NamedType(_)))?;
        self.place_objects(&mut cx, |body| matches!(body, Body::Dataset(_)))?;
        self.reserve_groups(&mut cx)?;
        self.place_objects(&mut cx, |body| matches!(body, Body::Group(_)))?;
        let Context { addrs, .. } = cx;
        let extension = self.extension()?;
        let end = Addr(self.space.end().0 + self.base);
        let root = addrs[Self::ROOT.0];
        let first = superblock(self.level, self.base, (root, extension), end);
        place_at(&mut self.space, Addr(0), &first, ())?;
        self.space.finish()
    }

    /// Places what a superblock has no room for, if there is something.
    fn extension(&mut self) -> Result<Option<Addr>> {
        let (strategy, page_size) = match self.strategy {
            FileSpaceStrategy::FsmAggr => return Ok(None),
            FileSpaceStrategy::Page(size) => (1, size),
            FileSpaceStrategy::Aggr => (2, USUAL_PAGE),
            FileSpaceStrategy::None => (3, USUAL_PAGE),
        };
        let info = FileSpaceInfo::V1(FileSpace {
            strategy,
            persisting: false,
            threshold: 1,
            page_size,
            page_end_threshold: 0,
            end_of_allocated: None,
            managers: Vec::new(),
        });
        let mut header = HeaderBuilder::v2(None);
        header.push_marked(&info, Sizes::EIGHT)?;
        header.put(&mut self.space).map(Some)
    }

    /// Places the objects of one kind, and notes where.
    fn place_objects(&mut self, cx: &mut Context, is_one: impl Fn(&Body) -> bool) -> Result<()> {
        for (number, object) in self.objects.iter().enumerate().filter(|(_, object)| is_one(&object.body)) {
            let placed: Placed = object.place(&mut self.space, cx)?;
            let header = object.header(&placed, Sizes::EIGHT, cx)?;
            match (object.promised, cx.addrs[number]) {
                (Some(addr), _) => header.put_continued(&mut self.space, addr)?,
                (None, Addr(0)) => cx.addrs[number] = header.put(&mut self.space)?,
                (None, addr) => header.put_at(&mut self.space, addr)?,
            }
        }
        Ok(())
    }

    /// Space for the headers of groups: their sizes do not depend on where anything is.
    fn reserve_groups(&mut self, cx: &mut Context) -> Result<()> {
        for (number, object) in self.objects.iter().enumerate() {
            if object.promised.is_none() && matches!(object.body, Body::Group(_)) {
                let header = object.header(&object.measure(self.level)?, Sizes::EIGHT, cx)?;
                cx.addrs[number] = self.space.reserve(header.size(Sizes::EIGHT)?)?;
            }
        }
        Ok(())
    }
}

/// Bytes of a page where there are no pages: what libhdf5 says then.
const USUAL_PAGE: u64 = 4096;

/// The superblock of a file whose root group's header is at `root`, and that of its extension at `extension`.
fn superblock(level: Compatibility, base: u64, (root, extension): (Addr, Option<Addr>), end: Addr) -> Superblock {
    let version = match level {
        Compatibility::Earliest => Version::Old(Old {
            leaf_k: LEAF_K,
            internal_k: GroupKey::USUAL_K,
            chunk_k: None,
            free_space: None,
            driver_info: None,
            root: symbol_table::Entry {
                name: 0,
                object_header: Some(root),
                cache_type: 0,
                reserved: Vec::new(),
                scratch: [0; 16],
            },
            reserved: [Vec::new(), Vec::new(), Vec::new()],
        }),
        _ => Version::New { is_3: level >= Compatibility::V110, extension, root: Some(root) },
    };
    Superblock { sizes: Sizes::EIGHT, consistency: 0, base: Addr(base), end_of_file: end, version }
}
