//! The map of a file: which of its bytes belong to what.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::tree::Tree;
use crate::error::Result;
use crate::format::superblock::Superblock;
use crate::handle::{File, Object};
use crate::manifest::Manifest;
use crate::storage::{Observer, Seen};
use crate::wire::{Addr, ByteRange, SourceId, Structure};

/// Notes where the structures of a file stand, while the file is read.
#[derive(Debug, Default)]
pub struct Surveyor {
    found: Mutex<BTreeMap<Addr, (u64, &'static str)>>,
}

impl Observer for Surveyor {
    fn see(&self, seen: &Seen<'_>) {
        if seen.is_whole && seen.size > 0 {
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            let place = found.entry(seen.addr).or_insert((seen.size, seen.structure));
            // What is reserved for a structure may be more than it uses.
            if place.0 < seen.size {
                *place = (seen.size, seen.structure);
            }
        }
    }
}

/// A range of a file and what it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Where it lies, relative to the file's base address.
    pub range: ByteRange,
    /// The structure's name in the specification, or `raw data` or `chunk`.
    pub what: &'static str,
    /// Path of the dataset whose data they are.
    pub owner: Option<Vec<u8>>,
}

/// Which bytes of a file belong to what.
#[derive(Clone, Debug)]
pub struct Map {
    /// What was found, by address.
    pub regions: Vec<Region>,
    /// Bytes of the file from its base address on.
    pub size: u64,
}

impl Map {
    /// The map of `file`, which `surveyor` has seen being opened and whatever was read of it since. Data are added here,
    /// for the datasets of `tree`; those that cannot be read are left out.
    pub fn of(file: &File, surveyor: &Surveyor, tree: &Tree) -> Map {
        let container = file.container();
        let mut regions = Vec::new();
        for object in &tree.objects {
            if let Ok(Object::Dataset(dataset)) = &object.object
                && let Ok(manifest) = dataset.manifest()
            {
                let owner = || Some(object.path.clone());
                let add = |range: ByteRange, what| Region { range, what, owner: owner() };
                match &*manifest {
                    Manifest::Segments { segments, .. } => {
                        let own = segments.iter().filter(|s| s.source == SourceId(0));
                        regions.extend(own.map(|s| add(ByteRange::new(s.addr, s.size), "raw data")));
                    }
                    Manifest::Chunks(chunks) => {
                        regions.extend(chunks.iter().map(|c| add(ByteRange::new(c.addr, c.size), "chunk")));
                    }
                    Manifest::Inline(_) | Manifest::Virtual(_) => {}
                }
            }
        }
        let found = surveyor.found.lock().unwrap_or_else(PoisonError::into_inner);
        for (addr, (size, what)) in &*found {
            // The superblock was seen before it could say what addresses are relative to.
            let addr =
                if *what == Superblock::NAME { Addr(addr.0.saturating_sub(container.user_block)) } else { *addr };
            regions.push(Region { range: ByteRange::new(addr, *size), what, owner: None });
        }
        regions.retain(|region| region.range.size > 0);
        regions.sort_by_key(|region| region.range);
        let size = container.loaded.stretch(container.loaded.base()).end.saturating_sub(container.loaded.base());
        Map { regions, size }
    }

    /// Pairs of regions that share bytes: something is wrong with one of them.
    pub fn overlaps(&self) -> Vec<(&Region, &Region)> {
        let mut overlaps = Vec::new();
        let mut furthest: Option<&Region> = None;
        for region in &self.regions {
            if let Some(before) = furthest
                && end(before) > region.range.addr.0
            {
                overlaps.push((before, region));
            }
            if furthest.is_none_or(|before| end(before) < end(region)) {
                furthest = Some(region);
            }
        }
        overlaps
    }

    /// Ranges that belong to nothing that was found: free space, or space that was lost.
    pub fn gaps(&self) -> Vec<ByteRange> {
        let (mut gaps, mut at) = (Vec::new(), 0);
        for region in &self.regions {
            if region.range.addr.0 > at {
                gaps.push(ByteRange::new(Addr(at), region.range.addr.0 - at));
            }
            at = at.max(end(region));
        }
        if at < self.size {
            gaps.push(ByteRange::new(Addr(at), self.size - at));
        }
        gaps
    }

    /// The smallest region in which the byte at `addr` lies.
    pub fn at(&self, addr: Addr) -> Option<&Region> {
        let around = self.regions.iter().filter(|r| r.range.addr <= addr && addr.0 < end(r));
        around.min_by_key(|region| region.range.size)
    }
}

fn end(region: &Region) -> u64 {
    region.range.addr.0.saturating_add(region.range.size)
}

/// Reads every structure of `file`, so that an observer sees it: links, attributes, and where data lie.
pub(crate) fn visit(file: &File) -> Result<Tree> {
    let tree = Tree::walk(file)?;
    for object in tree.objects.iter().filter_map(|found| found.object.as_ref().ok()) {
        // What cannot be read has shown what it has.
        let _ = object.attributes();
        if let Object::Dataset(dataset) = object {
            let _ = (dataset.manifest(), dataset.fill_value(), dataset.filters(), dataset.external());
            let _ = dataset.virtual_mappings();
        }
    }
    Ok(tree)
}
