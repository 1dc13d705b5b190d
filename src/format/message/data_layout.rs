//! The data layout message: how and where the elements of a dataset are stored. Specification IV.A.2.i.

use bytes::Bytes;

use crate::error::Result;
use crate::wire::{Addr, Structure, Walk};

/// How a dataset's elements are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// 1 to 5.
    pub version: u8,
    /// The layout.
    pub layout: Layout,
    /// What only versions 1 and 2 have.
    pub old: Option<OldLayout>,
}

/// What only versions 1 and 2 of the message have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldLayout {
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
    /// The dimensions of contiguous and compact data, which readers take from the dataspace instead.
    pub dimensions: Vec<u32>,
}

/// Where the elements are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In the message.
    Compact(Bytes),
    /// In one piece.
    Contiguous {
        /// Where they begin; undefined if nothing was allocated.
        address: Option<Addr>,
        /// Bytes; unknown before version 3.
        size: Option<u64>,
    },
    /// In chunks of one shape.
    Chunked(Chunked),
    /// In other datasets.
    Virtual {
        /// The global heap collection with the mappings; undefined if there are none.
        heap: Option<Addr>,
        /// Index of the object in it.
        index: u32,
    },
}

/// A chunked layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunked {
    /// Elements of a chunk per dimension, then the size of an element in bytes.
    pub dimensions: Vec<u64>,
    /// Flags of version 4: bit 0 partial edge chunks are not filtered, bit 1 a single chunk is filtered.
    pub flags: u8,
    /// Width of the dimensions in version 4.
    pub dimension_width: u8,
    /// The chunk index.
    pub index: ChunkIndex,
    /// Where the index (or the only chunk) is; undefined if nothing was allocated.
    pub address: Option<Addr>,
}

/// How the chunks are found, with the parameters that the message states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkIndex {
    /// A version 1 B-tree.
    BTreeV1,
    /// There is one chunk.
    Single {
        /// Its stored size and filter mask, if it is filtered.
        filtered: Option<(u64, u32)>,
    },
    /// All chunks lie one after the other.
    Implicit,
    /// A fixed array.
    FixedArray {
        /// Bits of the number of elements on a page.
        page_bits: u8,
    },
    /// An extensible array.
    ExtensibleArray {
        /// Bits of the number of elements.
        max_bits: u8,
        /// Elements in the index block.
        index_block_elements: u8,
        /// Smallest number of data block addresses in a super block.
        min_pointers: u8,
        /// Smallest number of elements in a data block.
        min_elements: u8,
        /// Bits of the number of elements on a page.
        page_bits: u8,
    },
    /// A version 2 B-tree.
    BTreeV2 {
        /// Bytes of a node.
        node_size: u32,
        /// Percentage at which nodes are split.
        split: u8,
        /// Percentage at which nodes are merged.
        merge: u8,
    },
}

/// The flag that partial edge chunks are not filtered.
pub const DO_NOT_FILTER_PARTIAL_CHUNKS: u8 = 1;
/// The flag that a single chunk is filtered.
const SINGLE_CHUNK_IS_FILTERED: u8 = 2;
/// The largest number of dimensions, the one of the element size included.
const MAX_DIMENSIONS: usize = 33;

impl Chunked {
    /// Elements of a chunk per dimension.
    pub fn shape(&self) -> &[u64] {
        &self.dimensions[..self.dimensions.len() - 1]
    }

    /// Whether a chunk has more bytes than 32 bits can count: only version 5 holds these.
    pub fn is_large(&self) -> bool {
        let bytes = self.dimensions.iter().try_fold(1u64, |bytes, size| bytes.checked_mul(*size));
        bytes.is_none_or(|bytes| bytes > u64::from(u32::MAX))
    }

    /// The layout of a dataset that has filters, or none: a single chunk says what they made of it.
    #[must_use]
    pub fn with_filters(mut self, filtered: bool) -> Self {
        if let (ChunkIndex::Single { filtered: said }, true) = (&mut self.index, filtered) {
            *said = Some(said.unwrap_or((0, 0)));
            self.flags |= SINGLE_CHUNK_IS_FILTERED;
        }
        self
    }
}

impl DataLayout {
    fn class(&self) -> u8 {
        match self.layout {
            Layout::Compact(_) => 0,
            Layout::Contiguous { .. } => 1,
            Layout::Chunked(_) => 2,
            Layout::Virtual { .. } => 3,
        }
    }

