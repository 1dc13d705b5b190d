//! The elements of fixed and extensible arrays, where one chunk of a dataset lies, and pages of them. Specification VII.C and VII.D.

use crate::error::{Error, Result};
use crate::wire::{Addr, Column, Sizes, Structure, Walk, lookup3};

/// One chunk, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkElement {
    /// Where the chunk lies; undefined if it was never written.
    pub addr: Option<Addr>,
    /// Its size in the file; 0 if the dataset has no filters, since the element does not say it then.
    pub size: u64,
    /// The filters that were left out; 0 if the dataset has none.
    pub filter_mask: u32,
}

impl ChunkElement {
    /// No chunk: what writers fill arrays with.
    pub const NONE: ChunkElement = ChunkElement { addr: None, size: 0, filter_mask: 0 };
}

/// Whether elements are of chunks that went through filters. It is the array's client id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// An element is an address. Client id 0.
    Unfiltered,
    /// An element is an address, a size of so many bytes, and a filter mask. Client id 1.
    Filtered {
        /// Width of the size, 1 to 8.
        size_width: u8,
    },
}

/// A page of a large data block. Pages that were never written are not to be read: their bytes mean nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The page's elements.
    pub elements: Vec<ChunkElement>,
}

/// What a page depends on: how many elements, of which kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageContext {
    /// Elements in the page.
    pub count: usize,
    /// What they are.
    pub kind: ElementKind,
}

/// Whether bit `number` is set in a bitmap of pages. The first page has the highest bit of the first byte.
pub(super) fn bit(bitmap: &[u8], number: usize) -> bool {
    bitmap.get(number / 8).is_some_and(|byte| byte & (0x80 >> (number % 8)) != 0)
}

impl ElementKind {
    /// The kind that an array's header states by its client id and the size of its elements.
    pub fn new(client: u8, element_size: u8, sizes: Sizes) -> Result<Self> {
        let kind = match client {
            0 => Some(ElementKind::Unfiltered),
            1 => element_size
                .checked_sub(sizes.offsets)
                .and_then(|rest| rest.checked_sub(4))
                .filter(|width| (1..=8).contains(width))
                .map(|size_width| ElementKind::Filtered { size_width }),
            other => return Err(Error::unsupported(format!("array client is {other}, 0 and 1 are known"))),
        };
        match kind {
            Some(kind) if kind.width(sizes) == usize::from(element_size) => Ok(kind),
            _ => Err(Error::corrupt(format!("array elements of client {client} have {element_size} bytes"))),
        }
    }

    /// The number that stands for it.
    pub fn client(self) -> u8 {
        match self {
            ElementKind::Unfiltered => 0,
            ElementKind::Filtered { .. } => 1,
        }
    }

    /// Bytes in an element.
    pub fn width(self, sizes: Sizes) -> usize {
        match self {
            ElementKind::Unfiltered => sizes.offsets.into(),
            ElementKind::Filtered { size_width } => usize::from(sizes.offsets) + usize::from(size_width) + 4,
        }
    }
}

impl Structure for ChunkElement {
    const NAME: &'static str = "array element";
    type Context = ElementKind;

    #[inline]
    fn walk(w: &mut Walk<'_, '_, Self>, kind: ElementKind) -> Result<Self> {
        let addr = w.offset("address", |e| e.addr)?;
        let ElementKind::Filtered { size_width } = kind else {
            return Ok(ChunkElement { addr, ..ChunkElement::NONE });
        };
        let size = w.uint("chunk size", size_width, |e| e.size)?;
        let filter_mask = w.u32("filter mask", |e| e.filter_mask)?;
        Ok(ChunkElement { addr, size, filter_mask })
    }
}

/// `count` elements, one after the other; in one pass where there may be millions.
pub(super) fn walk_elements<T>(
    w: &mut Walk<'_, '_, T>,
    count: usize,
    get: impl Fn(&T) -> &[ChunkElement],
    kind: ElementKind,
) -> Result<Vec<ChunkElement>> {
    if !w.is_bulk() {
        return w.each(count, get, kind);
    }
    let mut all = Vec::with_capacity(count.min(w.left() / kind.width(w.sizes())));
    let addr = |number: u64| (number != u64::MAX).then_some(Addr(number));
    match kind {
        ElementKind::Unfiltered => w.rows("address", &[Column::Address], count, |row| {
            all.push(ChunkElement { addr: addr(row[0]), ..ChunkElement::NONE });
        })?,
        ElementKind::Filtered { size_width } => {
            let columns = [Column::Address, Column::Number(size_width), Column::Number(4)];
            w.rows("address, chunk size and filter mask", &columns, count, |row| {
                let filter_mask = u32::try_from(row[2]).expect("because four bytes were read");
                all.push(ChunkElement { addr: addr(row[0]), size: row[1], filter_mask });
            })?;
        }
    }
    Ok(all)
}

