//! Formats that cut a chunk into blocks which decode on their own: lz4, bitshuffle, blosc, blosc2.

use std::ops::Range;

use super::Output;
use super::scratch::with_buffer;
use crate::error::Result;

/// The blocks of a chunk, taken in order.
pub(super) trait Blocks {
    /// The plain size of the next block; `None` after the last.
    fn next_len(&self) -> Option<usize>;

    /// Decodes the next block, which fills `to`.
    fn decode_next(&mut self, to: &mut [u8]) -> Result<()>;

    /// Passes over the next block.
    fn skip_next(&mut self) -> Result<()>;
}

/// Decodes all blocks, `plain` bytes in all, straight into the output where it gives slices.
pub(super) fn decode_all(blocks: &mut impl Blocks, plain: usize, output: &mut Output<'_>) -> Result<()> {
    let Some(mut to) = output.slice(plain)? else { return decode_range(blocks, 0..plain, output) };
    while let Some(len) = blocks.next_len() {
        let (block, rest) = std::mem::take(&mut to).split_at_mut(len);
        blocks.decode_next(block)?;
        to = rest;
    }
    Ok(())
}

/// Decodes the blocks that hold bytes `range`, and writes those.
pub(super) fn decode_range(blocks: &mut impl Blocks, range: Range<usize>, output: &mut Output<'_>) -> Result<()> {
    let mut start = 0;
    while let Some(len) = blocks.next_len() {
        let end = start + len;
        let (from, to) = (range.start.max(start), range.end.min(end));
        if start >= range.end {
            break;
        } else if from >= to {
            blocks.skip_next()?;
        } else if (from, to) == (start, end) && output.takes_slices() {
            if let Some(to) = output.slice(len)? {
                blocks.decode_next(to)?;
            }
        } else {
            with_buffer(len, |block| {
                blocks.decode_next(block)?;
                output.write(&block[from - start..to - start])
            })?;
        }
        start = end;
    }
    Ok(())
}