    fn compact(&self) -> &Bytes {
        let Layout::Compact(data) = &self.layout else { unreachable!("because the walk asks compact layouts only") };
        data
    }

    fn contiguous(&self) -> (Option<Addr>, u64) {
        match self.layout {
            Layout::Contiguous { address, size } => (address, size.unwrap_or(0)),
            _ => unreachable!("because the walk asks contiguous layouts only"),
        }
    }

    fn chunked(&self) -> &Chunked {
        let Layout::Chunked(chunked) = &self.layout else { unreachable!("because the walk asks chunked layouts only") };
        chunked
    }

    fn heap(&self) -> (Option<Addr>, u32) {
        match self.layout {
            Layout::Virtual { heap, index } => (heap, index),
            _ => unreachable!("because the walk asks virtual layouts only"),
        }
    }

    fn old_dimensions(&self) -> &[u32] {
        self.old.as_ref().map_or(&[], |old| &old.dimensions)
    }

    fn old_rank(&self) -> usize {
        match &self.layout {
            Layout::Chunked(chunked) => chunked.dimensions.len(),
            _ => self.old_dimensions().len(),
        }
    }
}

impl Structure for DataLayout {
    const NAME: &'static str = "data layout message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        match w.version(|l| l.version, 1..=5)? {
            version @ 1..=2 => walk_old(w, version),
            version => walk_new(w, version),
        }
    }
}

fn walk_old(w: &mut Walk<'_, '_, DataLayout>, version: u8) -> Result<DataLayout> {
    let rank = w.count("dimensionality", 1, DataLayout::old_rank)?;
    let class = w.u8("layout class", DataLayout::class)?;
    let reserved = w.reserved(5, |l| l.old.as_ref().map_or(&[], |old| &old.reserved))?;
    let mut dimensions = Vec::new();
    let layout = match class {
        0 => {
            walk_old_dimensions(w, rank, &mut dimensions)?;
            let size = w.count("compact data size", 4, |l| l.compact().len())?;
            Layout::Compact(w.payload("compact data", size, DataLayout::compact)?)
        }
        1 => {
            let address = w.offset("data address", |l| l.contiguous().0)?;
            walk_old_dimensions(w, rank, &mut dimensions)?;
            Layout::Contiguous { address, size: None }
        }
        2 => {
            let address = w.offset("data address", |l| l.chunked().address)?;
            let dimensions = walk_chunk_dimensions(w, rank, 4)?;
            let index = ChunkIndex::BTreeV1;
            Layout::Chunked(Chunked { dimensions, flags: 0, dimension_width: 4, index, address })
        }
        other => {
            return w.unsupported("layout class", format!("layout class {other} is not known in version {version}"));
        }
    };
    Ok(DataLayout { version, layout, old: Some(OldLayout { reserved, dimensions }) })
}

fn walk_old_dimensions(w: &mut Walk<'_, '_, DataLayout>, rank: usize, dimensions: &mut Vec<u32>) -> Result<()> {
    for i in 0..rank {
        dimensions.push(w.u32("dimension size", |l| l.old_dimensions()[i])?);
    }
    Ok(())
}

fn walk_chunk_dimensions(w: &mut Walk<'_, '_, DataLayout>, rank: usize, width: u8) -> Result<Vec<u64>> {
    if !(2..=MAX_DIMENSIONS).contains(&rank) {
        return w.corrupt("dimensionality", format!("a chunk has {rank} dimensions with that of its elements"));
    }
    let mut dimensions = Vec::new();
    for i in 0..rank {
        let size = w.uint("dimension size", width, |l| l.chunked().dimensions[i])?;
        if size == 0 {
            return w.corrupt("dimension size", format!("dimension {i} of a chunk is 0"));
        }
        dimensions.push(size);
    }
    Ok(dimensions)
}

