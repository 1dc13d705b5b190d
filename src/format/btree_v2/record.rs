//! The records of version 2 B-trees, one type for each use of them. Specification III.A.2, the tables of types 1 to 11
//! (type 7, shared messages, stands in `shared_message_table`).

use crate::error::{Error, Result};
use crate::wire::{Addr, Column, Sizes, Structure, Walk};

/// A record of some type.
pub trait Record: Structure {
    /// The type's number, in headers and nodes.
    const TYPE: u8;

    /// The size of a record.
    fn width(sizes: Sizes, cx: Self::Context) -> usize;
}

/// Type 1: a huge object of a fractal heap without filters, found by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugeIndirect {
    /// Where the object lies.
    pub addr: Addr,
    /// Its size.
    pub size: u64,
    /// Its number, which heap ids hold.
    pub id: u64,
}

/// Type 2: a huge object of a fractal heap with filters, found by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugeIndirectFiltered {
    /// Where the object lies.
    pub addr: Addr,
    /// Its size in the file.
    pub size: u64,
    /// The filters that were left out.
    pub filter_mask: u32,
    /// Its size after decoding.
    pub decoded_size: u64,
    /// Its number, which heap ids hold.
    pub id: u64,
}

/// Type 3: a huge object of a fractal heap without filters, whose heap id says it all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugeDirect {
    /// Where the object lies.
    pub addr: Addr,
    /// Its size.
    pub size: u64,
}

/// Type 4: a huge object of a fractal heap with filters, whose heap id says it all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugeDirectFiltered {
    /// Where the object lies.
    pub addr: Addr,
    /// Its size in the file.
    pub size: u64,
    /// The filters that were left out.
    pub filter_mask: u32,
    /// Its size after decoding.
    pub decoded_size: u64,
}

/// Type 5: a link of a group, sorted by the hash of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkName {
    /// lookup3 of the name.
    pub hash: u32,
    /// Where the link stands in the group's fractal heap.
    pub heap_id: [u8; 7],
}

/// Type 6: a link of a group, sorted by creation order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkCreationOrder {
    /// When it was created: 0 for the group's first link, and so on.
    pub order: u64,
    /// Where the link stands in the group's fractal heap.
    pub heap_id: [u8; 7],
}

/// Type 8: an attribute, sorted by the hash of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeName {
    /// Where the attribute stands, in the object's fractal heap or in that of shared messages.
    pub heap_id: [u8; 8],
    /// Flags of the header message; bit 1 says that the attribute is shared.
    pub flags: u8,
    /// When it was created.
    pub order: u32,
    /// lookup3 of the name.
    pub hash: u32,
}

/// Type 9: an attribute, sorted by creation order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeCreationOrder {
    /// Where the attribute stands, in the object's fractal heap or in that of shared messages.
    pub heap_id: [u8; 8],
    /// Flags of the header message; bit 1 says that the attribute is shared.
    pub flags: u8,
    /// When it was created.
    pub order: u32,
}

/// Type 10: a chunk of a dataset without filters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where the chunk lies.
    pub addr: Option<Addr>,
    /// Its coordinates, counted in chunks.
    pub scaled: Vec<u64>,
}

/// Type 11: a chunk of a dataset with filters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilteredChunk {
    /// Where the chunk lies.
    pub addr: Option<Addr>,
    /// Its size in the file.
    pub size: u64,
    /// The filters that were left out.
    pub filter_mask: u32,
    /// Its coordinates, counted in chunks.
    pub scaled: Vec<u64>,
}

/// What records of type 11 depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilteredChunkContext {
    /// The dataset's rank.
    pub rank: u8,
    /// Width of the chunk's size.
    pub size_width: u8,
}

impl FilteredChunkContext {
    /// The context of records of `record_size` bytes, which leave so many for the chunk's size.
    pub fn new(record_size: u16, rank: u8, sizes: Sizes) -> Result<Self> {
        let others = usize::from(sizes.offsets) + 4 + 8 * usize::from(rank);
        match usize::from(record_size).checked_sub(others).and_then(|w| u8::try_from(w).ok()) {
            Some(size_width @ 1..=8) => Ok(FilteredChunkContext { rank, size_width }),
            _ => Err(Error::corrupt(format!(
                "a B-tree record of {record_size} bytes holds no filtered chunk of rank {rank}"
            ))),
        }
    }
}

