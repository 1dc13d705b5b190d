//! The header of a fractal heap, and its doubling table. Specification III.G. Signature `FRHP`.

use super::super::message::filter_pipeline::FilterPipeline;
use super::block::{DirectContext, IndirectContext};
use super::heap_id::IdContext;
use crate::error::{Error, Result};
use crate::wire::{Addr, Sizes, Structure, Walk, lookup3};

/// The header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes in each heap id.
    pub id_size: u16,
    /// Bit 0: the numbers of huge objects have wrapped around. Bit 1: direct blocks have checksums.
    pub flags: u8,
    /// Bytes in the largest managed object; larger ones are huge.
    pub max_managed: u32,
    /// The number of the next huge object.
    pub next_huge: u64,
    /// The version 2 B-tree of huge objects; undefined if there are none.
    pub huge_tree: Option<Addr>,
    /// Free bytes in managed blocks.
    pub free: u64,
    /// The free-space manager; undefined if there is none.
    pub free_space: Option<Addr>,
    /// Bytes that managed blocks cover in the heap's space.
    pub managed_size: u64,
    /// Bytes of managed blocks in the file.
    pub managed_allocated: u64,
    /// Where in the heap's space the next direct block goes.
    pub managed_next: u64,
    /// Managed objects.
    pub managed_count: u64,
    /// Bytes in huge objects.
    pub huge_size: u64,
    /// Huge objects.
    pub huge_count: u64,
    /// Bytes in tiny objects.
    pub tiny_size: u64,
    /// Tiny objects.
    pub tiny_count: u64,
    /// Blocks in a row of the doubling table.
    pub width: u16,
    /// Bytes in a block of the first row.
    pub first_block: u64,
    /// Bytes in the largest direct block.
    pub max_direct: u64,
    /// Logarithm of the size of the heap's space.
    pub max_bits: u16,
    /// Rows with which a root indirect block begins.
    pub first_root_rows: u16,
    /// The root block; undefined if there are no managed objects.
    pub root: Option<Addr>,
    /// Rows of the root indirect block; 0 if the root is a direct block.
    pub root_rows: u16,
    /// How blocks and huge objects are filtered.
    pub filters: Option<Filters>,
}

/// The filters of a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filters {
    /// Bytes in the encoded pipeline.
    pub encoded_size: u16,
    /// Bytes of the root in the file, if it is a direct block.
    pub root_size: u64,
    /// The filters that were left out of the root, if it is a direct block.
    pub root_mask: u32,
    /// The pipeline.
    pub pipeline: FilterPipeline,
    /// What stands after it, unless it is zero.
    pub slack: Vec<u8>,
}

/// How the heap's space is cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoublingTable {
    width: u16,
    /// Logarithm of the size of a block in the first row.
    block_bits: u32,
    /// Logarithm of the size of the first row.
    row_bits: u32,
    direct_bits: u32,
    max_bits: u32,
    filtered: bool,
    checksum: bool,
}

/// Where a byte of the heap's space stands in an indirect block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TablePlace {
    /// The block's row.
    pub row: u32,
    /// The block's number in the row.
    pub column: u16,
    /// Bytes from the block's beginning.
    pub position: u64,
}

/// What the root block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// There is none.
    None,
    /// A direct block here.
    Direct(Addr, DirectContext),
    /// An indirect block here.
    Indirect(Addr, IndirectContext),
}

impl Header {
    /// How the heap's space is cut into blocks.
    pub fn table(&self) -> Result<DoublingTable> {
        let Header { width, first_block, max_direct, max_bits, .. } = *self;
        let corrupt = |what: &str| {
            let parameters = format!("width {width}, blocks of {first_block} to {max_direct}, 2^{max_bits} bytes");
            Err(Error::corrupt(format!("fractal heap {what}: {parameters}")))
        };
        if !width.is_power_of_two() || !first_block.is_power_of_two() || !max_direct.is_power_of_two() {
            return corrupt("has sizes that are no powers of two");
        }
        let block_bits = first_block.trailing_zeros();
        let (row_bits, direct_bits) = (block_bits + width.trailing_zeros(), max_direct.trailing_zeros());
        let max_bits = u32::from(max_bits);
        if max_bits > 64 || row_bits > max_bits || direct_bits < block_bits || direct_bits > 31 {
            return corrupt("has sizes that contradict each other");
        }
        let (filtered, checksum) = (self.filters.is_some(), self.flags & 2 != 0);
        Ok(DoublingTable { width, block_bits, row_bits, direct_bits, max_bits, filtered, checksum })
    }

