//! Extensible arrays of chunks. Specification VII.D.

use super::Indexed;
use super::arrays::{Elements, set_bit};
use crate::error::{Error, Result};
use crate::format::chunk_element::Page;
use crate::format::extensible_array::{
    DataBlock, DataBlockContext, Header, IndexBlock, Parameters, SuperBlock, SuperBlockContext,
};
use crate::format::message::data_layout::ChunkIndex;
use crate::wire::place::{Place, place, place_at};
use crate::wire::{Addr, Structure};

/// The array that libhdf5 makes.
pub(super) const USUAL: ChunkIndex = ChunkIndex::ExtensibleArray {
    max_bits: 32,
    index_block_elements: 4,
    min_pointers: 4,
    min_elements: 16,
    page_bits: 10,
};

/// An array that is being built.
struct Array<'a> {
    header: Header,
    addr: Addr,
    elements: &'a Elements,
}

/// Places the array, and says where its header is.
pub(super) fn build(space: &mut dyn Place, indexed: &Indexed<'_>, index: &ChunkIndex) -> Result<Addr> {
    let sizes = space.sizes();
    let unlimited = indexed.max_shape.iter().position(Option::is_none);
    let elements = Elements::new(indexed, &indexed.numbering(unlimited)?, sizes)?;
    let header = empty(index, elements.kind.client(), elements.width(sizes)?)?;
    let layout = header.layout(sizes)?;
    let addr = space.reserve(header.size(sizes, ())? as u64)?;
    let mut array = Array { header, addr, elements: &elements };

    let own = layout.index_elements() as u64;
    let mut block = IndexBlock {
        header: addr,
        elements: elements.range(0, own)?,
        data_blocks: Vec::with_capacity(layout.direct_count()),
        super_blocks: Vec::with_capacity(layout.super_block_count()),
    };
    array.header.realized = own;
    for (first, context) in layout.direct_data_blocks() {
        block.data_blocks.push(array.data_block(space, first, own, context)?.map(|(addr, _)| addr));
    }
    for context in layout.super_blocks() {
        block.super_blocks.push(array.super_block(space, context, own)?);
    }
    array.header.used = elements.list.last().map_or(0, |(number, _)| number + 1);
    array.header.index_block = Some(place(space, &block, layout)?);
    place_at(space, addr, &array.header, ())?;
    Ok(addr)
}

fn empty(index: &ChunkIndex, client: u8, element_size: u8) -> Result<Header> {
    let ChunkIndex::ExtensibleArray { max_bits, index_block_elements, min_pointers, min_elements, page_bits } = *index
    else {
        return Err(Error::invalid("the layout names another index"));
    };
    let parameters = Parameters {
        client,
        element_size,
        max_bits,
        index_elements: index_block_elements,
        least_elements: min_elements,
        least_pointers: min_pointers,
        page_bits,
    };
    Ok(Header {
        parameters,
        super_blocks: 0,
        super_blocks_size: 0,
        data_blocks: 0,
        data_blocks_size: 0,
        used: 0,
        realized: 0,
        index_block: None,
    })
}

impl Array<'_> {
    /// Places a data block if any of its elements is stored; says where, and which of its pages are there.
    fn data_block(
        &mut self,
        space: &mut dyn Place,
        first: u64,
        own: u64,
        context: DataBlockContext,
    ) -> Result<Option<(Addr, Vec<usize>)>> {
        let sizes = space.sizes();
        if !self.elements.any(first, context.count()) {
            return Ok(None);
        }
        let size = context.size(sizes).ok_or_else(|| Error::limit("an array is larger than 64 bits count"))?;
        let addr = space.reserve(size)?;
        let mut pages = Vec::new();
        for number in 0..context.pages() {
            let Some(place) = context.page(number, sizes) else { continue };
            let (start, count) = (first + place.first, place.context.count as u64);
            if self.elements.any(start, count) {
                let page = Page { elements: self.elements.range(start, count)? };
                place_at(space, addr.plus(place.position)?, &page, place.context)?;
                pages.push(usize::try_from(number).map_err(|_| Error::limit("an array is larger than memory"))?);
            }
        }
        let elements = if context.pages() == 0 { self.elements.range(first, context.count())? } else { Vec::new() };
        place_at(space, addr, &DataBlock { header: self.addr, first: first - own, elements }, context)?;
        self.header.data_blocks += 1;
        self.header.data_blocks_size += size;
        self.header.realized += context.count();
        Ok(Some((addr, pages)))
    }

    /// Places a super block and its data blocks if any of its elements is stored.
    fn super_block(&mut self, space: &mut dyn Place, context: SuperBlockContext, own: u64) -> Result<Option<Addr>> {
        if self.elements.list.last().is_none_or(|(number, _)| *number < context.first()) {
            return Ok(None);
        }
        let pages = usize::try_from(context.pages()).map_err(|_| Error::limit("an array is larger than memory"))?;
        let (mut data_blocks, mut bitmap) = (Vec::new(), Vec::new());
        for (number, (first, data)) in context.data_blocks().enumerate() {
            bitmap.resize(bitmap.len() + pages.div_ceil(8), 0);
            let placed = self.data_block(space, first, own, data)?;
            data_blocks.push(placed.as_ref().map(|(addr, _)| *addr));
            for page in placed.map_or_else(Vec::new, |(_, written)| written) {
                // The bits of all data blocks stand one after the other.
                set_bit(&mut bitmap, number * pages + page);
            }
        }
        if data_blocks.iter().all(Option::is_none) {
            return Ok(None);
        }
        let block = SuperBlock { header: self.addr, first: context.first() - own, bitmap, data_blocks };
        let addr = place(space, &block, context)?;
        self.header.super_blocks += 1;
        self.header.super_blocks_size += block.size(space.sizes(), context)? as u64;
        Ok(Some(addr))
    }
}
