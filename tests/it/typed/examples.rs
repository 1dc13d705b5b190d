//! The examples run, and say what they should.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{package, skipped};

/// What an example prints; `None`, said aloud, where it was not built with the tests.
pub(crate) fn run(name: &str, arguments: &[&OsStr]) -> Option<String> {
    let here: PathBuf = std::env::current_exe().unwrap();
    let built = here.parent()?.parent()?.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    if !built.exists() {
        skipped(
            "an example",
            &format!("{name} was not built; `cargo test` builds it, `cargo test --test it` does not"),
        );
        return None;
    }
    let output = Command::new(built).args(arguments).current_dir(package()).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_examples_say_what_is_in_the_files() {
    let wanted: [(&str, &[&str]); 11] = [
        ("anndata", &["12 cells, the first is cell 0", "kind: a, b, c", "a sparse matrix of shape [12, 8]"]),
        (
            "chunking",
            &[
                "one row: 12 elements out of 3 chunks",
                "a tile: 16 elements out of 1 chunks",
                "the last 15: 15 elements out of 2 chunks",
                "the sum is 1237.5",
            ],
        ),
        ("keras", &["dense/kernel:0 [4, 3]", "dense_1/bias:0 [2], mean 0.000", "23 parameters"]),
        ("list", &["/surface/temperature f32 [28+, 11, 16]", "units = \"K\""]),
        (
            "matlab",
            &[
                "A = [[1, 2, 3],\n [4, 5, 6]]",
                "name = \"Grüße\"",
                "ok = [true, false, true]",
                "\"two\"}",
                "s = {x: [[0.5]]}",
            ],
        ),
        ("netcdf", &["dimension time = 5 (unlimited)", "variable data(time, x)", "variable x(x), a coordinate"]),
        ("nexus", &["/entry/data is NXdata", "in counts", "angle: [0.0, 0.25, 0.5, 0.75, 1.0]"]),
        ("pandas", &["a: [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]", "c: [5.0, 4.0, 3.0, 2.0, 1.0, 0.0]"]),
        ("pytables", &["row49: 49, [49, -49, 98]", "all numbers together are 1225"]),
        ("slices", &["not exactly one of i32", "two points: ["]),
        ("tables", &["Grüneck is Green, at [1.0, 2.0, 3.0]", "[[3, 1, 2], [], [7]]", "[3, 3] elements"]),
    ];
    for (name, lines) in wanted {
        let Some(said) = run(name, &[]) else { continue };
        for line in lines {
            assert!(said.contains(line), "{name} does not say {line:?}:\n{said}");
        }
    }
}
