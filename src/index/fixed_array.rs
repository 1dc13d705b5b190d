//! Fixed arrays of chunks. Specification VII.C.

use super::Indexed;
use crate::error::Error;
use crate::format::chunk_element::{ChunkElement, ElementKind};
use crate::format::fixed_array::{Contents, DataBlock, Header, Page, PagePlace};
use crate::manifest::{Chunks, ChunksBuilder};
use crate::object::{Scope, Step};
use crate::selection::shape;
use crate::wire::Addr;

pub(super) fn chunks(scope: Scope<'_>, indexed: Indexed<'_>) -> Step<Chunks> {
    let sizes = scope.view.sizes();
    let header: Header = scope.view.load(indexed.addr, ())?;
    let mut builder = ChunksBuilder::new(indexed.grid.clone());
    let Some(addr) = header.data_block else { return Ok(builder.finish()?) };
    let layout = header.layout(sizes)?;
    let numbering = indexed.numbering(None)?;
    let mut take = |first: u64, elements: &[ChunkElement]| {
        for number in numbering.wanted(first, elements.len()) {
            let element = &elements[shape::index(number - first)];
            if let (Some(number), Some(addr)) = (numbering.chunk(number), element.addr) {
                let size = (layout.kind() != ElementKind::Unfiltered).then_some(element.size);
                builder.push(indexed.place(number, addr, size, element.filter_mask));
            }
        }
    };
    let block: DataBlock = scope.view.load(addr, layout)?;
    if block.header != indexed.addr {
        let what = format!("the data block at {addr} belongs to another fixed array than that at {}", indexed.addr);
        return Err(Error::corrupt(what).into());
    }
    match &block.contents {
        Contents::Elements(elements) => take(0, elements),
        Contents::Pages(_) => {
            let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
            let is_wanted =
                |page: &PagePlace| numbering.wants(number(page.first), number(page.first + page.context.count));
            let places = (0..layout.pages()).filter_map(|n| layout.page(n, sizes).filter(|_| block.has_page(n)));
            let places = places.filter(is_wanted);
            let wanted: Vec<(Addr, PagePlace)> =
                places.map(|place| Ok((addr.plus(place.position)?, place))).collect::<Result<_, Error>>()?;
            let pages = scope.view.each(&wanted, |(addr, place)| scope.view.load::<Page>(*addr, place.context))?;
            for ((_, place), page) in wanted.iter().zip(&pages) {
                take(number(place.first), &page.elements);
            }
        }
    }
    Ok(builder.finish()?)
}