    /// What the root block is.
    pub fn root(&self) -> Result<Root> {
        let Some(addr) = self.root else { return Ok(Root::None) };
        let table = self.table()?;
        Ok(match self.root_rows {
            0 => Root::Direct(addr, table.direct(0).expect("because the first row is direct")),
            rows => match table.indirect(rows.into()) {
                Some(context) => Root::Indirect(addr, context),
                None => {
                    let what = format!("fractal heap root has {rows} rows, at most {} fit", table.rows());
                    return Err(Error::corrupt(what));
                }
            },
        })
    }

    /// How the heap's ids are encoded.
    pub fn id_context(&self, sizes: Sizes) -> Result<IdContext> {
        let table = self.table()?;
        let length_width = Sizes::of_numbers_up_to(self.max_managed.into());
        let block_width = u8::try_from(table.direct_bits.div_ceil(8)).expect("because it is at most 4");
        IdContext::new(self.id_size, table.offset_width(), length_width.min(block_width), self.filters.is_some(), sizes)
    }
}

impl DoublingTable {
    /// Blocks in a row.
    pub fn width(&self) -> u16 {
        self.width
    }

    /// Width of offsets in the heap's space.
    pub fn offset_width(&self) -> u8 {
        u8::try_from(self.max_bits.div_ceil(8)).expect("because it is at most 8")
    }

    /// The most rows that an indirect block has.
    pub fn rows(&self) -> u32 {
        self.max_bits - self.row_bits + 1
    }

    /// How many rows, from the first, have direct blocks.
    pub fn direct_rows(&self) -> u32 {
        (self.direct_bits - self.block_bits + 2).min(self.rows())
    }

    /// Bytes in each block of `row`; `None` if there is no such row.
    pub fn block_size(&self, row: u32) -> Option<u64> {
        (row < self.rows()).then(|| 1u64.checked_shl(self.block_bits + row.saturating_sub(1))).flatten()
    }

    /// Bytes of the heap's space before `row` of an indirect block; `None` if there is no such row.
    pub fn row_start(&self, row: u32) -> Option<u64> {
        match row {
            0 => Some(0),
            row if row < self.rows() => 1u64.checked_shl(self.row_bits + row - 1),
            _ => None,
        }
    }

    /// Where `offset` bytes after the beginning of an indirect block are; `None` if that is beyond the heap's space.
    pub fn place(&self, offset: u64) -> Option<TablePlace> {
        let row = offset.checked_shr(self.row_bits).unwrap_or(0).checked_ilog2().map_or(0, |bits| bits + 1);
        let (start, size) = (self.row_start(row)?, self.block_size(row)?);
        let column = u16::try_from((offset - start) / size).expect("because a row has so many blocks");
        Some(TablePlace { row, column, position: (offset - start) % size })
    }

    /// What a direct block in `row` depends on; `None` if the row has indirect blocks.
    pub fn direct(&self, row: u32) -> Option<DirectContext> {
        let size = self.block_size(row).filter(|_| row < self.direct_rows())?;
        let size = usize::try_from(size).ok()?;
        Some(DirectContext { size, offset_width: self.offset_width(), checksum: self.checksum })
    }

    /// What an indirect block of `rows` rows depends on; `None` if there are never so many.
    pub fn indirect(&self, rows: u32) -> Option<IndirectContext> {
        (rows <= self.rows()).then(|| IndirectContext {
            direct: self.direct_rows().min(rows) as usize * usize::from(self.width),
            all: rows as usize * usize::from(self.width),
            offset_width: self.offset_width(),
            filtered: self.filtered,
        })
    }

    /// How many rows the indirect blocks in `row` have; `None` if the row has direct blocks, or none at all.
    pub fn rows_below(&self, row: u32) -> Option<u32> {
        let size = self.block_size(row).filter(|_| row >= self.direct_rows())?;
        (size.trailing_zeros() + 1).checked_sub(self.row_bits).filter(|&rows| rows > 0)
    }
}

