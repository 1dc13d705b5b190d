//! Local heaps: the names of an old-style group's members and the targets of its soft links. Specification III.D.
//!
//! ```text
//! header ──> data segment: name\0.. | free block (position of the next, size) | name\0 ...
//! ```
//! Signature `HEAP`. The data segment is payload: positions in it are what symbol-table entries and B-tree keys hold.

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::wire::{Addr, Sizes, Structure, Walk};

/// What ends the list of free blocks.
pub const NO_FREE_BLOCK: u64 = 1;

/// The header of a local heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalHeap {
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
    /// Bytes in the data segment.
    pub segment_size: u64,
    /// Position of the first free block in the data segment; [`NO_FREE_BLOCK`] if there is none.
    pub free_list: u64,
    /// Where the data segment lies.
    pub segment: Addr,
}

/// What stands at the beginning of unused space of a data segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeBlock {
    /// Position of the next free block; [`NO_FREE_BLOCK`] if it is the last.
    pub next: u64,
    /// Bytes the block takes, these fields included.
    pub size: u64,
}

/// The text at `position` of a data segment, up to its NUL and without it.
pub fn text(segment: &Bytes, position: u64) -> Result<Bytes> {
    let found = usize::try_from(position).ok().filter(|&p| p <= segment.len()).map(|p| segment.slice(p..));
    let Some(found) = found else {
        let what = format!("position {position} is beyond the {} bytes of the local heap", segment.len());
        return Err(Error::corrupt(what));
    };
    match found.iter().position(|&b| b == 0) {
        Some(end) => Ok(found.slice(..end)),
        None => Err(Error::corrupt(format!("the text at {position} of the local heap has no end"))),
    }
}

impl LocalHeap {
    /// The free blocks of `segment` with their positions, in the list's order. For writers, who reuse them; readers
    /// have no need of a list that may be broken.
    pub fn free_blocks(&self, segment: &[u8], sizes: Sizes) -> Result<Vec<(u64, FreeBlock)>> {
        let (mut blocks, mut position, mut seen) = (Vec::new(), self.free_list, 0);
        while position != NO_FREE_BLOCK {
            let rest = usize::try_from(position).ok().and_then(|p| segment.get(p..)).unwrap_or_default();
            let block = FreeBlock::decode(rest, self.segment.plus(position)?, sizes, ()).map_err(Error::sealed)?;
            let least = 2 * u64::from(sizes.lengths);
            seen += least;
            let room = u64::try_from(rest.len()).unwrap_or(u64::MAX);
            // Blocks do not overlap, so more of them than have room means that the list runs in a circle.
            if block.size < least || block.size > room || seen > u64::try_from(segment.len()).unwrap_or(u64::MAX) {
                return Err(Error::corrupt(format!("the local heap's free list is broken at {position}")));
            }
            let next = block.next;
            blocks.push((position, block));
            position = next;
        }
        Ok(blocks)
    }
}

impl Structure for LocalHeap {
    const NAME: &'static str = "local heap";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        w.signature(b"HEAP")?;
        w.version(|_| 0, 0..=0)?;
        let reserved = w.reserved(3, |h| &h.reserved)?;
        let segment_size = w.length("data segment size", |h| h.segment_size)?;
        let free_list = w.length("offset to head of free-list", |h| h.free_list)?;
        let segment = w.address("address of data segment", |h| h.segment)?;
        Ok(LocalHeap { reserved, segment_size, free_list, segment })
    }

    fn first_read(sizes: Sizes, (): ()) -> usize {
        8 + 2 * usize::from(sizes.lengths) + usize::from(sizes.offsets)
    }
}

impl Structure for FreeBlock {
    const NAME: &'static str = "local heap free block";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let next = w.length("offset of next free block", |b| b.next)?;
        let size = w.length("size of free block", |b| b.size)?;
        Ok(FreeBlock { next, size })
    }

    fn first_read(sizes: Sizes, (): ()) -> usize {
        2 * usize::from(sizes.lengths)
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{free_block, local_heap};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    /// Any header.
    pub fn local_heap(sizes: Sizes) -> BoxedStrategy<LocalHeap> {
        let reserved = prop_oneof![Just(Vec::new()), vec(1u8.., 3)];
        (reserved, laws::length(sizes), laws::length(sizes), laws::addr(sizes))
            .prop_map(|(reserved, segment_size, free_list, segment)| LocalHeap {
                reserved,
                segment_size,
                free_list,
                segment,
            })
            .boxed()
    }

    /// Any free block.
    pub fn free_block(sizes: Sizes) -> BoxedStrategy<FreeBlock> {
        (laws::length(sizes), laws::length(sizes)).prop_map(|(next, size)| FreeBlock { next, size }).boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<LocalHeap>(|sizes| local_heap(sizes).prop_map(|h| (h, ())).boxed());
        laws::hold::<FreeBlock>(|sizes| free_block(sizes).prop_map(|b| (b, ())).boxed());
    }

    #[test]
    fn text_ends_before_its_nul() {
        let segment = Bytes::from_static(b"\0\0one\0two\0rest");
        assert_eq!(text(&segment, 2).unwrap(), "one");
        assert_eq!(text(&segment, 7).unwrap(), "wo");
        assert_eq!(text(&segment, 0).unwrap(), "");
        for position in [10, 14, 15, u64::MAX] {
            assert_eq!(text(&segment, position).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }

    #[test]
    fn a_circle_of_free_blocks_is_corrupt() {
        let sizes = Sizes { offsets: 8, lengths: 2 };
        let heap = LocalHeap { reserved: Vec::new(), segment_size: 16, free_list: 4, segment: Addr(0x200) };
        let segment = |next: u8| [0, 0, 0, 0, 12, 0, 5, 0, 0, 0, 0, 0, next, 0, 4, 0];
        let list = heap.free_blocks(&segment(1), sizes).unwrap();
        let expected = [(4, FreeBlock { next: 12, size: 5 }), (12, FreeBlock { next: 1, size: 4 })];
        assert_eq!(list, expected);
        for next in [4, 12, 13, 99] {
            assert_eq!(heap.free_blocks(&segment(next), sizes).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }
}
