//! Fixed arrays: the chunk index of datasets of fixed shape. Specification VII.C.
//!
//! ```text
//! header ──> data block: elements                        at most 2^bits elements
//! header ──> data block: bitmap | page | page | ...      more elements; a page that was never written is no page yet
//! ```
//! Elements are numbered row-major over the grid of chunks. Signatures `FAHD` and `FADB`.

use super::chunk_element::{ChunkElement, ElementKind, bit, walk_elements};
pub use super::chunk_element::{Page, PageContext};
use crate::error::{Error, Result};
use crate::wire::{Addr, Sizes, Structure, Walk, lookup3};

/// The header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the elements are; see [`ElementKind`].
    pub client: u8,
    /// Bytes in each element.
    pub element_size: u8,
    /// Logarithm of the number of elements in a page.
    pub page_bits: u8,
    /// Elements in the array.
    pub count: u64,
    /// The data block; undefined if nothing was written.
    pub data_block: Option<Addr>,
}

/// What follows from a header: how the array's data block and its pages lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    kind: ElementKind,
    count: usize,
    /// Elements in a page; none if the array has no pages.
    page: Option<usize>,
}

/// The data block, without its pages if it has any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataBlock {
    /// The array's header.
    pub header: Addr,
    /// What the block holds.
    pub contents: Contents,
}

/// Elements, or which pages of them exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// All elements of the array.
    Elements(Vec<ChunkElement>),
    /// One bit a page, the highest of the first byte for the first page: whether it was written.
    Pages(Vec<u8>),
}

/// Where a page lies and how many elements it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePlace {
    /// Number of the page's first element.
    pub first: usize,
    /// What [`Page`] depends on: how many elements it has and which.
    pub context: PageContext,
    /// Bytes between the data block's address and the page.
    pub position: u64,
}

impl Header {
    /// How the array's data block lies.
    pub fn layout(&self, sizes: Sizes) -> Result<Layout> {
        let kind = ElementKind::new(self.client, self.element_size, sizes)?;
        Layout::new(kind, self.count, self.page_bits)
    }
}

impl Layout {
    /// The layout of an array of `count` elements with 2^`page_bits` of them in a page.
    pub fn new(kind: ElementKind, count: u64, page_bits: u8) -> Result<Self> {
        let Ok(count) = usize::try_from(count) else {
            return Err(Error::limit(format!(
                "a fixed array of {count} elements is more than this machine can address"
            )));
        };
        let page = 1usize.checked_shl(page_bits.into()).filter(|&page| page < count);
        Ok(Layout { kind, count, page })
    }

    /// Elements in the array.
    pub fn count(&self) -> usize {
        self.count
    }

    /// What the elements are.
    pub fn kind(&self) -> ElementKind {
        self.kind
    }

    /// How many pages there are; 0 if the elements stand in the data block itself.
    pub fn pages(&self) -> usize {
        self.page.map_or(0, |page| self.count.div_ceil(page))
    }

    /// Where page `number` lies and how many elements it has; `None` if there is no such page.
    pub fn page(&self, number: usize, sizes: Sizes) -> Option<PagePlace> {
        let page = self.page?;
        let first = number.checked_mul(page).filter(|&first| first < self.count)?;
        let count = page.min(self.count - first);
        let as_u64 = |n: usize| u64::try_from(n).ok();
        let prefix = as_u64(prefix_size(sizes) + self.pages().div_ceil(8) + 4)?;
        let each = as_u64(page)?.checked_mul(as_u64(self.kind.width(sizes))?)?.checked_add(4)?;
        let position = as_u64(number)?.checked_mul(each)?.checked_add(prefix)?;
        Some(PagePlace { first, context: PageContext { count, kind: self.kind }, position })
    }

    /// Bytes the data block takes with all its pages; `None` if that is beyond 64 bits.
    pub fn data_block_size(&self, sizes: Sizes) -> Option<u64> {
        let elements = u64::try_from(self.count).ok()?.checked_mul(u64::try_from(self.kind.width(sizes)).ok()?)?;
        let others = prefix_size(sizes) + self.pages().div_ceil(8) + 4;
        let checksums = u64::try_from(self.pages()).ok()?.checked_mul(4)?;
        elements.checked_add(checksums)?.checked_add(u64::try_from(others).ok()?)
    }
}

/// Signature, version, client and header address.
fn prefix_size(sizes: Sizes) -> usize {
    6 + usize::from(sizes.offsets)
}

impl DataBlock {
    fn elements(&self) -> &[ChunkElement] {
        match &self.contents {
            Contents::Elements(elements) => elements,
            Contents::Pages(_) => &[],
        }
    }

    fn bitmap(&self) -> &[u8] {
        match &self.contents {
            Contents::Elements(_) => &[],
            Contents::Pages(bitmap) => bitmap,
        }
    }

    /// Whether page `number` was written.
    pub fn has_page(&self, number: usize) -> bool {
        bit(self.bitmap(), number)
    }
}

