//! Files written anew hold what they held.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use hdfive::create::Filters;
use hdfive::inspect::Tree;
use hdfive::repack::Repack;
use hdfive::storage::MemorySink;
use hdfive::write::Compatibility;
use hdfive::{File, MissingSources, Object, OpenOptions};
use sha2::{Digest, Sha256};

use crate::support::python::{python, run};
use crate::support::{package, scratch, testdata};

pub(super) const LEVELS: [(&str, Compatibility); 5] = [
    ("earliest", Compatibility::Earliest),
    ("v18", Compatibility::V18),
    ("v110", Compatibility::V110),
    ("v114", Compatibility::V114),
    ("v200", Compatibility::V200),
];

fn rich(arguments: &[&std::ffi::OsStr]) -> Vec<u8> {
    let script = package().join("tests/write/rich.py");
    run(Command::new(python()).arg(script).args(arguments), "the file differs, or libhdf5 refuses it").stdout
}

/// What h5py says of a file is what we find in it.
pub(super) fn agrees(file: &Path, said: &serde_json::Value) {
    let file = File::open(file).unwrap();
    for (path, about) in said.as_object().unwrap() {
        let object = file.object(path).unwrap();
        let attributes = object.attributes().unwrap().into_iter().map(|a| a.unwrap().name()).collect::<Vec<_>>();
        assert_eq!(serde_json::json!(attributes), about["attributes"], "{path}");
        match &object {
            Object::Group(group) => assert_eq!(serde_json::json!(group.names().unwrap()), about["links"], "{path}"),
            Object::Dataset(dataset) => {
                if let Some(sha256) = about.get("sha256") {
                    let digest = Sha256::digest(dataset.read_bytes().unwrap());
                    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                    assert_eq!(serde_json::json!(digest), *sha256, "{path}");
                }
            }
            Object::NamedType(_) => {}
        }
    }
}

#[test]
fn libhdf5_finds_and_changes_everything_at_every_level() {
    let folder = scratch("repacked");
    let old = folder.join("rich.h5");
    rich(&["make".as_ref(), old.as_ref()]);
    for (name, level) in LEVELS {
        let new = folder.join(format!("{name}.h5"));
        let left_out = Repack::new().compatibility(level).write(&File::open(&old).unwrap(), &new).unwrap();
        // Earliest cannot say that a link leads out of the file, and has no place for large attributes.
        let left_out: Vec<&str> = left_out.iter().map(|left_out| left_out.path.as_str()).collect();
        let expected: &[&str] = match level {
            Compatibility::Earliest => &["/links/outside", "/attributes/large", "/attributes/large"],
            _ => &[],
        };
        assert_eq!(left_out, expected);
        rich(&["same".as_ref(), old.as_ref(), new.as_ref(), name.as_ref()]);
        let said = rich(&["edit".as_ref(), new.as_ref()]);
        agrees(&new, &serde_json::from_slice(&said).unwrap());
    }
}

