//! The tree of a file: every object once, by its canonical path.
//!
//! Objects are found breadth first over hard links from the root group, the links of each group in the order of their
//! names' bytes. The first path by which an object is reached is its canonical one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::error::{Error, Result};
use crate::handle::{File, Group, Link, LinkTarget, Object, Placed};
use crate::wire::Addr;

/// All objects of a file that hard links lead to.
#[derive(Debug)]
pub struct Tree {
    /// The objects, in the order in which they were found.
    pub objects: Vec<TreeObject>,
    paths: HashMap<Addr, Vec<u8>>,
}

/// An object in the tree.
#[derive(Debug)]
pub struct TreeObject {
    /// Its canonical path, as bytes.
    pub path: Vec<u8>,
    /// The object, or why it cannot be opened.
    pub object: Result<Object>,
    /// Its links, if it is a group; or why they cannot be listed.
    pub links: Result<Vec<Link>>,
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
        let mut tree = Tree { objects: Vec::new(), paths: HashMap::new() };
        let opener = start.clone();
        let path = start.path().as_bytes().to_vec();
        tree.paths.insert(start.address(), path.clone());
        let mut level = vec![Placed { path, links: start.links(), object: Ok(Object::Group(start)) }];
        while !level.is_empty() {
            let mut places = Vec::new();
            for Placed { path, object, links } in level {
                tree.discover(&path, &links, &mut places);
                tree.objects.push(TreeObject { path, object, links });
            }
            let addrs: Vec<Addr> = places.iter().map(|(addr, _)| *addr).collect();
            level = opener.objects_at(places)?;
            for (addr, placed) in addrs.iter().zip(&level) {
                // An object that cannot be opened has no identity.
                if placed.object.is_err() {
                    tree.paths.remove(addr);
                }
            }
        }
        Ok(tree)
    }

    /// Notes the objects to which the links of the group at `path` lead and that were not reached before.
    fn discover(&mut self, path: &[u8], links: &Result<Vec<Link>>, places: &mut Vec<(Addr, Vec<u8>)>) {
        let parent = path.strip_suffix(b"/").unwrap_or(path);
        for link in links.iter().flatten() {
            if let LinkTarget::Hard(addr) = link.target
                && let Entry::Vacant(place) = self.paths.entry(addr)
            {
                let below = [parent, b"/", &link.name].concat();
                place.insert(below.clone());
                places.push((addr, below));
            }
        }
    }

    /// The canonical path of the object whose header is at `addr`, if a hard link leads to it.
    pub fn path(&self, addr: Addr) -> Option<&[u8]> {
        self.paths.get(&addr).map(Vec::as_slice)
    }

    /// The errors of objects and groups that could not be read.
    pub fn errors(&self) -> impl Iterator<Item = &Error> {
        self.objects.iter().flat_map(|o| o.object.as_ref().err().into_iter().chain(o.links.as_ref().err()))
    }
}
