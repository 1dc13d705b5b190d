//! Damaged files, as many as `HDFIVE_MUTANTS` says: whatever is in a file, reading it in all the ways there are neither
//! panics nor hangs nor takes memory, and ends in data or in errors that say what is wrong and where.
//!
//! The files are those of `testdata` and of the corpus, where it is there; every second mutant has its checksums
//! repaired. `HDFIVE_MUTANT=PATH:NUMBER` repeats one.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[expect(unsafe_code, reason = "an allocator is unsafe by nature")]
mod allocations;
mod damage;
#[expect(unreachable_pub, reason = "the fuzz targets use it too")]
mod everything;
#[path = "../support/random.rs"]
mod random;
#[expect(unreachable_pub, reason = "the fuzz targets use it too")]
mod repair;
mod watch;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use damage::damage;
use everything::read;
use hdfive::{Error, ErrorKind, OpenOptions, Place, Result};
use random::Random;
use watch::{Watchdog, Watched};

/// Mutants where nobody says how many.
const FEW: usize = 500;
/// Larger files are left out.
const LARGEST: u64 = 256 << 10;
/// Rounds of repair: a structure may be found only when another has its checksum.
const ROUNDS: usize = 4;
/// Runs of a mutant that takes too long, as others may be at work on the machine.
const TRIES: usize = 3;

/// Held by whoever measures memory.
static ALONE: Mutex<()> = Mutex::new(());

/// The files, in an order in which neighbours have nothing in common.
fn files() -> Vec<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = std::env::var_os("HDFIVE_CORPUS").map_or_else(|| package.join("../shared/corpus"), PathBuf::from);
    if !corpus.is_dir() {
        println!("there is no corpus; only the files of testdata are damaged");
    }
    let mut folders = vec![package.join("testdata"), corpus];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let of_size = path.metadata().is_ok_and(|data| data.len() <= LARGEST);
            if path.is_dir() {
                folders.push(path);
            } else if of_size && std::fs::read(&path).unwrap().windows(8).any(|eight| eight == b"\x89HDF\r\n\x1a\n") {
                found.push(path);
            }
        }
    }
    found.sort_by_key(|path| Random::of(&path.to_string_lossy()).next());
    found
}

fn open(bytes: &Bytes) -> impl Fn(&OpenOptions) -> Result<hdfive::File> {
    |options| options.open_source(Arc::new(hdfive::storage::MemorySource::new(bytes.clone())), "mutant")
}

/// Mutant number `number` of the file at `path`.
fn mutant(path: &Path, number: usize) -> Bytes {
    let mut file = std::fs::read(path).unwrap();
    let mut random = Random::of(&format!("{} {number}", path.file_name().unwrap().to_string_lossy()));
    damage(&mut file, &mut random);
    for _ in 0..ROUNDS * (number % 2) {
        let damaged = Bytes::from(file.clone());
        if repair::repair(&mut file, &everything::structures(open(&damaged))) == 0 {
            break;
        }
    }
    file.into()
}

/// What came of the mutants.
#[derive(Debug, Default)]
struct Outcome {
    whole: usize,
    in_part: usize,
    refused: usize,
    kinds: BTreeMap<String, usize>,
    slowest: f64,
    most: usize,
    failures: Vec<String>,
}

impl Outcome {
    fn add(&mut self, name: &str, path: &Path, number: usize) {
        // What panics while checksums are repaired is found too.
        let bytes = match catch_unwind(|| mutant(path, number)) {
            Ok(bytes) => bytes,
            Err(_) => return self.failures.push(format!("{name}: a panic")),
        };
        self.read(name, &bytes);
    }

    fn read(&mut self, name: &str, bytes: &Bytes) {
        for tries in 1..=TRIES {
            let mut watched = Watched::new(bytes.len());
            let errors = catch_unwind(AssertUnwindSafe(|| read(open(bytes), &mut watched)));
            if tries < TRIES && watched.is_late() {
                continue;
            }
            self.slowest = self.slowest.max(watched.slowest);
            self.most = self.most.max(watched.most);
            self.failures.extend(watched.failures.iter().map(|failure| format!("{name}: {failure}")));
            match errors {
                Ok(errors) => self.errors(name, &errors, watched.read),
                Err(_) => self.failures.push(format!("{name}: a panic")),
            }
            break;
        }
    }

    fn errors(&mut self, name: &str, errors: &[Error], read: usize) {
        // To ask for another type than there is says nothing about the file.
        let sound = errors.iter().all(|e| matches!(e.kind(), ErrorKind::WrongType | ErrorKind::OutOfBounds));
        match (sound, read) {
            (true, _) => self.whole += 1,
            (false, 0) => self.refused += 1,
            (false, _) => self.in_part += 1,
        }
        for error in errors {
            *self.kinds.entry(format!("{:?}", error.kind())).or_default() += 1;
            if !says_enough(error) {
                self.failures.push(format!("{name}: {:?} says too little: {error}", error.kind()));
            }
        }
    }
}

/// Whether an error is about the file, and says where in it something is wrong.
fn says_enough(error: &Error) -> bool {
    let names_address = || {
        let of_place =
            |place: &Place| matches!(place, Place::Field { .. } | Place::Chunk { .. } | Place::Header { .. });
        error.trail().iter().any(of_place) || error.message().contains("0x") || error.message().contains("is cut short")
    };
    match error.kind() {
        ErrorKind::Corrupt => names_address(),
        ErrorKind::Io | ErrorKind::Invalid | ErrorKind::Conflict | ErrorKind::Changed | ErrorKind::Locked => false,
        _ => true,
    }
}

#[test]
fn damaged_files_are_read_in_part_or_end_in_errors() {
    let mut outcome = Outcome::default();
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Ok(one) = std::env::var("HDFIVE_MUTANT") {
        let (path, number) = one.rsplit_once(':').expect("PATH:NUMBER");
        outcome.add(&one, Path::new(path), number.parse().unwrap());
        println!("{outcome:#?}");
        return;
    }
    let count = std::env::var("HDFIVE_MUTANTS").map_or(FEW, |count| count.parse().expect("a number"));
    let files = files();
    assert!(files.len() >= 40, "only {} files", files.len());
    let dog = Watchdog::start();
    for number in 0..count {
        let path = &files[number % files.len()];
        // Of one file, mutants with and without repaired checksums.
        let own = number / files.len() + number % files.len() % 2;
        let name = format!("{}:{own}", path.display());
        dog.look_at(&name);
        outcome.add(&name, path, own);
    }
    dog.stop();
    let Outcome { whole, in_part, refused, kinds, slowest, most, failures } = outcome;
    println!("{count} mutants of {} files: {whole} read as if whole, {in_part} in part, {refused} not", files.len());
    println!("slowest job {slowest:.2} of the time allowed, most memory beyond the data {} KiB; {kinds:?}", most >> 10);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn files_that_were_made_to_harm_cost_no_more() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/hostile");
    let mut outcome = Outcome::default();
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_some_and(|extension| extension == "h5") {
            outcome.read(&path.display().to_string(), &std::fs::read(&path).unwrap().into());
        }
    }
    assert!(outcome.in_part > 10, "{outcome:?}");
    assert!(outcome.failures.is_empty(), "{:#?}", outcome.failures);
}