impl Structure for Page {
    const NAME: &'static str = "array data block page";
    type Context = PageContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: PageContext) -> Result<Self> {
        let elements = walk_elements(w, cx.count, |p| &p.elements, cx.kind)?;
        w.checksum(lookup3)?;
        Ok(Page { elements })
    }

    fn first_read(sizes: Sizes, cx: PageContext) -> usize {
        cx.count.saturating_mul(cx.kind.width(sizes)).saturating_add(4)
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{chunk_element, element_kind, page};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    /// Either kind.
    pub fn element_kind() -> BoxedStrategy<ElementKind> {
        let filtered = (1u8..=8).prop_map(|size_width| ElementKind::Filtered { size_width });
        prop_oneof![Just(ElementKind::Unfiltered), filtered].boxed()
    }

    /// Any page with its context.
    pub fn page(sizes: Sizes) -> BoxedStrategy<(Page, PageContext)> {
        (element_kind(), 0usize..20)
            .prop_flat_map(move |(kind, count)| {
                vec(chunk_element(sizes, kind), count)
                    .prop_map(move |elements| (Page { elements }, PageContext { count, kind }))
            })
            .boxed()
    }

    /// Any element of `kind`.
    pub fn chunk_element(sizes: Sizes, kind: ElementKind) -> BoxedStrategy<ChunkElement> {
        let addr = option::of(laws::addr(sizes));
        match kind {
            ElementKind::Unfiltered => addr.prop_map(|addr| ChunkElement { addr, ..ChunkElement::NONE }).boxed(),
            ElementKind::Filtered { size_width } => {
                let top = u64::MAX >> (64 - 8 * u32::from(size_width));
                (addr, 0..=top, any::<u32>())
                    .prop_map(|(addr, size, filter_mask)| ChunkElement { addr, size, filter_mask })
                    .boxed()
            }
        }
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
        laws::hold::<ChunkElement>(|sizes| {
            element_kind()
                .prop_flat_map(move |kind| (chunk_element(sizes, kind), Just(kind)))
                .prop_map(move |(element, kind)| {
                    let width = element.size(sizes, kind).unwrap();
                    assert_eq!(width, kind.width(sizes));
                    let width = u8::try_from(width).unwrap();
                    assert_eq!(ElementKind::new(kind.client(), width, sizes).unwrap(), kind);
                    (element, kind)
                })
                .boxed()
        });
    }

    #[test]
    fn laws_hold_for_pages() {
        laws::hold::<Page>(|sizes| {
            page(sizes)
                .prop_map(move |(page, cx)| {
                    assert_eq!(Page::first_read(sizes, cx), page.size(sizes, cx).unwrap());
                    (page, cx)
                })
                .boxed()
        });
    }

    #[test]
    fn elements_in_one_pass_are_the_same_as_one_by_one() {
        for sizes in laws::widths() {
            proptest!(|((page, cx) in page(sizes))| {
                let bytes = page.encode(Addr(0), sizes, cx).unwrap();
                let one_by_one = Page::read_with(&bytes, Addr(0), sizes, |w| w.each(cx.count, |p| &p.elements, cx.kind));
                prop_assert_eq!(one_by_one.unwrap(), Page::decode(&bytes, Addr(0), sizes, cx).unwrap().elements);
            });
        }
    }

    #[test]
    fn an_unknown_client_is_unsupported_and_a_wrong_size_corrupt() {
        let kind = |client, size| ElementKind::new(client, size, Sizes::EIGHT).unwrap_err().kind();
        assert_eq!(kind(2, 8), ErrorKind::Unsupported);
        for (client, size) in [(0, 7), (0, 9), (0, 0), (1, 0), (1, 8), (1, 12), (1, 21), (1, 255)] {
            assert_eq!(kind(client, size), ErrorKind::Corrupt, "{client} {size}");
        }
    }
}
