//! Places elements: fill values, and the selected part of a decoded chunk.

use crate::error::Result;
use crate::selection::{ChunkSelection, Destination, Source, copy};

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

/// Copies what is selected of the `i`-th touched chunk from the decoded chunk to the result.
pub fn place(selection: &ChunkSelection, i: u64, chunk: &[u8], result: Destination<'_>, size: usize) -> Result<()> {
    let (mut axes, mut done) = (Vec::new(), Ok(()));
    let Destination { bytes, shape } = result;
    selection.each_transfer(i, &mut axes, |axes| {
        if done.is_ok() {
            let source = Source { bytes: chunk, shape: selection.grid().chunk_shape() };
            done = copy(axes, source, Destination { bytes: &mut *bytes, shape }, size);
        }
    });
    done
}
