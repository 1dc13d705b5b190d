//! The loops that a copy comes to, and the copy loop itself.
//!
//! ```text
//! a 3 x 4 block of elements out of rows of 100, to rows of 10       runs of 4; 3 times, by 100 here and by 10 there
//! the same again 5 times, by 4 here and by 1000 there               another loop: one copy instead of five
//! ```

use crate::error::{Error, Result};
use crate::selection::axis_transfer::AxisTransfer;
use crate::selection::shape;
use crate::selection::stream;

/// One loop: how often, and how many elements to step on each side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Step {
    count: u64,
    source: i64,
    destination: i64,
}

impl Step {
    /// How far it jumps, on the side where that is more.
    fn jump(&self) -> u64 {
        self.source.unsigned_abs().max(self.destination.unsigned_abs())
    }
}

/// Where a copy begins on each side and its loops, innermost first; neighbours that behave as one are one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    source: i64,
    destination: i64,
    loops: [Step; shape::MAX_RANK + 1],
    len: usize,
    /// The whole is done so often, by so much.
    again: Step,
}

impl Default for Steps {
    fn default() -> Self {
        let (loops, again) = ([Step::default(); shape::MAX_RANK + 1], Step::default());
        Steps { source: 0, destination: 0, loops, len: 0, again }
    }
}

/// Bytes of one side that are copied past the cache: far more than stays in it until it is wanted again.
pub(crate) const STREAM: usize = 16 << 20;

/// Places of the source that are read on at the same time when copying past the cache. Measured from 4 to 100: 82 MB out
/// of chunks take 5.4 to 5.9 ms with 4 to 10, 10 with 100.
const PLACES: u64 = 8;

impl Steps {
    /// Becomes the copy of `axes` between row-major arrays, each given by its shape and the bytes it has. `false` if
    /// there is nothing to copy.
    ///
    /// Errors: `Invalid` if the ranks differ, `OutOfBounds` if an element lies outside its shape or the bytes are fewer
    /// than the shape has.
    pub(crate) fn set(
        &mut self,
        axes: &[AxisTransfer],
        source: (&[u64], usize),
        destination: (&[u64], usize),
        size: usize,
    ) -> Result<bool> {
        if axes.len() != source.0.len() || axes.len() != destination.0.len() {
            let (rank, source, destination) = (axes.len(), source.0, destination.0);
            return Err(Error::invalid(format!("transfer of rank {rank} between {source:?} and {destination:?}")));
        }
        if axes.iter().any(|a| a.count == 0) || size == 0 {
            return Ok(false);
        }
        (self.source, self.destination, self.len) = (0, 0, 0);
        self.again = Step { count: 1, source: 0, destination: 0 };
        let (mut from, mut to) = (1u64, 1u64);
        for (n, a) in axes.iter().enumerate().rev() {
            let (own, other) = (source.0[n], destination.0[n]);
            check(n, (a.source_start, a.count, a.source_stride), own)?;
            check(n, (a.destination_start, a.count, a.destination_stride), other)?;
            // Wrapped numbers are never used: the arrays are then larger than what is there, which is asked below.
            let (wide, broad) = (from.cast_signed(), to.cast_signed());
            self.source = self.source.wrapping_add(a.source_start.cast_signed().wrapping_mul(wide));
            self.destination = self.destination.wrapping_add(a.destination_start.cast_signed().wrapping_mul(broad));
            let (source, destination) = (a.source_stride.wrapping_mul(wide), a.destination_stride.wrapping_mul(broad));
            self.push(Step { count: a.count, source, destination });
            (from, to) = (elements(from, own), elements(to, other));
        }
        enough(source, from, size)?;
        enough(destination, to, size)?;
        Ok(true)
    }

    /// Becomes the same as `other`, without copying loops that are not there.
    pub(crate) fn take(&mut self, other: &Steps) {
        (self.source, self.destination, self.again, self.len) =
            (other.source, other.destination, other.again, other.len);
        self.loops[..self.len].copy_from_slice(&other.loops[..self.len]);
    }

    /// How many elements are copied.
    pub(crate) fn count(&self) -> u64 {
        self.loops[..self.len].iter().fold(1, |n, step| n.saturating_mul(step.count))
    }

    /// Adds a loop around the others.
    fn push(&mut self, step: Step) {
        if step.count == 1 {
            return;
        }
        if let Some(inner) = self.loops[..self.len].last_mut() {
            let n = inner.count.cast_signed();
            let (source, destination) = (inner.source.wrapping_mul(n), inner.destination.wrapping_mul(n));
            if step.source == source && step.destination == destination {
                inner.count *= step.count;
                return;
            }
        }
        self.loops[self.len] = step;
        self.len += 1;
    }

    /// Whether `next` is this copy once more, as far on as the time before. It is then done by this one too.
    pub(crate) fn joins(&mut self, next: &Steps) -> bool {
        if self.loops[..self.len] != next.loops[..next.len] {
            return false;
        }
        let times = self.again.count.cast_signed();
        let by = (next.source - self.source, next.destination - self.destination);
        let goes_on = match times {
            1 => by.1 != 0,
            _ => by == (self.again.source * times, self.again.destination * times),
        };
        if goes_on {
            if times == 1 {
                (self.again.source, self.again.destination) = by;
            }
            self.again.count += 1;
        }
        goes_on
    }

