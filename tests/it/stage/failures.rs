//! Base slabs and sinks that fail: whatever was asked for, the array is as it was, and goes on when they are well again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hdfive::convert::{Element, ElementType};
use hdfive::selection::{Destination, Selection, Transfer};
use hdfive::stage::{Array, Base, BaseSlab, MemorySink, MemorySlab, NewSlab, SlabSink, StagedArray, Texts};
use hdfive::{Error, ErrorKind, Result, s};

const HEALTHY: usize = usize::MAX;

/// A base slab in memory that may be read so many times; then it leaves rubbish behind and fails.
#[derive(Debug)]
struct Failing {
    slab: MemorySlab,
    left: Arc<AtomicUsize>,
}

impl BaseSlab for Failing {
    fn element(&self) -> &ElementType {
        self.slab.element()
    }

    fn shape(&self) -> &[u64] {
        self.slab.shape()
    }

    fn read(&self, transfers: &[Transfer], destination: Destination<'_>, texts: &Texts) -> Result<()> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            destination.bytes.fill(0xee);
            return Err(Error::not_found("the disk is gone"));
        }
        self.left.store(if left == HEALTHY { left } else { left - 1 }, Ordering::Relaxed);
        self.slab.read(transfers, destination, texts)
    }
}

/// A sink that fails, or stores something else.
struct FailingSink {
    stores_another: bool,
}

impl SlabSink for FailingSink {
    fn store(&mut self, _: &NewSlab<'_>) -> Result<Arc<dyn BaseSlab>> {
        if self.stores_another {
            return Ok(Arc::new(MemorySlab::new(&Array::new(&[1, 1], &[1i32])?)?));
        }
        Err(Error::not_found("the disk is full"))
    }
}

/// 7 x 9 elements in chunks of 3 x 4 on two base slabs, some chunks full, some staged.
fn array(left: &Arc<AtomicUsize>) -> StagedArray {
    let slab = |first: i32| -> Arc<dyn BaseSlab> {
        let values: Vec<i32> = (first..first + 48).collect();
        let slab = MemorySlab::new(&Array::new(&[12, 4], &values).unwrap()).unwrap();
        Arc::new(Failing { slab, left: left.clone() })
    };
    let base = Base {
        slabs: vec![slab(100), slab(200)],
        slab_indices: vec![1, 2, 1, 2, 0, 2, 1, 2, 1],
        slab_offsets: vec![0, 0, 3, 3, 0, 6, 6, 9, 9],
        hashes: vec![],
    };
    let mut array = StagedArray::new(&[7, 9], &[3, 4], base, Some(&Array::scalar(-1i32))).unwrap();
    array.set(&s![1, 2..6], &Array::scalar(5i32)).unwrap();
    array
}

type Operation = fn(&mut StagedArray) -> Result<()>;

const OPERATIONS: [(&str, Operation); 9] = [
    ("get", |array| array.get_all().map(drop)),
    ("set in part", |array| array.set(&s![2..6, 1..8], &Array::scalar(7i32))),
    ("set a list", |array| array.set(&s![[6, 0, 6], 3], &Array::new(&[3], &[1, 2, 3])?)),
    ("load", StagedArray::load),
    ("shrink", |array| array.resize(&[4, 6])),
    ("grow", |array| array.resize(&[8, 11])),
    ("cast", |array| array.astype(&f64::TYPE).and_then(|cast| cast.get_all()).map(drop)),
    ("refill", |array| array.refill(&Array::scalar(3i32)).map(drop)),
    ("rechunk", |array| array.rechunk(&[2, 5]).map(drop)),
];

/// Everything that can be seen of an array.
fn seen(array: &StagedArray) -> impl PartialEq + std::fmt::Debug + use<> {
    let slabs: Vec<_> = (0..array.slab_count()).map(|slab| array.slab_shape(slab).map(<[u64]>::to_vec)).collect();
    let map = (array.slab_indices(), array.slab_offsets());
    (array.shape().to_vec(), slabs, map, array.has_changes(), array.get_all().unwrap())
}

#[test]
fn an_operation_whose_base_slab_fails_changes_nothing_and_works_later() {
    for (name, operation) in OPERATIONS {
        let left = Arc::new(AtomicUsize::new(HEALTHY));
        let mut expected = array(&left);
        operation(&mut expected).unwrap();
        let mut failures = 0;
        for reads in 0.. {
            let mut own = array(&left);
            let before = seen(&own);
            left.store(reads, Ordering::Relaxed);
            let done = operation(&mut own);
            let succeeded = done.is_ok();
            left.store(HEALTHY, Ordering::Relaxed);
            if succeeded {
                assert_eq!(seen(&own), seen(&expected), "{name}");
                break;
            }
            failures += 1;
            assert_eq!(done.unwrap_err().kind(), ErrorKind::NotFound, "{name}");
            assert_eq!(seen(&own), before, "{name} after {reads} reads");
            assert_eq!(own.broken_invariant(), None, "{name}");
            operation(&mut own).unwrap();
            assert_eq!(seen(&own), seen(&expected), "{name}");
        }
        assert!(failures > 0, "{name} reads no base slab");
    }
}

#[test]
fn a_commit_whose_sink_fails_changes_nothing_and_works_later() {
    let left = Arc::new(AtomicUsize::new(HEALTHY));
    for stores_another in [false, true] {
        let mut own = array(&left);
        own.set(&s![.., 0], &Array::scalar(9i32)).unwrap();
        let (before, tables) = (seen(&own), own.hash_table(0).map(<[_]>::to_vec));
        let error = own.commit(&mut FailingSink { stores_another }).unwrap_err();
        let expected = if stores_another { ErrorKind::Invalid } else { ErrorKind::NotFound };
        assert_eq!(error.kind(), expected);
        assert_eq!(seen(&own), before);
        assert_eq!(own.hash_table(0).map(<[_]>::to_vec), tables);
        let contents = own.get_all().unwrap();
        assert!(own.commit(&mut MemorySink).unwrap().stored() > 0);
        assert_eq!(own.get_all().unwrap(), contents);
    }
}

#[test]
fn what_is_refused_changes_nothing() {
    let left = Arc::new(AtomicUsize::new(HEALTHY));
    let mut own = array(&left);
    let before = seen(&own);
    let refused: [(Selection, Array); 4] = [
        (s![0], Array::new(&[8], &[0i32; 8]).unwrap()),
        (s![7], Array::scalar(0i32)),
        (s![..;0], Array::scalar(0i32)),
        (s![0], Array::from_texts(&[], vec!["text".into()]).unwrap()),
    ];
    for (selection, value) in refused {
        assert!(own.set(&selection, &value).is_err());
        assert_eq!(seen(&own), before);
    }
    assert!(own.resize(&[7]).is_err() && own.rechunk(&[0, 1]).is_err());
    assert!(own.refill(&Array::new(&[1], &[1i32]).unwrap()).is_err());
    assert_eq!(seen(&own), before);
}
