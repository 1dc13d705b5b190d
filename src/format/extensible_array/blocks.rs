//! The blocks of an extensible array. Specification VII.D. Signatures `EAIB`, `EASB` and `EADB`.

use super::super::chunk_element::{ChunkElement, ElementKind, PageContext, bit, walk_elements};
use super::header::Layout;
use crate::error::Result;
use crate::wire::{Addr, Sizes, Structure, Walk, lookup3};

/// The index block: the first elements, and pointers to the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexBlock {
    /// The array's header.
    pub header: Addr,
    /// The first elements.
    pub elements: Vec<ChunkElement>,
    /// Data blocks of the first super blocks; undefined where nothing was written.
    pub data_blocks: Vec<Option<Addr>>,
    /// The other super blocks; undefined where nothing was written.
    pub super_blocks: Vec<Option<Addr>>,
}

/// A super block: pointers to data blocks, and which of their pages exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuperBlock {
    /// The array's header.
    pub header: Addr,
    /// Number of the first element, those of the index block left aside.
    pub first: u64,
    /// Which pages were written, as a bitmap; none if the data blocks have no pages. See [`SuperBlock::has_page`].
    pub bitmap: Vec<u8>,
    /// The data blocks; undefined where nothing was written.
    pub data_blocks: Vec<Option<Addr>>,
}

/// A data block, without its pages if it has any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataBlock {
    /// The array's header.
    pub header: Addr,
    /// Number of the first element, those of the index block left aside, as it is stored: libhdf5 stores another number
    /// in blocks to which the index block points.
    pub first: u64,
    /// The elements; none if they stand in pages.
    pub elements: Vec<ChunkElement>,
}

/// What a super block depends on. [`Layout`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperBlockContext {
    pub(super) kind: ElementKind,
    pub(super) position_width: u8,
    /// Number of the first element in the array.
    pub(super) first: u64,
    pub(super) blocks: usize,
    /// Elements in each data block.
    pub(super) elements: u64,
    /// Elements in a page; none if data blocks have no pages.
    pub(super) page: Option<u64>,
}

/// What a data block depends on. [`Layout`] and [`SuperBlockContext`] make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataBlockContext {
    kind: ElementKind,
    position_width: u8,
    count: u64,
    page: Option<u64>,
}

/// Where a page lies in a data block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePlace {
    /// Number of the page's first element in the data block.
    pub first: u64,
    /// What [`super::Page`] depends on.
    pub context: PageContext,
    /// Bytes between the data block's address and the page.
    pub position: u64,
}

impl SuperBlockContext {
    /// Number of the array's first element in this super block.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Number of the first element behind it.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(self.elements.saturating_mul(self.blocks as u64))
    }

    /// The data blocks in order: the number of the first element, and the context.
    pub fn data_blocks(&self) -> impl Iterator<Item = (u64, DataBlockContext)> + use<> {
        let SuperBlockContext { kind, position_width, first, elements: count, page, .. } = *self;
        let context = DataBlockContext { kind, position_width, count, page };
        (0..self.blocks).map(move |i| (first.saturating_add(count.saturating_mul(i as u64)), context))
    }

    /// Pages in each data block; 0 if elements stand in the data blocks themselves.
    pub fn pages(&self) -> u64 {
        self.page.map_or(0, |page| self.elements / page)
    }

    /// Bytes in the bitmap of pages. Each data block has its bytes, though not its place in them.
    pub(super) fn bitmap_size(&self) -> Option<usize> {
        usize::try_from(self.pages().div_ceil(8)).ok()?.checked_mul(self.blocks)
    }
}

impl SuperBlock {
    /// Whether page `page` of data block `data_block` was written. The bits of all data blocks stand one after the
    /// other, without a gap where the pages of one are no multiple of 8.
    pub fn has_page(&self, cx: &SuperBlockContext, data_block: usize, page: u64) -> bool {
        let number = (data_block as u64).checked_mul(cx.pages()).and_then(|n| n.checked_add(page));
        number.and_then(|n| usize::try_from(n).ok()).is_some_and(|number| bit(&self.bitmap, number))
    }
}

impl DataBlockContext {
    /// Elements in the data block.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many pages there are; 0 if the elements stand in the data block itself.
    pub fn pages(&self) -> u64 {
        self.page.map_or(0, |page| self.count / page)
    }

    /// Where page `number` lies; `None` if there is no such page.
    pub fn page(&self, number: u64, sizes: Sizes) -> Option<PagePlace> {
        let page = self.page.filter(|_| number < self.pages())?;
        let each = page.checked_mul(self.kind.width(sizes) as u64)?.checked_add(4)?;
        let position = number.checked_mul(each)?.checked_add(self.prefix_size(sizes) as u64 + 4)?;
        let context = PageContext { count: usize::try_from(page).ok()?, kind: self.kind };
        Some(PagePlace { first: number * page, context, position })
    }

