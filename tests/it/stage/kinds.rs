//! Random operations on arrays of every kind of element and of one to four dimensions, beside a plain list of elements;
//! copies live on beside what they were copied from. Every hash that is known must be that of the chunk it stands for.

use std::sync::Arc;

use hdfive::convert::{ByteOrder, Element, ElementType, Field, NumberKind, NumberType};
use hdfive::selection::{Index, Selection, Transfer};
use hdfive::stage::{Array, BaseSlab, MemorySink, MemorySlab, Role, StagedArray, hash_array};
use proptest::prelude::*;

use super::model::{Axis, axis, coordinates, place, selected, size};

/// Of these, from 4 on are numbers, which can be cast to each other.
const KINDS: usize = 9;
const FIRST_NUMBER: usize = 4;

fn element(kind: usize) -> ElementType {
    let number = |kind, size, order| NumberType { kind, size, order };
    let native = |kind, size| ElementType::Number(NumberType::native(kind, size));
    let short = ElementType::Number(number(NumberKind::Signed, 2, ByteOrder::Big));
    let field = |name: &str, position, element| Field { name: name.into(), position, element };
    match kind {
        0 => ElementType::Text,
        1 => {
            let fields = vec![field("a", 0, native(NumberKind::Unsigned, 1)), field("b", 3, short)];
            ElementType::Compound { size: 5, fields }
        }
        2 => ElementType::Bytes(3),
        3 => ElementType::Complex(number(NumberKind::Float, 4, ByteOrder::Little)),
        4 => ElementType::Bool,
        5 => short,
        6 => native(NumberKind::Float, 4),
        7 => native(NumberKind::Float, 8),
        _ => native(NumberKind::Unsigned, 1),
    }
}

/// An element as bytes; of text its letters.
type Bytes = Vec<u8>;

/// One of six elements of a kind, the first of which is all zeros.
fn sample(kind: usize, pick: usize) -> Bytes {
    let n = pick % 6;
    let small = u8::try_from(n).unwrap();
    let numbers = [0.0f64, 1.0, 2.0, -2.0, 300.0, 0.5].map(|x| Array::scalar(x).cast(&element(kind.max(FIRST_NUMBER))));
    match kind {
        0 => ["", "a", "\0", "grün", "a longer text than that", "ab"][n].into(),
        1 => vec![small, 0, 0, 0, small / 2],
        2 => vec![small, 0, small],
        3 => [1.5 * f32::from(small), 0.0].map(f32::to_le_bytes).concat(),
        _ => numbers[n].as_ref().unwrap().bytes().to_vec(),
    }
}

/// The array of some elements.
fn array(kind: usize, shape: &[u64], elements: &[Bytes]) -> Array {
    if kind == 0 {
        let texts = elements.iter().map(|text| String::from_utf8(text.clone()).unwrap()).collect();
        return Array::from_texts(shape, texts).unwrap();
    }
    Array::from_bytes(shape, element(kind), elements.concat()).unwrap()
}

fn elements(array: &Array) -> Vec<Bytes> {
    if *array.element() == ElementType::Text {
        return array.texts().iter().map(|text| text.clone().into_bytes()).collect();
    }
    array.bytes().chunks_exact(array.element().size()).map(<[u8]>::to_vec).collect()
}

#[derive(Clone, Debug)]
enum Operation {
    Get(Vec<Axis>),
    Set { axes: Vec<Axis>, pick: usize, row: bool },
    Resize(Vec<u64>),
    Load,
    Commit,
    Copy,
    Other,
    Cast(usize),
    Swap(usize),
    Refill(usize),
    Rechunk(Vec<u64>),
}

fn operation() -> impl Strategy<Value = Operation> {
    let axes = || prop::collection::vec(axis(), 0..5);
    prop_oneof![
        2 => axes().prop_map(Operation::Get),
        6 => (axes(), 0..6usize, any::<bool>()).prop_map(|(axes, pick, row)| Operation::Set { axes, pick, row }),
        4 => prop::collection::vec(0..9u64, 4).prop_map(Operation::Resize),
        1 => Just(Operation::Load),
        3 => Just(Operation::Commit),
        1 => Just(Operation::Copy),
        1 => Just(Operation::Other),
        2 => (FIRST_NUMBER..KINDS).prop_map(Operation::Cast),
        1 => (FIRST_NUMBER..KINDS).prop_map(Operation::Swap),
        1 => (0..6usize).prop_map(Operation::Refill),
        1 => prop::collection::vec(1..5u64, 4).prop_map(Operation::Rechunk),
    ]
}

