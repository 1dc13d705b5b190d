//! What the examples write is what the libraries read whose formats these are.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::python::{python, run};
use crate::support::{package, scratch, skipped};
use crate::typed::examples;

/// Runs an example that writes a file, and has a library read that.
fn is_read(example: &str, file: &str, python: &Path, library: &str) {
    let path = scratch(example).join(file);
    let Some(said) = examples::run(example, &[path.as_ref()]) else { return };
    assert!(said.contains(file), "{said}");
    let script = package().join("tests/write/examples.py");
    run(Command::new(python).arg("-B").arg(script).arg(library).arg(path), "the library reads something else");
}

#[test]
fn anndata_reads_its_example() {
    is_read("anndata_write", "cells.h5ad", python(), "anndata");
}

/// With `HDFIVE_JUDGES`, where `.ci/judges.sh` has put these libraries.
#[test]
fn keras_and_mat73_read_their_examples() {
    let Some(folder) = std::env::var_os("HDFIVE_JUDGES").map(PathBuf::from) else {
        return skipped("Keras and mat73", "HDFIVE_JUDGES is not set; .ci/judges.sh sets it");
    };
    let python = folder.join("readers/bin/python");
    is_read("keras_write", "weights.h5", &python, "keras");
    is_read("matlab_write", "variables.mat", &python, "matlab");
}
