//! Direct and indirect blocks of a fractal heap. Specification III.G. Signatures `FHDB` and `FHIB`.

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::wire::{Addr, Sizes, Structure, Walk, lookup3};

/// A direct block: objects, one after the other, which heap ids find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectBlock {
    /// The heap's header.
    pub header: Addr,
    /// Where the block begins in the heap's space.
    pub offset: u64,
    /// Everything after the block's own fields.
    pub contents: Bytes,
}

/// What a direct block depends on. [`super::DoublingTable`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectContext {
    /// Bytes in the block, before filters.
    pub size: usize,
    pub(super) offset_width: u8,
    pub(super) checksum: bool,
}

/// An indirect block: pointers to blocks, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndirectBlock {
    /// The heap's header.
    pub header: Addr,
    /// Where the block begins in the heap's space.
    pub offset: u64,
    /// The blocks, direct ones first.
    pub children: Vec<Child>,
}

/// A block to which an indirect block points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// Where it is; undefined if there is none.
    pub addr: Option<Addr>,
    /// Bytes of a filtered direct block in the file; 0 for others.
    pub size: u64,
    /// The filters that were left out of a filtered direct block; 0 for others.
    pub filter_mask: u32,
}

/// What an indirect block depends on. [`super::DoublingTable`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndirectContext {
    /// Direct blocks among the children, which come first.
    pub direct: usize,
    /// Children.
    pub all: usize,
    pub(super) offset_width: u8,
    pub(super) filtered: bool,
}

impl DirectContext {
    /// Bytes before the objects: signature, version, header address, offset, checksum. They count in the heap's space.
    pub fn prefix(&self, sizes: Sizes) -> usize {
        5 + usize::from(sizes.offsets) + usize::from(self.offset_width) + if self.checksum { 4 } else { 0 }
    }
}

impl DirectBlock {
    /// The object of `size` bytes at `offset` in the heap's space.
    pub fn object(&self, offset: u64, size: u64, sizes: Sizes, cx: DirectContext) -> Result<Bytes> {
        let start = offset.checked_sub(self.offset).and_then(|p| usize::try_from(p).ok());
        let start = start.and_then(|p| p.checked_sub(cx.prefix(sizes)));
        let end = start.and_then(|p| p.checked_add(usize::try_from(size).ok()?));
        match (start, end) {
            (Some(start), Some(end)) if end <= self.contents.len() => Ok(self.contents.slice(start..end)),
            _ => Err(Error::corrupt(format!(
                "a managed object of {size} bytes at {offset} lies outside the block of {} bytes at {}",
                cx.size, self.offset
            ))),
        }
    }
}

impl Structure for DirectBlock {
    const NAME: &'static str = "fractal heap direct block";
    type Context = DirectContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: DirectContext) -> Result<Self> {
        w.signature(b"FHDB")?;
        w.version(|_| 0, 0..=0)?;
        let header = w.address("heap header address", |b| b.header)?;
        let offset = w.uint("block offset", cx.offset_width, |b| b.offset)?;
        let prefix = cx.prefix(w.sizes());
        let Some(len) = cx.size.checked_sub(prefix) else {
            return w.corrupt("object data", format!("the block has {} bytes, its fields take {prefix}", cx.size));
        };
        let contents = if cx.checksum {
            w.checksum_within(lookup3, |w| w.payload("object data", len, |b| &b.contents))?
        } else {
            w.payload("object data", len, |b| &b.contents)?
        };
        Ok(DirectBlock { header, offset, contents })
    }

    fn first_read(_: Sizes, cx: DirectContext) -> usize {
        cx.size
    }
}

