//! The header of an extensible array, and what its parameters mean for the blocks. Specification VII.D. Signature `EAHD`.

use super::super::chunk_element::ElementKind;
use super::blocks::{DataBlockContext, SuperBlockContext};
use crate::error::{Error, Result};
use crate::wire::{Addr, Sizes, Structure, Walk, lookup3};

/// The header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// How the array is laid out.
    pub parameters: Parameters,
    /// Super blocks in the file.
    pub super_blocks: u64,
    /// Bytes they take.
    pub super_blocks_size: u64,
    /// Data blocks in the file.
    pub data_blocks: u64,
    /// Bytes they take.
    pub data_blocks_size: u64,
    /// One more than the number of the last element that was written.
    pub used: u64,
    /// Elements for which there is space in the file.
    pub realized: u64,
    /// The index block; undefined if nothing was written.
    pub index_block: Option<Addr>,
}

/// How an array is laid out, as its header says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// What the elements are; see [`ElementKind`].
    pub client: u8,
    /// Bytes in each element.
    pub element_size: u8,
    /// Logarithm of the largest number of elements.
    pub max_bits: u8,
    /// Elements in the index block.
    pub index_elements: u8,
    /// Elements in the smallest data blocks.
    pub least_elements: u8,
    /// Data blocks of the first super block that has a block of its own.
    pub least_pointers: u8,
    /// Logarithm of the number of elements in a page of a data block.
    pub page_bits: u8,
}

/// What follows from the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(super) kind: ElementKind,
    pub(super) index_elements: usize,
    /// Width of a block's first element number.
    pub(super) position_width: u8,
    least_elements: u64,
    /// Super blocks without a block of their own.
    direct: u8,
    /// All super blocks.
    super_blocks: u8,
    page: Option<u64>,
}

/// Where an element stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the index block, at this number.
    IndexBlock(usize),
    /// In a data block to which the index block points.
    DataBlock {
        /// Number of the index block's pointer.
        pointer: usize,
        /// Number in the data block.
        element: u64,
    },
    /// In a data block of a super block to which the index block points.
    SuperBlock {
        /// Number of the index block's pointer.
        pointer: usize,
        /// Number of the super block's pointer.
        data_block: u64,
        /// Number in the data block.
        element: u64,
    },
}

impl Header {
    /// What the header's parameters mean for its blocks.
    pub fn layout(&self, sizes: Sizes) -> Result<Layout> {
        Layout::new(self.parameters, sizes)
    }
}

impl Layout {
    /// The layout of an array with these parameters.
    pub fn new(parameters: Parameters, sizes: Sizes) -> Result<Self> {
        let Parameters { client, element_size, max_bits, index_elements, least_elements, least_pointers, page_bits } =
            parameters;
        let kind = ElementKind::new(client, element_size, sizes)?;
        if max_bits >= 64 {
            return Err(Error::unsupported(format!("an extensible array of 2^{max_bits} elements is beyond 64 bits")));
        }
        let corrupt = |what: &str| Err(Error::corrupt(format!("{what}: {parameters:?}")));
        if !least_elements.is_power_of_two() || !least_pointers.is_power_of_two() || least_pointers < 2 {
            return corrupt("extensible array blocks are no powers of two");
        }
        let least_bits = least_elements.trailing_zeros();
        let direct = 2 * least_pointers.trailing_zeros();
        let super_blocks = (u32::from(max_bits) + 1).saturating_sub(least_bits);
        let narrow = |n: u32| u8::try_from(n).expect("because it is at most 65");
        if super_blocks < direct {
            return corrupt("extensible array has more blocks than elements");
        }
        Ok(Layout {
            kind,
            index_elements: index_elements.into(),
            position_width: max_bits.div_ceil(8),
            least_elements: least_elements.into(),
            direct: narrow(direct),
            super_blocks: narrow(super_blocks),
            page: 1u64.checked_shl(page_bits.into()),
        })
    }

    /// What the elements are.
    pub fn kind(&self) -> ElementKind {
        self.kind
    }

    /// Elements in the index block.
    pub fn index_elements(&self) -> usize {
        self.index_elements
    }

    /// Where element `number` stands; `None` if it is beyond the largest array.
    pub fn place(&self, number: u64) -> Option<Place> {
        let Some(rest) = number.checked_sub(self.index_elements as u64) else {
            return usize::try_from(number).ok().map(Place::IndexBlock);
        };
        let number = u8::try_from((rest / self.least_elements + 1).ilog2()).ok()?;
        if number >= self.super_blocks {
            return None;
        }
        let rest = rest - self.first_of(number);
        let (block, element) = (rest / self.elements_of(number), rest % self.elements_of(number));
        Some(match number.checked_sub(self.direct) {
            Some(pointer) => Place::SuperBlock { pointer: pointer.into(), data_block: block, element },
            None => {
                let before: usize = (0..number).map(blocks_of).sum();
                Place::DataBlock { pointer: before + usize::try_from(block).ok()?, element }
            }
        })
    }

