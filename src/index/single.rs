//! The single chunk: the layout message says where it is. Specification VII.A.

use super::Indexed;
use crate::manifest::{Chunks, ChunksBuilder};
use crate::object::Step;

pub(super) fn chunks(indexed: Indexed<'_>, filtered: Option<(u64, u32)>) -> Step<Chunks> {
    let mut builder = ChunksBuilder::new(indexed.grid.clone());
    let (size, mask) = filtered.unzip();
    builder.push(indexed.place(0, indexed.addr, size, mask.unwrap_or(0)));
    Ok(builder.finish()?)
}
