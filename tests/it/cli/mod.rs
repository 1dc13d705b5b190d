//! The command `h5`.
//!
//! A case is a file in `cases`: the command in the first line, as a comment; below it what it prints. Lines after
//! `-- stderr` are what it says to stderr; `-- exit 1` is its exit code, if that is not 0. With `HDFIVE_BLESS=1` the
//! files are rewritten to what the command prints now. Commands run in the folder `testdata`.

mod cases;
mod large;
mod pipes;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::{package, python, testdata};

/// The command, built once unless Cargo has built it for this test.
pub(crate) fn h5() -> Command {
    static H5: OnceLock<PathBuf> = OnceLock::new();
    // Cargo names the command even where it has not built it.
    let built = option_env!("CARGO_BIN_EXE_h5").filter(|_| cfg!(feature = "cli"));
    let path = H5.get_or_init(|| built.map_or_else(build, PathBuf::from));
    let mut command = Command::new(path);
    command.current_dir(testdata(""));
    for variable in ["COLUMNS", "LINES", "CLICOLOR_FORCE", "HDF5_EXT_PREFIX", "HDF5_EXTFILE_PREFIX", "HDF5_VDS_PREFIX"]
    {
        command.env_remove(variable);
    }
    command
}

fn build() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("because it is in the target folder");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--features", "cli", "--bin", "h5", "--message-format", "json"]);
    command.arg("--target-dir").arg(target).current_dir(package());
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = python::run(&mut command, "the tests of the command build it");
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut executables = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executables.next_back().expect("because cargo names what it has built")
}