    /// The data blocks to which the index block points, in order: the number of the first element, and the context.
    pub fn direct_data_blocks(&self) -> impl Iterator<Item = (u64, DataBlockContext)> + use<> {
        let layout = *self;
        (0..self.direct).flat_map(move |number| layout.super_block(number).data_blocks())
    }

    /// The super blocks to which the index block points, in order.
    pub fn super_blocks(&self) -> impl Iterator<Item = SuperBlockContext> + use<> {
        let layout = *self;
        (self.direct..self.super_blocks).map(move |number| layout.super_block(number))
    }

    /// How many data blocks the index block points to.
    pub fn direct_count(&self) -> usize {
        (0..self.direct).map(blocks_of).sum()
    }

    /// How many super blocks the index block points to.
    pub fn super_block_count(&self) -> usize {
        (self.super_blocks - self.direct).into()
    }

    fn super_block(&self, number: u8) -> SuperBlockContext {
        SuperBlockContext {
            kind: self.kind,
            position_width: self.position_width,
            first: self.first_of(number).saturating_add(self.index_elements as u64),
            blocks: blocks_of(number),
            elements: self.elements_of(number),
            page: self.page.filter(|&page| page < self.elements_of(number)),
        }
    }

    /// Elements in each data block of super block `number`.
    fn elements_of(&self, number: u8) -> u64 {
        self.least_elements << number.div_ceil(2)
    }

    /// Elements before super block `number`, those of the index block left aside.
    fn first_of(&self, number: u8) -> u64 {
        ((1 << number) - 1) * self.least_elements
    }
}

/// Data blocks of super block `number`.
fn blocks_of(number: u8) -> usize {
    1 << (number / 2)
}

