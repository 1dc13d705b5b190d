//! Checks of a whole file: every structure, every checksum, every chunk.

use std::sync::atomic::{AtomicU64, Ordering};

use super::canonical::Canonical;
use super::map::{Map, Surveyor};
use super::tree::{Tree, TreeObject};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::format::message::datatype::{Class, Datatype};
use crate::handle::{Dataset, File, Object};
use crate::manifest::Manifest;
use crate::selection::Block;

/// What a check found.
#[derive(Debug, Default)]
pub struct Report {
    /// Objects that could be opened.
    pub objects: u64,
    /// Attributes whose values were read.
    pub attributes: u64,
    /// Bytes of elements that were read.
    pub bytes: u64,
    /// What is wrong, each with its place.
    pub problems: Vec<Error>,
    /// What could not be checked: it is behind a filter that this build does not decode, or in a file that may not be
    /// read.
    pub unchecked: Vec<Error>,
    /// Sources of virtual datasets that are not there, each with its dataset. That is nothing wrong with the file: fill
    /// value stands for them.
    pub missing: Vec<Error>,
    /// Bytes that belong to nothing that the file leads to.
    pub unaccounted: u64,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    fn note(&mut self, error: Error) {
        if is_beyond_us(&error) {
            self.unchecked.push(error);
        } else {
            self.problems.push(error);
        }
    }

    fn add(&mut self, other: Report) {
        self.objects += other.objects;
        self.attributes += other.attributes;
        self.bytes += other.bytes;
        self.problems.extend(other.problems);
        self.unchecked.extend(other.unchecked);
        self.missing.extend(other.missing);
    }
}

/// Whether an error says nothing about the file: a filter that this build does not decode, a file that may not be read.
fn is_beyond_us(error: &Error) -> bool {
    let by_filter = error.trail().iter().any(|place| matches!(place, Place::Filter(_)));
    error.kind() == ErrorKind::Denied || (error.kind() == ErrorKind::Unsupported && by_filter)
}

/// Bytes of elements that are read at once.
const AT_ONCE: u64 = 32 << 20;

/// Reads everything in `file`, which was opened with `surveyor` looking on. `progress` is told how many of how many bytes
/// of elements are done, from whatever thread.
///
/// Errors are those of the root group; everything else is in the report.
pub fn check(file: &File, surveyor: &Surveyor, progress: &(dyn Fn(u64, u64) + Sync)) -> Result<Report> {
    let tree = Tree::walk(file)?;
    let total = tree.objects.iter().map(|found| match &found.object {
        Ok(Object::Dataset(dataset)) => dataset.stored_size().unwrap_or(0),
        _ => 0,
    });
    let (total, done) = (total.fold(0, u64::saturating_add), AtomicU64::new(0));
    let advance = |bytes: u64| progress(done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes), total);
    let checker = Checker { file, tree: &tree, advance: &advance };
    let mut report = Report::default();
    let reports = crate::handle::each_in_parallel(tree.objects.iter().collect(), |found| checker.object(found));
    reports.into_iter().for_each(|part| report.add(part));
    let map = Map::of(file, surveyor, &tree);
    for (one, other) in map.overlaps() {
        let name = |r: &super::map::Region| format!("{} at {} of {} bytes", r.what, r.range.addr, r.range.size);
        report.problems.push(Error::corrupt(format!("{} and {} share bytes", name(one), name(other))));
    }
    report.unaccounted = map.gaps().iter().map(|gap| gap.size).sum();
    Ok(report)
}

struct Checker<'a> {
    file: &'a File,
    tree: &'a Tree,
    advance: &'a (dyn Fn(u64) + Sync),
}