/// Chunks and filters as they are asked for, and the same values, as h5py sees it.
#[test]
fn elements_are_stored_as_is_asked_for() {
    let folder = scratch("repacked_restored");
    let old = folder.join("rich.h5");
    rich(&["make".as_ref(), old.as_ref()]);
    let file = File::open(&old).unwrap();
    let restored = |name: &str, repack: Repack| -> serde_json::Value {
        let new = folder.join(name);
        let mut told = (0, 0);
        assert!(repack.write_watched(&file, &new, &mut |done, total| told = (done, total)).unwrap().is_empty());
        assert!(told.0 > 100_000 && told.0 <= told.1, "{told:?}");
        serde_json::from_slice(&rich(&["restored".as_ref(), old.as_ref(), new.as_ref()])).unwrap()
    };
    let filters = |text: &str| text.parse::<Filters>().unwrap();
    let storage = |chunks, filters: &[u16]| serde_json::json!([chunks, filters]);
    let at = |said: &serde_json::Value, path: &str| serde_json::json!([said[path]["chunks"], said[path]["filters"]]);

    let said = restored("filtered.h5", Repack::new().filters(filters("shuffle,deflate=6")));
    assert_eq!(at(&said, "chunks/edges"), storage(Some(vec![4, 5]), &[2, 1]));
    assert_eq!(at(&said, "chunks/fixed_sparse_filtered"), storage(Some(vec![1, 1]), &[2, 1]));
    assert_eq!(at(&said, "enum"), storage(Some(vec![3]), &[2, 1]));
    assert_eq!(said["chunks/nothing"]["size"], 0);
    // Texts lie where filters do not reach.
    assert_eq!(at(&said, "texts"), storage(Some(vec![100]), &[1]));

    let said = restored("plain.h5", Repack::new().filters(filters("none")).chunk([8, 16]).only(["/chunks"]));
    assert_eq!(at(&said, "chunks/edges_filtered"), storage(Some(vec![8, 16]), &[]));
    assert_eq!(at(&said, "chunks/fixed"), storage(Some(vec![2, 16]), &[]));
    assert_eq!(at(&said, "chunks/nothing"), storage(Some(vec![10]), &[]));
    assert_eq!(at(&said, "texts"), storage(Some(vec![100]), &[1]));

    let said = restored("chunks.h5", Repack::new().chunk([7, 11]).compatibility(Compatibility::V110));
    assert_eq!(at(&said, "chunks/btree_filtered"), storage(Some(vec![7, 11]), &[2, 1, 3]));
    assert_eq!(at(&said, "chunks/btree"), storage(Some(vec![7, 11]), &[]));

    let said = restored("contiguous.h5", Repack::new().contiguous());
    assert_eq!(at(&said, "chunks/single_filtered"), storage(None, &[]));
    assert_eq!(at(&said, "chunks/edges_filtered"), storage(Some(vec![4, 5]), &[2, 1, 3]));
    // N-bit is for numbers alone.
    let said = restored("nbit.h5", Repack::new().filters(filters("nbit")));
    assert_eq!((at(&said, "chunks/edges"), at(&said, "typed")), (storage(Some(vec![4, 5]), &[5]), storage(None, &[])));
}

#[test]
fn the_same_file_gives_the_same_bytes() {
    let file = File::open(package().join("testdata/readme/weather.h5")).unwrap();
    let folder = scratch("repacked_twice");
    let write = |name: &str| {
        Repack::new().write(&file, folder.join(name)).unwrap();
        std::fs::read(folder.join(name)).unwrap()
    };
    let once = write("once.h5");
    assert!(once == write("twice.h5"));
    let memory = Arc::new(OnceLock::new());
    Repack::new().write_to(&file, Box::new(MemorySink::new(Arc::clone(&memory)))).unwrap();
    assert!(*memory.get().unwrap() == once);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn what_was_there_stays_where_writing_fails() {
    let folder = scratch("repacked_badly");
    let path = folder.join("there.h5");
    std::fs::write(&path, b"something else").unwrap();
    let file = File::open(package().join("testdata/readme/weather.h5")).unwrap();
    Repack::new().user_block(700).write(&file, &path).unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), b"something else");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");
    Repack::new().user_block(1024).write(&file, &path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap()[1024..1032], *b"\x89HDF\r\n\x1a\n");
    assert_eq!(File::open(&path).unwrap().dataset("lat").unwrap().len(), 11);
}

#[test]
fn names_of_other_files_lead_where_they_led() {
    let folder = scratch("repacked_elsewhere");
    for name in ["virtual/virtual.h5", "external/external.h5"] {
        let old = testdata(name);
        let new = folder.join("new.h5");
        let level = Repack::new().compatibility(Compatibility::V110);
        let open =
            |path: &Path| OpenOptions::new().allow_root(package()).missing_sources(MissingSources::Fill).open(path);
        assert!(level.write(&open(&old).unwrap(), &new).unwrap().is_empty(), "{name}");
        let (old, new) = (open(&old).unwrap(), open(&new).unwrap());
        let mut compared = 0;
        for found in Tree::walk(&old).unwrap().objects {
            if let Object::Dataset(dataset) = found.object.unwrap() {
                let path = String::from_utf8(found.path).unwrap();
                let read = new.dataset(&path).unwrap().read_bytes().unwrap();
                assert!(read == dataset.read_bytes().unwrap(), "{name}, {path}");
                compared += read.iter().filter(|byte| **byte != 0).count();
            }
        }
        assert!(compared > 0, "{name}");
    }
}
