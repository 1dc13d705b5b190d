//! Random operations on a staged array beside a plain one. After every step contents and bookkeeping are checked; an
//! operation that is refused or fails must have changed nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hdfive::convert::{Element, ElementType};
use hdfive::selection::{Destination, Index, Selection, Transfer};
use hdfive::stage::{Array, Base, BaseSlab, MemorySink, MemorySlab, NewSlab, Role, SlabSink, StagedArray, Texts};
use hdfive::{Error, Result};
use proptest::prelude::*;

/// A base slab that reads by transfers and fails when it is told to.
#[derive(Debug)]
struct Flaky {
    slab: MemorySlab,
    fails: Arc<AtomicBool>,
}

impl BaseSlab for Flaky {
    fn element(&self) -> &ElementType {
        self.slab.element()
    }

    fn shape(&self) -> &[u64] {
        self.slab.shape()
    }

    fn read(&self, transfers: &[Transfer], destination: Destination<'_>, texts: &Texts) -> Result<()> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(Error::not_found("the disk is gone"));
        }
        self.slab.read(transfers, destination, texts)
    }
}

struct FlakySink(Arc<AtomicBool>);

impl SlabSink for FlakySink {
    fn store(&mut self, slab: &NewSlab<'_>) -> Result<Arc<dyn BaseSlab>> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Error::not_found("the disk is full"));
        }
        MemorySink.store(slab)
    }
}

/// What is to happen; numbers are brought into range by the shape of the moment.
#[derive(Clone, Debug)]
enum Operation {
    Get(Vec<Axis>),
    Set { axes: Vec<Axis>, scalar: bool, value: i64, misfit: bool },
    Points { points: Vec<(u8, u8, u8)>, value: i64 },
    Mask { bits: u64, value: i64 },
    Resize(Vec<u8>),
    Load,
    Commit,
    Copy,
    Cast(bool),
    Refill(i64),
    Rechunk(Vec<u8>),
    Break(bool),
    OutOfBounds,
}

#[derive(Clone, Debug)]
pub(super) enum Axis {
    At(i8),
    Range(Option<i8>, Option<i8>, i8),
    List(Vec<i8>),
    Mask(u32),
}

pub(super) fn axis() -> impl Strategy<Value = Axis> {
    let end = || prop::option::of(-14..14i8);
    prop_oneof![
        2 => any::<i8>().prop_map(Axis::At),
        6 => (end(), end(), prop_oneof![4 => Just(1i8), 2 => 2..5i8, 1 => -4..0i8])
            .prop_map(|(start, stop, step)| Axis::Range(start, stop, step)),
        2 => prop::collection::vec(any::<i8>(), 0..7).prop_map(Axis::List),
        1 => any::<u32>().prop_map(Axis::Mask),
    ]
}

fn axes() -> impl Strategy<Value = Vec<Axis>> {
    prop::collection::vec(axis(), 0..4)
}

fn operation() -> impl Strategy<Value = Operation> {
    let sizes = |low: u8, high: u8| prop::collection::vec(low..high, 3);
    prop_oneof![
        3 => axes().prop_map(Operation::Get),
        6 => (axes(), any::<bool>(), -3..4i64, prop::bool::weighted(0.1))
            .prop_map(|(axes, scalar, value, misfit)| Operation::Set { axes, scalar, value, misfit }),
        1 => (prop::collection::vec(any::<(u8, u8, u8)>(), 0..6), -3..4i64)
            .prop_map(|(points, value)| Operation::Points { points, value }),
        1 => (any::<u64>(), -3..4i64).prop_map(|(bits, value)| Operation::Mask { bits, value }),
        4 => sizes(0, 12).prop_map(Operation::Resize),
        1 => Just(Operation::Load),
        3 => Just(Operation::Commit),
        1 => Just(Operation::Copy),
        1 => any::<bool>().prop_map(Operation::Cast),
        1 => (-3..4i64).prop_map(Operation::Refill),
        1 => sizes(1, 6).prop_map(Operation::Rechunk),
        1 => any::<bool>().prop_map(Operation::Break),
        1 => Just(Operation::OutOfBounds),
    ]
}

/// The plain array.
#[derive(Clone, Debug, PartialEq)]
struct Plain {
    shape: Vec<u64>,
    values: Vec<i64>,
    fill: i64,
}

pub(super) fn size(n: u64) -> usize {
    usize::try_from(n).unwrap()
}

pub(super) fn place(shape: &[u64], at: &[u64]) -> usize {
    size(shape.iter().zip(at).fold(0, |n, (size, at)| n * size + at))
}

