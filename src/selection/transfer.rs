//! A transfer: elements of one array that go to elements of another of the same rank. Plain data, and one copy loop.
//!
//! ```text
//! source start, destination start, count, source stride, destination stride     per dimension
//! ```
//! Strides may be negative (reversed order) or, in the source, 0 (one element for all: broadcasting).

use crate::error::Result;
use crate::selection::axis_transfer::AxisTransfer;
use crate::selection::shape;
use crate::selection::steps::{STREAM, Steps};

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
    let mut steps = Steps::default();
    if steps.set(axes, (source.shape, source.bytes.len()), (destination.shape, destination.bytes.len()), size)? {
        let streams = steps.count().saturating_mul(size as u64) >= STREAM as u64;
        steps.run(source.bytes, destination.bytes, (size, streams));
    }
    Ok(())
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
            let mut at = vec![0u64; counts.len()];
            loop {
                let place = |start: fn(&AxisTransfer) -> (u64, i64), shape: &[u64]| {
                    let coordinates: Vec<u64> = transfer.axes.iter().zip(&at).map(|(a, &x)| {
                        let (start, stride) = start(a);
                        start.checked_add_signed(x.cast_signed() * stride).unwrap()
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
