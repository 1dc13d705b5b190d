//! A transfer: elements of one array that go to elements of another of the same rank. Plain data, and one copy loop.
//!
//! ```text
//! source start, destination start, count, source stride, destination stride     per dimension
//! ```
//! Strides may be negative (reversed order) or, in the source, 0 (one element for all: broadcasting).

use crate::error::{Error, Result};
use crate::selection::shape;

/// One dimension of a [`Transfer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AxisTransfer {
    /// Coordinate of the first element in the source.
    pub source_start: u64,
    /// Coordinate of the first element in the destination.
    pub destination_start: u64,
    /// How many elements.
    pub count: u64,
    /// From one element to the next in the source.
    pub source_stride: i64,
    /// From one element to the next in the destination.
    pub destination_stride: i64,
}

/// Which elements of a source go where in a destination: the product of its dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transfer {
    /// One entry per dimension, the same for source and destination.
    pub axes: Vec<AxisTransfer>,
}

impl Transfer {
    /// A block of `count` elements from `source_start` to `destination_start`.
    pub fn block(source_start: &[u64], destination_start: &[u64], count: &[u64]) -> Transfer {
        let axes = source_start.iter().zip(destination_start).zip(count);
        let axis = |((&source_start, &destination_start), &count): ((&u64, &u64), &u64)| AxisTransfer {
            source_start,
            destination_start,
            count,
            source_stride: 1,
            destination_stride: 1,
        };
        Transfer { axes: axes.map(axis).collect() }
    }

    /// The number of elements it moves.
    pub fn count(&self) -> Result<u64> {
        let counts: Vec<u64> = self.axes.iter().map(|a| a.count).collect();
        shape::count(&counts)
    }

    /// Copies the bytes of its elements, each of `size` bytes, from one row-major array to another.
    ///
    /// What is contiguous on both sides is copied in one piece, however many dimensions it spans. Errors: `Invalid` if
    /// the ranks differ, `OutOfBounds` if an element lies outside its shape or a slice is shorter than its shape.
    pub fn copy(&self, source: Source<'_>, destination: Destination<'_>, size: usize) -> Result<()> {
        copy(&self.axes, source, destination, size)
    }
}

/// A row-major array to copy from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The bytes of its elements.
    pub bytes: &'a [u8],
    /// Its shape.
    pub shape: &'a [u64],
}

/// A row-major array to copy to.
#[derive(Debug)]
pub struct Destination<'a> {
    /// The bytes of its elements.
    pub bytes: &'a mut [u8],
    /// Its shape.
    pub shape: &'a [u64],
}

/// See [`Transfer::copy`].
pub fn copy(axes: &[AxisTransfer], source: Source<'_>, destination: Destination<'_>, size: usize) -> Result<()> {
    if axes.len() != source.shape.len() || axes.len() != destination.shape.len() {
        return Err(Error::invalid(format!(
            "transfer of rank {} between shapes {:?} and {:?}",
            axes.len(),
            source.shape,
            destination.shape
        )));
    }
    if axes.iter().any(|a| a.count == 0) || size == 0 {
        return Ok(());
    }
    check(axes.iter().map(|a| (a.source_start, a.count, a.source_stride)), source.shape, source.bytes.len(), size)?;
    let to = axes.iter().map(|a| (a.destination_start, a.count, a.destination_stride));
    check(to, destination.shape, destination.bytes.len(), size)?;

    let mut steps = Steps::default();
    let (mut from, mut to) = (1i64, 1i64);
    for (axis, a) in axes.iter().enumerate().rev() {
        steps.source += signed(a.source_start) * from;
        steps.destination += signed(a.destination_start) * to;
        steps.push(Step { count: a.count, source: a.source_stride * from, destination: a.destination_stride * to });
        from *= signed(source.shape[axis]);
        to *= signed(destination.shape[axis]);
    }
    steps.run(source.bytes, destination.bytes, size);
    Ok(())
}

/// Checks that every coordinate lies in `shape` and that `len` bytes hold the array.
fn check(axes: impl Iterator<Item = (u64, u64, i64)>, shape: &[u64], len: usize, size: usize) -> Result<()> {
    let bytes = shape::count(shape)?.checked_mul(size as u64);
    if bytes.is_none_or(|n| n > len as u64) {
        return Err(Error::out_of_bounds(format!("{len} bytes for an array of shape {shape:?}, {size} bytes each")));
    }
    for (axis, (start, count, stride)) in axes.enumerate() {
        let last = i128::from(start) + i128::from(count - 1) * i128::from(stride);
        if start >= shape[axis] || last < 0 || last >= i128::from(shape[axis]) {
            return Err(Error::out_of_bounds(format!(
                "{count} elements from {start} by {stride} along dimension {axis}, which has {}",
                shape[axis]
            )));
        }
    }
    Ok(())
}

