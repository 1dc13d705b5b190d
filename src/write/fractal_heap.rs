//! Fractal heaps from their objects, in one go. Specification III.G.

use bytes::Bytes;

use super::btree_v2::{self, Parameters as TreeParameters};
use crate::error::{Error, Result};
use crate::format::btree_v2::HugeIndirect;
use crate::format::fractal_heap::{Child, DirectBlock, DoublingTable, Header, HeapId, IndirectBlock, Location};
use crate::wire::place::{Place, place, place_at, place_bytes};
use crate::wire::{Addr, Sizes, Structure};

/// How a heap's space is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    id_size: u16,
    first_block: u64,
    max_bits: u16,
}

impl Parameters {
    /// Of the links of a group.
    pub(super) const LINKS: Parameters = Parameters { id_size: 7, first_block: 512, max_bits: 32 };
    /// Of the attributes of an object.
    pub(super) const ATTRIBUTES: Parameters = Parameters { id_size: 8, first_block: 1024, max_bits: 40 };
}

/// Larger objects are huge.
const MAX_MANAGED: u32 = 4096;
/// Blocks have checksums.
const CHECKSUMS: u8 = 2;

/// A heap that was placed.
#[derive(Debug)]
pub(super) struct Placed {
    /// Its header.
    pub addr: Addr,
    /// The ids of its objects, encoded, in the order in which they came.
    pub ids: Vec<Vec<u8>>,
}

/// A direct block that is filled.
struct Block {
    offset: u64,
    row: u32,
    contents: Vec<u8>,
}

/// Places a heap of these objects.
pub(super) fn build(space: &mut dyn Place, parameters: Parameters, objects: &[Bytes]) -> Result<Placed> {
    let sizes = space.sizes();
    let mut header = empty(parameters);
    let table = header.table()?;
    let addr = space.reserve(header.size(sizes, ())? as u64)?;
    let ids = header.id_context(sizes)?;
    let (mut blocks, mut huge, mut encoded) = (Vec::new(), Vec::new(), Vec::new());
    for object in objects {
        let location = if object.len() as u64 > MAX_MANAGED.into() {
            let id = huge.len() as u64 + 1;
            let size = object.len() as u64;
            huge.push(HugeIndirect { addr: place_bytes(space, object.to_vec())?, size, id });
            Location::HugeIndirect { id }
        } else {
            put_managed(&mut blocks, table, object, sizes)?
        };
        encoded.push(HeapId::new(location).encode(Addr(0), sizes, ids)?);
    }
    header.managed_count = (objects.len() - huge.len()) as u64;
    header.huge_count = huge.len() as u64;
    header.next_huge = header.huge_count;
    header.huge_size = huge.iter().map(|object| object.size).sum();
    if !huge.is_empty() {
        header.huge_tree = Some(btree_v2::build(space, TreeParameters::OBJECTS, huge, ())?);
    }
    place_blocks(space, &mut header, addr, table, blocks)?;
    place_at(space, addr, &header, ())?;
    Ok(Placed { addr, ids: encoded })
}

/// A heap without objects.
fn empty(Parameters { id_size, first_block, max_bits }: Parameters) -> Header {
    Header {
        id_size,
        flags: CHECKSUMS,
        max_managed: MAX_MANAGED,
        next_huge: 0,
        huge_tree: None,
        free: 0,
        free_space: None,
        managed_size: 0,
        managed_allocated: 0,
        managed_next: 0,
        managed_count: 0,
        huge_size: 0,
        huge_count: 0,
        tiny_size: 0,
        tiny_count: 0,
        width: 4,
        first_block,
        max_direct: 64 << 10,
        max_bits,
        first_root_rows: 1,
        root: None,
        root_rows: 0,
        filters: None,
    }
}

/// Puts an object behind the others, in the last block or in the next that is large enough.
fn put_managed(blocks: &mut Vec<Block>, table: DoublingTable, object: &Bytes, sizes: Sizes) -> Result<Location> {
    let fits = |block: &Block| block.room(table, sizes).is_some_and(|room| room >= object.len());
    while !blocks.last().is_some_and(fits) {
        let offset = blocks.last().map_or(Some(0), |last| last.offset.checked_add(table.block_size(last.row)?));
        let row = offset.and_then(|offset| direct_row(table, offset));
        let (offset, row) = offset.zip(row).ok_or_else(|| Error::limit("a fractal heap is full"))?;
        // A block that was passed over without an object is none.
        if blocks.last().is_some_and(|last| last.contents.is_empty()) {
            blocks.pop();
        }
        blocks.push(Block { offset, row, contents: Vec::new() });
    }
    let block = blocks.last_mut().ok_or_else(|| Error::limit("a fractal heap is full"))?;
    let context = table.direct(block.row).ok_or_else(|| Error::limit("a fractal heap is full"))?;
    let offset = block.offset + (context.prefix(sizes) + block.contents.len()) as u64;
    block.contents.extend_from_slice(object);
    Ok(Location::Managed { offset, size: object.len() as u64 })
}

