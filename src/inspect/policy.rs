//! What a file refers to outside itself, and what it claims: what somebody wants to know who is handed a file.

use std::collections::BTreeSet;

use super::notation::text;
use super::tree::Tree;
use crate::error::{Error, Result};
use crate::handle::{Dataset, File, LinkTarget, Object};

/// How a file refers to something outside itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceKind {
    /// A link to an object of another file.
    ExternalLink,
    /// Raw data of a dataset in another file.
    RawData,
    /// A source of a virtual dataset in another file.
    VirtualSource,
    /// A link that only the application that made it understands.
    UserLink,
    /// A driver that kept the file in several pieces.
    Driver,
}

/// Something outside the file to which it refers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outside {
    /// How.
    pub kind: ReferenceKind,
    /// The link, dataset or file that refers to it.
    pub from: String,
    /// The name of the other file, the class of a link, or the name of a driver.
    pub to: String,
}

/// What a file refers to outside itself, and what it claims.
#[derive(Debug, Default)]
pub struct Policy {
    /// What it refers to, each once, in order.
    pub outside: Vec<Outside>,
    /// Objects that hard links lead to.
    pub objects: u64,
    /// Names in the longest path.
    pub deepest: usize,
    /// Bytes of the elements of all datasets, as their shapes claim.
    pub logical: u128,
    /// Bytes that are stored of them in this file.
    pub stored: u64,
    /// The dataset that claims the most, its logical and its stored bytes.
    pub largest: Option<(String, u128, u64)>,
    /// Bytes of the largest chunk.
    pub largest_chunk: u128,
    /// What could not be looked at.
    pub unknown: Vec<Error>,
}

/// Looks at everything that `file` says, without reading data. Of other files only sources of virtual datasets that are
/// needed for a shape are opened, where that is allowed.
///
/// Errors are those of the root group; others are in the policy.
pub fn policy(file: &File) -> Result<Policy> {
    let tree = Tree::walk(file)?;
    let (mut policy, mut outside) = (Policy::default(), BTreeSet::new());
    if let Some((name, _)) = &file.container().driver {
        let to = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
        outside.insert(Outside { kind: ReferenceKind::Driver, from: "/".to_owned(), to });
    }
    policy.unknown.extend(tree.errors().cloned());
    for found in &tree.objects {
        policy.objects += 1;
        let path = text(&found.path);
        policy.deepest = policy.deepest.max(path.split('/').filter(|name| !name.is_empty()).count());
        for link in found.links.iter().flatten() {
            let from = format!("{}/{}", path.trim_end_matches('/'), text(&link.name));
            match &link.target {
                LinkTarget::External { file, .. } => {
                    outside.insert(Outside { kind: ReferenceKind::ExternalLink, from, to: text(file) });
                }
                LinkTarget::User { class, .. } => {
                    outside.insert(Outside { kind: ReferenceKind::UserLink, from, to: format!("class {class}") });
                }
                LinkTarget::Hard(_) | LinkTarget::Soft(_) => {}
            }
        }
        if let Ok(Object::Dataset(dataset)) = &found.object {
            policy.dataset(&path, dataset, &mut outside);
        }
    }
    policy.outside = outside.into_iter().collect();
    Ok(policy)
}

impl Policy {
    fn dataset(&mut self, path: &str, dataset: &Dataset, outside: &mut BTreeSet<Outside>) {
        let mut refer = |kind, to: String| {
            outside.insert(Outside { kind, from: path.to_owned(), to });
        };
        let external = dataset.external();
        let is_outside = external.as_ref().is_ok_and(|segments| !segments.is_empty());
        match external {
            Ok(segments) => segments.into_iter().for_each(|segment| refer(ReferenceKind::RawData, segment.file)),
            Err(error) => self.unknown.push(error),
        }
        match dataset.virtual_mappings() {
            Ok(mappings) => {
                let others = mappings.into_iter().map(|mapping| mapping.file).filter(|file| file != ".");
                others.for_each(|file| refer(ReferenceKind::VirtualSource, file));
            }
            Err(error) => self.unknown.push(error),
        }
        let bytes = |shape: &[u64]| {
            let size = u128::from(dataset.datatype().size);
            shape.iter().fold(size, |bytes, &n| bytes.saturating_mul(n.into()))
        };
        let logical = if dataset.is_null() { 0 } else { bytes(dataset.shape()) };
        let stored = if is_outside { Ok(0) } else { dataset.stored_size() };
        let stored = stored.unwrap_or_else(|error| {
            self.unknown.push(error);
            0
        });
        self.logical = self.logical.saturating_add(logical);
        self.stored = self.stored.saturating_add(stored);
        self.largest_chunk = self.largest_chunk.max(dataset.chunk_shape().map_or(0, bytes));
        if self.largest.as_ref().is_none_or(|(_, most, _)| *most < logical) {
            self.largest = Some((path.to_owned(), logical, stored));
        }
    }
}