impl Structure for Header {
    const NAME: &'static str = "fractal heap header";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        w.signature(b"FRHP")?;
        w.version(|_| 0, 0..=0)?;
        let id_size = w.u16("heap id length", |h| h.id_size)?;
        let filters_size = w.u16("I/O filters encoded length", |h| h.filters.as_ref().map_or(0, |f| f.encoded_size))?;
        let flags = w.u8("flags", |h| h.flags)?;
        let max_managed = w.u32("maximum size of managed objects", |h| h.max_managed)?;
        let next_huge = w.length("next huge object id", |h| h.next_huge)?;
        let huge_tree = w.offset("v2 B-tree address of huge objects", |h| h.huge_tree)?;
        let free = w.length("amount of free space in managed blocks", |h| h.free)?;
        let free_space = w.offset("address of managed block free space manager", |h| h.free_space)?;
        let managed_size = w.length("amount of managed space in heap", |h| h.managed_size)?;
        let managed_allocated = w.length("amount of allocated managed space in heap", |h| h.managed_allocated)?;
        let managed_next = w.length("offset of direct block allocation iterator", |h| h.managed_next)?;
        let managed_count = w.length("number of managed objects in heap", |h| h.managed_count)?;
        let huge_size = w.length("size of huge objects in heap", |h| h.huge_size)?;
        let huge_count = w.length("number of huge objects in heap", |h| h.huge_count)?;
        let tiny_size = w.length("size of tiny objects in heap", |h| h.tiny_size)?;
        let tiny_count = w.length("number of tiny objects in heap", |h| h.tiny_count)?;
        let width = w.u16("table width", |h| h.width)?;
        let first_block = w.length("starting block size", |h| h.first_block)?;
        let max_direct = w.length("maximum direct block size", |h| h.max_direct)?;
        let max_bits = w.u16("maximum heap size", |h| h.max_bits)?;
        let first_root_rows = w.u16("starting # of rows in root indirect block", |h| h.first_root_rows)?;
        let root = w.offset("address of root block", |h| h.root)?;
        let root_rows = w.u16("current # of rows in root indirect block", |h| h.root_rows)?;
        let filters = match filters_size {
            0 => None,
            size => Some(walk_filters(w, size)?),
        };
        w.checksum(lookup3)?;
        Ok(Header {
            id_size,
            flags,
            max_managed,
            next_huge,
            huge_tree,
            free,
            free_space,
            managed_size,
            managed_allocated,
            managed_next,
            managed_count,
            huge_size,
            huge_count,
            tiny_size,
            tiny_count,
            width,
            first_block,
            max_direct,
            max_bits,
            first_root_rows,
            root,
            root_rows,
            filters,
        })
    }

    fn first_read(sizes: Sizes, (): ()) -> usize {
        // Without filters, which make it longer.
        26 + 12 * usize::from(sizes.lengths) + 3 * usize::from(sizes.offsets)
    }
}

fn walk_filters(w: &mut Walk<'_, '_, Header>, encoded_size: u16) -> Result<Filters> {
    let root_size = w.length("size of filtered root direct block", |h| filters(h).root_size)?;
    let root_mask = w.u32("I/O filter mask", |h| filters(h).root_mask)?;
    let (pipeline, slack) =
        w.boxed("unused", encoded_size.into(), |h| &filters(h).slack, |w| w.nest(|h| &filters(h).pipeline, ()))?;
    Ok(Filters { encoded_size, root_size, root_mask, pipeline, slack })
}

