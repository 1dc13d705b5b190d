//! What several tests need: where things are, and how to say that a test was skipped.

pub(crate) mod documents;
pub(crate) mod python;
#[path = "../../support/random.rs"]
pub(crate) mod random;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The folder of the package.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Says something on the terminal, whatever the test harness captures.
pub(crate) fn say(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Says that a test was skipped.
pub(crate) fn skipped(test: &str, why: &str) {
    say(&format!("SKIPPED {test}: {why}"));
}

/// A new empty folder for a test.
pub(crate) fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A file of `testdata`.
pub(crate) fn testdata(name: &str) -> PathBuf {
    package().join("testdata").join(name)
}

/// The corpus; `None`, said aloud, where there is none.
pub(crate) fn corpus(test: &str) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("HDFIVE_CORPUS") {
        let folder = PathBuf::from(folder);
        assert!(folder.is_dir(), "HDFIVE_CORPUS is {}, which is no folder", folder.display());
        return Some(folder);
    }
    let folder = package().join("../shared/corpus");
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(test, "there is no ../shared/corpus beside the package; HDFIVE_CORPUS can name a folder");
    None
}

/// All files below `folder` of which the path satisfies `wanted`, sorted.
pub(crate) fn files(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if wanted(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What `job` gives for each item, in order; on as many threads as there are cores. Not those of rayon: `job` may
/// wait for them.
pub(crate) fn in_parallel<'a, I: Sync, T: Send>(items: &'a [I], job: impl Fn(&'a I) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((number, item)) = items.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((number, job(item)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|e| std::panic::resume_unwind(e))).collect()
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, value)| value).collect()
}