pub(super) fn coordinates(shape: &[u64]) -> Vec<Vec<u64>> {
    shape.iter().fold(vec![vec![]], |heads, &size| {
        heads.iter().flat_map(|head| (0..size).map(move |at| [&head[..], &[at]].concat())).collect()
    })
}

impl Plain {
    fn resize(&mut self, shape: &[u64]) {
        let old = self.clone();
        let inside = |at: &[u64]| at.iter().zip(&old.shape).all(|(at, size)| at < size);
        let value = |at: &Vec<u64>| if inside(at) { old.values[place(&old.shape, at)] } else { old.fill };
        self.values = coordinates(shape).iter().map(value).collect();
        self.shape = shape.to_vec();
    }
}

/// What `axes` selects of `shape`: our selection, the elements in order, and the shape of the result.
pub(super) fn selected(axes: &[Axis], shape: &[u64]) -> (Selection, Vec<Vec<u64>>, Vec<u64>) {
    let (mut indices, mut lists, mut result) = (vec![], vec![], vec![]);
    for (n, &length) in shape.iter().enumerate() {
        let length = i64::try_from(length).unwrap();
        let wrap = |at: i8| if length == 0 { 0 } else { i64::from(at).rem_euclid(length) };
        let (index, list, kept): (Index, Vec<i64>, bool) = match axes.get(n) {
            Some(Axis::At(at)) if length > 0 => (Index::At(wrap(*at)), vec![wrap(*at)], false),
            None | Some(Axis::At(_)) => (Index::ALL, (0..length).collect(), true),
            Some(Axis::Range(start, stop, step)) => {
                let (start, stop, step) = (start.map(i64::from), stop.map(i64::from), i64::from(*step));
                let list =
                    if step > 0 { walk(start, stop, step, length) } else { walk_down(start, stop, step, length) };
                (Index::Range { start, stop, step }, list, true)
            }
            Some(Axis::List(list)) => {
                let list: Vec<i64> = if length == 0 { vec![] } else { list.iter().map(|at| wrap(*at)).collect() };
                let signed = list.iter().enumerate().map(|(k, at)| if k % 2 == 0 { *at } else { at - length });
                (Index::List(signed.collect()), list.clone(), true)
            }
            Some(Axis::Mask(bits)) => {
                let values: Vec<bool> = (0..length).map(|k| bits >> (k % 32) & 1 == 1).collect();
                let list = (0..length).filter(|k| values[usize::try_from(*k).unwrap()]).collect();
                (Index::Mask { shape: vec![values.len() as u64], values }, list, true)
            }
        };
        if kept {
            result.push(list.len() as u64);
        }
        indices.push(index);
        lists.push(list.iter().map(|at| at.unsigned_abs()).collect::<Vec<u64>>());
    }
    let elements = lists.iter().fold(vec![vec![]], |heads: Vec<Vec<u64>>, list| {
        heads.iter().flat_map(|head| list.iter().map(move |&at| [&head[..], &[at]].concat())).collect()
    });
    (Selection::Indices(indices), elements, result)
}

fn walk(start: Option<i64>, stop: Option<i64>, step: i64, length: i64) -> Vec<i64> {
    let end = |at: i64| if at < 0 { at + length } else { at };
    let inside = |at: &i64| (0..length).contains(at);
    let (start, stop) = (start.map_or(0, end).max(0), stop.map_or(length, end));
    (0..).map(|k| start + k * step).take_while(|at| *at < stop && *at < length).filter(inside).collect()
}

fn walk_down(start: Option<i64>, stop: Option<i64>, step: i64, length: i64) -> Vec<i64> {
    let end = |at: i64| if at < 0 { at + length } else { at };
    let (start, stop) = (start.map_or(length - 1, end).min(length - 1), stop.map_or(-1, |at| end(at).max(-1)));
    (0..).map(|k| start + k * step).take_while(|at| *at > stop && *at >= 0).collect()
}

/// One staged array with its plain twin.
#[derive(Clone)]
struct Pair {
    staged: StagedArray,
    plain: Plain,
}

impl Pair {
    fn values(&self, array: &Array) -> Vec<i64> {
        array.cast(&i64::TYPE).unwrap().values().unwrap()
    }

    /// Everything that can be seen of the staged array, but for the data.
    fn bookkeeping(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        let staged = &self.staged;
        let tables: Vec<_> = (0..staged.slab_count()).map(|slab| staged.hash_table(slab).map(<[_]>::to_vec)).collect();
        let shape = staged.shape().to_vec();
        (shape, staged.slab_indices(), staged.slab_offsets(), tables, staged.has_changes(), staged.base_slab_count())
    }