/// A record of a chunk, as [`super::Node::scan`] gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRow<'a> {
    /// Where the chunk lies.
    pub addr: Option<Addr>,
    /// Its size in the file, where the record says it.
    pub size: Option<u64>,
    /// The filters that were left out.
    pub filter_mask: u32,
    /// Its coordinates, counted in chunks.
    pub scaled: &'a [u64],
}

/// The two records of chunks, which are read in bulk.
pub trait ChunkRecord: Record {
    /// The record's fields.
    fn columns(cx: Self::Context) -> Vec<Column>;

    /// What a row of such fields says.
    fn row(row: &[u64]) -> ChunkRow<'_>;
}

fn defined(addr: u64) -> Option<Addr> {
    (addr != u64::MAX).then_some(Addr(addr))
}

impl ChunkRecord for Chunk {
    fn columns(rank: u8) -> Vec<Column> {
        let mut columns = vec![Column::Address];
        columns.resize(1 + usize::from(rank), Column::Number(8));
        columns
    }

    fn row(row: &[u64]) -> ChunkRow<'_> {
        let [addr, scaled @ ..] = row else { unreachable!("because a column is") };
        ChunkRow { addr: defined(*addr), size: None, filter_mask: 0, scaled }
    }
}

impl ChunkRecord for FilteredChunk {
    fn columns(cx: FilteredChunkContext) -> Vec<Column> {
        let mut columns = vec![Column::Address, Column::Number(cx.size_width), Column::Number(4)];
        columns.resize(3 + usize::from(cx.rank), Column::Number(8));
        columns
    }

    fn row(row: &[u64]) -> ChunkRow<'_> {
        let [addr, size, filter_mask, scaled @ ..] = row else { unreachable!("because three columns are") };
        let filter_mask = u32::try_from(*filter_mask).expect("because four bytes were read");
        ChunkRow { addr: defined(*addr), size: Some(*size), filter_mask, scaled }
    }
}

macro_rules! records {
    ($($record:ident $number:literal $cx:ty, |$sizes:pat_param, $arg:pat_param| $width:expr;)*) => {$(
        impl Record for $record {
            const TYPE: u8 = $number;

            fn width($sizes: Sizes, $arg: $cx) -> usize {
                $width
            }
        }
    )*};
}
records! {
    HugeIndirect 1 (), |s, ()| usize::from(s.offsets) + 2 * usize::from(s.lengths);
    HugeIndirectFiltered 2 (), |s, ()| usize::from(s.offsets) + 3 * usize::from(s.lengths) + 4;
    HugeDirect 3 (), |s, ()| usize::from(s.offsets) + usize::from(s.lengths);
    HugeDirectFiltered 4 (), |s, ()| usize::from(s.offsets) + 2 * usize::from(s.lengths) + 4;
    LinkName 5 (), |_, ()| 11;
    LinkCreationOrder 6 (), |_, ()| 15;
    AttributeName 8 (), |_, ()| 17;
    AttributeCreationOrder 9 (), |_, ()| 13;
    Chunk 10 u8, |s, rank| usize::from(s.offsets) + 8 * usize::from(rank);
    FilteredChunk 11 FilteredChunkContext, |s, cx| {
        usize::from(s.offsets) + usize::from(cx.size_width) + 4 + 8 * usize::from(cx.rank)
    };
}

impl Structure for HugeIndirect {
    const NAME: &'static str = "huge object record, indirect";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let addr = w.address("huge object address", |r| r.addr)?;
        let size = w.length("huge object length", |r| r.size)?;
        let id = w.length("huge object id", |r| r.id)?;
        Ok(HugeIndirect { addr, size, id })
    }
}

impl Structure for HugeIndirectFiltered {
    const NAME: &'static str = "huge object record, indirect and filtered";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let addr = w.address("filtered huge object address", |r| r.addr)?;
        let size = w.length("filtered huge object length", |r| r.size)?;
        let filter_mask = w.u32("filter mask", |r| r.filter_mask)?;
        let decoded_size = w.length("filtered huge object memory size", |r| r.decoded_size)?;
        let id = w.length("huge object id", |r| r.id)?;
        Ok(HugeIndirectFiltered { addr, size, filter_mask, decoded_size, id })
    }
}