fn walk_new(w: &mut Walk<'_, '_, DataLayout>, version: u8) -> Result<DataLayout> {
    let layout = match w.u8("layout class", DataLayout::class)? {
        0 => {
            let size = w.count("compact data size", 2, |l| l.compact().len())?;
            Layout::Compact(w.payload("compact data", size, DataLayout::compact)?)
        }
        1 => {
            let address = w.offset("address", |l| l.contiguous().0)?;
            Layout::Contiguous { address, size: Some(w.length("size", |l| l.contiguous().1)?) }
        }
        2 if version == 3 => {
            let rank = w.count("dimensionality", 1, |l| l.chunked().dimensions.len())?;
            let address = w.offset("address", |l| l.chunked().address)?;
            let dimensions = walk_chunk_dimensions(w, rank, 4)?;
            let index = ChunkIndex::BTreeV1;
            Layout::Chunked(Chunked { dimensions, flags: 0, dimension_width: 4, index, address })
        }
        2 => Layout::Chunked(walk_chunked(w)?),
        3 if version >= 4 => {
            let heap = w.offset("address", |l| l.heap().0)?;
            Layout::Virtual { heap, index: w.u32("index", |l| l.heap().1)? }
        }
        other => {
            return w.unsupported("layout class", format!("layout class {other} is not known in version {version}"));
        }
    };
    Ok(DataLayout { version, layout, old: None })
}

fn walk_chunked(w: &mut Walk<'_, '_, DataLayout>) -> Result<Chunked> {
    let flags = w.u8("flags", |l| l.chunked().flags)?;
    if flags & !(DO_NOT_FILTER_PARTIAL_CHUNKS | SINGLE_CHUNK_IS_FILTERED) != 0 {
        return w.unsupported("flags", format!("flags are {flags:#04x}"));
    }
    let rank = w.count("dimensionality", 1, |l| l.chunked().dimensions.len())?;
    let dimension_width = w.u8("dimension size encoded length", |l| l.chunked().dimension_width)?;
    if !(1..=8).contains(&dimension_width) {
        return w.corrupt("dimension size encoded length", format!("width is {dimension_width}, must be 1 to 8"));
    }
    let dimensions = walk_chunk_dimensions(w, rank, dimension_width)?;
    let index = match w.u8("chunk indexing type", |l| l.chunked().index.number())? {
        1 => ChunkIndex::Single { filtered: walk_single(w, flags)? },
        2 => ChunkIndex::Implicit,
        3 => ChunkIndex::FixedArray { page_bits: w.u8("page bits", |l| l.chunked().index.parameters()[0])? },
        4 => ChunkIndex::ExtensibleArray {
            max_bits: w.u8("max bits", |l| l.chunked().index.parameters()[0])?,
            index_block_elements: w.u8("index elements", |l| l.chunked().index.parameters()[1])?,
            min_pointers: w.u8("min pointers", |l| l.chunked().index.parameters()[2])?,
            min_elements: w.u8("min elements", |l| l.chunked().index.parameters()[3])?,
            page_bits: w.u8("page bits", |l| l.chunked().index.parameters()[4])?,
        },
        5 => ChunkIndex::BTreeV2 {
            node_size: w.u32("node size", |l| l.chunked().index.node_size())?,
            split: w.u8("split percent", |l| l.chunked().index.parameters()[0])?,
            merge: w.u8("merge percent", |l| l.chunked().index.parameters()[1])?,
        },
        other => return w.unsupported("chunk indexing type", format!("chunk index type {other} is not known")),
    };
    let address = w.offset("address", |l| l.chunked().address)?;
    Ok(Chunked { dimensions, flags, dimension_width, index, address })
}

fn walk_single(w: &mut Walk<'_, '_, DataLayout>, flags: u8) -> Result<Option<(u64, u32)>> {
    if flags & SINGLE_CHUNK_IS_FILTERED == 0 {
        return Ok(None);
    }
    let size = w.length("size of filtered chunk", |l| l.chunked().index.single().0)?;
    let mask = w.u32("filters for chunk", |l| l.chunked().index.single().1)?;
    Ok(Some((size, mask)))
}

/// What a walk over a layout asks of its index. Each is asked only where the index has it.
impl ChunkIndex {
    pub(in crate::format) fn number(&self) -> u8 {
        match self {
            ChunkIndex::BTreeV1 => 0,
            ChunkIndex::Single { .. } => 1,
            ChunkIndex::Implicit => 2,
            ChunkIndex::FixedArray { .. } => 3,
            ChunkIndex::ExtensibleArray { .. } => 4,
            ChunkIndex::BTreeV2 { .. } => 5,
        }
    }

    fn single(&self) -> (u64, u32) {
        match self {
            ChunkIndex::Single { filtered } => filtered.unwrap_or_default(),
            _ => unreachable!("because the walk asks single chunks only"),
        }
    }

