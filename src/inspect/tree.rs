//! The tree of a file: every object once, by its canonical path.
//!
//! Objects are found breadth first over hard links from the root group, the links of each group in the order of their
//! names' bytes. The first path by which an object is reached is its canonical one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use super::notation::text;
use crate::convert::Value;
use crate::error::{Error, Result};
pub use crate::handle::TreeObject;
use crate::handle::{Attribute, File, Group, LinkTarget, Object};
use crate::limits::Purse;
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
    /// Errors are those of the root group, and `Limit` for paths longer than the file can justify; those of other objects
    /// stand in their places.
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
        let (mut seen, purse) = (0, opener.purse_for_all());
        while seen < tree.objects.len() {
            let known = tree.objects.len();
            let found = tree.discover(seen, &purse)?;
            let addrs: Vec<Addr> = found.iter().map(|(addr, _)| *addr).collect();
            tree.objects.extend(opener.objects_at(found, &purse)?);
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
    fn discover(&mut self, seen: usize, purse: &Purse) -> Result<Vec<(Addr, Vec<u8>)>> {
        let mut found = Vec::new();
        for object in &self.objects[seen..] {
            let parent = object.path.strip_suffix(b"/").unwrap_or(&object.path);
            for link in object.links.iter().flatten() {
                if let LinkTarget::Hard(addr) = link.target
                    && let Entry::Vacant(place) = self.places.entry(addr)
                {
                    purse.pay(u64::try_from(parent.len()).unwrap_or(u64::MAX))?;
                    place.insert(self.objects.len() + found.len());
                    found.push((addr, [parent, b"/", &link.name].concat()));
                }
            }
        }
        Ok(found)
    }

    /// The canonical path of the object whose header is at `addr`, if a hard link leads to it.
    pub fn path(&self, addr: Addr) -> Option<&[u8]> {
        Some(&self.objects[*self.places.get(&addr)?].path)
    }

    /// Gives the references in `value`, which stands in the same file, the paths of their objects, so that they are shown
    /// by these.
    pub fn name_references(&self, value: &mut Value) {
        match value {
            Value::Reference(reference) if reference.file_name().is_none() => {
                let path = reference.address().and_then(|addr| self.path(addr));
                reference.set_path(path.map(text));
            }
            Value::Compound(members) => members.iter_mut().for_each(|(_, value)| self.name_references(value)),
            Value::Array(array) => array.elements.iter_mut().for_each(|value| self.name_references(value)),
            _ => {}
        }
    }

    /// As [`File::show`] of the same file, with references shown as paths.
    pub fn show(&self, file: &File, attribute: &Attribute) -> Result<String> {
        file.show_by(attribute, &|value| self.name_references(value))
    }

    /// The errors of objects and groups that could not be read.
    pub fn errors(&self) -> impl Iterator<Item = &Error> {
        self.objects.iter().flat_map(|o| o.object.as_ref().err().into_iter().chain(o.links.as_ref().err()))
    }
}

/// A line for each object: its path, and what it is.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, TreeObject { path, object, .. }) in self.objects.iter().enumerate() {
            let (line, path) = (if number > 0 { "\n" } else { "" }, text(path));
            match object {
                Ok(Object::Group(_)) => write!(f, "{line}{path}{}", if path.ends_with('/') { "" } else { "/" })?,
                Ok(Object::Dataset(dataset)) => write!(f, "{line}{path}  {dataset}")?,
                Ok(Object::NamedType(_)) => write!(f, "{line}{path}  datatype")?,
                Err(error) => write!(f, "{line}{path}  error: {error:#}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_shown_a_line_an_object() {
        let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/readme/weather.h5")).unwrap();
        let shown = Tree::walk(&file).unwrap().to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 10);
        assert_eq!(lines[..2], ["/", "/lat  f32 [11], contiguous"]);
        assert!(lines.contains(&"/surface/"), "{shown}");
    }
}