impl Structure for HugeDirect {
    const NAME: &'static str = "huge object record, direct";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let addr = w.address("huge object address", |r| r.addr)?;
        let size = w.length("huge object length", |r| r.size)?;
        Ok(HugeDirect { addr, size })
    }
}

impl Structure for HugeDirectFiltered {
    const NAME: &'static str = "huge object record, direct and filtered";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let addr = w.address("filtered huge object address", |r| r.addr)?;
        let size = w.length("filtered huge object length", |r| r.size)?;
        let filter_mask = w.u32("filter mask", |r| r.filter_mask)?;
        let decoded_size = w.length("filtered huge object memory size", |r| r.decoded_size)?;
        Ok(HugeDirectFiltered { addr, size, filter_mask, decoded_size })
    }
}

impl Structure for LinkName {
    const NAME: &'static str = "link name record";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let hash = w.u32("hash of name", |r| r.hash)?;
        let heap_id = w.array("heap id", |r| &r.heap_id)?;
        Ok(LinkName { hash, heap_id })
    }
}

impl Structure for LinkCreationOrder {
    const NAME: &'static str = "link creation order record";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let order = w.u64("creation order", |r| r.order)?;
        let heap_id = w.array("heap id", |r| &r.heap_id)?;
        Ok(LinkCreationOrder { order, heap_id })
    }
}

impl Structure for AttributeName {
    const NAME: &'static str = "attribute name record";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let heap_id = w.array("heap id", |r| &r.heap_id)?;
        let flags = w.u8("message flags", |r| r.flags)?;
        let order = w.u32("creation order", |r| r.order)?;
        let hash = w.u32("hash of name", |r| r.hash)?;
        Ok(AttributeName { heap_id, flags, order, hash })
    }
}

impl Structure for AttributeCreationOrder {
    const NAME: &'static str = "attribute creation order record";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let heap_id = w.array("heap id", |r| &r.heap_id)?;
        let flags = w.u8("message flags", |r| r.flags)?;
        let order = w.u32("creation order", |r| r.order)?;
        Ok(AttributeCreationOrder { heap_id, flags, order })
    }
}

impl Structure for Chunk {
    const NAME: &'static str = "chunk record";
    type Context = u8; // the dataset's rank

    fn walk(w: &mut Walk<'_, '_, Self>, rank: u8) -> Result<Self> {
        let addr = w.offset("address", |r| r.addr)?;
        let scaled = w.uints("scaled offset", 8, rank.into(), |r| &r.scaled)?;
        Ok(Chunk { addr, scaled })
    }
}

impl Structure for FilteredChunk {
    const NAME: &'static str = "filtered chunk record";
    type Context = FilteredChunkContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: FilteredChunkContext) -> Result<Self> {
        let addr = w.offset("address", |r| r.addr)?;
        let size = w.uint("chunk size", cx.size_width, |r| r.size)?;
        let filter_mask = w.u32("filter mask", |r| r.filter_mask)?;
        let scaled = w.uints("scaled offset", 8, cx.rank.into(), |r| &r.scaled)?;
        Ok(FilteredChunk { addr, size, filter_mask, scaled })
    }
}

#[cfg(any(test, feature = "testing"))]
pub(super) mod testing {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    /// Any record of type 1.
    pub fn huge_indirect(sizes: Sizes) -> BoxedStrategy<HugeIndirect> {
        (laws::addr(sizes), laws::length(sizes), laws::length(sizes))
            .prop_map(|(addr, size, id)| HugeIndirect { addr, size, id })
            .boxed()
    }

    /// Any record of type 2.
    pub fn huge_indirect_filtered(sizes: Sizes) -> BoxedStrategy<HugeIndirectFiltered> {
        (huge_direct_filtered(sizes), laws::length(sizes))
            .prop_map(|(HugeDirectFiltered { addr, size, filter_mask, decoded_size }, id)| HugeIndirectFiltered {
                addr,
                size,
                filter_mask,
                decoded_size,
                id,
            })
            .boxed()
    }