    fn check(&self) {
        assert_eq!(self.staged.broken_invariant(), None);
        assert_eq!(self.staged.shape(), self.plain.shape);
        let found = self.values(&self.staged.get_all().unwrap());
        assert_eq!(found, self.plain.values, "contents");
    }

    /// Does `operation`; an error must be an expected one, and is given back.
    fn run(&mut self, operation: &Operation, fails: &Arc<AtomicBool>) -> Result<()> {
        let shape = self.plain.shape.clone();
        let broken = fails.load(Ordering::Relaxed);
        match operation {
            Operation::Get(axes) => {
                let (selection, elements, result) = selected(axes, &shape);
                let array = expected(self.staged.get(&selection), broken)?;
                assert_eq!(array.shape(), result);
                let values: Vec<i64> = elements.iter().map(|at| self.plain.values[place(&shape, at)]).collect();
                assert_eq!(self.values(&array), values);
            }
            Operation::Set { axes, scalar, value, misfit } => {
                let (selection, elements, mut result) = selected(axes, &shape);
                if *misfit {
                    result.insert(0, 2);
                }
                let numbers = ascending(*value, size(result.iter().product()));
                let array = if *scalar { Array::scalar(*value) } else { Array::new(&result, &numbers).unwrap() };
                let refused = *misfit && !scalar;
                let done = expected(self.staged.set(&selection, &array), broken || refused);
                assert!(done.is_err() || !refused, "it should have been refused");
                done?;
                self.note(&elements, |n| if *scalar { *value } else { numbers[n] });
            }
            Operation::Points { points, value } => {
                if shape.contains(&0) {
                    return Ok(());
                }
                let of = |at: u8, axis: usize| u64::from(at) % shape[axis];
                let points: Vec<Vec<u64>> = points.iter().map(|p| vec![of(p.0, 0), of(p.1, 1), of(p.2, 2)]).collect();
                let signed = |point: &Vec<u64>| point.iter().map(|at| i64::try_from(*at).unwrap()).collect();
                let selection = Selection::Points(points.iter().map(signed).collect());
                let numbers = ascending(*value, points.len());
                let array = Array::new(&[points.len() as u64], &numbers).unwrap();
                expected(self.staged.set(&selection, &array), broken)?;
                self.note(&points, |n| numbers[n]);
            }
            Operation::Mask { bits, value } => {
                // A mask of all dimensions, or of the first two.
                let dimensions = if bits >> 63 == 1 { 2 } else { 3 };
                let masked = coordinates(&shape[..dimensions]);
                let values: Vec<bool> = (0..masked.len()).map(|n| bits >> (n % 63) & 1 == 1).collect();
                let chosen: Vec<_> = masked.into_iter().zip(&values).filter(|(_, v)| **v).map(|(at, _)| at).collect();
                let mask = Index::Mask { shape: shape[..dimensions].to_vec(), values };
                let selection = Selection::Indices(vec![mask]);
                let last = coordinates(&shape[dimensions..]);
                let both = |head: &Vec<u64>| last.iter().map(|at| [&head[..], at].concat()).collect::<Vec<_>>();
                let elements: Vec<Vec<u64>> = chosen.iter().flat_map(both).collect();
                // One value for each element of the last dimension.
                let row = ascending(*value, last.len());
                let array = Array::new(&shape[dimensions..], &row).unwrap();
                expected(self.staged.set(&selection, &array), broken)?;
                self.note(&elements, |n| row[n % row.len()]);
                let found = self.values(&self.staged.get(&selection).unwrap());
                assert_eq!(found, (0..elements.len()).map(|n| row[n % row.len()]).collect::<Vec<_>>());
            }
            Operation::Resize(sizes) => {
                let shape: Vec<u64> = sizes.iter().map(|n| u64::from(*n)).collect();
                expected(self.staged.resize(&shape), broken)?;
                self.plain.resize(&shape);
            }
            Operation::Load => expected(self.staged.load(), broken)?,
            Operation::Commit => {
                let staged = self.staged.plan_hash();
                let report = expected(self.staged.commit(&mut FlakySink(fails.clone())), broken)?;
                assert_eq!(report.hash_plan, staged);
                assert_eq!(self.staged.slab_count(), self.staged.base_slab_count() + 1);
            }
            Operation::Copy => self.staged = self.staged.clone(),
            Operation::Cast(to_float) => {
                let element = if *to_float { f64::TYPE } else { i64::TYPE };
                self.staged = expected(self.staged.astype(&element), broken)?;
            }
            Operation::Refill(fill) => {
                self.staged = expected(self.staged.refill(&Array::scalar(*fill)), broken)?;
                let old = std::mem::replace(&mut self.plain.fill, *fill);
                self.plain.values.iter_mut().filter(|value| **value == old).for_each(|value| *value = *fill);
            }
            Operation::Rechunk(sizes) => {
                let chunk: Vec<u64> = sizes.iter().map(|n| u64::from(*n)).collect();
                self.staged = expected(self.staged.rechunk(&chunk), broken)?;
            }
            Operation::Break(now) => fails.store(*now, Ordering::Relaxed),
            Operation::OutOfBounds => {
                let beyond = Selection::Indices(vec![Index::At(i64::try_from(shape[0]).unwrap())]);
                assert!(self.staged.resize(&[1, 2]).is_err());
                self.staged.set(&beyond, &Array::scalar(1i64))?;
                unreachable!("no such element");
            }
        }
        Ok(())
    }