/// A size that was checked to fit memory, with a sign.
fn signed(n: u64) -> i64 {
    i64::try_from(n).expect("no array in memory is larger")
}

/// One loop of the copy: how often, and how many elements to step on each side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Step {
    count: u64,
    source: i64,
    destination: i64,
}

/// The loops of a copy, innermost first, where neighbours that behave as one are one.
#[derive(Debug, Default)]
struct Steps {
    source: i64,
    destination: i64,
    loops: [Step; shape::MAX_RANK],
    len: usize,
}

impl Steps {
    fn push(&mut self, step: Step) {
        if step.count == 1 {
            return;
        }
        if let Some(inner) = self.loops[..self.len].last_mut() {
            let n = signed(inner.count);
            if step.source == inner.source * n && step.destination == inner.destination * n {
                inner.count *= step.count;
                return;
            }
        }
        self.loops[self.len] = step;
        self.len += 1;
    }

    fn run(self, source: &[u8], destination: &mut [u8], size: usize) {
        let mut loops = &self.loops[..self.len];
        let mut run = size;
        if let [Step { count, source: 1, destination: 1 }, outer @ ..] = loops {
            (run, loops) = (shape::index(*count) * size, outer);
        }
        // The innermost loop left runs tight; those further out are an odometer.
        let one = [Step { count: 1, source: 0, destination: 0 }];
        let (inner, outer) = loops.split_first().unwrap_or((&one[0], &[]));
        let mut at = [0u64; shape::MAX_RANK];
        loop {
            let (mut from, mut to) = (self.source, self.destination);
            for (&x, step) in at.iter().zip(outer) {
                from += signed(x) * step.source;
                to += signed(x) * step.destination;
            }
            strided(source, destination, (from, to), *inner, (size, run));
            let more = at.iter_mut().zip(outer).any(|(x, step)| {
                *x = (*x + 1) % step.count;
                *x > 0
            });
            if !more {
                return;
            }
        }
    }
}

/// The innermost loop: pieces of `run` bytes, by a stride in elements of `size` bytes on each side.
fn strided(source: &[u8], destination: &mut [u8], (from, to): (i64, i64), step: Step, (size, run): (usize, usize)) {
    let byte = |elements: i64| elements.unsigned_abs() * size as u64;
    let (from, to) = (shape::index(byte(from)), shape::index(byte(to)));
    let by = (signed_bytes(step.source, size), signed_bytes(step.destination, size));
    let count = shape::index(step.count);
    if step.source == 0 && step.destination == 1 && run == size {
        return fill(&mut destination[to..to + count * size], &source[from..from + size]);
    }
    match run {
        1 => pieces::<1>(source, destination, (from, to), by, count),
        2 => pieces::<2>(source, destination, (from, to), by, count),
        4 => pieces::<4>(source, destination, (from, to), by, count),
        8 => pieces::<8>(source, destination, (from, to), by, count),
        16 => pieces::<16>(source, destination, (from, to), by, count),
        _ => each(count, (from, to), by, |from, to| {
            destination[to..to + run].copy_from_slice(&source[from..from + run]);
        }),
    }
}

/// Fills `bytes` with one element again and again.
fn fill(bytes: &mut [u8], element: &[u8]) {
    if element.iter().all(|byte| *byte == element[0]) {
        return bytes.fill(element[0]);
    }
    let mut done = element.len();
    bytes[..done].copy_from_slice(element);
    while done < bytes.len() {
        let more = done.min(bytes.len() - done);
        bytes.copy_within(..more, done);
        done += more;
    }
}

fn signed_bytes(stride: i64, size: usize) -> isize {
    isize::try_from(stride).expect("within memory") * isize::try_from(size).expect("within memory")
}

fn pieces<const N: usize>(src: &[u8], dst: &mut [u8], start: (usize, usize), by: (isize, isize), count: usize) {
    each(count, start, by, |from, to| dst[to..to + N].copy_from_slice(&src[from..from + N]));
}

