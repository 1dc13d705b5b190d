//! The scripts of `testdata` still make what is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{self, python};

fn expectations(folder: &Path) -> BTreeMap<String, Value> {
    let is_expectation = |path: &Path| path.to_string_lossy().ends_with(".expect.json");
    let one = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    };
    support::files(folder, &is_expectation).into_iter().map(one).collect()
}

#[test]
fn the_scripts_of_testdata_give_the_same_expectations_again() {
    let testdata = support::testdata("");
    let is_script = |path: &Path| path.extension().is_some_and(|e| e == "py") && !path.ends_with("tell.py");
    let scripts = support::files(&testdata, &is_script);
    assert!(scripts.len() > 15, "{scripts:?}");
    let top = support::scratch("scripts");
    let python = python::python();
    support::in_parallel(&scripts, |script| {
        let folder = top.join(script.strip_prefix(&testdata).unwrap().with_extension("")).with_extension("");
        std::fs::create_dir_all(&folder).unwrap();
        python::run(Command::new(python).arg("-B").arg(script).arg(&folder), "the script does not run");
    });
    let (made, kept) = (expectations(&top), expectations(&testdata));
    assert_eq!(made.keys().collect::<Vec<_>>(), kept.keys().collect::<Vec<_>>(), "scripts make these expectations");
    let wrong: Vec<_> = made.iter().filter(|(name, value)| kept[*name] != **value).map(|(name, _)| name).collect();
    assert!(wrong.is_empty(), "these expectations are others now: {wrong:?}");
}

#[test]
fn test_files_are_small() {
    let mut total = 0;
    let stored = |path: &Path| ["chunks.json", "decoded_only.json"].iter().any(|list| path.ends_with(list));
    for path in support::files(&support::testdata(""), &|path| !stored(path)) {
        let size = std::fs::metadata(&path).unwrap().len();
        // A flood needs water.
        let most = if path.components().any(|part| part.as_os_str() == "hostile") { 400_000 } else { 140_000 };
        assert!(size < most, "{} has {size} bytes", path.display());
        total += size;
    }
    assert!(total < 3_400_000, "all files of testdata have {total} bytes");
}