    /// Makes the loop over joined copies one of the loops; all of them with the smallest jumps innermost, so that memory
    /// is passed in its order. Only where no element is written twice: otherwise the order counts.
    fn settle(&mut self) {
        let again = std::mem::take(&mut self.again);
        if again.count < 2 {
            return;
        }
        let mut steps = Steps { source: self.source, destination: self.destination, ..Steps::default() };
        self.loops[self.len] = again;
        let loops = &mut self.loops[..self.len + 1];
        if writes_each_once(loops) {
            loops.sort_by_key(Step::jump);
        }
        loops.iter().for_each(|step| steps.push(*step));
        *self = steps;
    }

    /// Copies. What is contiguous on both sides is copied in one piece, however many dimensions it spans.
    /// Elements have `size` bytes; past the cache if it `streams`.
    pub(crate) fn run(&mut self, source: &[u8], destination: &mut [u8], (size, streams): (usize, bool)) {
        self.settle();
        let contiguous = matches!(self.loops[..self.len], [Step { source: 1, destination: 1, .. }, ..]);
        let run = if contiguous { shape::index(self.loops[0].count) * size } else { size };
        let first = usize::from(contiguous);
        if !(streams && run >= stream::LEAST) {
            return self.pass(source, destination, (size, run, false), first);
        }
        // Few places of the source at a time, so that the processor sees that each is read on and on.
        let none = Step { count: 1, source: 0, destination: 0 };
        let whole = *self.loops[first..self.len.max(first)].first().unwrap_or(&none);
        let far = whole.source.unsigned_abs() > whole.destination.unsigned_abs();
        let at_once = if far && first + 1 < self.len { PLACES } else { whole.count };
        let start = (self.source, self.destination);
        for done in (0..whole.count).step_by(shape::index(at_once)) {
            let n = done.cast_signed();
            (self.source, self.destination) = (start.0 + n * whole.source, start.1 + n * whole.destination);
            self.loops[first].count = at_once.min(whole.count - done);
            self.pass(source, destination, (size, run, true), first);
        }
        stream::finish();
    }

    /// Copies runs, which the loops from `first` on are over.
    fn pass(&self, source: &[u8], destination: &mut [u8], how: (usize, usize, bool), first: usize) {
        // The innermost loop runs tight; those further out are an odometer.
        let one = [Step { count: 1, source: 0, destination: 0 }];
        let (inner, outer) = self.loops[first.min(self.len)..self.len].split_first().unwrap_or((&one[0], &[]));
        let mut at = [0u64; shape::MAX_RANK + 1];
        let at = &mut at[..outer.len()];
        let (mut from, mut to) = (self.source, self.destination);
        loop {
            strided(source, destination, (from, to), *inner, how);
            let mut more = false;
            for (x, step) in at.iter_mut().zip(outer) {
                (from, to, *x) = (from + step.source, to + step.destination, *x + 1);
                more = *x < step.count;
                if more {
                    break;
                }
                let n = step.count.cast_signed();
                (from, to, *x) = (from - step.source * n, to - step.destination * n, 0);
            }
            if !more {
                return;
            }
        }
    }
}

/// Whether loops with these jumps come to no element of the destination twice.
fn writes_each_once(loops: &[Step]) -> bool {
    let mut jumps = [(0, 0); shape::MAX_RANK + 1];
    let jumps = &mut jumps[..loops.len()];
    jumps.iter_mut().zip(loops).for_each(|(jump, step)| *jump = (step.destination.unsigned_abs(), step.count));
    jumps.sort_unstable();
    let mut reach = 1;
    jumps.iter().all(|&(jump, count)| {
        let apart = jump >= reach;
        reach += jump.saturating_mul(count - 1);
        apart
    })
}

/// Elements of an array with one dimension more.
fn elements(inner: u64, size: u64) -> u64 {
    inner.saturating_mul(size)
}

/// Checks that an array of `count` elements is there.
fn enough((shape, len): (&[u64], usize), count: u64, size: usize) -> Result<()> {
    if count.checked_mul(size as u64).is_some_and(|bytes| bytes <= len as u64) {
        return Ok(());
    }
    Err(Error::out_of_bounds(format!("{len} bytes for an array of shape {shape:?}, {size} bytes each")))
}

/// Checks that `count` elements from `start` by `stride` lie in dimension `axis`.
fn check(axis: usize, (start, count, stride): (u64, u64, i64), size: u64) -> Result<()> {
    let inside = if stride == 1 {
        start < size && count <= size - start
    } else {
        let last = i128::from(start) + i128::from(count - 1) * i128::from(stride);
        start < size && last >= 0 && last < i128::from(size)
    };
    if inside {
        return Ok(());
    }
    Err(Error::out_of_bounds(format!(
        "{count} elements from {start} by {stride} along dimension {axis}, which has {size}"
    )))
}

