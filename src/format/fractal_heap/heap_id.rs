//! Heap ids: how links, attributes and shared messages name an object of a fractal heap. Specification III.G, "Fractal
//! Heap ID".
//!
//! ```text
//! bits 6-7 version, 4-5 type | managed: offset, size | huge: number, or address, size, ... | tiny: the object
//! ```

use crate::error::{Error, Result};
use crate::wire::{Addr, Sizes, Structure, Walk};

/// The largest tiny object whose size fits into the first byte.
const SHORT_TINY: usize = 16;

/// A heap id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapId {
    /// Where the object is.
    pub location: Location,
    /// The four reserved bits of the first byte; 0 for tiny objects, whose size they hold.
    pub reserved: u8,
    /// What stands after the fields, unless it is zero.
    pub slack: Vec<u8>,
}

/// Where an object of a fractal heap is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a direct block.
    Managed {
        /// In the heap's space.
        offset: u64,
        /// Bytes in the object.
        size: u64,
    },
    /// On its own, found in the heap's version 2 B-tree by this number.
    HugeIndirect {
        /// The number.
        id: u64,
    },
    /// On its own, here.
    HugeDirect {
        /// Where it lies.
        addr: Addr,
        /// Bytes in the object.
        size: u64,
    },
    /// On its own, filtered, here.
    HugeDirectFiltered {
        /// Where it lies.
        addr: Addr,
        /// Bytes in the file.
        size: u64,
        /// The filters that were left out.
        filter_mask: u32,
        /// Bytes in the object.
        decoded_size: u64,
    },
    /// In the id.
    Tiny {
        /// The object.
        data: Vec<u8>,
    },
}

/// How a heap's ids are encoded. [`super::Header::id_context`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdContext {
    size: usize,
    offset_width: u8,
    length_width: u8,
    huge: Huge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Huge {
    /// By numbers of so many bytes.
    Indirect(u8),
    Direct,
    DirectFiltered,
}

impl IdContext {
    /// The ids of `id_size` bytes of a heap with offsets and sizes of such widths.
    pub(super) fn new(id_size: u16, offset_width: u8, length_width: u8, filtered: bool, sizes: Sizes) -> Result<Self> {
        let size = usize::from(id_size);
        let Some(room) = size.checked_sub(1).filter(|&room| room > 0) else {
            return Err(Error::corrupt(format!("fractal heap ids have {id_size} bytes")));
        };
        let (offsets, lengths) = (usize::from(sizes.offsets), usize::from(sizes.lengths));
        let huge = if filtered && room >= offsets + lengths + 4 + lengths {
            Huge::DirectFiltered
        } else if !filtered && room >= offsets + lengths {
            Huge::Direct
        } else {
            Huge::Indirect(u8::try_from(room.min(8)).expect("because it is at most 8"))
        };
        Ok(IdContext { size, offset_width, length_width, huge })
    }

    /// Bytes in an id.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether the ids of huge objects say where they are; if not, the heap's B-tree does.
    pub fn huge_are_direct(&self) -> bool {
        !matches!(self.huge, Huge::Indirect(_))
    }

    /// Whether a second byte belongs to the size of tiny objects.
    fn tiny_is_extended(&self) -> bool {
        self.size - 1 > SHORT_TINY + 1
    }

    /// The largest tiny object.
    pub fn max_tiny(&self) -> usize {
        if self.tiny_is_extended() { (self.size - 2).min(1 << 12) } else { (self.size - 1).min(SHORT_TINY) }
    }
}

impl HeapId {
    /// An id of an object there.
    pub fn new(location: Location) -> Self {
        HeapId { location, reserved: 0, slack: Vec::new() }
    }

    fn first_byte(&self, cx: IdContext) -> u8 {
        match &self.location {
            Location::Managed { .. } => self.reserved,
            Location::HugeIndirect { .. } | Location::HugeDirect { .. } | Location::HugeDirectFiltered { .. } => {
                0x10 | self.reserved
            }
            Location::Tiny { data } => {
                let [low, high, ..] = data.len().wrapping_sub(1).to_le_bytes();
                0x20 | if cx.tiny_is_extended() { high & 0x0f } else { low & 0x0f }
            }
        }
    }