    /// Any record of type 3.
    pub fn huge_direct(sizes: Sizes) -> BoxedStrategy<HugeDirect> {
        (laws::addr(sizes), laws::length(sizes)).prop_map(|(addr, size)| HugeDirect { addr, size }).boxed()
    }

    /// Any record of type 4.
    pub fn huge_direct_filtered(sizes: Sizes) -> BoxedStrategy<HugeDirectFiltered> {
        (laws::addr(sizes), laws::length(sizes), any::<u32>(), laws::length(sizes))
            .prop_map(|(addr, size, filter_mask, decoded_size)| HugeDirectFiltered {
                addr,
                size,
                filter_mask,
                decoded_size,
            })
            .boxed()
    }

    /// Any record of type 5.
    pub fn link_name() -> BoxedStrategy<LinkName> {
        any::<(u32, [u8; 7])>().prop_map(|(hash, heap_id)| LinkName { hash, heap_id }).boxed()
    }

    /// Any record of type 6.
    pub fn link_creation_order() -> BoxedStrategy<LinkCreationOrder> {
        any::<(u64, [u8; 7])>().prop_map(|(order, heap_id)| LinkCreationOrder { order, heap_id }).boxed()
    }

    /// Any record of type 8.
    pub fn attribute_name() -> BoxedStrategy<AttributeName> {
        any::<([u8; 8], u8, u32, u32)>()
            .prop_map(|(heap_id, flags, order, hash)| AttributeName { heap_id, flags, order, hash })
            .boxed()
    }

    /// Any record of type 9.
    pub fn attribute_creation_order() -> BoxedStrategy<AttributeCreationOrder> {
        any::<([u8; 8], u8, u32)>()
            .prop_map(|(heap_id, flags, order)| AttributeCreationOrder { heap_id, flags, order })
            .boxed()
    }

    /// Any record of type 10.
    pub fn chunk(sizes: Sizes, rank: u8) -> BoxedStrategy<Chunk> {
        (option::of(laws::addr(sizes)), vec(any::<u64>(), usize::from(rank)))
            .prop_map(|(addr, scaled)| Chunk { addr, scaled })
            .boxed()
    }

    /// Any record of type 11.
    pub fn filtered_chunk(sizes: Sizes, cx: FilteredChunkContext) -> BoxedStrategy<FilteredChunk> {
        let top = u64::MAX >> (64 - 8 * u32::from(cx.size_width));
        (option::of(laws::addr(sizes)), 0..=top, any::<u32>(), vec(any::<u64>(), usize::from(cx.rank)))
            .prop_map(|(addr, size, filter_mask, scaled)| FilteredChunk { addr, size, filter_mask, scaled })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use proptest::prelude::*;

    use super::testing::*;
    use super::*;
    use crate::wire::laws;

    fn hold<R>(cx: R::Context, make: impl Fn(Sizes) -> BoxedStrategy<R>)
    where
        R: Record<Context: Debug> + Debug + PartialEq + 'static,
    {
        laws::hold::<R>(|sizes| {
            make(sizes)
                .prop_map(move |record| {
                    assert_eq!(record.size(sizes, cx).unwrap(), R::width(sizes, cx), "{}", R::NAME);
                    (record, cx)
                })
                .boxed()
        });
    }

    #[test]
    fn laws_hold() {
        hold((), huge_indirect);
        hold((), huge_indirect_filtered);
        hold((), huge_direct);
        hold((), huge_direct_filtered);
        hold((), |_| link_name());
        hold((), |_| link_creation_order());
        hold((), |_| attribute_name());
        hold((), |_| attribute_creation_order());
        hold(3, |sizes| chunk(sizes, 3));
        for size_width in 1..=8 {
            let cx = FilteredChunkContext { rank: 2, size_width };
            hold(cx, |sizes| filtered_chunk(sizes, cx));
            for sizes in laws::widths() {
                let width = u16::try_from(FilteredChunk::width(sizes, cx)).unwrap();
                assert_eq!(FilteredChunkContext::new(width, 2, sizes).unwrap(), cx);
            }
        }
    }

    #[test]
    fn a_record_without_room_for_a_size_is_corrupt() {
        for record_size in [0, 27, 28, 37, u16::MAX] {
            assert!(FilteredChunkContext::new(record_size, 2, Sizes::EIGHT).is_err(), "{record_size}");
        }
    }
}
