//! Reads on one thread and on many: the same elements, and the same errors.

use std::path::{Path, PathBuf};
use std::process::Command;

use hdfive::manifest::Manifest;
use hdfive::selection::{Index, Selection};
use hdfive::{Dataset, File};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::support::random::Random;
use crate::support::{self, package, python};

const SHAPE: [u32; 3] = [61, 53, 47];
const THREADS: usize = 8;
/// Selections of each dataset.
const SELECTIONS: usize = 15;

/// The files that `parallel.py` writes.
fn files(test: &str) -> Vec<PathBuf> {
    let folder = support::scratch(test);
    let script = package().join("tests/it/read/parallel.py");
    python::run(Command::new(python::python()).arg("-B").arg(script).arg(&folder), "the script does not run");
    ["earliest.h5", "latest.h5"].map(|name| folder.join(name)).to_vec()
}

fn pool() -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(THREADS).build().unwrap()
}

/// Element `at` of the dataset `name`.
fn element(name: &str, at: [u32; 3]) -> u32 {
    if name == "sparse" && !(20..30).contains(&at[0]) {
        return 7;
    }
    let number = (at[0] * SHAPE[1] + at[1]) * SHAPE[2] + at[2];
    number.wrapping_mul(2_654_435_761).wrapping_add(number >> 7)
}

/// An index along a dimension, and what it selects.
fn index(random: &mut Random, size: u32) -> (Index, Vec<u32>) {
    let whole = || (Index::ALL, (0..size).collect());
    match random.below(8) {
        0 => {
            let at = random.below(size);
            (Index::At(at.into()), vec![at])
        }
        1..=3 => {
            let (a, b) = (random.below(size), random.below(size));
            let (start, stop) = (a.min(b), a.max(b) + 1);
            let step = if random.below(3) == 0 { 1 + random.below(5) } else { 1 };
            let range = Index::Range { start: Some(start.into()), stop: Some(stop.into()), step: step.into() };
            (range, (start..stop).step_by(usize::try_from(step).unwrap()).collect())
        }
        4 => {
            let all = Index::Range { start: None, stop: None, step: -2 };
            (all, (0..size).rev().step_by(2).collect())
        }
        5 => {
            let list: Vec<u32> = (0..1 + random.below(30)).map(|_| random.below(size)).collect();
            (Index::List(list.iter().map(|at| i64::from(*at)).collect()), list)
        }
        _ => whole(),
    }
}

fn selection(random: &mut Random, name: &str) -> (Selection, Vec<u32>) {
    if random.below(10) == 0 {
        let points: Vec<[u32; 3]> = (0..random.below(20_000)).map(|_| SHAPE.map(|size| random.below(size))).collect();
        let selection = Selection::Points(points.iter().map(|at| at.map(i64::from).to_vec()).collect());
        return (selection, points.into_iter().map(|at| element(name, at)).collect());
    }
    let [a, b, c] = SHAPE.map(|size| index(random, size));
    let places = a.1.iter().flat_map(|x| b.1.iter().flat_map(|y| c.1.iter().map(|z| [*x, *y, *z])));
    let elements = places.map(|at| element(name, at)).collect();
    (Selection::Indices(vec![a.0, b.0, c.0]), elements)
}

fn datasets(path: &Path) -> Vec<(String, Dataset)> {
    let names = ["rows", "blocks", "thin", "single", "pieces", "plain", "growing", "checked", "contiguous", "sparse"];
    let names = names.iter().chain(&["stacked", "beside"]);
    // Each from a file of its own that nobody has read from yet.
    names.map(|name| ((*name).to_owned(), File::open(path).unwrap().dataset(name).unwrap())).collect()
}

#[test]
fn selections_are_what_they_are_in_one_thread_and_in_eight() {
    let (pool, mut random) = (pool(), Random::of("parallel"));
    for path in files("parallel") {
        for (name, dataset) in datasets(&path) {
            for _ in 0..SELECTIONS {
                let (selection, wanted) = selection(&mut random, &name);
                let selected = dataset.select(&selection);
                let what = || format!("{name} of {}, {selection:?}", path.display());
                assert!(selected.clone().threads(1).read::<u32>().unwrap() == wanted, "{}", what());
                assert!(pool.install(|| selected.read::<u32>()).unwrap() == wanted, "{} in many threads", what());
                let mut into = vec![1; wanted.len()];
                pool.install(|| selected.threads(3).read_into(&mut into)).unwrap();
                assert!(into == wanted, "{} in three threads", what());
            }
            let all: Vec<u64> = pool.install(|| dataset.read()).unwrap();
            let [x, y, z] = SHAPE;
            let places = (0..x).flat_map(|a| (0..y).flat_map(move |b| (0..z).map(move |c| [a, b, c])));
            assert!(all.into_iter().eq(places.map(|at| u64::from(element(&name, at)))), "all of {name}");
        }
    }
}

/// A worker of the pool reads too, and so do threads that are not of the pool, all of one file.
#[test]
fn reads_within_reads_and_beside_them_end() {
    let pool = pool();
    let path = &files("nested")[0];
    let all = datasets(path);
    let read = |(name, dataset): &(String, Dataset)| {
        let values: Vec<u32> = dataset.read().unwrap();
        assert_eq!(values[100], element(name, [0, 2, 6]));
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                pool.install(|| {
                    use rayon::prelude::*;
                    all.par_iter().chain(&all).for_each(read);
                });
            });
        }
        scope.spawn(|| all.iter().for_each(read));
    });
}

#[test]
fn the_first_broken_chunk_is_named_whatever_the_number_of_threads() {
    let pool = pool();
    let path = &files("broken")[0];
    let mut bytes = std::fs::read(path).unwrap();
    for name in ["rows", "blocks", "thin", "checked"] {
        let manifest = File::open(path).unwrap().dataset(name).unwrap().manifest().unwrap();
        let Manifest::Chunks(chunks) = &*manifest else { panic!("{name} has no chunks") };
        // All from the third chunk on.
        for place in chunks.iter().skip(2) {
            let (start, size) = (usize::try_from(place.addr.0).unwrap(), usize::try_from(place.size).unwrap());
            bytes[start + size / 2..start + size].fill(0xa5);
        }
    }
    std::fs::write(path, bytes).unwrap();
    for (name, dataset) in datasets(path).into_iter().filter(|(name, _)| name != "single") {
        let selected = dataset.select(..);
        let Err(wanted) = selected.clone().threads(1).read::<u32>() else { continue };
        assert!(wanted.to_string().contains("chunk"), "{name}: {wanted}");
        for _ in 0..20 {
            let error = pool.install(|| selected.read::<u32>()).unwrap_err();
            assert_eq!(error.to_string(), wanted.to_string(), "{name}");
        }
    }
}
