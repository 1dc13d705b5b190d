//! Extensible arrays of chunks. Specification VII.D.

use super::{Indexed, Numbering};
use crate::error::Error;
use crate::format::chunk_element::{ChunkElement, ElementKind, Page, PageContext};
use crate::format::extensible_array::{DataBlock, DataBlockContext, Header, IndexBlock, SuperBlock, SuperBlockContext};
use crate::manifest::{Chunks, ChunksBuilder};
use crate::object::{Scope, Step};
use crate::selection::shape;
use crate::wire::Addr;

/// A data block that exists: number of its first element, where it is, its context, and which of its pages exist.
type Found = (u64, Addr, DataBlockContext, Vec<u64>);

pub(super) fn chunks(scope: Scope<'_>, indexed: Indexed<'_>) -> Step<Chunks> {
    let sizes = scope.view.sizes();
    let header: Header = scope.view.load(indexed.addr, ())?;
    let mut builder = ChunksBuilder::new(indexed.grid.clone());
    let Some(index_block) = header.index_block else { return Ok(builder.finish()?) };
    let layout = header.layout(sizes)?;
    let numbering = indexed.numbering(indexed.max_shape.iter().position(Option::is_none))?;
    let end = numbering.end();
    let index: IndexBlock = scope.view.load(index_block, layout)?;
    check_header(index.header, indexed.addr, index_block)?;

    let is_wanted = |first: u64, context: &DataBlockContext| {
        first < end && numbering.wants(first, first.saturating_add(context.count()))
    };
    let mut blocks = Vec::new();
    for (addr, (first, context)) in index.data_blocks.iter().zip(layout.direct_data_blocks()) {
        if let Some(addr) = addr.filter(|_| is_wanted(first, &context)) {
            // Data blocks without a super block are too small for pages.
            blocks.push((first, addr, context, Vec::new()));
        }
    }
    let supers: Vec<_> = index.super_blocks.iter().zip(layout.super_blocks()).collect();
    let supers: Vec<_> = supers.into_iter().filter_map(|(addr, cx)| Some(((*addr)?, cx))).collect();
    let reaches =
        |context: &SuperBlockContext| context.first() < end && numbering.wants(context.first(), context.end());
    let supers: Vec<_> = supers.into_iter().filter(|(_, context)| reaches(context)).collect();
    for ((addr, context), block) in
        supers.iter().zip(scope.view.each(&supers, |(a, cx)| scope.view.load::<SuperBlock>(*a, *cx))?)
    {
        check_header(block.header, indexed.addr, *addr)?;
        for (number, (addr, (first, data))) in block.data_blocks.iter().zip(context.data_blocks()).enumerate() {
            if let Some(addr) = addr.filter(|_| is_wanted(first, &data)) {
                let pages = (0..context.pages()).filter(|page| block.has_page(context, number, *page)).collect();
                blocks.push((first, addr, data, pages));
            }
        }
    }

    let mut take = |first: u64, elements: &[ChunkElement]| {
        for number in numbering.wanted(first, elements.len()) {
            let element = &elements[shape::index(number - first)];
            if let (Some(number), Some(addr)) = (numbering.chunk(number), element.addr) {
                let size = (layout.kind() != ElementKind::Unfiltered).then_some(element.size);
                builder.push(indexed.place(number, addr, size, element.filter_mask));
            }
        }
    };
    take(0, &index.elements);
    let loaded = scope.view.each(&blocks, |found| load(scope, &indexed, &numbering, found))?;
    for (first, elements) in loaded.iter().flatten() {
        take(*first, elements);
    }
    Ok(builder.finish()?)
}

/// The elements of a data block, a page at a time, each with the number of its first.
fn load(
    scope: Scope<'_>,
    indexed: &Indexed<'_>,
    numbering: &Numbering,
    (first, addr, context, pages): &Found,
) -> Step<Vec<(u64, Vec<ChunkElement>)>> {
    let block: DataBlock = scope.view.load(*addr, *context)?;
    check_header(block.header, indexed.addr, *addr)?;
    if context.pages() == 0 {
        return Ok(vec![(*first, block.elements)]);
    }
    let sizes = scope.view.sizes();
    let mut wanted: Vec<(u64, Addr, PageContext)> = Vec::new();
    for page in pages {
        let Some(place) = context.page(*page, sizes) else { continue };
        let first = first.saturating_add(place.first);
        if numbering.wants(first, u64::try_from(place.context.count).map_or(u64::MAX, |n| first.saturating_add(n))) {
            wanted.push((first, addr.plus(place.position)?, place.context));
        }
    }
    let pages = scope.view.each(&wanted, |(_, addr, context)| scope.view.load::<Page>(*addr, *context))?;
    Ok(wanted.iter().zip(pages).map(|((first, ..), page)| (*first, page.elements)).collect())
}

fn check_header(stated: Addr, header: Addr, block: Addr) -> Result<(), Error> {
    if stated == header {
        return Ok(());
    }
    Err(Error::corrupt(format!("the block at {block} belongs to the array at {stated}, not to that at {header}")))
}