impl Checker<'_> {
    fn object(&self, found: &TreeObject) -> Report {
        let mut report = Report::default();
        let object = match &found.object {
            Ok(object) => object,
            Err(error) => {
                report.note(error.clone());
                return report;
            }
        };
        report.objects = 1;
        if let Err(error) = &found.links {
            report.note(error.clone());
        }
        match object.attributes() {
            Ok(attributes) => {
                for attribute in attributes {
                    let read = attribute.and_then(|a| {
                        Canonical::new(self.file, self.tree).elements(a.bytes(), a.datatype()).map_err(|e| a.at(e))
                    });
                    match read {
                        Ok(()) => report.attributes += 1,
                        Err(error) => report.note(error),
                    }
                }
            }
            Err(error) => report.note(error),
        }
        if let Object::Dataset(dataset) = object {
            self.dataset(dataset, &mut report);
        }
        report
    }

    fn dataset(&self, dataset: &Dataset, report: &mut Report) {
        let about = dataset.fill_value().and_then(|_| dataset.filters()).and_then(|_| dataset.external());
        if let Err(error) = about.and_then(|_| dataset.virtual_mappings()) {
            report.note(error);
        }
        let blocks = match dataset.manifest() {
            Ok(manifest) => blocks(dataset, &manifest),
            Err(error) => return report.note(error),
        };
        match dataset.missing_sources() {
            Ok(missing) => report.missing.extend(missing),
            Err(error) => report.note(error),
        }
        let in_heaps = leads_elsewhere(dataset.datatype());
        let read = crate::handle::each_in_parallel(blocks, |(block, stored)| {
            let read = read_block(dataset, &block).and_then(|bytes| {
                if in_heaps {
                    let taken = Canonical::new(self.file, self.tree).elements(&bytes, dataset.datatype());
                    taken.map_err(|e| dataset.node().at(e))?;
                }
                Ok(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
            });
            (self.advance)(stored);
            read
        });
        for read in read {
            match read {
                Ok(bytes) => report.bytes = report.bytes.saturating_add(bytes),
                Err(error) => {
                    // A filter that is not decoded in one chunk is not in the others.
                    let same = is_beyond_us(&error);
                    report.note(error);
                    if same {
                        break;
                    }
                }
            }
        }
    }
}

/// The elements of a block. A block that is large by what the file claims is read for one element first: a false claim
/// is found then, before memory is taken for the others.
fn read_block(dataset: &Dataset, block: &Block) -> Result<Vec<u8>> {
    let elements = block.count.iter().fold(1u64, |n, &count| n.saturating_mul(count));
    if elements.saturating_mul(dataset.datatype().size.into()) > AT_ONCE {
        dataset.select(Block::new(&block.start, &vec![1; block.start.len()])).read_bytes()?;
    }
    dataset.select(block).read_bytes()
}

/// Blocks that together cover everything that is stored of a dataset, and how many stored bytes each has.
fn blocks(dataset: &Dataset, manifest: &Manifest) -> Vec<(Block, u64)> {
    let whole = Block::all(dataset.shape());
    match manifest {
        Manifest::Chunks(chunks) => {
            let grid = chunks.grid();
            let block = |number| grid.coordinates(number).map(|coordinates| grid.block(&coordinates));
            chunks.iter().filter_map(|chunk| Some((block(chunk.number)?, chunk.size))).collect()
        }
        Manifest::Segments { segments, .. } if segments.is_empty() => Vec::new(),
        Manifest::Segments { .. } | Manifest::Virtual(_) => {
            let Some((&rows, rest)) = dataset.shape().split_first() else { return vec![(whole, 0)] };
            let row = rest.iter().try_fold(u64::from(dataset.datatype().size), |n, &d| n.checked_mul(d));
            let Some(row) = row.filter(|&row| row > 0) else { return vec![(whole, 0)] };
            let step = (AT_ONCE / row).max(1);
            let mut blocks = Vec::new();
            let mut at = 0;
            while at < rows {
                let mut block = whole.clone();
                (block.start[0], block.count[0]) = (at, step.min(rows - at));
                blocks.push((block, row.saturating_mul(step.min(rows - at))));
                at += step;
            }
            blocks
        }
        Manifest::Inline(data) => vec![(whole, u64::try_from(data.len()).unwrap_or(0))],
    }
}

/// Whether elements of a datatype lead to heaps or objects, so that reading them is more than reading bytes.
pub(super) fn leads_elsewhere(datatype: &Datatype) -> bool {
    match &datatype.class {
        Class::VariableLength { .. } | Class::Reference { .. } => true,
        Class::Compound(members) => members.iter().any(|member| leads_elsewhere(&member.datatype)),
        Class::Array { base, .. } => leads_elsewhere(base),
        _ => false,
    }
}
