//! The tree of a file: every object once, by its canonical path.
//!
//! Objects are found breadth first over hard links from the root group, the links of each group in the order of their
//! names' bytes. The first path by which an object is reached is its canonical one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::error::{Error, Result};
pub use crate::handle::TreeObject;
use crate::handle::{File, Group, LinkTarget, Object};
use crate::wire::Addr;

/// All objects of a file that hard links lead to.
#[derive(Debug)]
pub struct Tree {
    /// The objects, in the order in which they were found.
    pub objects: Vec<TreeObject>,
    /// Where in `objects` the object with its header at an address is.
    places: HashMap<Addr, usize>,
}

impl Tree {
    /// Walks the file from its root group.
    ///
    /// Errors are those of the root group; those of other objects stand in their places.
    pub fn walk(file: &File) -> Result<Tree> {
        Self::below(file.root()?)
    }

    /// Walks from `start`, whose path is taken as it was opened.
    pub fn below(start: Group) -> Result<Tree> {
        let mut tree = Tree { objects: Vec::new(), places: HashMap::new() };
        let opener = start.clone();
        tree.places.insert(start.address(), 0);
        let path = start.path().as_bytes().to_vec();
        tree.objects.push(TreeObject { path, links: start.links(), object: Ok(Object::Group(start)) });
        let mut seen = 0;
        while seen < tree.objects.len() {
            let known = tree.objects.len();
            let found = tree.discover(seen);
            let addrs: Vec<Addr> = found.iter().map(|(addr, _)| *addr).collect();
            tree.objects.extend(opener.objects_at(found)?);
            for (addr, found) in addrs.iter().zip(&tree.objects[known..]) {
                // An object that cannot be opened has no identity.
                if found.object.is_err() {
                    tree.places.remove(addr);
                }
            }
            seen = known;
        }
        Ok(tree)
    }

    /// The objects to which the links of the groups from number `seen` on lead and that were not reached before.
    fn discover(&mut self, seen: usize) -> Vec<(Addr, Vec<u8>)> {
        let mut found = Vec::new();
        for object in &self.objects[seen..] {
            let parent = object.path.strip_suffix(b"/").unwrap_or(&object.path);
            for link in object.links.iter().flatten() {
                if let LinkTarget::Hard(addr) = link.target
                    && let Entry::Vacant(place) = self.places.entry(addr)
                {
                    place.insert(self.objects.len() + found.len());
                    found.push((addr, [parent, b"/", &link.name].concat()));
                }
            }
        }
        found
    }

    /// The canonical path of the object whose header is at `addr`, if a hard link leads to it.
    pub fn path(&self, addr: Addr) -> Option<&[u8]> {
        Some(&self.objects[*self.places.get(&addr)?].path)
    }

    /// The errors of objects and groups that could not be read.
    pub fn errors(&self) -> impl Iterator<Item = &Error> {
        self.objects.iter().flat_map(|o| o.object.as_ref().err().into_iter().chain(o.links.as_ref().err()))
    }
}