/// A staged array and what it must be.
#[derive(Clone)]
struct Pair {
    kind: usize,
    staged: StagedArray,
    shape: Vec<u64>,
    plain: Vec<Bytes>,
    fill: Bytes,
}

impl Pair {
    fn check(&self) {
        assert_eq!(self.staged.broken_invariant(), None);
        assert_eq!(*self.staged.element(), element(self.kind));
        assert_eq!(self.staged.fill_value(), array(self.kind, &[], std::slice::from_ref(&self.fill)));
        assert_eq!(elements(&self.staged.get_all().unwrap()), self.plain, "contents");
        for change in self.staged.plan_changes().changes {
            let Some(table) = self.staged.hash_table(change.slab) else { continue };
            let row = size(change.row / self.staged.chunk_shape()[0]);
            let chunk = self.staged.get(&Selection::from(&change.block)).unwrap();
            assert_eq!(table[row], hash_array(&chunk).unwrap(), "hash of {:?}", change.block);
        }
    }

    fn run(&mut self, operation: &Operation) {
        let shape = self.shape.clone();
        match operation {
            Operation::Get(axes) => {
                let (selection, chosen, result) = selected(axes, &shape);
                let found = self.staged.get(&selection).unwrap();
                let wanted: Vec<Bytes> = chosen.iter().map(|at| self.plain[place(&shape, at)].clone()).collect();
                assert_eq!((found.shape(), elements(&found)), (&result[..], wanted));
            }
            Operation::Set { axes, pick, row } => {
                let (selection, chosen, result) = selected(axes, &shape);
                // A value for each element, or for each of the last dimension.
                let own = if *row { &result[result.len().min(1)..] } else { &result[..] };
                let values: Vec<Bytes> =
                    (0..size(own.iter().product())).map(|n| sample(self.kind, pick + n / 2)).collect();
                self.staged.set(&selection, &array(self.kind, own, &values)).unwrap();
                for (n, at) in chosen.iter().enumerate() {
                    self.plain[place(&shape, at)] = values[n % values.len()].clone();
                }
            }
            Operation::Resize(sizes) => self.resize(&sizes[..shape.len()]),
            Operation::Load => self.staged.load().unwrap(),
            Operation::Commit => drop(self.staged.commit(&mut MemorySink).unwrap()),
            Operation::Copy | Operation::Other => {}
            Operation::Cast(kind) if self.kind >= FIRST_NUMBER => {
                self.cast(*kind, self.staged.astype(&element(*kind)).unwrap());
            }
            Operation::Swap(kind) if self.kind >= FIRST_NUMBER => {
                let cast = |slab: Option<&Arc<dyn BaseSlab>>| Some(cast_slab(&**slab?, &element(*kind)));
                if let Some(slabs) = self.staged.base().map(cast).collect() {
                    self.cast(*kind, self.staged.astype_with(&element(*kind), slabs).unwrap());
                }
            }
            Operation::Cast(_) | Operation::Swap(_) => {}
            Operation::Refill(pick) => {
                let new = sample(self.kind, *pick);
                self.staged = self.staged.refill(&array(self.kind, &[], std::slice::from_ref(&new))).unwrap();
                self.plain.iter_mut().filter(|own| **own == self.fill).for_each(|own| own.clone_from(&new));
                self.fill = new;
            }
            Operation::Rechunk(sizes) => self.staged = self.staged.rechunk(&sizes[..shape.len()]).unwrap(),
        }
    }

    fn resize(&mut self, shape: &[u64]) {
        self.staged.resize(shape).unwrap();
        let value = |at: &Vec<u64>| {
            let inside = at.iter().zip(&self.shape).all(|(at, size)| at < size);
            if inside { self.plain[place(&self.shape, at)].clone() } else { self.fill.clone() }
        };
        self.plain = coordinates(shape).iter().map(value).collect();
        self.shape = shape.to_vec();
    }

    fn cast(&mut self, kind: usize, staged: StagedArray) {
        let cast = |own: &[Bytes]| elements(&array(self.kind, &[own.len() as u64], own).cast(&element(kind)).unwrap());
        (self.plain, self.fill) = (cast(&self.plain), cast(std::slice::from_ref(&self.fill)).remove(0));
        (self.kind, self.staged) = (kind, staged);
    }
}

