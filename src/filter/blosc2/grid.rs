//! The layer "b2nd" of a frame: the chunk is a grid of n-dimensional blocks, each stored whole and padded past the
//! chunk's edges.
//!
//! ```text
//! tag | version | rank | tag, shape: tag and i64 each | tag, chunk: tag and i32 each | tag, block: tag and i32 each
//! ```

use std::ops::Range;

use byteorder::{BigEndian, ByteOrder};

use crate::error::{Error, Result};
use crate::filter::blocks::Blocks;
use crate::filter::blosc::chunk::Chunk;
use crate::filter::ends_early;
use crate::filter::scratch::with_buffer;

const HIGHEST_RANK: usize = 8;

/// The shapes of a chunk and its blocks.
pub(super) struct Grid {
    shape: Vec<usize>,
    block: Vec<usize>,
    /// Blocks along each dimension.
    counts: Vec<usize>,
    item: usize,
    plain: usize,
}

/// Takes one array of numbers.
fn numbers(content: &mut &[u8], rank: usize, width: usize) -> Result<Vec<usize>> {
    let array = content.get(1..1 + rank * (1 + width)).ok_or_else(ends_early)?;
    *content = &content[1 + array.len()..];
    let parse = |item: &[u8]| {
        let value = BigEndian::read_int(&item[1..], width);
        match usize::try_from(value) {
            Ok(size) if size > 0 => Ok(size),
            _ => Err(Error::corrupt(format!("a dimension of {value}"))),
        }
    };
    array.chunks_exact(1 + width).map(parse).collect()
}

fn product(sizes: &[usize]) -> Result<usize> {
    let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    product.ok_or_else(|| Error::corrupt(format!("a shape of {sizes:?}")))
}

impl Grid {
    /// Reads the layer. A chunk of one value is cut into the grid's blocks, others have to be already.
    pub(super) fn new(content: &[u8], chunk: &mut Chunk<'_>) -> Result<Self> {
        let rank = usize::from(*content.get(2).ok_or_else(ends_early)?);
        if rank == 0 || rank > HIGHEST_RANK {
            return Err(Error::corrupt(format!("rank {rank}, 1 to {HIGHEST_RANK} are allowed")));
        }
        let mut rest = &content[3..];
        let shape = numbers(&mut rest, rank, 8)?;
        let whole = numbers(&mut rest, rank, 4)?;
        let block = numbers(&mut rest, rank, 4)?;
        if shape.iter().zip(&whole).zip(&block).any(|((s, c), b)| s > c || b > c) {
            return Err(Error::corrupt(format!("shape {shape:?} in a chunk of {whole:?} in blocks of {block:?}")));
        }
        let counts: Vec<usize> = whole.iter().zip(&block).map(|(c, b)| c.div_ceil(*b)).collect();
        let items = product(&counts)?.saturating_mul(product(&block)?);
        let item = chunk.plain / items;
        let plain = product(&shape)?.saturating_mul(item);
        // Blocks are at most as large as the chunk, so padding at most doubles each dimension.
        let bounded = chunk.plain >> rank <= plain;
        if item == 0 || item * items != chunk.plain || !bounded || !chunk.has_blocks_of(product(&block)? * item) {
            let what = format!("{items} items of shape {shape:?} in {} bytes, in blocks of {block:?}", chunk.plain);
            return Err(Error::corrupt(what));
        }
        Ok(Grid { shape, block, counts, item, plain })
    }

    /// Bytes of the decoded chunk.
    pub(super) fn plain(&self) -> usize {
        self.plain
    }

    /// Fills `to` with bytes `range` of the decoded chunk. Blocks that do not meet it are passed over.
    pub(super) fn decode(&self, chunk: &mut Chunk<'_>, range: Range<usize>, to: &mut [u8]) -> Result<()> {
        let mut index = vec![0; self.shape.len()];
        while let Some(len) = chunk.next_len() {
            let (first, end) = self.extent(&index);
            if first < range.end && end > range.start {
                with_buffer(len, |block| -> Result<()> {
                    chunk.decode_next(block)?;
                    self.place(&index, block, &range, to);
                    Ok(())
                })?;
            } else {
                chunk.skip_next()?;
            }
            advance(&mut index, &self.counts);
        }
        Ok(())
    }

    /// The plain bytes between which all of a block's lie; an empty range if it lies in the padding.
    fn extent(&self, index: &[usize]) -> (usize, usize) {
        let (mut first, mut last) = (0, 0);
        for ((&size, &block), &i) in self.shape.iter().zip(&self.block).zip(index) {
            let start = i * block;
            if start >= size {
                return (usize::MAX, 0);
            }
            first = first * size + start;
            last = last * size + (start + block).min(size) - 1;
        }
        (first * self.item, (last + 1) * self.item)
    }

    /// Copies the rows of a block to where they belong.
    fn place(&self, index: &[usize], block: &[u8], range: &Range<usize>, to: &mut [u8]) {
        let last = self.shape.len() - 1;
        let row = self.block[last] * self.item;
        let mut within = vec![0; self.shape.len()];
        for row in block.chunks_exact(row) {
            if let Some((position, items)) = self.row(index, &within) {
                let start = position * self.item;
                let (from, end) = (start.max(range.start), (start + items * self.item).min(range.end));
                if from < end {
                    to[from - range.start..end - range.start].copy_from_slice(&row[from - start..end - start]);
                }
            }
            advance(&mut within[..last], &self.block[..last]);
        }
    }

    /// The place in the chunk of a row of a block, and how many of its items lie inside.
    fn row(&self, index: &[usize], within: &[usize]) -> Option<(usize, usize)> {
        let mut position = 0;
        for (d, &size) in self.shape.iter().enumerate() {
            let at = index[d] * self.block[d] + within[d];
            if at >= size {
                return None;
            }
            position = position * size + at;
        }
        let last = self.shape.len() - 1;
        Some((position, (self.shape[last] - index[last] * self.block[last]).min(self.block[last])))
    }
}

/// The next index in C order.
fn advance(index: &mut [usize], counts: &[usize]) {
    for (i, &count) in index.iter_mut().zip(counts).rev() {
        *i += 1;
        if *i < count {
            return;
        }
        *i = 0;
    }
}
