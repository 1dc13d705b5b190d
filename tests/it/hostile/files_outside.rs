//! A file names others: by external links, external raw data, virtual sources. Who opens a file of somebody else does
//! not want it to name those of his own that lie elsewhere, directly or through a symbolic link.

use std::path::PathBuf;

use hdfive::{ErrorKind, Object, OpenOptions, Result};

use crate::support::{scratch, testdata};

/// What leads out of the folder: the path in the file, and what it names.
const LEAVING: [(&str, &str); 6] = [
    ("/link_up", "../outside.h5"),
    ("/virtual_up", "../outside.h5"),
    ("/raw_up", "../outside.raw"),
    ("/link_sly", "sly.h5"),
    ("/virtual_sly", "sly.h5"),
    ("/raw_sly", "sly.raw"),
];

fn read(options: &OpenOptions, file: &PathBuf, path: &str) -> Result<Vec<u8>> {
    match options.open(file)?.object(path)? {
        Object::Dataset(dataset) => dataset.read_bytes(),
        other => panic!("{path} is {other:?}"),
    }
}

/// A folder with the file, below the folder with what it names.
fn folders(test: &str) -> (PathBuf, PathBuf) {
    let outer = scratch(test);
    let inner = outer.join("inner");
    std::fs::create_dir_all(&inner).unwrap();
    let file = inner.join("leaving.h5");
    std::fs::copy(testdata("hostile/leaving.h5"), &file).unwrap();
    std::fs::copy(testdata("hostile/outside.h5"), outer.join("outside.h5")).unwrap();
    std::fs::write(outer.join("outside.raw"), [7; 16]).unwrap();
    #[cfg(unix)]
    for name in ["h5", "raw"] {
        std::os::unix::fs::symlink(format!("../outside.{name}"), inner.join(format!("sly.{name}"))).unwrap();
    }
    (outer, file)
}

#[test]
fn a_name_that_leads_out_of_the_folder_is_denied_and_the_error_names_it_and_the_option() {
    let (_, file) = folders("files_outside_denied");
    for (path, named) in LEAVING.into_iter().filter(|(path, _)| cfg!(unix) || path.ends_with("up")) {
        let error = super::error(|| read(&OpenOptions::new(), &file, path));
        assert_eq!(error.kind(), ErrorKind::Denied, "{path}: {error}");
        for wanted in [named, "outside.", "allow_root", "--allow-root"] {
            assert!(error.to_string().contains(wanted), "{wanted:?} is not in: {error}");
        }
    }
}

#[test]
fn under_a_root_that_is_allowed_the_same_names_are_followed() {
    let (outer, file) = folders("files_outside_allowed");
    let options = OpenOptions::new().allow_root(&outer);
    for (path, named) in LEAVING.into_iter().filter(|(path, _)| cfg!(unix) || path.ends_with("up")) {
        let wanted: Vec<u8> = if named.ends_with("raw") {
            vec![7; 16]
        } else {
            [1i32, 2, 3, 4].iter().flat_map(|number| number.to_le_bytes()).collect()
        };
        assert_eq!(read(&options, &file, path).unwrap(), wanted, "{path}");
    }
    let elsewhere = OpenOptions::new().allow_root(testdata("readme"));
    let error = super::error(|| read(&elsewhere, &file, "/link_up"));
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
}

#[test]
fn a_file_in_memory_has_no_folder_and_names_nothing() {
    let bytes = std::fs::read(testdata("hostile/leaving.h5")).unwrap();
    let file = hdfive::File::from_bytes(bytes).unwrap();
    let error = super::error(|| file.object("/link_up"));
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
}
