//! Fixed arrays of chunks. Specification VII.C.

use super::Indexed;
use super::arrays::{Elements, set_bit};
use crate::error::{Error, Result};
use crate::format::chunk_element::Page;
use crate::format::fixed_array::{Contents, DataBlock, Header};
use crate::wire::place::{Place, place_at};
use crate::wire::{Addr, Structure};

/// Logarithm of the number of elements in a page.
pub(super) const PAGE_BITS: u8 = 10;

/// Places the array, and says where its header is.
pub(super) fn build(space: &mut dyn Place, indexed: &Indexed<'_>, page_bits: u8) -> Result<Addr> {
    let sizes = space.sizes();
    let elements = Elements::new(indexed, &indexed.numbering(None)?, sizes)?;
    let chunks = indexed.max_shape.iter().zip(indexed.chunks.grid().chunk_shape());
    let count = chunks.map(|(max, chunk)| max.unwrap_or(u64::MAX).div_ceil(*chunk)).try_fold(1, u64::checked_mul);
    let count = count.ok_or_else(|| Error::limit("the chunks of the largest shape cannot be counted"))?;
    let (client, element_size) = (elements.kind.client(), elements.width(sizes)?);
    let mut header = Header { client, element_size, page_bits, count, data_block: None };
    let addr = space.reserve(header.size(sizes, ())? as u64)?;
    let layout = header.layout(sizes)?;
    let size = layout.data_block_size(sizes).ok_or_else(|| Error::limit("an array is larger than 64 bits count"))?;
    let block_addr = space.reserve(size)?;
    header.data_block = Some(block_addr);
    let contents = match layout.pages() {
        0 => Contents::Elements(elements.range(0, count)?),
        pages => {
            let mut bitmap = vec![0; pages.div_ceil(8)];
            for number in 0..pages {
                let Some(place) = layout.page(number, sizes) else { continue };
                let (first, count) = (place.first as u64, place.context.count as u64);
                if elements.any(first, count) {
                    set_bit(&mut bitmap, number);
                    let page = Page { elements: elements.range(first, count)? };
                    place_at(space, block_addr.plus(place.position)?, &page, place.context)?;
                }
            }
            Contents::Pages(bitmap)
        }
    };
    place_at(space, block_addr, &DataBlock { header: addr, contents }, layout)?;
    place_at(space, addr, &header, ())?;
    Ok(addr)
}
