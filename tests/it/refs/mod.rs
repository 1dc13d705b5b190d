//! References to the chunks of files, as Python's zarr reads them.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use hdfive::File;
use hdfive::refs::{Options, Reference, References, Zarr};

use crate::support::python::{python, run};
use crate::support::{package, scratch};

fn script(arguments: &[&OsStr]) -> String {
    let script = package().join("tests/refs/references.py");
    let said = run(Command::new(python()).arg("-B").arg(script).args(arguments), "zarr reads something else");
    String::from_utf8(said.stdout).unwrap()
}

/// How many datasets zarr finds as h5py does; all but those that are said to be blocked.
fn agrees(file: &Path, options: &Options, folder: &Path) -> (usize, References) {
    let references = References::of(&File::open(file).unwrap(), file.to_str().unwrap(), options).unwrap();
    let json = folder.join("references.json");
    std::fs::write(&json, references.to_kerchunk()).unwrap();
    let blocked: Vec<&str> = references.blocked.iter().map(|blocked| blocked.path.trim_start_matches('/')).collect();
    let mut arguments: Vec<&OsStr> = vec!["check".as_ref(), json.as_ref(), file.as_ref()];
    arguments.extend(blocked.iter().map(OsStr::new));
    (script(&arguments).trim().parse().unwrap(), references)
}

#[test]
fn zarr_reads_what_h5py_reads() {
    let folder = scratch("references");
    let file = folder.join("rich.h5");
    script(&["make".as_ref(), file.as_ref()]);
    let options = Options { exact_fill: true, ..Options::default() };
    let (datasets, references) = agrees(&file, &options, &folder);
    assert!(datasets > 45, "{datasets}");
    let blocked: Vec<String> = references.blocked.iter().map(ToString::to_string).collect();
    let wanted = ["/ragged: sequences of variable", "/filters/lzf: the filter lzf", "/filters/scale: the filter scale"];
    assert_eq!(blocked.len(), wanted.len(), "{blocked:?}");
    for (blocked, wanted) in blocked.iter().zip(wanted) {
        assert!(blocked.starts_with(wanted), "{blocked}");
    }
    // In one piece, cut along the first dimension: 1000 rows of 8000 bytes.
    let first = &references.keys["big/0.0"];
    assert!(matches!(first, Reference::Range { size: 8_000_000, .. }), "{first:?}");
    let (datasets, references) = agrees(&file, &Options { zarr: Zarr::V3, ..options }, &folder);
    assert!(datasets > 30, "{datasets}");
    assert!(references.blocked.iter().any(|blocked| blocked.path == "/contiguous/table"));
}

#[test]
fn small_chunks_stand_in_the_references_and_what_is_missing_nowhere() {
    let folder = scratch("references_inline");
    let file = folder.join("rich.h5");
    script(&["make".as_ref(), file.as_ref()]);
    let open = File::open(&file).unwrap();
    let of = |options| References::of(&open, "memory://x", &options).unwrap();
    let references = of(Options::default());
    let chunks = |references: &References, path: &str| {
        references.keys.keys().filter(|key| key.starts_with(path) && !key.contains("/.z")).count()
    };
    assert_eq!(chunks(&references, "sparse/"), 2);
    assert!(matches!(references.keys["sparse/3.2"], Reference::Inline(_)));
    assert!(references.notes.iter().any(|note| note.path == "/sparse"));
    let ranges = of(Options { inline: 0, ..Options::default() });
    assert!(matches!(ranges.keys["sparse/3.2"], Reference::Range { size: 400, .. }));
    // Readers of version 2 take a fill value for one that is missing, so none is said.
    let Reference::Document(array) = &references.keys["zlib/i4/.zarray"] else { panic!("no document") };
    assert!(array["fill_value"].is_null());
}