    /// Bytes the data block takes with all its pages; `None` if that is beyond 64 bits.
    pub fn size(&self, sizes: Sizes) -> Option<u64> {
        let elements = self.count.checked_mul(self.kind.width(sizes) as u64)?;
        elements.checked_add(self.pages().checked_mul(4)?)?.checked_add(self.prefix_size(sizes) as u64 + 4)
    }

    /// Signature, version, client, header address and the first element's number.
    fn prefix_size(&self, sizes: Sizes) -> usize {
        6 + usize::from(sizes.offsets) + usize::from(self.position_width)
    }
}

impl Structure for IndexBlock {
    const NAME: &'static str = "extensible array index block";
    type Context = Layout;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: Layout) -> Result<Self> {
        w.signature(b"EAIB")?;
        w.version(|_| 0, 0..=0)?;
        w.constant("client id", 1, cx.kind.client().into())?;
        let header = w.address("header address", |b| b.header)?;
        let elements = walk_elements(w, cx.index_elements, |b| &b.elements, cx.kind)?;
        let data_blocks = w.offsets("data block address", cx.direct_count(), |b| &b.data_blocks)?;
        let super_blocks = w.offsets("secondary block address", cx.super_block_count(), |b| &b.super_blocks)?;
        w.checksum(lookup3)?;
        Ok(IndexBlock { header, elements, data_blocks, super_blocks })
    }

    fn first_read(sizes: Sizes, cx: Layout) -> usize {
        let addresses = 1 + cx.direct_count() + cx.super_block_count();
        10 + addresses * usize::from(sizes.offsets) + cx.index_elements * cx.kind.width(sizes)
    }
}

impl Structure for SuperBlock {
    const NAME: &'static str = "extensible array secondary block";
    type Context = SuperBlockContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: SuperBlockContext) -> Result<Self> {
        w.signature(b"EASB")?;
        w.version(|_| 0, 0..=0)?;
        w.constant("client id", 1, cx.kind.client().into())?;
        let header = w.address("header address", |b| b.header)?;
        let first = w.uint("block offset", cx.position_width, |b| b.first)?;
        let Some(bitmap) = cx.bitmap_size() else {
            return w.corrupt("page bitmap", "the bitmap is more than this machine can address");
        };
        let bitmap = w.bytes("page bitmap", bitmap, |b| &b.bitmap)?;
        let data_blocks = w.offsets("data block address", cx.blocks, |b| &b.data_blocks)?;
        w.checksum(lookup3)?;
        Ok(SuperBlock { header, first, bitmap, data_blocks })
    }

    fn first_read(sizes: Sizes, cx: SuperBlockContext) -> usize {
        let prefix = 10 + usize::from(sizes.offsets) + usize::from(cx.position_width);
        let addresses = cx.blocks.saturating_mul(sizes.offsets.into());
        prefix.saturating_add(addresses).saturating_add(cx.bitmap_size().unwrap_or(0))
    }
}

