//! Rows of a block that is read, dealt out to its chunks: each row belongs to one chunk, so that chunks fill the block at the
//! same time.
//!
//! ```text
//! a block [4, 6] in chunks [2, 4]      0 0 0 0 1 1      chunk 0 gets two rows of 4, chunk 1 two of 2, and so on
//!                                      0 0 0 0 1 1
//!                                      2 2 2 2 3 3
//!                                      2 2 2 2 3 3
//! ```

use crate::filter::Scatter;
use crate::selection::{ChunkSelection, STREAM, stream};

/// Rows shorter than this, on average, are better placed after the chunk was decoded: every row costs a few steps, and
/// the list of them memory.
const SHORTEST: usize = 64;

/// Rows from here on are written past the cache, if the block has at least [`STREAM`] bytes. Measured on chunks of 12 MiB to
/// an array four times as wide: rows of 4 KiB take 0.6 of the time so, rows of 1 KiB the same time.
const LONG: usize = 4096;

/// Where what is wanted of a chunk goes: rows of one length, in row-major order.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    rows: Vec<&'a mut [u8]>,
    /// Bytes of each.
    len: usize,
    /// Whether they are written past the cache.
    streams: bool,
}

impl<'a> Rows<'a> {
    /// All of it in one piece, if it is one.
    pub(super) fn one(&mut self) -> Option<&mut [u8]> {
        match &mut self.rows[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

impl Scatter for Rows<'_> {
    fn put(&mut self, position: usize, mut bytes: &[u8]) {
        let (mut row, mut within) = (position / self.len, position % self.len);
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(self.len - within));
            let place = &mut self.rows[row][within..within + now.len()];
            if self.streams {
                stream::copy(now, place)
            } else {
                place.copy_from_slice(now)
            }
            (bytes, row, within) = (later, row + 1, 0);
        }
        if self.streams {
            stream::finish();
        }
    }
}

/// Deals out the memory of a block, as many chunks at a time as lie side by side along all dimensions but the first.
#[derive(Debug)]
pub(super) struct Deal<'a> {
    /// What was not dealt yet.
    left: &'a mut [u8],
    /// For each dimension, how many elements of the block each of its chunks has.
    counts: Vec<Vec<usize>>,
    /// The last dimension along which there are several chunks; the first if there is none behind it.
    split: usize,
    /// Bytes of an element along that dimension.
    inner: usize,
    /// Whether the block is larger than the cache.
    large: bool,
    /// Chunks along the first dimension that were dealt to.
    dealt: usize,
    /// Rows of these that nobody has taken yet.
    ready: std::vec::IntoIter<Rows<'a>>,
}

impl<'a> Deal<'a> {
    /// The rows of the chunks of `selection`, a block of elements of `size` bytes that goes to `into`. The memory back if
    /// rows would be too short, or if it is not as large as the block.
    pub(super) fn new(into: &'a mut [u8], selection: &ChunkSelection, size: usize) -> Result<Deal<'a>, &'a mut [u8]> {
        let Some((counts, split, inner)) = layout(selection, size, into.len()) else { return Err(into) };
        let large = into.len() >= STREAM;
        Ok(Deal { left: into, counts, split, inner, large, dealt: 0, ready: Vec::new().into_iter() })
    }

    /// Deals the elements from `axis` on to the chunks, of which the first is number `first`.
    fn deal(&mut self, axis: usize, first: usize, rows: &mut [Vec<&'a mut [u8]>]) {
        let chunks = self.counts[axis].len();
        for chunk in 0..chunks {
            let (number, count) = (first * chunks + chunk, self.counts[axis][chunk]);
            if axis == self.split {
                rows[number].push(self.take(count));
            } else {
                (0..count).for_each(|_| self.deal(axis + 1, number, rows));
            }
        }
    }

    fn rows(&self, rows: Vec<&'a mut [u8]>) -> Rows<'a> {
        let len = rows[0].len();
        Rows { rows, len, streams: self.large && len >= LONG }
    }

    fn take(&mut self, count: usize) -> &'a mut [u8] {
        let (row, left) = std::mem::take(&mut self.left).split_at_mut(count * self.inner);
        self.left = left;
        row
    }
}

impl<'a> Iterator for Deal<'a> {
    type Item = Rows<'a>;

    fn next(&mut self) -> Option<Rows<'a>> {
        if let Some(rows) = self.ready.next() {
            return Some(rows);
        }
        let count = *self.counts.first()?.get(self.dealt)?;
        self.dealt += 1;
        if self.split == 0 {
            let row = self.take(count);
            return Some(self.rows(vec![row]));
        }
        let chunks = self.counts[1..=self.split].iter().map(Vec::len).product();
        let mut rows: Vec<Vec<&'a mut [u8]>> = (0..chunks).map(|_| Vec::new()).collect();
        (0..count).for_each(|_| self.deal(1, 0, &mut rows));
        let rows: Vec<Rows<'a>> = rows.into_iter().map(|rows| self.rows(rows)).collect();
        self.ready = rows.into_iter();
        self.ready.next()
    }
}

