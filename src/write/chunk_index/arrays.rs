//! What fixed and extensible arrays share: elements by their numbers.

use super::Indexed;
use crate::error::{Error, Result};
use crate::format::chunk_element::{ChunkElement, ElementKind};
use crate::index::Numbering;
use crate::wire::Sizes;

/// The elements of the chunks that are stored, in ascending order of their numbers.
pub(super) struct Elements {
    /// What an element is.
    pub kind: ElementKind,
    /// Number and element.
    pub list: Vec<(u64, ChunkElement)>,
}

impl Elements {
    pub(super) fn new(indexed: &Indexed<'_>, numbering: &Numbering, sizes: Sizes) -> Result<Elements> {
        let kind = match indexed.filtered {
            true => ElementKind::Filtered { size_width: indexed.size_width(sizes)? },
            false => ElementKind::Unfiltered,
        };
        let mut list = Vec::with_capacity(indexed.chunks.len());
        for chunk in indexed.chunks.iter() {
            let number = numbering.element(&indexed.coordinates(chunk.number)?);
            let number = number.ok_or_else(|| Error::limit("the chunks of the largest shape cannot be counted"))?;
            let (size, filter_mask) = if indexed.filtered { (chunk.size, chunk.filter_mask) } else { (0, 0) };
            list.push((number, ChunkElement { addr: Some(chunk.addr), size, filter_mask }));
        }
        list.sort_unstable_by_key(|(number, _)| *number);
        Ok(Elements { kind, list })
    }

    /// Bytes of an element.
    pub(super) fn width(&self, sizes: Sizes) -> Result<u8> {
        u8::try_from(self.kind.width(sizes)).map_err(|_| Error::limit("an array element is too large"))
    }

    /// Those from number `first` on, `count` of them, with [`ChunkElement::NONE`] where none is stored.
    pub(super) fn range(&self, first: u64, count: u64) -> Result<Vec<ChunkElement>> {
        let count = usize::try_from(count).map_err(|_| Error::limit("an array is larger than memory"))?;
        let mut all = vec![ChunkElement::NONE; count];
        for (number, element) in self.within(first, count as u64) {
            if let Some(slot) = usize::try_from(number - first).ok().and_then(|i| all.get_mut(i)) {
                *slot = *element;
            }
        }
        Ok(all)
    }

    /// Whether any of the `count` from `first` on is stored.
    pub(super) fn any(&self, first: u64, count: u64) -> bool {
        !self.within(first, count).is_empty()
    }

    fn within(&self, first: u64, count: u64) -> &[(u64, ChunkElement)] {
        let start = self.list.partition_point(|(number, _)| *number < first);
        let end = self.list.partition_point(|(number, _)| *number < first.saturating_add(count));
        &self.list[start..end]
    }
}

/// Sets bit `number` of a bitmap of pages. The first page has the highest bit of the first byte.
pub(super) fn set_bit(bitmap: &mut [u8], number: usize) {
    if let Some(byte) = bitmap.get_mut(number / 8) {
        *byte |= 0x80 >> (number % 8);
    }
}
