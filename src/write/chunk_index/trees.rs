//! B-trees of chunks, version 1 and 2. Specification III.A.1 and VII.E.

use super::Indexed;
use crate::error::{Error, Result};
use crate::format::btree_v1::ChunkKey;
use crate::format::btree_v2::{Chunk, FilteredChunk, FilteredChunkContext};
use crate::format::message::data_layout::ChunkIndex;
use crate::wire::Addr;
use crate::wire::place::Place;
use crate::write::{btree_v1, btree_v2};

/// The version 2 B-tree that libhdf5 makes.
pub(super) const USUAL: ChunkIndex = ChunkIndex::BTreeV2 {
    node_size: btree_v2::Parameters::CHUNKS.node_size,
    split: btree_v2::Parameters::CHUNKS.split_percent,
    merge: btree_v2::Parameters::CHUNKS.merge_percent,
};

impl Indexed<'_> {
    fn rank(&self) -> Result<u8> {
        u8::try_from(self.max_shape.len()).map_err(|_| Error::limit("the rank is over 255"))
    }
}

/// Places a version 1 B-tree, and says where its root is.
pub(super) fn build_v1(space: &mut dyn Place, indexed: &Indexed<'_>) -> Result<Addr> {
    let chunk = indexed.chunks.grid().chunk_shape();
    let too_large = || Error::limit("a chunk of 4 GiB or more has no place in a version 1 B-tree");
    let offset = |coordinates: &[u64], more: u64| {
        let offsets = coordinates.iter().zip(chunk).map(|(at, size)| (at + more) * size).chain([0]);
        offsets.collect::<Vec<u64>>()
    };
    let (mut keys, mut children) = (Vec::new(), Vec::new());
    for place in indexed.chunks.iter() {
        let coordinates = indexed.coordinates(place.number)?;
        let size = u32::try_from(place.size).map_err(|_| too_large())?;
        keys.push(ChunkKey { size, filter_mask: place.filter_mask, offsets: offset(&coordinates, 0) });
        children.push(place.addr);
    }
    // The last key lies beyond the last chunk in every dimension.
    if let Some(last) = indexed.chunks.iter().last() {
        let coordinates = indexed.coordinates(last.number)?;
        let mut offsets = offset(&coordinates, 1);
        if let Some(element) = offsets.last_mut() {
            *element = indexed.element_size.into();
        }
        keys.push(ChunkKey { size: 0, filter_mask: 0, offsets });
    }
    btree_v1::build(space, keys, children, indexed.rank()?)
}

/// Places a version 2 B-tree, and says where its header is.
pub(super) fn build_v2(space: &mut dyn Place, indexed: &Indexed<'_>) -> Result<Addr> {
    let (rank, parameters) = (indexed.rank()?, btree_v2::Parameters::CHUNKS);
    if !indexed.filtered {
        let mut records = Vec::with_capacity(indexed.chunks.len());
        for place in indexed.chunks.iter() {
            records.push(Chunk { addr: Some(place.addr), scaled: indexed.coordinates(place.number)? });
        }
        return btree_v2::build(space, parameters, records, rank);
    }
    let mut records = Vec::with_capacity(indexed.chunks.len());
    for place in indexed.chunks.iter() {
        let scaled = indexed.coordinates(place.number)?;
        records.push(FilteredChunk {
            addr: Some(place.addr),
            size: place.size,
            filter_mask: place.filter_mask,
            scaled,
        });
    }
    let size_width = indexed.size_width(space.sizes())?;
    btree_v2::build(space, parameters, records, FilteredChunkContext { rank, size_width })
}
