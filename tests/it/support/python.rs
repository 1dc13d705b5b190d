//! The tests' own Python environment, with the libraries that write the files of `testdata`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use super::package;

/// The interpreter of the environment, which is made on demand: once, whatever threads and processes want it.
pub(crate) fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(make)
}

fn make() -> PathBuf {
    let (venv, wanted) = (package().join("tests/venv"), package().join("testdata/requirements.txt"));
    let interpreter = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let lock = std::fs::File::create(package().join("tests/venv.lock")).expect("because the package can be written to");
    lock.lock().expect("because nothing else locks this file for long");
    let requirements = std::fs::read_to_string(&wanted).unwrap();
    // Written last, so that an environment that was not finished is made again.
    let done = venv.join("requirements.txt");
    if std::fs::read_to_string(&done).is_ok_and(|made| made == requirements) {
        return interpreter;
    }
    if venv.exists() {
        std::fs::remove_dir_all(&venv).unwrap();
    }
    super::say(&format!("making a Python environment in {} (once)", venv.display()));
    let needs = "the tests of testdata need Python 3.11 or newer, with venv, as `python3`, and packages from PyPI";
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv), needs);
    let pip = ["-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--requirement"];
    run(Command::new(&interpreter).args(pip).arg(&wanted), needs);
    std::fs::write(&done, &requirements).unwrap();
    interpreter
}

/// Runs a command that must succeed.
pub(crate) fn run(command: &mut Command, needs: &str) -> Output {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}; {needs}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} ended with {}; {needs}\n{said}", output.status);
    output
}
