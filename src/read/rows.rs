//! A whole chunk whose rows go to those of a larger array while it is decoded.
//!
//! ```text
//! chunk [2, 3] at [1, 2] of a result [4, 6]      row 0 goes to 8, row 1 to 14
//! . . . . . .
//! . . 0 0 0 .
//! . . 1 1 1 .
//! . . . . . .
//! ```

use crate::filter::Scatter;
use crate::selection::{Block, shape};

/// Rows shorter than this are better placed after the chunk was decoded: every row costs a few steps.
const SHORTEST: usize = 64;

/// Where the rows of a chunk go. A row is as long as the chunk and the result are both contiguous.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    into: &'a mut [u8],
    /// Bytes of a row.
    row: usize,
    /// For each dimension over the rows, the last one first, how many rows it has, and how far their places are apart.
    axes: Vec<(usize, usize)>,
    /// Where the chunk begins.
    start: usize,
    /// A row, and where it goes.
    current: (usize, usize),
}

impl<'a> Rows<'a> {
    /// Those of the chunk `part`, which lies in `block`, the array `into` of elements of `size` bytes. `None` if the rows are
    /// short, or the array has other bytes.
    pub(super) fn new(into: &'a mut [u8], part: &Block, block: &Block, size: usize) -> Option<Rows<'a>> {
        let (mut row, mut axes, mut stride) = (size, Vec::new(), size);
        for (&count, &whole) in part.count.iter().zip(&block.count).rev() {
            let (count, whole) = (usize::try_from(count).ok()?, usize::try_from(whole).ok()?);
            if row == stride {
                row = row.checked_mul(count)?;
            } else {
                axes.push((count, stride));
            }
            stride = stride.checked_mul(whole)?;
        }
        let relative: Vec<u64> =
            part.start.iter().zip(&block.start).map(|(a, b)| a.checked_sub(*b)).collect::<Option<_>>()?;
        let start = usize::try_from(shape::number(&block.count, &relative)?).ok()?.checked_mul(size)?;
        let inside = (0..part.rank()).all(|axis| part.end(axis) <= block.end(axis));
        (inside && row >= SHORTEST && stride == into.len()).then_some(Rows {
            into,
            row,
            axes,
            start,
            current: (0, start),
        })
    }

    /// Where `row` goes. Rows are mostly asked for in their order.
    fn place(&mut self, row: usize) -> usize {
        if row != self.current.0 {
            let (mut left, mut place) = (row, self.start);
            for &(count, stride) in &self.axes {
                place += left % count * stride;
                left /= count;
            }
            self.current = (row, place);
        }
        self.current.1
    }
}

impl Scatter for Rows<'_> {
    fn put(&mut self, mut position: usize, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (row, within) = (position / self.row, position % self.row);
            let (now, later) = bytes.split_at(bytes.len().min(self.row - within));
            let place = self.place(row) + within;
            self.into[place..place + now.len()].copy_from_slice(now);
            (position, bytes) = (position + now.len(), later);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_where_the_elements_of_the_chunk_are() {
        let shape = [5, 4, 40, 3];
        let block = Block::new(&[2, 0, 10, 0], &shape);
        for part in [
            Block::new(&[3, 1, 15, 0], &[2, 3, 20, 3]),
            Block::new(&[2, 0, 10, 0], &[1, 2, 40, 3]),
            Block::new(&[6, 3, 40, 0], &[1, 1, 10, 3]),
        ] {
            let count: u64 = part.count.iter().product();
            let plain: Vec<u8> = (0..count * 4).map(|i| (i % 251).to_le_bytes()[0]).collect();
            let mut wanted = vec![0xee; 5 * 4 * 40 * 3 * 4];
            for (number, element) in (0..).zip(plain.as_chunks::<4>().0) {
                let mut at = shape::coordinates(&part.count, number).unwrap();
                at.iter_mut().zip(&part.start).zip(&block.start).for_each(|((at, part), block)| *at += part - block);
                let place = usize::try_from(shape::number(&shape, &at).unwrap()).unwrap() * 4;
                wanted[place..place + 4].copy_from_slice(element);
            }
            let mut into = vec![0xee; wanted.len()];
            Rows::new(&mut into, &part, &block, 4).unwrap().put(0, &plain);
            assert!(into == wanted, "{part:?}");
            // By parts, the last one first.
            into.fill(0xee);
            let mut rows = Rows::new(&mut into, &part, &block, 4).unwrap();
            for (i, part) in plain.chunks(100).enumerate().rev() {
                rows.put(i * 100, part);
            }
            assert!(into == wanted, "parts of {part:?}");
        }
    }

    #[test]
    fn chunks_that_do_not_fit_are_refused() {
        let mut into = vec![0; 4 * 100 * 8];
        let block = Block::new(&[1, 0], &[4, 100]);
        let mut fits =
            |start: [u64; 2], count: [u64; 2]| Rows::new(&mut into, &Block::new(&start, &count), &block, 8).is_some();
        assert!(fits([1, 10], [4, 90]));
        assert!(!fits([0, 10], [4, 90]));
        assert!(!fits([1, 11], [4, 90]));
        assert!(!fits([2, 10], [4, 90]));
        assert!(!fits([1, 10], [4, 7]));
        assert!(Rows::new(&mut [0; 100], &block, &block, 8).is_none());
    }
}
