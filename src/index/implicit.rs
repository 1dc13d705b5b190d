//! The implicit index: all chunks of the largest shape lie one after the other. Specification VII.B.

use super::Indexed;
use crate::error::Error;
use crate::manifest::{Chunks, ChunksBuilder};
use crate::object::{Scope, Step};
use crate::selection::{Block, shape};

pub(super) fn chunks(scope: Scope<'_>, indexed: Indexed<'_>) -> Step<Chunks> {
    let numbering = indexed.numbering(None)?;
    let end = indexed.addr.plus(numbering.end().saturating_mul(indexed.chunk_bytes))?;
    // What lies beyond the end of the file cannot be read; say so before counting chunks that are not there.
    if scope.view.left(indexed.addr) < end.0 - indexed.addr.0 {
        let what = format!("chunks at {} to {end} reach beyond the end of the file", indexed.addr);
        return Err(Error::corrupt(what).into());
    }
    let mut builder = ChunksBuilder::new(indexed.grid.clone());
    let all = Block::all(indexed.grid.counts());
    let wanted = indexed.within.as_ref().unwrap_or(&all);
    for place in 0..shape::count(&wanted.count)? {
        let mut coordinates = shape::coordinates(&wanted.count, place).unwrap_or_default();
        coordinates.iter_mut().zip(&wanted.start).for_each(|(at, start)| *at += start);
        let Some(number) = indexed.number(&coordinates) else { continue };
        let element = numbering.element(&coordinates).expect("because the end of all elements was computed");
        let addr = indexed.addr.plus(element * indexed.chunk_bytes)?;
        builder.push(indexed.place(number, addr, None, 0));
    }
    Ok(builder.finish()?)
}
