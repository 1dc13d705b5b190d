//! Places elements: fill values, and the selected part of a decoded chunk.

use crate::error::Result;
use crate::selection::{Block, Destination, Grid, Source, Transfer};

/// Fills `into` with copies of `element`; with zeros if there is none.
pub fn fill(into: &mut [u8], element: Option<&[u8]>) {
    match element {
        Some(element) if !element.is_empty() && element.iter().any(|&b| b != 0) => {
            for slot in into.chunks_mut(element.len()) {
                slot.copy_from_slice(&element[..slot.len()]);
            }
        }
        _ => into.fill(0),
    }
}

/// Copies what `block` selects of chunk `number` from the decoded `chunk` to `into`, which holds the block.
pub(super) fn place(
    grid: &Grid,
    number: u64,
    block: &Block,
    chunk: &[u8],
    into: &mut [u8],
    element_size: usize,
) -> Result<()> {
    let Some(coordinates) = grid.coordinates(number) else { return Ok(()) };
    let covered = grid.block(&coordinates);
    let Some(part) = covered.intersect(block) else { return Ok(()) };
    let relative = |to: &[u64]| -> Vec<u64> { part.start.iter().zip(to).map(|(a, b)| a - b).collect() };
    let transfer = Transfer::block(&relative(&covered.start), &relative(&block.start), &part.count);
    let source = Source { bytes: chunk, shape: grid.chunk_shape() };
    transfer.copy(source, Destination { bytes: into, shape: &block.count }, element_size)
}