fn each(count: usize, start: (usize, usize), by: (isize, isize), mut piece: impl FnMut(usize, usize)) {
    let (mut from, mut to) = start;
    for _ in 0..count {
        piece(from, to);
        // Behind the last piece the position may lie outside; it is not used.
        from = from.wrapping_add_signed(by.0);
        to = to.wrapping_add_signed(by.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use proptest::prelude::*;

    /// Axes with their source and destination sizes, so that everything lies within.
    fn axis() -> impl Strategy<Value = (AxisTransfer, u64, u64)> {
        let side = || (0..3u64, prop_oneof![Just(1i64), -2..3i64], 0..3u64);
        (1..4u64, side(), side()).prop_map(|(count, (low, source, more), (to, destination, spare))| {
            let destination = if destination == 0 { 1 } else { destination };
            let reach = |stride: i64| (count - 1) * stride.unsigned_abs();
            let start = |low: u64, stride: i64| if stride < 0 { low + reach(stride) } else { low };
            let axis = AxisTransfer {
                source_start: start(low, source),
                destination_start: start(to, destination),
                count,
                source_stride: source,
                destination_stride: destination,
            };
            (axis, low + reach(source) + 1 + more, to + reach(destination) + 1 + spare)
        })
    }

    proptest! {
        #[test]
        fn copying_equals_element_by_element(
            axes in prop::collection::vec(axis(), 0..4),
            size in prop::sample::select(vec![1usize, 2, 3, 4, 8, 16, 24]),
        ) {
            let from: Vec<u64> = axes.iter().map(|a| a.1).collect();
            let to: Vec<u64> = axes.iter().map(|a| a.2).collect();
            let transfer = Transfer { axes: axes.iter().map(|a| a.0).collect() };
            let bytes = |shape: &[u64]| shape::index(shape::count(shape).unwrap()) * size;
            let source: Vec<u8> = (0..bytes(&from)).map(|i| u8::try_from(i % 251).unwrap()).collect();
            let mut destination = vec![255; bytes(&to)];
            let mut expected = destination.clone();
            let counts: Vec<u64> = transfer.axes.iter().map(|a| a.count).collect();
            let mut at = vec![0; counts.len()];
            loop {
                let place = |start: fn(&AxisTransfer) -> (u64, i64), shape: &[u64]| {
                    let coordinates: Vec<u64> = transfer.axes.iter().zip(&at).map(|(a, &x)| {
                        let (start, stride) = start(a);
                        start.checked_add_signed(signed(x) * stride).unwrap()
                    }).collect();
                    shape::index(shape::number(shape, &coordinates).unwrap()) * size
                };
                let s = place(|a| (a.source_start, a.source_stride), &from);
                let d = place(|a| (a.destination_start, a.destination_stride), &to);
                expected[d..d + size].copy_from_slice(&source[s..s + size]);
                if !shape::advance(&mut at, &counts) {
                    break;
                }
            }
            let (from, to) = (Source { bytes: &source, shape: &from }, &to);
            transfer.copy(from, Destination { bytes: &mut destination, shape: to }, size).unwrap();
            prop_assert_eq!(destination, expected);
        }
    }

    #[test]
    fn contiguous_dimensions_are_one_run() {
        let mut steps = Steps::default();
        for (count, stride) in [(7, 1), (5, 7), (1, 99), (3, 35)] {
            steps.push(Step { count, source: stride, destination: stride });
        }
        assert_eq!(steps.loops[..steps.len], [Step { count: 105, source: 1, destination: 1 }]);
    }

    #[test]
    fn elements_outside_are_out_of_bounds_and_nothing_moves() {
        let source = [1u8; 15];
        let mut destination = [0u8; 15];
        let shape = [3, 5];
        let mut kind = |transfer: Transfer| {
            let from = Source { bytes: &source, shape: &shape };
            let to = Destination { bytes: &mut destination, shape: &shape };
            transfer.copy(from, to, 1).unwrap_err().kind()
        };
        assert_eq!(kind(Transfer::block(&[1, 0], &[0, 0], &[3, 5])), ErrorKind::OutOfBounds);
        assert_eq!(kind(Transfer::block(&[0, 0], &[0, 1], &[3, 5])), ErrorKind::OutOfBounds);
        assert_eq!(kind(Transfer::block(&[0], &[0], &[3])), ErrorKind::Invalid);
        let mut back = Transfer::block(&[0, 0], &[0, 0], &[1, 2]);
        back.axes[1].source_stride = -1;
        assert_eq!(kind(back), ErrorKind::OutOfBounds);
        assert_eq!(destination, [0; 15]);
    }
}
