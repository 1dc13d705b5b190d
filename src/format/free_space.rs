//! Free-space managers: which parts of the file, or of a fractal heap, are unused. Specification III.H.
//!
//! ```text
//! header ──> section information: for each size, how many sections there are, and where
//! ```
//! Signatures `FSHD` and `FSSE`.

use crate::error::{Error, Result};
use crate::wire::{Addr, Sizes, Structure, Walk, lookup3};

/// The header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whose space it is: 0 a fractal heap's, 1 the file's.
    pub client: u8,
    /// Bytes that are free.
    pub total: u64,
    /// Sections of free space.
    pub sections: u64,
    /// Those that are stored.
    pub stored_sections: u64,
    /// Those that are not.
    pub ghost_sections: u64,
    /// Kinds of sections.
    pub classes: u16,
    /// How empty, in percent, the section information's space is before it shrinks.
    pub shrink_percent: u16,
    /// How much larger, in percent, it becomes when it grows.
    pub expand_percent: u16,
    /// Logarithm of the size of the space that is managed.
    pub address_bits: u16,
    /// Bytes in the largest section.
    pub max_section: u64,
    /// The section information; undefined if there is none.
    pub info: Option<Addr>,
    /// Bytes in the section information.
    pub info_size: u64,
    /// Bytes for which there is space.
    pub info_allocated: u64,
}

/// The section information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionInfo {
    /// The manager's header.
    pub header: Addr,
    /// The sections of each size.
    pub sets: Vec<SectionSet>,
    /// What stands between them and the checksum, unless it is zero.
    pub slack: Vec<u8>,
}

/// Sections of equal size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionSet {
    /// Bytes in each.
    pub size: u64,
    /// The sections.
    pub sections: Vec<Section>,
}

/// A section of free space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Where it begins, in the file or in the heap's space.
    pub offset: u64,
    /// Its class. In a file: 0 simple, 1 small, 2 large. In a heap: 0 single, 1 first row, 2 normal row, 3 indirect.
    pub class: u8,
    /// Which blocks of a heap's indirect block it stands for; only of rows.
    pub row: Option<RowSection>,
}

/// Blocks of an indirect block that were never made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSection {
    /// Where the indirect block begins in the heap's space.
    pub block_offset: u64,
    /// The first block's row.
    pub row: u16,
    /// The first block's column.
    pub column: u16,
    /// How many blocks.
    pub count: u16,
}

/// What section information depends on. [`Header::info_context`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoContext {
    client: u8,
    size: usize,
    sections: u64,
    offset_width: u8,
    length_width: u8,
    count_width: u8,
}

impl Header {
    /// What the section information depends on.
    pub fn info_context(&self) -> Result<InfoContext> {
        if self.client > 1 {
            return Err(Error::unsupported(format!("free-space client is {}, 0 and 1 are known", self.client)));
        }
        let offset_width = match u8::try_from(self.address_bits.div_ceil(8)) {
            Ok(width @ 1..=8) => width,
            _ => return Err(Error::corrupt(format!("free space of 2^{} bytes", self.address_bits))),
        };
        let Ok(size) = usize::try_from(self.info_size) else {
            return Err(Error::limit(format!("{} bytes of free-space sections", self.info_size)));
        };
        Ok(InfoContext {
            client: self.client,
            size,
            sections: self.stored_sections,
            offset_width,
            length_width: Sizes::of_numbers_up_to(self.max_section),
            count_width: Sizes::of_numbers_up_to(self.stored_sections),
        })
    }
}

impl InfoContext {
    fn prefix(sizes: Sizes) -> usize {
        5 + usize::from(sizes.offsets)
    }

    fn has_row(&self, class: u8) -> bool {
        self.client == 0 && matches!(class, 1 | 3)
    }
}

