//! Staged arrays over the datasets of real files, beside what h5py and NumPy make of the same.

use std::path::{Path, PathBuf};
use std::process::Command;

use hdfive::convert::ElementType;
use hdfive::selection::{Index, Selection};
use hdfive::stage::{Array, MemorySink, StagedArray};
use hdfive::{ErrorKind, File, s};
use serde_json::{Value, json};

use super::recorded::digest;
use crate::support::{self, python};

fn said(files: &[PathBuf]) -> Vec<Value> {
    let script = support::package().join("tests/it/stage/datasets.py");
    let output = python::run(Command::new(python::python()).arg("-B").arg(script).args(files), "h5py reads the files");
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn told(array: &Array) -> Value {
    json!([array.shape(), digest(array)])
}

/// Compares everything that was said of one dataset; `false` if its elements mean nothing to us or are not there.
fn compare(said: &Value) -> bool {
    let (path, name) = (said["file"].as_str().unwrap(), said["path"].as_str().unwrap());
    let file = File::open(path).unwrap();
    let dataset = file.dataset(name).unwrap();
    let array = dataset.staged().unwrap();
    if matches!(array.element(), ElementType::Bytes(_)) && !format!("{dataset}").starts_with("str") {
        return false;
    }
    // Virtual datasets may have their sources elsewhere, filters may be unknown.
    if dataset.read_bytes().is_err_and(|e| matches!(e.kind(), ErrorKind::NotFound | ErrorKind::Unsupported)) {
        return false;
    }
    let get = |array: &StagedArray, selection: &Selection| told(&array.get(selection).unwrap());
    let mut chunk: Vec<u64> = array.chunk_shape().iter().map(|size| size / 2 + 1).collect();
    let others = [array.clone(), dataset.staged_in(&chunk).unwrap()];
    for array in &others {
        assert_eq!(get(array, &s![]), said["all"], "{path} {name}");
        if let Some(last) = array.shape()[0].checked_sub(1).filter(|_| said.get("list").is_some()) {
            assert_eq!(get(array, &s![1..;2]), said["every_second"], "{path} {name}");
            assert_eq!(get(array, &s![[last, 0, last]]), said["list"], "{path} {name}");
            assert_eq!(get(array, &s![Index::Ellipsis, -1..]), said["column"], "{path} {name}");
        }
        let mut grown = array.clone();
        grown.resize(&array.shape().iter().map(|size| size + 1).collect::<Vec<_>>()).unwrap();
        assert_eq!(get(&grown, &s![]), said["grown"], "{path} {name}");
        grown.load().unwrap();
        grown.commit(&mut MemorySink).unwrap();
        assert_eq!(get(&grown, &s![]), said["grown"], "{path} {name}");
        assert_eq!(grown.broken_invariant(), None);
    }
    chunk.push(1);
    assert_eq!(dataset.staged_in(&chunk).unwrap_err().kind(), ErrorKind::Invalid);
    true
}

#[test]
fn staged_arrays_over_datasets_hold_what_h5py_reads() {
    let is_hdf5 = |path: &Path| path.extension().is_some_and(|e| e == "h5");
    let folders = ["datatypes", "filters", "index", "layouts", "readme", "virtual", "writers"];
    let mut folders: Vec<PathBuf> = folders.iter().map(|name| support::testdata(name)).collect();
    folders.extend(support::corpus("staged arrays over the corpus").map(|corpus| corpus.join("generated")));
    folders.retain(|folder| folder.is_dir());
    let files: Vec<PathBuf> = folders.iter().flat_map(|folder| support::files(folder, &is_hdf5)).collect();
    let all = said(&files);
    let compared = all.iter().filter(|said| compare(said)).count();
    println!("{compared} of {} datasets in {} files", all.len(), files.len());
    assert!(compared > 100, "only {compared} of {} datasets", all.len());
}
