//! Holds our documents against those that libhdf5 gave.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::support::documents::{self, Expected, Fault};
use crate::support::{corpus, in_parallel, package};

/// The longest that any file may take, on a slow and busy machine.
const LONGEST: Duration = Duration::from_secs(60);
/// Most lines of known differences.
const MOST_KNOWN: usize = 10;

/// A line of `known-differences.md`: document and key.
type Known = (String, String);

fn known_differences() -> BTreeSet<Known> {
    let path = package().join("tests/known-differences.md");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let rows = text.lines().filter(|line| line.starts_with('|')).skip(2);
    let known: BTreeSet<Known> = rows
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [document, key, reason, right] = cells[..] else { panic!("this row has not four cells: {row}") };
            assert!(!reason.is_empty() && !right.is_empty(), "this row gives no reason: {row}");
            (document.to_owned(), key.to_owned())
        })
        .collect();
    assert!(known.len() <= MOST_KNOWN, "there are {} known differences, more than {MOST_KNOWN}", known.len());
    known
}

/// Our document, or the error in its place; a fault for a panic, or if it takes too long.
fn ours(expected: &Expected) -> Result<Result<Value, hdfive::Error>, Fault> {
    std::thread::scope(|scope| {
        let (say, hear) = mpsc::channel();
        std::thread::Builder::new()
            .spawn_scoped(scope, move || {
                let ours = catch_unwind(AssertUnwindSafe(|| expected.ours(&documents::options())));
                // Nobody hears it after the time is over.
                let _ = say.send(ours);
            })
            .expect("because a thread can be made");
        let fault = |what: &str| Fault { key: String::new(), what: what.to_owned() };
        match hear.recv_timeout(LONGEST) {
            Ok(Ok(ours)) => Ok(ours),
            Ok(Err(_)) => Err(fault("panicked")),
            // The thread cannot be ended, so the test must.
            Err(_) => panic!("{}: no answer in {LONGEST:?}", expected.name),
        }
    })
}

fn faults(expected: &Expected) -> Vec<Fault> {
    match ours(expected) {
        Err(fault) => vec![fault],
        Ok(_) if expected.is_bad() => Vec::new(),
        Ok(Ok(ours)) => documents::compare(&expected.document, &ours),
        Ok(Err(error)) => {
            // What libhdf5 opens, we open.
            let opened = expected.document.get("open_error").is_none() || expected.document.get("opened_as").is_some();
            let opened = opened && expected.document.get("root_error").is_none();
            if opened { vec![Fault { key: "open".into(), what: error.to_string() }] } else { Vec::new() }
        }
    }
}

#[test]
fn every_document_is_that_of_libhdf5_and_bad_files_end_in_an_error_or_a_partial_read() {
    let Some(corpus) = corpus("documents of the corpus") else { return };
    let mut known = known_differences();
    let all = documents::expected(&corpus);
    let found = in_parallel(&all, |expected| (expected, faults(expected)));
    let mut wrong = Vec::new();
    for (expected, faults) in found {
        for fault in faults {
            if !known.remove(&(expected.name.clone(), fault.key.clone())) {
                wrong.push(format!("{}: {}: {}", expected.name, fault.key, fault.what));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences in {} documents:\n{}", wrong.len(), all.len(), wrong.join("\n"));
    if std::env::var_os("HDFIVE_CORPUS").is_none() {
        assert!(known.is_empty(), "these differences are known, but not there: {known:?}");
    }
}

#[test]
fn the_comparison_finds_what_was_changed() {
    let Some(corpus) = corpus("the comparison itself") else { return };
    let all = documents::expected(&corpus);
    let full = |e: &&Expected| !e.is_bad() && e.document["objects"].as_array().is_some_and(|o| o.len() > 3);
    let expected = all.iter().find(full).expect("because the corpus has files of several objects");
    let want = &expected.document;
    assert!(documents::compare(want, want).is_empty());
    let mut without = want.clone();
    without["objects"].as_array_mut().unwrap().pop();
    assert_eq!(documents::compare(want, &without).len(), 1, "an object that is missing");
    assert_eq!(documents::compare(&without, want).len(), 1, "an object too many");
    let mut other = want.clone();
    other["superblock"]["version"] = 99.into();
    assert_eq!(documents::compare(want, &other)[0].key, "superblock.version");
    let mut found = 0;
    for (number, object) in want["objects"].as_array().unwrap().iter().enumerate() {
        for key in ["digest", "shape", "type", "links"].into_iter().filter(|key| object.get(key).is_some()) {
            let mut other = want.clone();
            other["objects"][number][key] = if key == "links" { Value::Array(Vec::new()) } else { "x".into() };
            if object[key].as_array().is_none_or(|list| !list.is_empty()) {
                assert!(!documents::compare(want, &other).is_empty(), "{}: {key}", object["path"]);
                found += 1;
            }
        }
    }
    assert!(found > 3);
}
