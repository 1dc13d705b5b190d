//! What a user of staged arrays waits for: small and large reads and writes, resizing, loading, copying, casting,
//! committing. Prints one line of JSON per measurement; `benches/stage.py` runs the same on Python's class and compares.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hdfive::convert::Element;
use hdfive::selection::{Index, Selection};
use hdfive::stage::{Array, MemorySink, Role, StagedArray};
use sha2::{Digest, Sha256};

/// Prints the shortest of at least `rounds` runs; `prepare` is not measured.
fn measure<P, R>(
    name: &str,
    rounds: usize,
    mut prepare: impl FnMut() -> P,
    mut run: impl FnMut(&mut P) -> R,
) -> Duration {
    let (mut best, begin) = (Duration::MAX, Instant::now());
    let mut done = 0;
    while done < rounds && (done < 3 || begin.elapsed() < Duration::from_secs(3)) {
        let mut prepared = prepare();
        let start = Instant::now();
        let result = black_box(run(&mut prepared));
        best = best.min(start.elapsed());
        drop((result, prepared));
        done += 1;
    }
    println!("{{\"name\": {name:?}, \"ns\": {}}}", best.as_nanos());
    best
}

fn range(start: i64, stop: i64) -> Index {
    Index::Range { start: Some(start), stop: Some(stop), step: 1 }
}

/// `side` x `side` elements in chunks of `chunk` x `chunk`, no two chunks alike.
fn array(side: u64, chunk: u64, role: Role) -> StagedArray {
    let values = values(side);
    let array = Array::from_bytes(&[side, side], f64::TYPE, values).expect("as many values as the shape has");
    StagedArray::from_array(array, &[chunk, chunk], &Array::scalar(0f64), role).expect("a valid array")
}

fn values(side: u64) -> Vec<u8> {
    (0..u32::try_from(side * side).expect("a small array")).flat_map(|n| f64::from(n).to_ne_bytes()).collect()
}

fn small() {
    // 1,000 operations at a time: one is shorter than the clock can tell.
    let many = |name: &str, mut one: Box<dyn FnMut()>| {
        let best = measure(&format!("{name} (1,000 times)"), 200, || (), |()| (0..1000).for_each(|_| one()));
        println!("{{\"name\": {name:?}, \"ns\": {}}}", best.as_nanos() / 1000);
    };
    let get = array(1000, 10, Role::Staged);
    let point = Selection::Indices(vec![Index::At(500), Index::At(503)]);
    let own = get.clone();
    many("get 1 element", Box::new(move || drop(black_box(own.get(&point)))));
    let window = Selection::Indices(vec![range(497, 503), range(498, 504)]);
    let own = get.clone();
    many("get 6 x 6 elements in 4 chunks", Box::new(move || drop(black_box(own.get(&window)))));
    let list = Selection::Indices(vec![Index::At(3), Index::List(vec![7, 3, 500, 501, 502, 12])]);
    let own = get.clone();
    many("get a list of 6 elements", Box::new(move || drop(black_box(own.get(&list)))));
    let mut own = array(1000, 10, Role::Staged);
    let (point, value) = (Selection::Indices(vec![Index::At(500), Index::At(503)]), Array::scalar(1f64));
    many("set 1 element", Box::new(move || own.set(&point, &value).expect("it fits")));
    let mut own = array(1000, 10, Role::Staged);
    let (window, value) = (Selection::Indices(vec![range(497, 503), range(498, 504)]), Array::scalar(1f64));
    many("set 6 x 6 elements in 4 chunks", Box::new(move || own.set(&window, &value).expect("it fits")));
}

fn large() {
    let (side, chunk) = (3200, 32);
    let bytes = values(side);
    measure("bare copy of 82 MB to new memory", 20, || (), |()| bytes.clone());
    let mut there = bytes.clone();
    measure("bare copy of 82 MB to old memory", 20, || (), |()| there.copy_from_slice(&bytes));
    let base = array(side, chunk, Role::Base);
    let all = Selection::all();
    measure("get 82 MB to new memory", 20, || (), |()| base.get(&all));
    measure("get 82 MB to old memory", 20, || (), |()| base.get_into(&all, &mut there));
    drop(base);
    let base = stored(side, chunk);
    measure("get 82 MB to old memory, from a slab of chunks", 20, || (), |()| base.get_into(&all, &mut there));
    drop(base);
    let value = Array::from_bytes(&[side, side], f64::TYPE, bytes).expect("as many values as the shape has");
    let full = || StagedArray::full(&[side, side], &[chunk, chunk], &Array::scalar(0f64)).expect("a valid array");
    measure("set 82 MB to new memory", 20, full, |own| own.set(&all, &value));
    let mut staged = full();
    staged.set(&all, &value).expect("it fits");
    measure("set 82 MB to old memory", 20, || (), |()| staged.set(&all, &value));
    measure("plan 1,000,000 chunks", 10, million, |own| own.plan_set(&all));
    measure("plan a list of 1,000,000 elements", 10, million, |own| own.plan_get(&scattered()));
}