impl Structure for Header {
    const NAME: &'static str = "extensible array header";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        w.signature(b"EAHD")?;
        w.version(|_| 0, 0..=0)?;
        let parameters = Parameters {
            client: w.u8("client id", |h| h.parameters.client)?,
            element_size: w.u8("element size", |h| h.parameters.element_size)?,
            max_bits: w.u8("max number of elements bits", |h| h.parameters.max_bits)?,
            index_elements: w.u8("index block elements", |h| h.parameters.index_elements)?,
            least_elements: w.u8("data block min elements", |h| h.parameters.least_elements)?,
            least_pointers: w.u8("secondary block min data pointers", |h| h.parameters.least_pointers)?,
            page_bits: w.u8("max data block page elements bits", |h| h.parameters.page_bits)?,
        };
        let super_blocks = w.length("number of secondary blocks", |h| h.super_blocks)?;
        let super_blocks_size = w.length("secondary block size", |h| h.super_blocks_size)?;
        let data_blocks = w.length("number of data blocks", |h| h.data_blocks)?;
        let data_blocks_size = w.length("data block size", |h| h.data_blocks_size)?;
        let used = w.length("max index set", |h| h.used)?;
        let realized = w.length("number of elements", |h| h.realized)?;
        let index_block = w.offset("index block address", |h| h.index_block)?;
        w.checksum(lookup3)?;
        Ok(Header {
            parameters,
            super_blocks,
            super_blocks_size,
            data_blocks,
            data_blocks_size,
            used,
            realized,
            index_block,
        })
    }

    fn first_read(sizes: Sizes, (): ()) -> usize {
        16 + 6 * usize::from(sizes.lengths) + usize::from(sizes.offsets)
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{header, layout};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::option;
    use proptest::prelude::*;

    use super::super::super::chunk_element::element_kind;
    use super::*;
    use crate::wire::laws;

    /// Any header; its parameters need not make sense together.
    pub fn header(sizes: Sizes) -> BoxedStrategy<Header> {
        let length = || laws::length(sizes);
        let lengths = (length(), length(), length(), length(), length(), length());
        (any::<[u8; 7]>(), lengths, option::of(laws::addr(sizes)))
            .prop_map(|(parameters, lengths, index_block)| {
                let [client, element_size, max_bits, index_elements, least_elements, least_pointers, page_bits] =
                    parameters;
                let (super_blocks, super_blocks_size, data_blocks, data_blocks_size, used, realized) = lengths;
                Header {
                    parameters: Parameters {
                        client,
                        element_size,
                        max_bits,
                        index_elements,
                        least_elements,
                        least_pointers,
                        page_bits,
                    },
                    super_blocks,
                    super_blocks_size,
                    data_blocks,
                    data_blocks_size,
                    used,
                    realized,
                    index_block,
                }
            })
            .boxed()
    }

    /// Any layout of a small array.
    pub fn layout(sizes: Sizes) -> BoxedStrategy<Layout> {
        (element_kind(), 9u8..20, 0u8..9, 0u8..3, 1u8..4, 1u8..5)
            .prop_map(move |(kind, max_bits, index_elements, least_bits, pointer_bits, page_bits)| {
                let parameters = Parameters {
                    client: kind.client(),
                    element_size: u8::try_from(kind.width(sizes)).expect("because it is small"),
                    max_bits,
                    index_elements,
                    least_elements: 1 << least_bits,
                    least_pointers: 1 << pointer_bits,
                    page_bits,
                };
                Layout::new(parameters, sizes).expect("because the parameters make sense")
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

    /// What libhdf5 writes for chunks without filters.
    const USUAL: Parameters = Parameters {
        client: 0,
        element_size: 8,
        max_bits: 32,
        index_elements: 4,
        least_elements: 16,
        least_pointers: 4,
        page_bits: 10,
    };

    #[test]
    fn laws_hold() {
        laws::hold::<Header>(|sizes| {
            header(sizes)
                .prop_map(move |h| {
                    assert_eq!(h.size(sizes, ()).unwrap(), Header::first_read(sizes, ()));
                    (h, ())
                })
                .boxed()
        });
    }

    #[test]
    fn any_parameters_give_a_layout_or_an_error() {
        proptest!(|(mut h in header(Sizes::EIGHT), number in any::<u64>(), sensible in any::<bool>())| {
            if sensible {
                h.parameters = Parameters { max_bits: h.parameters.max_bits, index_elements: 3, ..USUAL };
            }
            if let Ok(layout) = h.layout(Sizes::EIGHT) {
                let _ = (layout.place(number), layout.place(u64::MAX), layout.direct_data_blocks().count());
                for block in layout.super_blocks() {
                    let _ = (block.bitmap_size(), SuperBlockContext::pages(&block), block.data_blocks().take(3).count());
                }
            }
        });
    }

    #[test]
    fn the_usual_array_has_the_usual_blocks() {
        let layout = Layout::new(USUAL, Sizes::EIGHT).unwrap();
        assert_eq!((layout.direct_count(), layout.super_block_count(), layout.position_width), (6, 25, 4));
        let direct: Vec<_> = layout.direct_data_blocks().map(|(first, cx)| (first, cx.count())).collect();
        assert_eq!(direct, [(4, 16), (20, 32), (52, 32), (84, 32), (116, 64), (180, 64)]);
        assert_eq!(layout.place(3), Some(Place::IndexBlock(3)));
        assert_eq!(layout.place(4), Some(Place::DataBlock { pointer: 0, element: 0 }));
    }

    #[test]
    fn places_and_blocks_agree() {
        for sizes in laws::widths() {
            proptest!(|(layout in layout(sizes))| {
                let mut number = layout.index_elements() as u64;
                let direct = layout.direct_data_blocks().enumerate().map(|(i, (first, cx))| (None, i as u64, first, cx));
                let indirect = layout.super_blocks().enumerate().flat_map(|(p, block)| {
                    block.data_blocks().enumerate().map(move |(i, (first, cx))| (Some(p), i as u64, first, cx))
                });
                for (pointer, block, first, cx) in direct.chain(indirect) {
                    prop_assert_eq!(first, number);
                    for element in [0, cx.count() - 1] {
                        let place = match pointer {
                            None => Place::DataBlock { pointer: usize::try_from(block).unwrap(), element },
                            Some(pointer) => Place::SuperBlock { pointer, data_block: block, element },
                        };
                        prop_assert_eq!(layout.place(first + element), Some(place));
                    }
                    number += cx.count();
                }
                prop_assert_eq!(layout.place(number), None);
                prop_assert_eq!(layout.direct_data_blocks().count(), layout.direct_count());
            });
        }
    }

    #[test]
    fn parameters_that_make_no_sense_are_errors() {
        let kind = |parameters| Layout::new(parameters, Sizes::EIGHT).unwrap_err().kind();
        for wrong in [
            Parameters { least_elements: 0, ..USUAL },
            Parameters { least_elements: 5, ..USUAL },
            Parameters { least_pointers: 0, ..USUAL },
            Parameters { least_pointers: 1, ..USUAL },
            Parameters { least_pointers: 12, ..USUAL },
            Parameters { max_bits: 0, ..USUAL },
            Parameters { element_size: 9, ..USUAL },
        ] {
            assert_eq!(kind(wrong), ErrorKind::Corrupt, "{wrong:?}");
        }
        assert_eq!(kind(Parameters { max_bits: 64, ..USUAL }), ErrorKind::Unsupported);
        assert_eq!(kind(Parameters { client: 2, ..USUAL }), ErrorKind::Unsupported);
    }
}