impl Block {
    /// Bytes that are left.
    fn room(&self, table: DoublingTable, sizes: Sizes) -> Option<usize> {
        let context = table.direct(self.row)?;
        context.size.checked_sub(context.prefix(sizes))?.checked_sub(self.contents.len())
    }
}

/// The row of the direct block that begins at `offset`, in whatever indirect block it stands.
fn direct_row(table: DoublingTable, mut offset: u64) -> Option<u32> {
    loop {
        let place = table.place(offset)?;
        if place.row < table.direct_rows() {
            return Some(place.row);
        }
        offset = place.position;
    }
}

/// Places the blocks and the indirect ones above them, and notes in the header what they come to.
fn place_blocks(
    space: &mut dyn Place,
    header: &mut Header,
    at: Addr,
    table: DoublingTable,
    blocks: Vec<Block>,
) -> Result<()> {
    let Some(last) = blocks.last() else { return Ok(()) };
    let sizes = space.sizes();
    let used: usize = blocks.iter().map(|block| block.contents.len()).sum();
    let covered = last.offset + table.block_size(last.row).unwrap_or(0);
    header.managed_allocated = blocks.iter().filter_map(|block| table.block_size(block.row)).sum();
    if last.offset == 0 {
        header.managed_size = covered;
        header.free = capacity(table, 0, sizes) - used as u64;
        let block = blocks.into_iter().next().ok_or_else(|| Error::invalid("a heap without blocks"))?;
        header.root = Some(place_direct(space, at, table, block)?);
        return Ok(());
    }
    let rows = table.place(last.offset).map_or(0, |place| place.row + 1).next_power_of_two().min(table.rows());
    let end = table.row_start(rows).or_else(|| 1u64.checked_shl(header.max_bits.into()));
    header.managed_size = end.ok_or_else(|| Error::limit("a fractal heap is full"))?;
    header.managed_next = covered;
    header.free =
        (0..rows).map(|row| u64::from(table.width()) * capacity(table, row, sizes)).sum::<u64>() - used as u64;
    header.root_rows = u16::try_from(rows).map_err(|_| Error::limit("a fractal heap is full"))?;
    let mut blocks = blocks.into_iter().peekable();
    header.root = Some(place_indirect(space, at, table, (0, rows), &mut blocks)?);
    Ok(())
}

/// Bytes for objects in a block of this row and, if it is indirect, in those below it.
fn capacity(table: DoublingTable, row: u32, sizes: Sizes) -> u64 {
    match (table.direct(row), table.rows_below(row)) {
        (Some(context), _) => (context.size - context.prefix(sizes)) as u64,
        (None, Some(rows)) => (0..rows).map(|row| u64::from(table.width()) * capacity(table, row, sizes)).sum(),
        (None, None) => 0,
    }
}

fn place_direct(space: &mut dyn Place, header: Addr, table: DoublingTable, block: Block) -> Result<Addr> {
    let context = table.direct(block.row).ok_or_else(|| Error::invalid("a direct block in a row of indirect ones"))?;
    let Block { offset, mut contents, .. } = block;
    contents.resize(context.size - context.prefix(space.sizes()), 0);
    place(space, &DirectBlock { header, offset, contents: contents.into() }, context)
}

/// Places an indirect block that begins at an offset and has so many rows, and what is below it.
fn place_indirect(
    space: &mut dyn Place,
    header: Addr,
    table: DoublingTable,
    (offset, rows): (u64, u32),
    blocks: &mut std::iter::Peekable<std::vec::IntoIter<Block>>,
) -> Result<Addr> {
    let context = table.indirect(rows).ok_or_else(|| Error::limit("a fractal heap is full"))?;
    let mut children = Vec::with_capacity(context.all);
    let mut start = offset;
    for row in 0..rows {
        let size = table.block_size(row).ok_or_else(|| Error::limit("a fractal heap is full"))?;
        for _ in 0..table.width() {
            let within = |block: &Block| block.offset < start.saturating_add(size);
            let addr = match (blocks.peek().is_some_and(within), table.rows_below(row)) {
                (false, _) => None,
                (true, Some(below)) => Some(place_indirect(space, header, table, (start, below), blocks)?),
                (true, None) => match blocks.next() {
                    Some(block) => Some(place_direct(space, header, table, block)?),
                    None => None,
                },
            };
            children.push(Child { addr, size: 0, filter_mask: 0 });
            start = start.saturating_add(size);
        }
    }
    place(space, &IndirectBlock { header, offset, children }, context)
}