impl Structure for DataBlock {
    const NAME: &'static str = "extensible array data block";
    type Context = DataBlockContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: DataBlockContext) -> Result<Self> {
        w.signature(b"EADB")?;
        w.version(|_| 0, 0..=0)?;
        w.constant("client id", 1, cx.kind.client().into())?;
        let header = w.address("header address", |b| b.header)?;
        let first = w.uint("block offset", cx.position_width, |b| b.first)?;
        let Ok(count) = usize::try_from(if cx.page.is_some() { 0 } else { cx.count }) else {
            return w.corrupt("element", "there are more than this machine can address");
        };
        let elements = walk_elements(w, count, |b| &b.elements, cx.kind)?;
        w.checksum(lookup3)?;
        Ok(DataBlock { header, first, elements })
    }

    fn first_read(sizes: Sizes, cx: DataBlockContext) -> usize {
        let count = if cx.page.is_some() { 0 } else { usize::try_from(cx.count).unwrap_or(usize::MAX) };
        count.saturating_mul(cx.kind.width(sizes)).saturating_add(cx.prefix_size(sizes) + 4)
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{data_block, index_block, super_block};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::super::super::chunk_element::chunk_element;
    use super::super::header::layout;
    use super::*;
    use crate::wire::laws;

    fn position(width: u8) -> BoxedStrategy<u64> {
        (0..=u64::MAX >> (64 - 8 * u32::from(width))).boxed()
    }

    /// Any index block with its context.
    pub fn index_block(sizes: Sizes) -> BoxedStrategy<(IndexBlock, Layout)> {
        let addr = move || option::of(laws::addr(sizes));
        layout(sizes)
            .prop_flat_map(move |cx| {
                let elements = vec(chunk_element(sizes, cx.kind), cx.index_elements);
                let (data_blocks, super_blocks) = (vec(addr(), cx.direct_count()), vec(addr(), cx.super_block_count()));
                (laws::addr(sizes), elements, data_blocks, super_blocks).prop_map(
                    move |(header, elements, data_blocks, super_blocks)| {
                        (IndexBlock { header, elements, data_blocks, super_blocks }, cx)
                    },
                )
            })
            .boxed()
    }

    /// Any super block of a small array with its context.
    pub fn super_block(sizes: Sizes) -> BoxedStrategy<(SuperBlock, SuperBlockContext)> {
        (layout(sizes), 0usize..6)
            .prop_flat_map(move |(layout, number)| {
                let number = number.min(layout.super_block_count() - 1);
                let cx = layout.super_blocks().nth(number).expect("because there are more");
                let bitmap = vec(any::<u8>(), cx.bitmap_size().expect("because it is small"));
                let data_blocks = vec(option::of(laws::addr(sizes)), cx.blocks);
                (laws::addr(sizes), position(cx.position_width), bitmap, data_blocks).prop_map(
                    move |(header, first, bitmap, data_blocks)| (SuperBlock { header, first, bitmap, data_blocks }, cx),
                )
            })
            .boxed()
    }

    /// Any data block of a small array with its context.
    pub fn data_block(sizes: Sizes) -> BoxedStrategy<(DataBlock, DataBlockContext)> {
        layout(sizes)
            .prop_flat_map(move |layout| {
                let (_, cx) = layout.direct_data_blocks().last().expect("because there is one");
                let count = if cx.page.is_some() { 0 } else { usize::try_from(cx.count).expect("because it is small") };
                let elements = vec(chunk_element(sizes, cx.kind), count);
                (laws::addr(sizes), position(cx.position_width), elements)
                    .prop_map(move |(header, first, elements)| (DataBlock { header, first, elements }, cx))
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Page;
    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<IndexBlock>(index_block);
        laws::hold::<SuperBlock>(super_block);
        laws::hold::<DataBlock>(data_block);
    }

    #[test]
    fn sizes_known_beforehand_are_right() {
        for sizes in laws::widths() {
            proptest!(|((i, i_cx) in index_block(sizes), (s, s_cx) in super_block(sizes), (d, d_cx) in data_block(sizes))| {
                prop_assert_eq!(IndexBlock::first_read(sizes, i_cx), i.size(sizes, i_cx).unwrap());
                prop_assert_eq!(SuperBlock::first_read(sizes, s_cx), s.size(sizes, s_cx).unwrap());
                prop_assert_eq!(DataBlock::first_read(sizes, d_cx), d.size(sizes, d_cx).unwrap());
                let mut end = d.size(sizes, d_cx).unwrap() as u64;
                for number in 0..d_cx.pages() {
                    let place = d_cx.page(number, sizes).unwrap();
                    prop_assert_eq!(place.position, end);
                    end += Page::first_read(sizes, place.context) as u64;
                }
                prop_assert_eq!(d_cx.page(d_cx.pages(), sizes), None);
                prop_assert_eq!(d_cx.size(sizes), Some(end));
            });
        }
    }

    #[test]
    fn bits_of_all_data_blocks_stand_together() {
        let cx = SuperBlockContext {
            kind: ElementKind::Unfiltered,
            position_width: 4,
            first: 0,
            blocks: 4,
            elements: 3072,
            page: Some(1024),
        };
        let bitmap = vec![0b1000_1000, 0b0001_0000, 0, 0];
        let block = SuperBlock { header: Addr(1), first: 0, bitmap, data_blocks: vec![] };
        let written: Vec<_> =
            (0..4).flat_map(|b| (0..3).map(move |p| (b, p))).filter(|&(b, p)| block.has_page(&cx, b, p)).collect();
        assert_eq!(written, [(0, 0), (1, 1), (3, 2)]);
        assert_eq!(cx.bitmap_size(), Some(4));
    }

    #[test]
    fn another_client_is_corrupt() {
        let sizes = Sizes::EIGHT;
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let (block, cx) = index_block(sizes).new_tree(&mut runner).unwrap().current();
        let mut bytes = block.encode(Addr(0), sizes, cx).unwrap();
        bytes[5] ^= 1;
        let error = IndexBlock::decode(&bytes, Addr(0), sizes, cx).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains(r#"(extensible array index block, "client id", at 0x5)"#), "{error}");
    }
}