    /// Notes a write in the plain array.
    fn note(&mut self, elements: &[Vec<u64>], value: impl Fn(usize) -> i64) {
        for (n, at) in elements.iter().enumerate() {
            self.plain.values[place(&self.plain.shape, at)] = value(n);
        }
    }
}

/// Numbers from `value` up, again and again.
fn ascending(value: i64, count: usize) -> Vec<i64> {
    (0..count).map(|n| value + i64::try_from(n).unwrap() % 3).collect()
}

/// The result, whose error must be allowed.
fn expected<T>(result: Result<T>, allowed: bool) -> Result<T> {
    if let Err(error) = &result {
        assert!(allowed, "{error}");
    }
    result
}

/// How a sequence begins.
fn first(kind: u8, shape: &[u64], chunk: &[u64], fails: &Arc<AtomicBool>) -> Pair {
    let count = size(shape.iter().product());
    let values: Vec<i64> = (0..count).map(|n| i64::try_from(n).unwrap() % 7 - 3).collect();
    let fill = Array::scalar(2i64);
    let array = Array::new(shape, &values).unwrap();
    let (staged, values) = match kind {
        0 => (StagedArray::full(shape, chunk, &fill).unwrap(), vec![2; count]),
        1 => (StagedArray::from_array(array, chunk, &fill, Role::Staged).unwrap(), values),
        2 => (StagedArray::from_array(array, chunk, &fill, Role::Base).unwrap(), values),
        _ => {
            let mut own = StagedArray::from_array(array, chunk, &fill, Role::Staged).unwrap();
            let slab = own.commit(&mut MemorySink).unwrap().slab;
            let Some(slab) = slab else { return Pair { staged: own, plain: plain(shape, values) } };
            // The same, but through transfers and with faults.
            let whole = read(&*slab);
            let flaky = Flaky { slab: MemorySlab::new(&whole).unwrap(), fails: fails.clone() };
            let base = Base {
                slabs: vec![Arc::new(flaky)],
                slab_indices: own.slab_indices(),
                slab_offsets: own.slab_offsets(),
                hashes: vec![own.hash_table(1).map(<[_]>::to_vec)],
            };
            (StagedArray::new(shape, chunk, base, Some(&fill)).unwrap(), values)
        }
    };
    Pair { staged, plain: plain(shape, values) }
}

fn plain(shape: &[u64], values: Vec<i64>) -> Plain {
    Plain { shape: shape.to_vec(), values, fill: 2 }
}

fn read(slab: &dyn BaseSlab) -> Array {
    let zero = vec![0; slab.shape().len()];
    let mut bytes = vec![0; size(slab.shape().iter().product::<u64>()) * slab.element().size()];
    let all = Transfer::block(&zero, &zero, slab.shape());
    let destination = Destination { bytes: &mut bytes, shape: slab.shape() };
    slab.read(&[all], destination, &Texts::default()).unwrap();
    Array::from_bytes(slab.shape(), slab.element().clone(), bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn random_operations_do_what_they_do_to_a_plain_array(
        kind in 0..4u8,
        shape in (0..9u64, 1..8u64, 1..7u64),
        chunk in (1..5u64, 1..6u64, 1..4u64),
        operations in prop::collection::vec(operation(), 1..10),
    ) {
        let fails = Arc::new(AtomicBool::new(false));
        let mut pair = first(kind, &[shape.0, shape.1, shape.2], &[chunk.0, chunk.1, chunk.2], &fails);
        let mut others: Vec<Pair> = vec![];
        pair.check();
        for operation in &operations {
            if matches!(operation, Operation::Copy) {
                others.push(pair.clone());
            }
            let before = pair.bookkeeping();
            if pair.run(operation, &fails).is_err() {
                prop_assert_eq!(pair.bookkeeping(), before);
            }
            let broken = fails.swap(false, Ordering::Relaxed);
            pair.check();
            others.iter().for_each(Pair::check);
            fails.store(broken, Ordering::Relaxed);
        }
    }
}