/// How the memory of a block is dealt: elements of each chunk along each dimension, the last dimension with several chunks,
/// and the bytes of an element along it.
fn layout(selection: &ChunkSelection, size: usize, bytes: usize) -> Option<(Vec<Vec<usize>>, usize, usize)> {
    let axes = selection.axes().filter(|axes| !axes.is_empty())?;
    let mut counts = Vec::new();
    for axis in axes {
        let own = (0..axis.len()).map(|i| usize::try_from(axis.piece(i, 0)?.count).ok());
        counts.push(own.collect::<Option<Vec<usize>>>()?);
    }
    let split = (1..counts.len()).rev().find(|axis| counts[*axis].len() > 1).unwrap_or(0);
    let sum = |axis: usize| counts[axis].iter().try_fold(0usize, |sum, count| sum.checked_add(*count));
    let product = |axes: std::ops::Range<usize>, size: usize| {
        axes.map(sum).try_fold(size, |product, sum| product.checked_mul(sum?)).filter(|product| *product > 0)
    };
    let inner = product(split + 1..counts.len(), size)?;
    let lines = product(0..split, 1)?;
    let fits = lines.checked_mul(inner)?.checked_mul(sum(split)?) == Some(bytes);
    let rows = lines.checked_mul(counts[split].len())?;
    (fits && (split == 0 || rows <= bytes / SHORTEST)).then_some((counts, split, inner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::{Block, Grid, Selected, shape};

    /// Fills a block of shape `count` by its chunks, each with its number, and compares with what they cover.
    fn check(shape: &[u64], chunk: &[u64], block: &Block, size: usize) {
        let grid = Grid::new(shape, chunk).unwrap();
        let selection = grid.select(&Selected::block(block, shape).unwrap()).unwrap();
        let all = (0..shape.iter().product()).map(|number| shape::coordinates(shape, number).unwrap());
        let elements: Vec<Vec<u64>> = all.filter(|at| block.contains(at)).collect();
        let mut into = vec![0xee; elements.len() * size];
        let (mut chunks, mut row) = (0, 0);
        for (mut rows, touched) in Deal::new(&mut into, &selection, size).unwrap().zip(selection.iter()) {
            let part = touched.block().intersect(block).unwrap();
            let bytes = usize::try_from(part.count.iter().product::<u64>()).unwrap() * size;
            let number = u8::try_from(touched.number()).unwrap();
            // By parts, the last one first.
            let step = (bytes / 7).next_multiple_of(100).max(100);
            for start in (0..bytes).step_by(step).rev() {
                rows.put(start, &vec![number; (bytes - start).min(step)]);
            }
            (chunks, row) = (chunks + 1, row.max(rows.rows.len()));
        }
        assert_eq!(chunks, selection.len());
        for (at, element) in elements.iter().zip(into.chunks(size)) {
            let coordinates: Vec<u64> = at.iter().zip(chunk).map(|(at, chunk)| at / chunk).collect();
            let number = u8::try_from(grid.number(&coordinates).unwrap()).unwrap();
            assert!(element.iter().all(|byte| *byte == number), "{at:?} of {block}");
        }
    }

    #[test]
    fn every_chunk_gets_the_rows_that_it_covers() {
        check(&[5, 4, 40, 6], &[2, 3, 16, 2], &Block::new(&[1, 0, 3, 0], &[4, 4, 37, 6]), 32);
        check(&[5, 4, 40, 3], &[2, 3, 16, 3], &Block::new(&[0, 1, 0, 0], &[5, 2, 40, 3]), 32);
        check(&[9, 7], &[2, 7], &Block::new(&[1, 0], &[7, 7]), 4);
        check(&[9, 70], &[9, 32], &Block::new(&[4, 0], &[5, 70]), 8);
        check(&[100], &[7], &Block::new(&[3], &[90]), 1);
        check(&[3, 50], &[1, 50], &Block::new(&[1, 20], &[2, 25]), 2);
        // Past the cache, some of it in pieces that are no multiple of 16 bytes.
        check(&[64, 80], &[32, 7], &Block::new(&[0, 0], &[64, 80]), 4096);
    }

    #[test]
    fn short_rows_and_other_sizes_are_refused() {
        let grid = Grid::new(&[8, 100], &[4, 50]).unwrap();
        let selection = grid.select(&Selected::all(&[8, 100])).unwrap();
        assert!(Deal::new(&mut [0; 800], &selection, 1).is_err());
        assert!(Deal::new(&mut [0; 1600], &selection, 2).is_ok());
        assert!(Deal::new(&mut [0; 1599], &selection, 2).is_err());
    }
}
