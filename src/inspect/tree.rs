//! The tree of a file: every object once, by its canonical path.
//!
//! Objects are found breadth first over hard links from the root group, the links of each group in the order of their
//! names' bytes. The first path by which an object is reached is its canonical one.

use std::collections::{HashMap, VecDeque};

use crate::error::{Error, Result};
use crate::handle::{File, Group, Link, LinkTarget, Object};
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
        tree.paths.insert(start.address(), start.path().as_bytes().to_vec());
        let mut queue = VecDeque::from([(start.path().as_bytes().to_vec(), Ok(Object::Group(start)))]);
        while let Some((path, object)) = queue.pop_front() {
            let links = match &object {
                Ok(Object::Group(group)) => group.links(),
                _ => Ok(Vec::new()),
            };
            for link in links.iter().flatten() {
                let LinkTarget::Hard(addr) = link.target else { continue };
                if tree.paths.contains_key(&addr) {
                    continue;
                }
                let parent = path.strip_suffix(b"/").unwrap_or(&path);
                let below = [parent, b"/", &link.name].concat();
                let object = opener.object_at(addr, &String::from_utf8_lossy(&below));
                // An object that cannot be opened has no identity: each link to it is a place of its own.
                if object.is_ok() {
                    tree.paths.insert(addr, below.clone());
                }
                queue.push_back((below, object));
            }
            tree.objects.push(TreeObject { path, object, links });
        }
        Ok(tree)
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
