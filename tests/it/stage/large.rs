//! Arrays large enough for several threads: what they read and write is what one would.

use hdfive::s;
use hdfive::selection::{Index, Selection};
use hdfive::stage::{Array, MemorySink, Role, StagedArray};

const SHAPE: [u64; 2] = [701, 905];

fn value(row: u64, column: u64) -> i32 {
    i32::try_from(row * 1000 + column).unwrap()
}

fn whole() -> Array {
    let values: Vec<i32> = (0..SHAPE[0]).flat_map(|row| (0..SHAPE[1]).map(move |column| value(row, column))).collect();
    Array::new(&SHAPE, &values).unwrap()
}

/// Rows and columns in the order of the result.
fn expect(array: &StagedArray, selection: &Selection, rows: &[u64], columns: &[u64]) {
    let found = array.get(selection).unwrap();
    let expected: Vec<i32> =
        rows.iter().flat_map(|row| columns.iter().map(move |column| value(*row, *column))).collect();
    assert!(found.bytes().len() > 1 << 20, "too small for threads");
    assert!(found.values::<i32>().unwrap() == expected, "{selection:?}");
}

fn arrays(chunk: &[u64]) -> Vec<StagedArray> {
    let fill = Array::scalar(-1i32);
    let make = |role| StagedArray::from_array(whole(), chunk, &fill, role).unwrap();
    let mut written = StagedArray::full(&SHAPE, chunk, &fill).unwrap();
    written.set(&Selection::all(), &whole()).unwrap();
    let mut committed = written.clone();
    committed.commit(&mut MemorySink).unwrap();
    let mut over = committed.clone();
    over.set(&s![..;2], &Array::new(&[351, 905], &numbers(|row| 2 * row)).unwrap()).unwrap();
    let mut loaded = make(Role::Base);
    loaded.load().unwrap();
    vec![make(Role::Base), make(Role::Staged), written, committed, over, loaded]
}

fn numbers(row: impl Fn(u64) -> u64 + Copy) -> Vec<i32> {
    (0..351).flat_map(|n| (0..SHAPE[1]).map(move |column| value(row(n), column))).collect()
}

#[test]
fn several_threads_read_and_write_what_one_would() {
    for chunk in [[13, 17], [64, 40], [701, 3], [1, 905]] {
        for array in arrays(&chunk) {
            let (rows, columns): (Vec<u64>, Vec<u64>) = ((0..701).collect(), (0..905).collect());
            expect(&array, &s![], &rows, &columns);
            expect(&array, &s![5..699, 3..], &rows[5..699], &columns[3..]);
            let down: Vec<u64> = rows.iter().rev().copied().collect();
            let odd: Vec<u64> = columns.iter().rev().step_by(2).copied().collect();
            expect(&array, &s![..;-1, ..;-2], &down, &odd);
            let list: Vec<u64> = (0..690).map(|n| n * 37 % 701).collect();
            expect(&array, &s![list.clone()], &list, &columns);
            let twice: Vec<u64> = columns.iter().chain(&columns).copied().collect();
            let index: Index = twice.clone().into();
            expect(&array, &Selection::Indices(vec![Index::ALL, index]), &rows, &twice);
        }
    }
}

#[test]
fn a_large_copy_is_cast_and_refilled() {
    let array = StagedArray::from_array(whole(), &[64, 40], &Array::scalar(7i32), Role::Staged).unwrap();
    let refilled = array.refill(&Array::scalar(-7i32)).unwrap();
    assert_eq!(refilled.get(&s![0, 7]).unwrap().values::<i32>().unwrap(), [-7]);
    let cast = array.astype(&hdfive::convert::ElementType::Bool).unwrap();
    assert!(cast.get(&s![]).unwrap().values::<bool>().unwrap()[1..].iter().all(|truth| *truth));
    assert_eq!(array.get(&s![0, 7]).unwrap().values::<i32>().unwrap(), [7]);
}

#[test]
fn thirty_two_dimensions_are_not_too_many() {
    let mut shape = vec![1; 32];
    (shape[0], shape[15], shape[31]) = (3, 5, 7);
    let chunk: Vec<u64> = shape.iter().map(|size| 1 + size / 2).collect();
    let mut array = StagedArray::full(&shape, &chunk, &Array::scalar(0u16)).unwrap();
    let last = Selection::Indices(vec![Index::Ellipsis, Index::from(2..5)]);
    array.set(&last, &Array::scalar(9u16)).unwrap();
    (shape[0], shape[31]) = (4, 4);
    array.resize(&shape).unwrap();
    assert_eq!(array.broken_invariant(), None);
    let found = array.get_all().unwrap().values::<u16>().unwrap();
    assert_eq!(found, [[0, 0, 9, 9].repeat(15), vec![0; 20]].concat());
    assert_eq!(array.commit(&mut MemorySink).unwrap().stored(), 4);
    assert!(StagedArray::full(&[1; 33], &[1; 33], &Array::scalar(0u16)).is_err());
}

/// Bytes of memory that this process uses.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Memory that other tests take at the same time.
#[cfg(target_os = "linux")]
const OTHERS: u64 = 64 << 20;

#[test]
#[cfg(target_os = "linux")]
fn a_chunk_takes_at_most_24_bytes_of_bookkeeping() {
    const CHUNKS: usize = 16_000_000;
    let bytes = Array::new(&[CHUNKS as u64], &vec![1u8; CHUNKS]).unwrap();
    let slab = std::sync::Arc::new(hdfive::stage::MemorySlab::new(&bytes).unwrap());
    let before = resident();
    let base = hdfive::stage::Base {
        slabs: vec![slab],
        slab_indices: vec![1; CHUNKS],
        slab_offsets: (0..CHUNKS as u64).rev().collect(),
        hashes: vec![],
    };
    let array = StagedArray::new(&[CHUNKS as u64], &[1], base, None).unwrap();
    let grown = resident().saturating_sub(before);
    assert!(grown < 24 * CHUNKS as u64 + OTHERS, "{grown} bytes for {CHUNKS} chunks");
    let copies = vec![array; 100];
    let copied = resident().saturating_sub(before);
    assert!(copied < 24 * CHUNKS as u64 + OTHERS, "{copied} bytes with 100 copies");
    assert_eq!(copies[99].get(&s![7]).unwrap().values::<u8>().unwrap(), [1]);
}

#[test]
#[cfg(target_os = "linux")]
fn an_array_of_fill_and_its_copies_cost_nothing() {
    let (begin, before) = (std::time::Instant::now(), resident());
    // 10 GB in 100,000 chunks.
    let array = StagedArray::full(&[100_000, 12_500], &[100, 125], &Array::scalar(1.5f64)).unwrap();
    let mut copies = vec![array; 1000];
    assert_eq!(copies[999].get(&s![99_999, 12_499]).unwrap().values::<f64>().unwrap(), [1.5]);
    copies[500].set(&s![7, 8], &Array::scalar(2.5f64)).unwrap();
    assert_eq!(copies[501].get(&s![7, 8]).unwrap().values::<f64>().unwrap(), [1.5]);
    let grown = resident().saturating_sub(before);
    assert!(grown < OTHERS, "{grown} bytes");
    assert!(begin.elapsed().as_secs() < 5);
}
