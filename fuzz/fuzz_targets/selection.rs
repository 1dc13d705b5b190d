//! A selection of an array in chunks, whatever it is made of, gives the elements that it names, in its order; one that
//! names others is refused.
#![no_main]

use std::sync::OnceLock;

use hdfive::selection::{Index, Selection};
use hdfive::{Dataset, File};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

static FILE: &[u8] = include_bytes!("../../testdata/readme/weather.h5");

/// The array and all of its elements.
fn array() -> &'static (Dataset, Vec<f32>) {
    static ARRAY: OnceLock<(Dataset, Vec<f32>)> = OnceLock::new();
    ARRAY.get_or_init(|| {
        let file = File::from_bytes(FILE).expect("a good file");
        let dataset = file.dataset("/surface/temperature").expect("it has one");
        let all = dataset.read().expect("it can be read");
        (dataset, all)
    })
}

fn number(input: &mut Unstructured<'_>, size: u64) -> Result<i64> {
    // Mostly inside, and now and then anywhere.
    let near = i64::try_from(size).unwrap_or(i64::MAX) + 2;
    if input.ratio(1, 32)? { input.arbitrary() } else { input.int_in_range(-near..=near) }
}

fn index(input: &mut Unstructured<'_>, size: u64) -> Result<Index> {
    let end = |input: &mut Unstructured<'_>| if input.arbitrary()? { number(input, size).map(Some) } else { Ok(None) };
    Ok(match input.int_in_range(0..=4)? {
        0 => Index::At(number(input, size)?),
        1 => Index::Range { start: end(input)?, stop: end(input)?, step: number(input, 5)? },
        2 => {
            let count = input.int_in_range(0..=6)?;
            Index::List((0..count).map(|_| number(input, size)).collect::<Result<_>>()?)
        }
        3 => {
            let mut below = |most: u64| input.int_in_range(0..=most);
            Index::Blocks { start: below(size)?, stride: below(6)?, count: below(5)?, block: below(4)? }
        }
        _ => {
            let len = if input.ratio(1, 16)? { size + 1 } else { size };
            let values = (0..len).map(|_| input.arbitrary()).collect::<Result<_>>()?;
            Index::Mask { shape: vec![len], values }
        }
    })
}

/// The elements along one dimension that an index names; `None` if it makes no sense there.
fn named(index: &Index, size: u64) -> Option<Vec<u64>> {
    let len = i128::from(size);
    let one = |at: i64| {
        let at = i128::from(at) + if at < 0 { len } else { 0 };
        (0..len).contains(&at).then(|| u64::try_from(at).ok())?
    };
    match index {
        Index::At(at) => Some(vec![one(*at)?]),
        Index::List(list) => list.iter().map(|at| one(*at)).collect(),
        Index::Range { step: 0, .. } => None,
        Index::Range { start, stop, step } => {
            let (low, high) = if *step > 0 { (0, len) } else { (-1, len - 1) };
            let cut = |end: i64| (i128::from(end) + if end < 0 { len } else { 0 }).clamp(low, high);
            let (first, last) = if *step > 0 { (low, high) } else { (high, low) };
            let (mut at, stop) = (start.map_or(first, cut), stop.map_or(last, cut));
            let mut all = Vec::new();
            while if *step > 0 { at < stop } else { at > stop } {
                all.push(u64::try_from(at).ok()?);
                at += i128::from(*step);
            }
            Some(all)
        }
        Index::Blocks { start, stride, count, block } => {
            let all: Vec<u64> = (0..*count).flat_map(|i| (0..*block).map(move |j| start + i * stride + j)).collect();
            // Blocks may touch, but not overlap.
            let overlap = *count > 1 && stride < block;
            (!overlap && all.iter().all(|at| *at < size)).then_some(all)
        }
        Index::Mask { values, .. } => {
            let all = || (0..).zip(values).filter(|(_, is)| **is).map(|(at, _)| at).collect();
            (values.len() as u64 == size).then(all)
        }
        Index::NewAxis | Index::Ellipsis => None,
    }
}

fn check(input: &mut Unstructured<'_>) -> Result<()> {
    let (dataset, all) = array();
    let shape = dataset.shape();
    let rank = input.int_in_range(0..=shape.len())?;
    let indices = shape[..rank].iter().map(|size| index(input, *size)).collect::<Result<Vec<_>>>()?;
    let rest = shape[rank..].iter().map(|size| Some((0..*size).collect()));
    let axes: Option<Vec<Vec<u64>>> = indices.iter().zip(shape).map(|(i, size)| named(i, *size)).chain(rest).collect();
    let read = dataset.select(Selection::Indices(indices.clone())).read::<f32>();
    // Blocks of nothing are a matter of taste.
    let of_nothing = |i: &Index| matches!(i, Index::Blocks { stride, count, block, .. } if *stride == 0 || *count == 0 || *block == 0);
    if indices.iter().any(of_nothing) {
        return Ok(());
    }
    let Some(axes) = axes else {
        assert!(read.is_err(), "{indices:?} makes no sense for {shape:?}");
        return Ok(());
    };
    let mut wanted = vec![0];
    for (axis, size) in axes.iter().zip(shape) {
        wanted = wanted.iter().flat_map(|before| axis.iter().map(move |at| before * size + at)).collect();
    }
    let wanted = wanted.into_iter().map(|at| all[usize::try_from(at).expect("in memory")].to_bits());
    let read = read.unwrap_or_else(|e| panic!("{indices:?}: {e}"));
    assert!(read.iter().map(|x| x.to_bits()).eq(wanted), "{indices:?}");
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    let _ = check(&mut Unstructured::new(data));
});