    fn tiny(&self) -> &[u8] {
        match &self.location {
            Location::Tiny { data } => data,
            _ => &[],
        }
    }

    /// The numbers after the first byte, in order of the fields.
    fn numbers(&self) -> [u64; 4] {
        match self.location {
            Location::Managed { offset, size } => [offset, size, 0, 0],
            Location::HugeIndirect { id } => [id, 0, 0, 0],
            Location::HugeDirect { addr, size } => [addr.0, size, 0, 0],
            Location::HugeDirectFiltered { addr, size, filter_mask, decoded_size } => {
                [addr.0, size, filter_mask.into(), decoded_size]
            }
            Location::Tiny { .. } => [0; 4],
        }
    }
}

impl Structure for HeapId {
    const NAME: &'static str = "fractal heap id";
    type Context = IdContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: IdContext) -> Result<Self> {
        let ((location, reserved), slack) = w.boxed("unused", cx.size, |id| &id.slack, |w| walk_fields(w, cx))?;
        Ok(HeapId { location, reserved, slack })
    }

    fn first_read(_: Sizes, cx: IdContext) -> usize {
        cx.size
    }
}

fn walk_fields(w: &mut Walk<'_, '_, HeapId>, cx: IdContext) -> Result<(Location, u8)> {
    let first = w.u8("version and type", |id| id.first_byte(cx))?;
    if first >> 6 != 0 {
        return w.unsupported("version and type", format!("version is {}, only 0 is known", first >> 6));
    }
    let low = first & 0x0f;
    match (first >> 4, cx.huge) {
        (0, _) => {
            let offset = w.uint("offset", cx.offset_width, |id| id.numbers()[0])?;
            let size = w.uint("length", cx.length_width, |id| id.numbers()[1])?;
            Ok((Location::Managed { offset, size }, low))
        }
        (1, Huge::Indirect(width)) => {
            let id = w.uint("v2 B-tree key", width, |id| id.numbers()[0])?;
            Ok((Location::HugeIndirect { id }, low))
        }
        (1, Huge::Direct) => {
            let addr = w.address("address", |id| Addr(id.numbers()[0]))?;
            let size = w.length("length", |id| id.numbers()[1])?;
            Ok((Location::HugeDirect { addr, size }, low))
        }
        (1, Huge::DirectFiltered) => {
            let addr = w.address("address", |id| Addr(id.numbers()[0]))?;
            let size = w.length("length", |id| id.numbers()[1])?;
            let filter_mask = w.uint("filter mask", 4, |id| id.numbers()[2])?;
            let filter_mask = u32::try_from(filter_mask).expect("because four bytes were read");
            let decoded_size = w.length("de-filtered size", |id| id.numbers()[3])?;
            Ok((Location::HugeDirectFiltered { addr, size, filter_mask, decoded_size }, low))
        }
        (2, _) => {
            let mut size = usize::from(low);
            if cx.tiny_is_extended() {
                let low = w.u8("extended length", |id| id.tiny().len().wrapping_sub(1).to_le_bytes()[0])?;
                size = size << 8 | usize::from(low);
            }
            let data = w.bytes("data", size + 1, HeapId::tiny)?;
            Ok((Location::Tiny { data }, 0))
        }
        (other, _) => w.unsupported("version and type", format!("type is {other}, 0 to 2 are known")),
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::heap_id;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    fn number(width: u8) -> BoxedStrategy<u64> {
        (0..=u64::MAX >> (64 - 8 * u32::from(width))).boxed()
    }

    /// Any id, with the context of its heap.
    pub fn heap_id(sizes: Sizes) -> BoxedStrategy<(HeapId, IdContext)> {
        (8u16..60, 1u8..=4, 1u8..=3, any::<bool>())
            .prop_flat_map(move |(id_size, offset_width, length_width, filtered)| {
                let cx = IdContext::new(id_size, offset_width, length_width, filtered, sizes);
                let cx = cx.expect("because the ids are large enough");
                let managed = (number(offset_width), number(length_width))
                    .prop_map(|(offset, size)| Location::Managed { offset, size });
                let (addr, length) = (laws::addr(sizes), laws::length(sizes));
                let huge = match cx.huge {
                    Huge::Indirect(width) => number(width).prop_map(|id| Location::HugeIndirect { id }).boxed(),
                    Huge::Direct => (addr, length).prop_map(|(addr, size)| Location::HugeDirect { addr, size }).boxed(),
                    Huge::DirectFiltered => (addr, length.clone(), any::<u32>(), length)
                        .prop_map(|(addr, size, filter_mask, decoded_size)| Location::HugeDirectFiltered {
                            addr,
                            size,
                            filter_mask,
                            decoded_size,
                        })
                        .boxed(),
                };
                let tiny = vec(any::<u8>(), 1..=cx.max_tiny()).prop_map(|data| Location::Tiny { data });
                (prop_oneof![managed, huge, tiny], 0u8..16).prop_map(move |(location, reserved)| {
                    let reserved = if matches!(location, Location::Tiny { .. }) { 0 } else { reserved };
                    (HeapId { location, reserved, slack: Vec::new() }, cx)
                })
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<HeapId>(heap_id);
    }

    fn decode(bytes: &[u8], id_size: u16, filtered: bool) -> Result<HeapId> {
        let cx = IdContext::new(id_size, 4, 2, filtered, Sizes::EIGHT)?;
        let id = HeapId::decode(bytes, Addr(0), Sizes::EIGHT, cx)?;
        assert_eq!(id.encode(Addr(0), Sizes::EIGHT, cx)?, bytes);
        Ok(id)
    }

    #[test]
    fn a_link_s_id_is_seven_bytes() {
        let id = decode(&[0, 0x15, 2, 0, 0, 0x1a, 0], 7, false).unwrap();
        assert_eq!(id, HeapId::new(Location::Managed { offset: 0x215, size: 0x1a }));
        let id = decode(&[0x13, 1, 0, 0, 0, 0, 2], 7, false).unwrap();
        assert_eq!((id.location, id.reserved), (Location::HugeIndirect { id: 0x0200_0000_0001 }, 3));
        let id = decode(&[0x22, 7, 8, 9, 0, 0, 1], 7, false).unwrap();
        assert_eq!((id.location, id.slack), (Location::Tiny { data: vec![7, 8, 9] }, vec![0, 0, 1]));
    }

    #[test]
    fn the_size_of_a_tiny_object_has_a_second_byte_in_large_ids() {
        let short = |id_size| IdContext::new(id_size, 4, 2, false, Sizes::EIGHT).unwrap().max_tiny();
        assert_eq!([7, 17, 18, 19, 20, 5000].map(short), [6, 16, 16, 17, 18, 4096]);
        let mut bytes = [0; 19];
        bytes[..4].copy_from_slice(&[0x20, 1, 5, 6]);
        assert_eq!(decode(&bytes, 19, false).unwrap().location, Location::Tiny { data: vec![5, 6] });
    }

    #[test]
    fn huge_objects_are_direct_where_the_id_has_room() {
        let direct =
            |id_size, filtered| IdContext::new(id_size, 4, 2, filtered, Sizes::EIGHT).unwrap().huge_are_direct();
        assert_eq!([16, 17].map(|size| direct(size, false)), [false, true]);
        assert_eq!([17, 28, 29].map(|size| direct(size, true)), [false, false, true]);
    }

    #[test]
    fn ids_that_are_no_ids_are_errors() {
        let kind = |bytes: &[u8]| decode(bytes, u16::try_from(bytes.len()).unwrap(), false).unwrap_err().kind();
        assert_eq!(kind(&[0x40, 0, 0, 0, 0, 0, 0]), ErrorKind::Unsupported);
        assert_eq!(kind(&[0x30, 0, 0, 0, 0, 0, 0]), ErrorKind::Unsupported);
        assert_eq!(kind(&[0x26, 0, 0, 0, 0, 0, 0]), ErrorKind::Corrupt);
        assert_eq!(kind(&[0, 0, 0]), ErrorKind::Corrupt);
        assert_eq!(kind(&[]), ErrorKind::Corrupt);
        assert_eq!(kind(&[0]), ErrorKind::Corrupt);
    }
}
