//! What `diff` says of pairs of files that h5py made, and then changed in one of them.

use std::collections::BTreeSet;
use std::process::Command;

use hdfive::File;
use hdfive::inspect::{Comparison, diff};
use serde_json::Value;

use crate::support::python::{python, run};
use crate::support::{package, scratch};

fn differing(first: &str, second: &str, by: &Comparison) -> Vec<String> {
    let [first, second] = [first, second].map(|path| File::open(path).unwrap());
    let mut differing = Vec::new();
    diff(&first, &second, by, &mut |d| differing.push(format!("{}: {}", d.path, d.what))).unwrap();
    differing
}

#[test]
fn pairs_differ_where_h5py_changed_them() {
    let folder = scratch("pairs");
    let script = package().join("tests/it/compared/pairs.py");
    run(Command::new(python()).arg(script).arg(&folder).args(["120", "7"]), "it makes pairs of files");
    let pairs: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("PAIRS.json")).unwrap()).unwrap();
    let pairs = pairs.as_array().unwrap();
    assert_eq!(pairs.len(), 120);
    let (mut wrong, mut same) = (Vec::new(), 0);
    for pair in pairs {
        let [first, second] = ["first", "second"].map(|key| pair[key].as_str().unwrap());
        let told = differing(first, second, &Comparison::default());
        let paths: BTreeSet<&str> = told
            .iter()
            .filter_map(|d| Some(d.split_once(": ")?.0))
            .map(|d| {
                d.strip_suffix(" is in the first file only")
                    .or(d.strip_suffix(" is in the second file only"))
                    .unwrap_or(d)
            })
            .collect();
        let wanted: BTreeSet<&str> = pair["differ"].as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
        same += usize::from(wanted.is_empty());
        if paths != wanted {
            wrong.push(format!("{first}: h5py changed {wanted:?}, told {told:?}"));
        }
    }
    assert!(wrong.is_empty() && same > 5, "{} of {}, {same} the same:\n{}", wrong.len(), pairs.len(), wrong.join("\n"));
}

#[test]
fn numbers_that_are_near_are_equal_if_that_is_asked_for() {
    let folder = scratch("near");
    let [first, second] = ["a.h5", "b.h5"].map(|name| folder.join(name).display().to_string());
    let script = "import h5py, sys\nfor path, more in ((sys.argv[1], 0), (sys.argv[2], 1e-3)):\n with h5py.File(path, 'w') as f:\n  f['x'] = [1.0, 2.0 + more, float('nan')]\n  f['x'].attrs['date'] = path";
    run(Command::new(python()).args(["-c", script, &first, &second]), "it makes two files");
    let ignored_attributes = ["date".to_owned()].into();
    let strict = Comparison { ignored_attributes, ..Comparison::default() };
    assert_eq!(differing(&first, &second, &strict), ["/x: 1 of 3 elements differ, first at [1]: 2.0 | 2.001"]);
    assert_eq!(differing(&first, &second, &Comparison { absolute: 1e-2, ..strict.clone() }), [""; 0]);
    assert_eq!(differing(&first, &second, &Comparison { relative: 1e-2, ..strict.clone() }), [""; 0]);
    assert_eq!(differing(&first, &second, &Comparison { relative: 1e-4, ..strict }).len(), 1);
    assert_eq!(differing(&first, &second, &Comparison::default()).len(), 2);
}
