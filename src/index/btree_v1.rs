//! Version 1 B-trees of chunks. Specification III.A.1.

use super::Indexed;
use crate::error::{Error, Result};
use crate::format::btree_v1::{ChunkKey, ChunkRow, Node, Prefix};
use crate::manifest::{ChunkPlace, Chunks, ChunksBuilder};
use crate::object::btree::check_level;
use crate::object::{Scope, Step};
use crate::wire::{Addr, ByteRange, Structure};

/// What one node leads to.
struct Scanned {
    prefix: Prefix,
    children: Vec<Addr>,
    chunks: Vec<ChunkPlace>,
}

pub(super) fn chunks(scope: Scope<'_>, indexed: Indexed<'_>) -> Step<Chunks> {
    let mut builder = ChunksBuilder::new(indexed.grid.clone());
    let (mut at, mut level) = (vec![indexed.addr], None);
    while !at.is_empty() {
        let nodes = scope.view.each(&at, |addr| scan(scope, &indexed, *addr))?;
        at.clear();
        let mut below = None;
        for node in nodes {
            check_level(level, node.prefix.level, indexed.addr)?;
            below = node.prefix.level.checked_sub(1);
            node.chunks.into_iter().for_each(|chunk| builder.push(chunk));
            at.extend(node.children);
        }
        level = below;
        if level.is_none() {
            break;
        }
    }
    Ok(builder.finish()?)
}

fn scan(scope: Scope<'_>, indexed: &Indexed<'_>, addr: Addr) -> Step<Scanned> {
    let (sizes, rank) = (scope.view.sizes(), indexed.rank()?);
    let first = Node::<ChunkKey>::allocated(sizes, rank, scope.container.chunk_k);
    if scope.container.loaded.observer().is_some() {
        scope.view.load::<Node<ChunkKey>>(addr, rank)?;
        scope.container.loaded.takes(Node::<ChunkKey>::NAME, ByteRange::of(addr, first));
    }
    scope.view.decode(addr, first, |bytes| {
        let (mut children, mut chunks, mut fault) = (Vec::new(), Vec::new(), None);
        let (mut scaled, mut between, mut aligned) = (vec![0; usize::from(rank)], Vec::new(), true);
        let prefix = Node::scan(bytes, addr, sizes, rank, |row| {
            if row.level > 0 {
                if indexed.within.is_some() && !children.is_empty() {
                    let sides = row.offsets.iter().zip(indexed.layout.shape());
                    aligned &= sides.clone().all(|(offset, size)| offset % size == 0);
                    between.extend(sides.map(|(offset, size)| offset / size));
                }
                return children.push(row.child);
            }
            match place(indexed, &row, &mut scaled) {
                Ok(chunk) => chunks.extend(chunk),
                Err(error) => fault = Some(error),
            }
        })?;
        // Keys that are no chunks part nothing.
        let children = if aligned { indexed.leading(children, &between) } else { children };
        match fault {
            Some(error) => Err(error),
            None => Ok((Scanned { prefix, children, chunks }, first.min(bytes.len()))),
        }
    })
}

/// The chunk that a leaf's entry describes; `None` outside the current shape.
fn place(indexed: &Indexed<'_>, row: &ChunkRow<'_>, scaled: &mut [u64]) -> Result<Option<ChunkPlace>> {
    for ((scaled, offset), size) in scaled.iter_mut().zip(row.offsets).zip(indexed.layout.shape()) {
        if offset % size != 0 {
            let what =
                format!("a chunk begins at {:?}, not at a multiple of {:?}", row.offsets, indexed.layout.shape());
            return Err(Error::corrupt(what));
        }
        *scaled = offset / size;
    }
    let Some(number) = indexed.number(scaled) else { return Ok(None) };
    Ok(Some(indexed.place(number, row.child, Some(row.size.into()), row.filter_mask)))
}
