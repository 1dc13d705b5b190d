//! `check` on the corpus: what libhdf5 reads without an error is sound, and damage that is planted is found.

use std::collections::BTreeSet;
use std::sync::Arc;

use hdfive::inspect::{Map, Surveyor, Tree, check};
use hdfive::storage::MemorySource;
use hdfive::{OpenOptions, Result};
use serde_json::Value;

use crate::support::documents::{self, Expected};
use crate::support::random::Random;
use crate::support::{corpus, in_parallel};

/// Whether libhdf5 had an error anywhere in a document.
fn has_error(document: &Value) -> bool {
    match document {
        Value::Object(fields) => fields.iter().any(|(key, value)| key.ends_with("error") || has_error(value)),
        Value::Array(values) => values.iter().any(has_error),
        _ => false,
    }
}

#[test]
fn what_libhdf5_reads_without_an_error_is_sound() {
    let Some(corpus) = corpus("soundness of the corpus") else { return };
    let all = documents::expected(&corpus);
    let sound: Vec<&Expected> =
        all.iter().filter(|e| e.is_single_file() && !e.is_bad() && !has_error(&e.document)).collect();
    assert!(sound.len() > 600 || std::env::var_os("HDFIVE_CORPUS").is_some());
    let wrong = in_parallel(&sound, |expected| {
        let surveyor = Arc::new(Surveyor::default());
        let opened = documents::options().observer(Arc::clone(&surveyor) as _).open(&expected.path);
        match opened.and_then(|file| check(&file, &surveyor, &|_, _| {})) {
            Ok(report) => report.problems.first().map(|e| format!("{}: {e}", expected.name)),
            Err(error) => Some(format!("{}: {error}", expected.name)),
        }
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), sound.len(), wrong.join("\n"));
}

/// Whether `check` finds something wrong with a file of these bytes.
fn is_found(bytes: Vec<u8>) -> bool {
    let surveyor = Arc::new(Surveyor::default());
    let options = OpenOptions::new().observer(Arc::clone(&surveyor) as _);
    let opened = options.open_source(Arc::new(MemorySource::new(bytes)), "damaged");
    opened.and_then(|file| check(&file, &surveyor, &|_, _| {})).map_or(true, |report| !report.is_sound())
}

/// Structures that a checksum covers to their last byte.
const COVERED: [&str; 12] = [
    "superblock",
    "object header",
    "object header continuation block",
    "version 2 B-tree header",
    "version 2 B-tree node",
    "fractal heap header",
    "fractal heap indirect block",
    "fixed array header",
    "fixed array data block",
    "extensible array header",
    "extensible array index block",
    "extensible array data block",
];

/// The places of a file where a flipped bit must be found.
fn places(bytes: &[u8]) -> Result<Vec<(u64, u64, &'static str)>> {
    let surveyor = Arc::new(Surveyor::default());
    let options = OpenOptions::new().observer(Arc::clone(&surveyor) as _);
    let file = options.open_source(Arc::new(MemorySource::new(bytes.to_vec())), "whole")?;
    check(&file, &surveyor, &|_, _| {})?;
    let map = Map::of(&file, &surveyor, &Tree::walk(&file)?);
    // What a cache image stands for need not be right in the file.
    let from_cache = map.regions.iter().any(|r| r.what == "metadata cache image");
    let new = file.facts().superblock_version >= 2 && file.facts().user_block == 0 && !from_cache;
    // After the checksum of a node comes what its records have left.
    let size = |r: &hdfive::inspect::Region| if r.what.ends_with("B-tree node") { 16 } else { r.range.size };
    let at = |r: &hdfive::inspect::Region| (r.range.addr.0, size(r), r.what);
    // Version 1 headers and superblocks have no checksum.
    let covered = |(addr, _, what): &(u64, u64, &'static str)| {
        let begins = usize::try_from(*addr).ok().and_then(|at| bytes.get(at..at + 4));
        new && COVERED.contains(what)
            && (!what.starts_with("object header") || matches!(begins, Some(b"OHDR" | b"OCHK")))
    };
    Ok(map.regions.iter().map(at).filter(covered).collect())
}

#[test]
fn planted_damage_is_found() {
    let Some(corpus) = corpus("planted damage") else { return };
    let mut random = Random::new(1);
    let all = documents::expected(&corpus);
    let small = all.iter().filter(|e| e.is_single_file() && !e.is_bad() && !has_error(&e.document));
    let mut damaged = Vec::new();
    let mut kinds = BTreeSet::new();
    for expected in small {
        let bytes = std::fs::read(&expected.path).unwrap();
        let Ok(places) = places(&bytes) else { continue };
        if places.is_empty() || bytes.len() > 1 << 20 {
            continue;
        }
        for _ in 0..5 {
            let (addr, size, what) = places[random.index(places.len())];
            let at = usize::try_from(addr + random.next() % size).unwrap();
            let bit = 1 << random.index(8);
            let mut broken = bytes.clone();
            broken[at] ^= bit;
            kinds.insert(what);
            damaged.push((format!("{}: bit {bit:#x} at {at:#x}, in the {what} at {addr:#x}", expected.name), broken));
        }
    }
    if std::env::var_os("HDFIVE_CORPUS").is_none() {
        assert!(damaged.len() >= 900 && kinds.len() >= 8, "only {} damages in {kinds:?}", damaged.len());
    }
    let found = in_parallel(&damaged, |(_, bytes)| is_found(bytes.clone()));
    let missed: Vec<&str> = damaged.iter().zip(found).filter(|(_, found)| !found).map(|(d, _)| d.0.as_str()).collect();
    assert!(missed.is_empty(), "{} of {}:\n{}", missed.len(), damaged.len(), missed.join("\n"));
}