fn million() -> StagedArray {
    StagedArray::full(&[2_000_000], &[2], &Array::scalar(0u8)).expect("a valid array")
}

fn scattered() -> Selection {
    Selection::Indices(vec![Index::List((0..1_000_000).map(|n| n * 1_234_567 % 2_000_000).collect())])
}

/// The same in one base slab, chunk upon chunk, as a file has them.
fn stored(side: u64, chunk: u64) -> StagedArray {
    let mut own = StagedArray::full(&[side, side], &[chunk, chunk], &Array::scalar(0f64)).expect("a valid array");
    let value = array(side, chunk, Role::Base).get_all().expect("in memory");
    own.set(&Selection::all(), &value).expect("it fits");
    own.commit(&mut MemorySink).expect("memory takes it");
    own
}

fn whole() {
    let base = stored(1000, 10);
    let mut staged = base.clone();
    staged.load().expect("in memory");
    measure("copy 10,000 staged chunks", 50, || (), |()| staged.clone());
    measure("astype of 10,000 staged chunks", 50, || (), |()| staged.astype(&f32::TYPE));
    measure(
        "astype of 10,000 staged chunks, and read all",
        50,
        || (),
        |()| {
            let cast = staged.astype(&f32::TYPE).expect("castable");
            cast.get(&Selection::all())
        },
    );
    measure("astype of 10,000 base chunks", 50, || (), |()| base.astype(&f32::TYPE));
    measure("load 10,000 chunks", 50, || base.clone(), |own| own.load());
    let columns = array(1000, 10, Role::Base);
    measure("load 10,000 chunks from 100 columns of a plain array", 50, || columns.clone(), |own| own.load());
    measure("resize 1000 x 1000 to 1005 x 995", 50, || base.clone(), |own| own.resize(&[1005, 995]));
    measure("resize 1000 x 1000 to 503 x 503", 50, || base.clone(), |own| own.resize(&[503, 503]));
    let mut cut = base.clone();
    cut.resize(&[995, 995]).expect("a valid shape");
    measure("resize 995 x 995 to 1200 x 1200", 50, || cut.clone(), |own| own.resize(&[1200, 1200]));
}

fn commit() {
    let staged = array(3200, 32, Role::Staged);
    let mut written = StagedArray::full(&[3200, 3200], &[32, 32], &Array::scalar(0f64)).expect("a valid array");
    written.set(&Selection::all(), &staged.get_all().expect("in memory")).expect("it fits");
    let bytes = values(3200);
    measure(
        "bare SHA-256 of 82 MB on one thread",
        10,
        || (),
        |()| bytes.chunks(8192).map(|piece| Sha256::digest(piece).into()).collect::<Vec<[u8; 32]>>(),
    );
    measure("bare SHA-256 of 82 MB on two threads", 10, || (), |()| bare_sha(&bytes));
    measure("hash 82 MB in 10,000 chunks", 10, || (), |()| written.hash(&written.plan_hash()));
    let plan = written.plan_hash();
    let hashes = written.hash(&plan).expect("in memory");
    measure("find duplicates among 10,000 chunks", 50, || (), |()| written.plan_commit(&plan, &hashes));
    measure("commit 82 MB in 10,000 chunks", 10, || written.clone(), |own| own.commit(&mut MemorySink));
    let mut again = written.clone();
    again.commit(&mut MemorySink).expect("memory takes it");
    again.set(&Selection::all(), &staged.get_all().expect("in memory")).expect("it fits");
    measure("commit 82 MB that are there already", 10, || again.clone(), |own| own.commit(&mut MemorySink));
}

/// The hashes of 10,000 pieces, on two threads.
fn bare_sha(bytes: &[u8]) -> Vec<Vec<[u8; 32]>> {
    let pieces: Vec<&[u8]> = bytes.chunks(8192).collect();
    std::thread::scope(|scope| {
        let half = |part: &'_ [&[u8]]| part.iter().map(|piece| Sha256::digest(piece).into()).collect::<Vec<[u8; 32]>>();
        let (left, right) = pieces.split_at(pieces.len() / 2);
        let other = scope.spawn(move || half(right));
        vec![half(left), other.join().expect("hashing does not panic")]
    })
}

fn main() {
    let parts: [(&str, fn()); 4] = [("small", small), ("large", large), ("whole", whole), ("commit", commit)];
    let wanted = std::env::args().find(|arg| parts.iter().any(|(name, _)| name == arg));
    let parts = parts.iter().filter(|(name, _)| wanted.as_ref().is_none_or(|wanted| wanted == name));
    parts.for_each(|(_, run)| run());
}
