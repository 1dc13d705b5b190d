//! Version 2 B-trees of chunks. Specification VII.E.

use super::Indexed;
use crate::error::Error;
use crate::format::btree_v2::{
    Chunk, ChunkRecord, ChunkRow, FilteredChunk, FilteredChunkContext, Header, Node, NodeContext,
};
use crate::manifest::{ChunkPlace, Chunks, ChunksBuilder};
use crate::object::{Scope, Step};
use crate::wire::{Addr, Structure};

pub(super) fn chunks(scope: Scope<'_>, indexed: Indexed<'_>) -> Step<Chunks> {
    let header: Header = scope.view.load(indexed.addr, ())?;
    let rank = indexed.rank()?;
    if indexed.filtered {
        let context = FilteredChunkContext::new(header.record_size, rank, scope.view.sizes())?;
        walk::<FilteredChunk>(scope, indexed, &header, context)
    } else {
        walk::<Chunk>(scope, indexed, &header, rank)
    }
}

fn walk<R: ChunkRecord>(scope: Scope<'_>, indexed: Indexed<'_>, header: &Header, cx: R::Context) -> Step<Chunks> {
    let sizes = scope.view.sizes();
    let mut builder = ChunksBuilder::new(indexed.grid.clone());
    let Some(root) = header.root else { return Ok(builder.finish()?) };
    let layout = header.layout(sizes)?;
    let mut at = vec![(root, header.root_context::<R>(sizes, cx)?)];
    while !at.is_empty() {
        let nodes = scope.view.each(&at, |(addr, context)| scan::<R>(scope, &indexed, *addr, *context))?;
        let level = at[0].1.level();
        at.clear();
        for (children, chunks) in nodes {
            chunks.into_iter().for_each(|chunk| builder.push(chunk));
            for (addr, records) in children {
                at.push((addr, layout.node::<R>(level.wrapping_sub(1), records, sizes, cx)?));
            }
        }
    }
    Ok(builder.finish()?)
}

type Scanned = (Vec<(Addr, u64)>, Vec<ChunkPlace>);

fn scan<R: ChunkRecord>(
    scope: Scope<'_>,
    indexed: &Indexed<'_>,
    addr: Addr,
    context: NodeContext<R::Context>,
) -> Step<Scanned> {
    let sizes = scope.view.sizes();
    let first = Node::<R>::first_read(sizes, context);
    if scope.container.loaded.observer().is_some() {
        scope.view.load::<Node<R>>(addr, context)?;
    }
    scope.view.decode(addr, first, |bytes| {
        let (mut chunks, mut between) = (Vec::new(), Vec::new());
        let children = Node::<R>::scan(bytes, addr, sizes, context, |row: ChunkRow<'_>| {
            if let (Some(number), Some(addr)) = (indexed.number(row.scaled), row.addr) {
                chunks.push(indexed.place(number, addr, row.size, row.filter_mask));
            }
            if indexed.within.is_some() && context.level() > 0 {
                between.extend_from_slice(row.scaled);
            }
        })?;
        let children =
            indexed.leading(children, &between).into_iter().map(|child| (child.addr, child.records)).collect();
        Ok::<_, Error>(((children, chunks), first.min(bytes.len())))
    })
}