impl Structure for Header {
    const NAME: &'static str = "free-space manager header";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        w.signature(b"FSHD")?;
        w.version(|_| 0, 0..=0)?;
        let client = w.u8("client id", |h| h.client)?;
        let total = w.length("total space tracked", |h| h.total)?;
        let sections = w.length("total number of sections", |h| h.sections)?;
        let stored_sections = w.length("number of serialized sections", |h| h.stored_sections)?;
        let ghost_sections = w.length("number of un-serialized sections", |h| h.ghost_sections)?;
        let classes = w.u16("number of section classes", |h| h.classes)?;
        let shrink_percent = w.u16("shrink percent", |h| h.shrink_percent)?;
        let expand_percent = w.u16("expand percent", |h| h.expand_percent)?;
        let address_bits = w.u16("size of address space", |h| h.address_bits)?;
        let max_section = w.length("maximum section size", |h| h.max_section)?;
        let info = w.offset("address of serialized section list", |h| h.info)?;
        let info_size = w.length("size of serialized section list used", |h| h.info_size)?;
        let info_allocated = w.length("allocated size of serialized section list", |h| h.info_allocated)?;
        w.checksum(lookup3)?;
        Ok(Header {
            client,
            total,
            sections,
            stored_sections,
            ghost_sections,
            classes,
            shrink_percent,
            expand_percent,
            address_bits,
            max_section,
            info,
            info_size,
            info_allocated,
        })
    }

    fn first_read(sizes: Sizes, (): ()) -> usize {
        18 + 7 * usize::from(sizes.lengths) + usize::from(sizes.offsets)
    }
}

impl Structure for SectionInfo {
    const NAME: &'static str = "free-space section information";
    type Context = InfoContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: InfoContext) -> Result<Self> {
        w.signature(b"FSSE")?;
        w.version(|_| 0, 0..=0)?;
        let header = w.address("free-space manager header address", |i| i.header)?;
        let Some(room) = cx.size.checked_sub(InfoContext::prefix(w.sizes()) + 4) else {
            return w.corrupt("section records", format!("there are only {} bytes", cx.size));
        };
        let (sets, slack) = w.boxed(
            "unused",
            room,
            |i| &i.slack,
            |w| {
                let (mut sets, mut sections) = (Vec::<SectionSet>::new(), 0u64);
                while w.writing().map_or(sections < cx.sections, |i| sets.len() < i.sets.len()) {
                    let number = sets.len();
                    let set: SectionSet = w.nest(|i| &i.sets[number], cx)?;
                    sections = sections.saturating_add(u64::try_from(set.sections.len()).unwrap_or(u64::MAX));
                    sets.push(set);
                }
                Ok(sets)
            },
        )?;
        w.checksum(lookup3)?;
        Ok(SectionInfo { header, sets, slack })
    }

    fn first_read(_: Sizes, cx: InfoContext) -> usize {
        cx.size
    }
}

impl Structure for SectionSet {
    const NAME: &'static str = "free-space section record set";
    type Context = InfoContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: InfoContext) -> Result<Self> {
        let count = w.count("number of section records", cx.count_width, |s| s.sections.len())?;
        let size = w.uint("size of section record", cx.length_width, |s| s.size)?;
        let sections = w.each(count, |s| &s.sections, cx)?;
        Ok(SectionSet { size, sections })
    }
}

impl Structure for Section {
    const NAME: &'static str = "free-space section record";
    type Context = InfoContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: InfoContext) -> Result<Self> {
        let offset = w.uint("section record offset", cx.offset_width, |s| s.offset)?;
        let class = w.u8("section record type", |s| s.class)?;
        let row = if cx.has_row(class) { Some(w.nest(Section::row, cx)?) } else { None };
        Ok(Section { offset, class, row })
    }
}

impl Section {
    fn row(&self) -> &RowSection {
        const NOTHING: RowSection = RowSection { block_offset: 0, row: 0, column: 0, count: 0 };
        self.row.as_ref().unwrap_or(&NOTHING)
    }
}