impl Structure for Header {
    const NAME: &'static str = "fixed array header";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        w.signature(b"FAHD")?;
        w.version(|_| 0, 0..=0)?;
        let client = w.u8("client id", |h| h.client)?;
        let element_size = w.u8("entry size", |h| h.element_size)?;
        let page_bits = w.u8("page bits", |h| h.page_bits)?;
        let count = w.length("max num entries", |h| h.count)?;
        let data_block = w.offset("data block address", |h| h.data_block)?;
        w.checksum(lookup3)?;
        Ok(Header { client, element_size, page_bits, count, data_block })
    }

    fn first_read(sizes: Sizes, (): ()) -> usize {
        12 + usize::from(sizes.lengths) + usize::from(sizes.offsets)
    }
}

impl Structure for DataBlock {
    const NAME: &'static str = "fixed array data block";
    type Context = Layout;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: Layout) -> Result<Self> {
        w.signature(b"FADB")?;
        w.version(|_| 0, 0..=0)?;
        w.constant("client id", 1, cx.kind.client().into())?;
        let header = w.address("header address", |b| b.header)?;
        let contents = match cx.pages() {
            0 => Contents::Elements(walk_elements(w, cx.count, DataBlock::elements, cx.kind)?),
            pages => Contents::Pages(w.bytes("page bitmap", pages.div_ceil(8), DataBlock::bitmap)?),
        };
        w.checksum(lookup3)?;
        Ok(DataBlock { header, contents })
    }

    fn first_read(sizes: Sizes, cx: Layout) -> usize {
        let contents = match cx.pages() {
            0 => cx.count.saturating_mul(cx.kind.width(sizes)),
            pages => pages.div_ceil(8),
        };
        contents.saturating_add(prefix_size(sizes) + 4)
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{data_block, header};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::super::chunk_element::{chunk_element, element_kind};
    use super::*;
    use crate::wire::laws;

    /// Any header; its parameters need not make sense together.
    pub fn header(sizes: Sizes) -> BoxedStrategy<Header> {
        (any::<(u8, u8, u8)>(), laws::length(sizes), option::of(laws::addr(sizes)))
            .prop_map(|((client, element_size, page_bits), count, data_block)| Header {
                client,
                element_size,
                page_bits,
                count,
                data_block,
            })
            .boxed()
    }

    /// Any data block with its context.
    pub fn data_block(sizes: Sizes) -> BoxedStrategy<(DataBlock, Layout)> {
        (element_kind(), 0u64..20, 0u8..5, laws::addr(sizes))
            .prop_flat_map(move |(kind, count, page_bits, header)| {
                let layout = Layout::new(kind, count, page_bits).expect("because it is small");
                let contents = match layout.pages() {
                    0 => vec(chunk_element(sizes, kind), layout.count).prop_map(Contents::Elements).boxed(),
                    pages => vec(any::<u8>(), pages.div_ceil(8)).prop_map(Contents::Pages).boxed(),
                };
                contents.prop_map(move |contents| (DataBlock { header, contents }, layout))
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
        laws::hold::<Header>(|sizes| header(sizes).prop_map(|h| (h, ())).boxed());
        laws::hold::<DataBlock>(data_block);
    }

    #[test]
    fn sizes_known_beforehand_are_right() {
        for sizes in laws::widths() {
            proptest!(|((block, cx) in data_block(sizes), h in header(sizes))| {
                prop_assert_eq!(DataBlock::first_read(sizes, cx), block.size(sizes, cx).unwrap());
                prop_assert_eq!(Header::first_read(sizes, ()), h.size(sizes, ()).unwrap());
                let mut end = u64::try_from(block.size(sizes, cx).unwrap()).unwrap();
                for number in 0..cx.pages() {
                    let place = cx.page(number, sizes).unwrap();
                    prop_assert_eq!(place.position, end);
                    end += u64::try_from(Page::first_read(sizes, place.context)).unwrap();
                }
                prop_assert_eq!(cx.page(cx.pages(), sizes), None);
                prop_assert_eq!(cx.data_block_size(sizes), Some(end));
                let _ = h.layout(sizes).map(|l| (l.pages(), l.page(usize::MAX, sizes), l.page(77, sizes)));
            });
        }
    }

    #[test]
    fn pages_are_cut_where_the_elements_end() {
        let layout = Layout::new(ElementKind::Unfiltered, 2500, 10).unwrap();
        assert_eq!(layout.pages(), 3);
        let last = layout.page(2, Sizes::EIGHT).unwrap();
        assert_eq!((last.first, last.context.count, last.position), (2048, 452, 14 + 1 + 4 + 2 * (8192 + 4)));
        assert_eq!(Layout::new(ElementKind::Unfiltered, 1024, 10).unwrap().pages(), 0);
    }

    #[test]
    fn the_first_page_has_the_highest_bit() {
        let block = DataBlock { header: Addr(1), contents: Contents::Pages(vec![0b1010_0000, 0b0100_0000]) };
        let written: Vec<_> = (0..99).filter(|&n| block.has_page(n)).collect();
        assert_eq!(written, [0, 2, 9]);
    }

    #[test]
    fn a_claimed_count_allocates_nothing() {
        let layout = Layout::new(ElementKind::Filtered { size_width: 2 }, 1 << 24, 30).unwrap();
        let bytes = [b"FADB\0\x01" as &[u8], &[7; 8 + 14 * 3]].concat();
        let error = DataBlock::decode(&bytes, Addr(0), Sizes::EIGHT, layout).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.short_of() > 0);
    }
}