fn filters(header: &Header) -> &Filters {
    header.filters.as_ref().expect("because the walk asks only where filters have a size")
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{header, table};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::option;
    use proptest::prelude::*;

    use super::super::super::message::filter_pipeline::filter_pipeline;
    use super::*;
    use crate::wire::laws;

    /// Any header; its parameters need not make sense together.
    pub fn header(sizes: Sizes) -> BoxedStrategy<Header> {
        let lengths = proptest::collection::vec(laws::length(sizes), 12);
        let addr = || option::of(laws::addr(sizes));
        let filters = (filter_pipeline(), laws::length(sizes), any::<u32>(), 0u16..4).prop_map(
            move |(pipeline, root_size, root_mask, more)| {
                let size = u16::try_from(pipeline.size(sizes, ()).expect("because it is valid"));
                Filters {
                    encoded_size: size.expect("because it is small") + more,
                    root_size,
                    root_mask,
                    pipeline,
                    slack: vec![9; more.into()],
                }
            },
        );
        (any::<[u16; 5]>(), any::<(u8, u32)>(), lengths, (addr(), addr(), addr()), option::of(filters))
            .prop_map(|(shorts, (flags, max_managed), lengths, addrs, filters)| {
                let [id_size, width, max_bits, first_root_rows, root_rows] = shorts;
                let mut lengths = lengths.into_iter();
                let mut length = || lengths.next().expect("because there are twelve");
                Header {
                    id_size,
                    flags,
                    max_managed,
                    next_huge: length(),
                    huge_tree: addrs.0,
                    free: length(),
                    free_space: addrs.1,
                    managed_size: length(),
                    managed_allocated: length(),
                    managed_next: length(),
                    managed_count: length(),
                    huge_size: length(),
                    huge_count: length(),
                    tiny_size: length(),
                    tiny_count: length(),
                    width,
                    first_block: length(),
                    max_direct: length(),
                    max_bits,
                    first_root_rows,
                    root: addrs.2,
                    root_rows,
                    filters,
                }
            })
            .boxed()
    }

    /// Any table of small blocks.
    pub fn table() -> BoxedStrategy<DoublingTable> {
        (0u32..4, 0u32..6, 0u32..5, 1u32..20, any::<bool>(), any::<bool>())
            .prop_map(|(width_bits, block_bits, more_direct, more, filtered, checksum)| DoublingTable {
                width: 1 << width_bits,
                block_bits: block_bits + 5,
                row_bits: block_bits + 5 + width_bits,
                direct_bits: block_bits + 5 + more_direct,
                max_bits: block_bits + 5 + width_bits + more,
                filtered,
                checksum,
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

    fn usual() -> Header {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let any = header(Sizes::EIGHT).new_tree(&mut runner).unwrap().current();
        // What libhdf5 makes for links in dense storage.
        Header {
            id_size: 7,
            flags: 2,
            max_managed: 4096,
            width: 4,
            first_block: 512,
            max_direct: 65536,
            max_bits: 32,
            filters: None,
            ..any
        }
    }

    #[test]
    fn laws_hold() {
        laws::hold::<Header>(|sizes| header(sizes).prop_map(|h| (h, ())).boxed());
        assert_eq!(usual().size(Sizes::EIGHT, ()).unwrap(), Header::first_read(Sizes::EIGHT, ()));
    }

    #[test]
    fn the_usual_table_has_the_usual_rows() {
        let table = usual().table().unwrap();
        assert_eq!((table.rows(), table.direct_rows(), table.offset_width()), (22, 9, 4));
        let sizes: Vec<_> = (0..4).map(|row| table.block_size(row).unwrap()).collect();
        assert_eq!(sizes, [512, 512, 1024, 2048]);
        assert_eq!(table.block_size(8), Some(65536));
        assert_eq!((table.rows_below(8), table.rows_below(9), table.rows_below(10)), (None, Some(7), Some(8)));
        assert_eq!((table.direct(9), table.block_size(22), table.indirect(23)), (None, None, None));
        let place = |row, column, position| Some(TablePlace { row, column, position });
        assert_eq!(table.place(0), place(0, 0, 0));
        assert_eq!(table.place(2047), place(0, 3, 511));
        assert_eq!(table.place(2048 + 515), place(1, 1, 3));
        assert_eq!(table.place((1 << 32) - 1), place(21, 3, (1 << 29) - 1));
        assert_eq!(table.place(1 << 32), None);
        assert_eq!(table.place(u64::MAX), None);
    }

    #[test]
    fn places_follow_each_other() {
        proptest!(|(table in table())| {
            let mut offset = 0;
            for row in 0..table.rows() {
                let size = table.block_size(row).unwrap();
                prop_assert_eq!(table.row_start(row), Some(offset));
                prop_assert_eq!(table.direct(row).is_some(), row < table.direct_rows());
                if let Some(rows) = table.rows_below(row) {
                    // The rows below fill the block exactly.
                    let last = rows - 1;
                    let all = table.row_start(last).unwrap() + table.block_size(last).unwrap() * u64::from(table.width());
                    prop_assert_eq!(all, size);
                }
                for column in 0..table.width() {
                    prop_assert_eq!(table.place(offset), Some(TablePlace { row, column, position: 0 }));
                    prop_assert_eq!(table.place(offset + size - 1), Some(TablePlace { row, column, position: size - 1 }));
                    offset += size;
                }
            }
            prop_assert_eq!(table.place(offset), None);
        });
    }

    #[test]
    fn any_parameters_give_a_table_or_an_error() {
        let bits = || prop_oneof![Just(0), (0u32..64).prop_map(|n| 1u64 << n), any::<u64>()];
        proptest!(|(any in header(Sizes::EIGHT), first_block in bits(), max_direct in bits(), w in 0u32..16, max in 0u16..70)| {
            let header = Header { first_block, max_direct, width: 1 << w, max_bits: max, ..any };
            let _ = (header.root(), header.id_context(Sizes::EIGHT));
            if let Ok(table) = header.table() {
                for row in [0, 1, 2, table.rows() - 1, table.rows(), u32::MAX] {
                    let _ = (table.block_size(row), table.row_start(row), table.direct(row), table.indirect(row), table.rows_below(row));
                }
                for offset in [0, 1, first_block, u64::MAX >> 1, u64::MAX] {
                    let _ = table.place(offset);
                }
            }
        });
    }

    #[test]
    fn parameters_that_make_no_sense_are_corrupt() {
        for wrong in [
            Header { width: 0, ..usual() },
            Header { width: 3, ..usual() },
            Header { first_block: 0, ..usual() },
            Header { max_direct: 256, ..usual() },
            Header { max_direct: 1 << 40, ..usual() },
            Header { max_bits: 10, ..usual() },
            Header { max_bits: 65, ..usual() },
            Header { root: Some(Addr(1)), root_rows: 23, ..usual() },
        ] {
            assert_eq!(wrong.root().unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }

    #[test]
    fn a_bad_checksum_names_the_structure() {
        let mut bytes = usual().encode(Addr(0), Sizes::EIGHT, ()).unwrap();
        bytes[30] ^= 4;
        let error = Header::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains(r#"(fractal heap header, "checksum", at"#), "{error}");
    }
}