    /// The parameters of one byte, in file order.
    fn parameters(&self) -> [u8; 5] {
        match *self {
            ChunkIndex::FixedArray { page_bits } => [page_bits, 0, 0, 0, 0],
            ChunkIndex::ExtensibleArray { max_bits, index_block_elements, min_pointers, min_elements, page_bits } => {
                [max_bits, index_block_elements, min_pointers, min_elements, page_bits]
            }
            ChunkIndex::BTreeV2 { split, merge, .. } => [split, merge, 0, 0, 0],
            ChunkIndex::BTreeV1 | ChunkIndex::Single { .. } | ChunkIndex::Implicit => [0; 5],
        }
    }

    fn node_size(&self) -> u32 {
        match self {
            ChunkIndex::BTreeV2 { node_size, .. } => *node_size,
            _ => unreachable!("because the walk asks version 2 B-trees only"),
        }
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::data_layout;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::Sizes;

    fn number(width: u8) -> BoxedStrategy<u64> {
        let top = if width >= 8 { u64::MAX - 1 } else { (1 << (8 * width)) - 2 };
        (0..=top).boxed()
    }

    /// Any valid layout of any version whose numbers fit the widths.
    pub fn data_layout(sizes: Sizes) -> BoxedStrategy<DataLayout> {
        let address = move || proptest::option::of(number(sizes.offsets).prop_map(Addr));
        let compact = || vec(any::<u8>(), 0..20).prop_map(|data| Layout::Compact(data.into()));
        let contiguous = (address(), number(sizes.lengths))
            .prop_map(|(address, size)| Layout::Contiguous { address, size: Some(size) });
        let chunks = move || {
            (vec(1u64..0xffff_ffff, 2..5), address()).prop_map(|(dimensions, address)| {
                let index = ChunkIndex::BTreeV1;
                Layout::Chunked(Chunked { dimensions, flags: 0, dimension_width: 4, index, address })
            })
        };
        let old_contiguous = address().prop_map(|address| Layout::Contiguous { address, size: None });
        let old = (1u8..=2, prop_oneof![compact(), old_contiguous, chunks()], vec(any::<u32>(), 1..4)).prop_map(
            |(version, layout, dimensions)| {
                let dimensions = if matches!(layout, Layout::Chunked(_)) { Vec::new() } else { dimensions };
                DataLayout { version, layout, old: Some(OldLayout { reserved: Vec::new(), dimensions }) }
            },
        );
        let virtual_ = (address(), any::<u32>()).prop_map(|(heap, index)| Layout::Virtual { heap, index });
        let v3 = prop_oneof![compact(), contiguous.clone(), chunks()].prop_map(|layout| (3, layout));
        let v4 = (4u8..=5, prop_oneof![compact(), contiguous, virtual_, indexed(sizes)]);
        let new = prop_oneof![v3, v4].prop_map(|(version, layout)| DataLayout { version, layout, old: None });
        prop_oneof![old, new].boxed()
    }

    fn indexed(sizes: Sizes) -> BoxedStrategy<Layout> {
        let index = prop_oneof![
            proptest::option::of((number(sizes.lengths), any::<u32>()))
                .prop_map(|filtered| ChunkIndex::Single { filtered }),
            Just(ChunkIndex::Implicit),
            any::<u8>().prop_map(|page_bits| ChunkIndex::FixedArray { page_bits }),
            any::<[u8; 5]>().prop_map(|p| ChunkIndex::ExtensibleArray {
                max_bits: p[0],
                index_block_elements: p[1],
                min_pointers: p[2],
                min_elements: p[3],
                page_bits: p[4],
            }),
            any::<(u32, u8, u8)>().prop_map(|(node_size, split, merge)| ChunkIndex::BTreeV2 {
                node_size,
                split,
                merge
            }),
        ];
        let address = proptest::option::of(number(sizes.offsets).prop_map(Addr));
        (index, 1u8..=8, vec(any::<u64>(), 2..5), 0u8..2, address)
            .prop_map(|(index, dimension_width, dimensions, flags, address)| {
                let mask = u64::MAX >> (64 - 8 * u32::from(dimension_width));
                let dimensions = dimensions.iter().map(|d| (d & mask).max(1)).collect();
                let filtered = matches!(index, ChunkIndex::Single { filtered: Some(_) });
                let flags = flags | u8::from(filtered) << 1;
                Layout::Chunked(Chunked { dimensions, flags, dimension_width, index, address })
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<DataLayout>(|sizes| data_layout(sizes).prop_map(|l| (l, ())).boxed());
    }
}