impl Structure for IndirectBlock {
    const NAME: &'static str = "fractal heap indirect block";
    type Context = IndirectContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: IndirectContext) -> Result<Self> {
        w.signature(b"FHIB")?;
        w.version(|_| 0, 0..=0)?;
        let header = w.address("heap header address", |b| b.header)?;
        let offset = w.uint("block offset", cx.offset_width, |b| b.offset)?;
        let mut children = Vec::new();
        for i in 0..cx.all {
            let direct = i < cx.direct;
            let field = if direct { "child direct block address" } else { "child indirect block address" };
            let addr = w.offset(field, |b| b.children[i].addr)?;
            let (mut size, mut filter_mask) = (0, 0);
            if direct && cx.filtered {
                size = w.length("size of filtered direct block", |b| b.children[i].size)?;
                filter_mask = w.u32("filter mask for direct block", |b| b.children[i].filter_mask)?;
            }
            children.push(Child { addr, size, filter_mask });
        }
        w.checksum(lookup3)?;
        Ok(IndirectBlock { header, offset, children })
    }

    fn first_read(sizes: Sizes, cx: IndirectContext) -> usize {
        let filtered = if cx.filtered { cx.direct * (usize::from(sizes.lengths) + 4) } else { 0 };
        9 + usize::from(cx.offset_width) + (1 + cx.all) * usize::from(sizes.offsets) + filtered
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{direct_block, indirect_block};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::super::header::table;
    use super::*;
    use crate::wire::laws;

    fn offset(width: u8) -> BoxedStrategy<u64> {
        (0..=u64::MAX >> (64 - 8 * u32::from(width))).boxed()
    }

    /// Any direct block of the first row, with its context.
    pub fn direct_block(sizes: Sizes) -> BoxedStrategy<(DirectBlock, DirectContext)> {
        (table(), laws::addr(sizes))
            .prop_flat_map(move |(table, header)| {
                let cx = table.direct(0).expect("because the first row is direct");
                let cx = DirectContext { size: cx.size.max(cx.prefix(sizes)), ..cx };
                let contents = vec(any::<u8>(), cx.size - cx.prefix(sizes)).prop_map(Bytes::from);
                (offset(cx.offset_width), contents)
                    .prop_map(move |(offset, contents)| (DirectBlock { header, offset, contents }, cx))
            })
            .boxed()
    }

    /// Any small indirect block, with its context.
    pub fn indirect_block(sizes: Sizes) -> BoxedStrategy<(IndirectBlock, IndirectContext)> {
        (table(), 1u32..9, laws::addr(sizes))
            .prop_flat_map(move |(table, rows, header)| {
                let cx = table.indirect(rows.min(table.rows())).expect("because there are more");
                let child = (option::of(laws::addr(sizes)), laws::length(sizes), any::<u32>());
                (offset(cx.offset_width), vec(child, cx.all)).prop_map(move |(offset, children)| {
                    let child = |(i, (addr, size, filter_mask))| match i < cx.direct && cx.filtered {
                        true => Child { addr, size, filter_mask },
                        false => Child { addr, size: 0, filter_mask: 0 },
                    };
                    let children = children.into_iter().enumerate().map(child).collect();
                    (IndirectBlock { header, offset, children }, cx)
                })
            })
            .boxed()
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
        laws::hold::<DirectBlock>(direct_block);
        laws::hold::<IndirectBlock>(indirect_block);
    }

    #[test]
    fn sizes_known_beforehand_are_right() {
        for sizes in laws::widths() {
            proptest!(|((d, d_cx) in direct_block(sizes), (i, i_cx) in indirect_block(sizes))| {
                prop_assert_eq!(DirectBlock::first_read(sizes, d_cx), d.size(sizes, d_cx).unwrap());
                prop_assert_eq!(IndirectBlock::first_read(sizes, i_cx), i.size(sizes, i_cx).unwrap());
            });
        }
    }

    const CX: DirectContext = DirectContext { size: 64, offset_width: 4, checksum: true };

    fn block() -> DirectBlock {
        let contents = Bytes::from((0..64 - 21).collect::<Vec<u8>>());
        DirectBlock { header: Addr(0x1234), offset: 512, contents }
    }

    #[test]
    fn objects_are_found_by_their_place_in_the_heap() {
        let object = |offset, size| block().object(offset, size, Sizes::EIGHT, CX);
        assert_eq!(object(512 + 21, 3).unwrap(), &[0u8, 1, 2][..]);
        assert_eq!(object(512 + 62, 2).unwrap(), &[41u8, 42][..]);
        for (offset, size) in [(512, 3), (511, 1), (0, 0), (512 + 62, 3), (512 + 30, u64::MAX), (u64::MAX, 1)] {
            assert_eq!(object(offset, size).unwrap_err().kind(), ErrorKind::Corrupt, "{offset} {size}");
        }
    }

    #[test]
    fn the_checksum_covers_the_whole_block_with_itself_as_zero() {
        let bytes = block().encode(Addr(0), Sizes::EIGHT, CX).unwrap();
        let mut zeroed = bytes.clone();
        zeroed[17..21].fill(0);
        assert_eq!(bytes[17..21], lookup3(&zeroed).to_le_bytes());
        for i in 13..64 {
            let mut wrong = bytes.clone();
            wrong[i] ^= 1;
            let error = DirectBlock::decode(&wrong, Addr(0), Sizes::EIGHT, CX).unwrap_err();
            assert!(error.to_string().contains(r#"(fractal heap direct block, "checksum", at 0x11)"#), "{i}: {error}");
        }
    }

    #[test]
    fn a_block_too_small_for_its_fields_is_corrupt() {
        let bytes = block().encode(Addr(0), Sizes::EIGHT, CX).unwrap();
        let error = DirectBlock::decode(&bytes, Addr(0), Sizes::EIGHT, DirectContext { size: 20, ..CX }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}