impl Structure for RowSection {
    const NAME: &'static str = "free-space section record of a heap's row";
    type Context = InfoContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: InfoContext) -> Result<Self> {
        let block_offset = w.uint("indirect block offset", cx.offset_width, |r| r.block_offset)?;
        let row = w.u16("row", |r| r.row)?;
        let column = w.u16("column", |r| r.column)?;
        let count = w.u16("number of entries", |r| r.count)?;
        Ok(RowSection { block_offset, row, column, count })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{header, section_info};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    /// Any header; its parameters need not make sense together.
    pub fn header(sizes: Sizes) -> BoxedStrategy<Header> {
        (any::<u8>(), vec(laws::length(sizes), 7), any::<[u16; 4]>(), option::of(laws::addr(sizes)))
            .prop_map(|(client, lengths, [classes, shrink_percent, expand_percent, address_bits], info)| Header {
                client,
                total: lengths[0],
                sections: lengths[1],
                stored_sections: lengths[2],
                ghost_sections: lengths[3],
                classes,
                shrink_percent,
                expand_percent,
                address_bits,
                max_section: lengths[4],
                info,
                info_size: lengths[5],
                info_allocated: lengths[6],
            })
            .boxed()
    }

    fn number(width: u8) -> BoxedStrategy<u64> {
        (0..=u64::MAX >> (64 - 8 * u32::from(width))).boxed()
    }

    /// Any section information, with its context.
    pub fn section_info(sizes: Sizes) -> BoxedStrategy<(SectionInfo, InfoContext)> {
        (0u8..=1, 1u8..=8, 1u8..=8, 1u8..=8)
            .prop_flat_map(move |(client, offset_width, length_width, count_width)| {
                let cx = InfoContext { client, size: 0, sections: 0, offset_width, length_width, count_width };
                let row = (number(offset_width), any::<[u16; 3]>())
                    .prop_map(|(block_offset, [row, column, count])| RowSection { block_offset, row, column, count });
                let section = (number(offset_width), 0u8..4, row).prop_map(move |(offset, class, row)| Section {
                    offset,
                    class,
                    row: cx.has_row(class).then_some(row),
                });
                let set = (number(length_width), vec(section, 1..4))
                    .prop_map(|(size, sections)| SectionSet { size, sections });
                (laws::addr(sizes), vec(set, 0..4), vec(1u8.., 0..4)).prop_map(move |(header, sets, slack)| {
                    let mut cx = cx;
                    cx.sections = sets.iter().map(|s| u64::try_from(s.sections.len()).expect("few")).sum();
                    let records: usize = sets.iter().map(|s| s.size(sizes, cx).expect("because it is valid")).sum();
                    cx.size = InfoContext::prefix(sizes) + records + slack.len() + 4;
                    (SectionInfo { header, sets, slack }, cx)
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
        laws::hold::<Header>(|sizes| {
            header(sizes)
                .prop_map(move |h| {
                    assert_eq!(h.size(sizes, ()).unwrap(), Header::first_read(sizes, ()));
                    let _ = h.info_context();
                    (h, ())
                })
                .boxed()
        });
        laws::hold::<SectionInfo>(section_info);
    }

    fn usual() -> Header {
        Header {
            client: 1,
            total: 1000,
            sections: 3,
            stored_sections: 3,
            ghost_sections: 0,
            classes: 3,
            shrink_percent: 80,
            expand_percent: 120,
            address_bits: 64,
            max_section: u64::MAX / 2,
            info: Some(Addr(700)),
            info_size: 60,
            info_allocated: 72,
        }
    }

    #[test]
    fn widths_follow_from_the_header() {
        let cx =
            Header { stored_sections: 256, max_section: 65535, address_bits: 33, ..usual() }.info_context().unwrap();
        assert_eq!((cx.count_width, cx.length_width, cx.offset_width), (2, 2, 5));
    }

    #[test]
    fn parameters_that_make_no_sense_are_errors() {
        let kind = |header: Header| header.info_context().unwrap_err().kind();
        assert_eq!(kind(Header { client: 2, ..usual() }), ErrorKind::Unsupported);
        assert_eq!(kind(Header { address_bits: 0, ..usual() }), ErrorKind::Corrupt);
        assert_eq!(kind(Header { address_bits: 65, ..usual() }), ErrorKind::Corrupt);
        let cx = Header { info_size: 16, ..usual() }.info_context().unwrap();
        let error = SectionInfo::decode(b"FSSE\0\x01\0\0\0\0\0\0\0....", Addr(0), Sizes::EIGHT, cx).unwrap_err();
        assert_eq!((error.kind(), error.short_of()), (ErrorKind::Corrupt, 0));
    }

    #[test]
    fn sets_without_sections_end_with_the_bytes() {
        let cx = Header { info_size: 60, stored_sections: 3, ..usual() }.info_context().unwrap();
        let mut bytes = b"FSSE\0\x01\0\0\0\0\0\0\0".to_vec();
        bytes.resize(60, 0);
        let error = SectionInfo::decode(&bytes, Addr(0), Sizes::EIGHT, cx).unwrap_err();
        assert_eq!((error.kind(), error.short_of()), (ErrorKind::Corrupt, 0));
    }
}
