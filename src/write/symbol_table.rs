//! Old-style groups: local heap, symbol-table nodes and version 1 B-tree from the sorted members. Specification III.A.1
//! to III.D.

use super::btree_v1;
use super::local_heap::Segment;
use crate::error::{Error, Result};
use crate::format::btree_v1::GroupKey;
use crate::format::message::symbol_table::SymbolTable;
use crate::format::symbol_table::{Entry, Node};
use crate::wire::Addr;
use crate::wire::place::{Place, place_bytes};

/// Half of the entries of a symbol-table node at most.
pub(super) const LEAF_K: u16 = 4;

/// A member of an old-style group.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its name.
    pub name: Vec<u8>,
    /// What it is.
    pub target: Target,
}

/// What a member of an old-style group is.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// An object.
    Hard(Addr),
    /// A path.
    Soft(Vec<u8>),
}

/// Places the symbol table of a group with these members, which are sorted by the bytes of their names.
pub(super) fn build(space: &mut dyn Place, members: &[Member]) -> Result<SymbolTable> {
    let sizes = space.sizes();
    let mut heap = Segment::default();
    let mut entries = Vec::with_capacity(members.len());
    for Member { name, target } in members {
        let name = heap.add(name);
        let (object_header, cache_type, scratch) = match target {
            Target::Hard(addr) => (Some(*addr), 0, [0; 16]),
            Target::Soft(path) => {
                let position = u32::try_from(heap.add(path)).map_err(|_| Error::limit("a local heap is full"))?;
                let mut scratch = [0; 16];
                scratch[..4].copy_from_slice(&position.to_le_bytes());
                (None, 2, scratch)
            }
        };
        entries.push(Entry { name, object_header, cache_type, reserved: Vec::new(), scratch });
    }
    let (mut keys, mut nodes) = (vec![GroupKey { name: 0 }], Vec::new());
    for entries in entries.chunks(2 * usize::from(LEAF_K)) {
        keys.push(GroupKey { name: entries.last().map_or(0, |last| last.name) });
        let node = Node { reserved: Vec::new(), entries: entries.to_vec() };
        let mut bytes = crate::wire::Structure::encode(&node, Addr(0), sizes, ())?;
        bytes.resize(Node::allocated(sizes, LEAF_K), 0);
        nodes.push(place_bytes(space, bytes)?);
    }
    let btree = btree_v1::build(space, keys, nodes, ())?;
    Ok(SymbolTable { btree: Some(btree), local_heap: Some(heap.place(space)?) })
}