/// The innermost loop: pieces of `run` bytes, by a stride in elements of `size` bytes on each side.
fn strided(
    source: &[u8],
    destination: &mut [u8],
    (from, to): (i64, i64),
    step: Step,
    (size, run, streams): (usize, usize, bool),
) {
    let byte = |elements: i64| shape::index(elements.unsigned_abs() * size as u64);
    let (from, to) = (byte(from), byte(to));
    let by = (signed_bytes(step.source, size), signed_bytes(step.destination, size));
    let count = shape::index(step.count);
    if step.source == 0 && step.destination == 1 && run == size {
        return fill(&mut destination[to..to + count * size], &source[from..from + size]);
    }
    let start = (from, to);
    match run {
        1 => pieces::<1>(source, destination, start, by, count),
        2 => pieces::<2>(source, destination, start, by, count),
        4 => pieces::<4>(source, destination, start, by, count),
        8 => pieces::<8>(source, destination, start, by, count),
        16 => pieces::<16>(source, destination, start, by, count),
        17..=32 => short::<2>(source, destination, start, by, (count, run)),
        33..=48 => short::<3>(source, destination, start, by, (count, run)),
        49..=64 => short::<4>(source, destination, start, by, (count, run)),
        65..=80 => short::<5>(source, destination, start, by, (count, run)),
        81..=128 => short::<8>(source, destination, start, by, (count, run)),
        _ if streams => each(count, start, by, |from, to| {
            stream::copy(&source[from..from + run], &mut destination[to..to + run]);
        }),
        _ => each(count, start, by, |from, to| {
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

/// Pieces of up to `N` blocks of 16 bytes, of which the last lies where the piece ends: a call costs more than they do.
fn short<const N: usize>(
    src: &[u8],
    dst: &mut [u8],
    start: (usize, usize),
    by: (isize, isize),
    (count, run): (usize, usize),
) {
    each(count, start, by, |from, to| {
        let (src, dst) = (&src[from..from + run], &mut dst[to..to + run]);
        for n in 0..N {
            let at = (16 * n).min(run - 16);
            dst[at..at + 16].copy_from_slice(&src[at..at + 16]);
        }
    });
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
    use proptest::prelude::*;

    fn steps(axes: &[AxisTransfer], from: &[u64], to: &[u64]) -> Steps {
        let mut steps = Steps::default();
        assert!(steps.set(axes, (from, usize::MAX), (to, usize::MAX), 1).unwrap());
        steps
    }

    fn block(source_start: &[u64], destination_start: &[u64], count: &[u64]) -> Vec<AxisTransfer> {
        crate::selection::Transfer::block(source_start, destination_start, count).axes
    }

    #[test]
    fn contiguous_dimensions_are_one_run() {
        let steps = steps(&block(&[0, 0, 0, 0], &[0, 0, 0, 0], &[3, 1, 5, 7]), &[3, 1, 5, 7], &[3, 1, 5, 7]);
        assert_eq!(steps.loops[..steps.len], [Step { count: 105, source: 1, destination: 1 }]);
    }

    #[test]
    fn chunks_side_by_side_are_one_copy_along_the_rows() {
        let mut first = steps(&block(&[0, 0], &[0, 0], &[2, 3]), &[2, 12], &[8, 3]);
        for n in 1..4 {
            assert!(first.joins(&steps(&block(&[0, 3 * n], &[2 * n, 0], &[2, 3]), &[2, 12], &[8, 3])));
        }
        first.settle();
        let step = |count, source, destination| Step { count, source, destination };
        assert_eq!(first.loops[..first.len], [step(3, 1, 1), step(4, 3, 6), step(2, 12, 3)]);
    }

    proptest! {
        #[test]
        fn joined_copies_do_what_they_do_one_by_one(
            count in (1..4u64, 1..5u64),
            by in (-7..8i64, -7..8i64, -7..8i64, -7..8i64),
            (reversed, times) in (any::<bool>(), 1..5i64),
        ) {
            let shape = [64, 66];
            let one = |n: i64| -> Vec<AxisTransfer> {
                let at = |start: i64, by: i64| (start + n * by).unsigned_abs();
                let mut axes = block(&[at(30, by.0), at(30, by.1)], &[at(30, by.2), at(30, by.3)], &[count.0, count.1]);
                if reversed {
                    axes[0].destination_start += count.0 - 1;
                    axes[0].destination_stride = -1;
                }
                axes
            };
            let source: Vec<u8> = (0..4224u32).map(|n| u8::try_from(n * 7 % 251).unwrap()).collect();
            let (mut expected, mut found) = (vec![0; 4224], vec![0; 4224]);
            let mut held: Option<Steps> = None;
            for n in 0..times {
                let mut next = steps(&one(n), &shape, &shape);
                if !held.as_mut().is_some_and(|held| held.joins(&next))
                    && let Some(mut held) = held.replace(next)
                {
                    held.run(&source, &mut found, (1, false));
                }
                next.run(&source, &mut expected, (1, false));
            }
            held.unwrap().run(&source, &mut found, (1, false));
            prop_assert_eq!(found, expected);
        }
    }
}