fn cast_slab(slab: &dyn BaseSlab, to: &ElementType) -> Arc<dyn BaseSlab> {
    let zero = vec![0; slab.shape().len()];
    let mut bytes = vec![0; size(slab.shape().iter().product::<u64>()) * slab.element().size()];
    let destination = hdfive::selection::Destination { bytes: &mut bytes, shape: slab.shape() };
    slab.read(&[Transfer::block(&zero, &zero, slab.shape())], destination, &Default::default()).unwrap();
    let whole = Array::from_bytes(slab.shape(), slab.element().clone(), bytes).unwrap();
    Arc::new(MemorySlab::new(&whole.cast(to).unwrap()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn random_operations_suit_every_kind_of_element(
        kind in 0..KINDS,
        role in prop::sample::select(vec![None, Some(Role::Base), Some(Role::Staged)]),
        shape in prop::collection::vec(0..8u64, 1..5),
        chunk in prop::collection::vec(1..5u64, 4),
        operations in prop::collection::vec(operation(), 1..12),
    ) {
        let chunk = &chunk[..shape.len()];
        let fill = sample(kind, 1);
        let one = array(kind, &[], std::slice::from_ref(&fill));
        let count = size(shape.iter().product());
        let (staged, plain) = match role {
            None => (StagedArray::full(&shape, chunk, &one).unwrap(), vec![fill.clone(); count]),
            Some(role) => {
                let plain: Vec<Bytes> = (0..count).map(|n| sample(kind, n / 3)).collect();
                (StagedArray::from_array(array(kind, &shape, &plain), chunk, &one, role).unwrap(), plain)
            }
        };
        let mut pair = Pair { kind, staged, shape, plain, fill };
        let mut others: Vec<Pair> = vec![];
        pair.check();
        for operation in &operations {
            match operation {
                Operation::Copy => others.push(pair.clone()),
                // Goes on with what was copied.
                Operation::Other if !others.is_empty() => std::mem::swap(&mut pair, &mut others[0]),
                _ => pair.run(operation),
            }
            pair.check();
            others.iter().for_each(Pair::check);
        }
    }
}

#[test]
fn what_is_read_of_a_cast_array_is_the_cast_of_what_it_held() {
    // Large enough for threads; some chunks are fill, some on a base slab that has the new type already, some staged
    // before the cast, some after.
    let (shape, chunk) = ([700u64, 600], [16u64, 21]);
    let values: Vec<f64> = (0..700 * 600).map(|n| f64::from(n % 1000) / 4.0 - 100.0).collect();
    let mut own = StagedArray::full(&shape, &chunk, &Array::scalar(0.5f64)).unwrap();
    let rows = |start: i64, stop: i64| Selection::from(Index::from(start..stop));
    let part = |from: usize, to: usize| Array::new(&[(to - from) as u64, 600], &values[600 * from..600 * to]).unwrap();
    own.set(&rows(100, 300), &part(100, 300)).unwrap();
    own.commit(&mut MemorySink).unwrap();
    own.set(&rows(250, 600), &part(250, 600)).unwrap();
    let to = element(5);
    let slabs = own.base().map(|slab| cast_slab(&**slab.unwrap(), &to)).collect();
    for mut cast in [own.astype(&to).unwrap(), own.astype_with(&to, slabs).unwrap()] {
        let mut expected = elements(&own.get_all().unwrap().cast(&to).unwrap());
        let expect = |cast: &StagedArray, expected: &[Bytes]| {
            assert!(elements(&cast.get_all().unwrap()) == expected);
            let backwards = Selection::Indices(vec![Index::Range { start: None, stop: None, step: -1 }]);
            let down = expected.chunks(600).rev().flatten();
            assert!(elements(&cast.get(&backwards).unwrap()).iter().eq(down));
            let point = Selection::Indices(vec![Index::At(599), Index::At(-1)]);
            assert_eq!(elements(&cast.get(&point).unwrap()), expected[599 * 600 + 599..][..1]);
        };
        expect(&cast, &expected);
        cast.set(&rows(590, 650), &Array::scalar(7.9f32)).unwrap();
        expected[590 * 600..650 * 600].fill(7i16.to_be_bytes().to_vec());
        expect(&cast, &expected);
        cast.commit(&mut MemorySink).unwrap();
        expect(&cast, &expected);
        // And once more, before anything of it was written.
        let twice = own.astype(&to).unwrap().astype(&f32::TYPE).unwrap();
        let expected = own.get_all().unwrap().cast(&to).unwrap().cast(&f32::TYPE).unwrap();
        assert!(twice.get_all().unwrap() == expected);
    }
}
