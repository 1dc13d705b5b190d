//! Symbol-table nodes and entries: the members of an old-style group. Specification III.B and III.C.

use crate::error::Result;
use crate::wire::{Addr, Sizes, Structure, Walk};

/// A leaf of an old-style group: its entries, sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
    /// The entries in use; the space allocated for others is not part of the value.
    pub entries: Vec<Entry>,
}

/// One member of an old-style group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where the name stands in the group's local heap.
    pub name: u64,
    /// The member's object header; undefined for soft links in some files.
    pub object_header: Option<Addr>,
    /// What the scratch pad holds.
    pub cache_type: u32,
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
    /// Scratch pad: 1, the B-tree and heap of a group; 2, position of a soft link's target in the heap.
    pub scratch: [u8; 16],
}

/// What an entry's scratch pad says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cached {
    /// Nothing; the member is an object.
    Nothing,
    /// The member is a group with this B-tree and local heap.
    Group,
    /// The member is a soft link whose target stands at this position of the local heap.
    SoftLink(u32),
}

impl Entry {
    /// What the scratch pad says; `None` for a type that is not known.
    pub fn cached(&self) -> Option<Cached> {
        match self.cache_type {
            0 => Some(Cached::Nothing),
            1 => Some(Cached::Group),
            2 => {
                let [a, b, c, d, ..] = self.scratch;
                Some(Cached::SoftLink(u32::from_le_bytes([a, b, c, d])))
            }
            _ => None,
        }
    }
}

impl Node {
    /// How many bytes a node takes in the file, with room for 2 `k` entries.
    pub fn allocated(sizes: Sizes, k: u16) -> usize {
        8 + 2 * usize::from(k) * (24 + usize::from(sizes.offsets) + usize::from(sizes.lengths))
    }
}

impl Structure for Node {
    const NAME: &'static str = "symbol table node";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.signature(b"SNOD")?;
        w.version(|_| 1, 1..=1)?;
        let reserved = w.reserved(1, |n| &n.reserved)?;
        let count = w.count("number of symbols", 2, |n| n.entries.len())?;
        let entries = w.each(count, |n| &n.entries, ())?;
        Ok(Node { reserved, entries })
    }

    fn first_read(sizes: Sizes, _: ()) -> usize {
        Node::allocated(sizes, 4)
    }
}

impl Structure for Entry {
    const NAME: &'static str = "symbol table entry";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        // The specification says that it is as wide as offsets; libhdf5 writes it as wide as lengths.
        let name = w.length("link name offset", |e| e.name)?;
        let object_header = w.offset("object header address", |e| e.object_header)?;
        let cache_type = w.u32("cache type", |e| e.cache_type)?;
        let reserved = w.reserved(4, |e| &e.reserved)?;
        let scratch = w.array("scratch-pad space", |e| &e.scratch)?;
        Ok(Entry { name, object_header, cache_type, reserved, scratch })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{entry, node};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    /// Any entry.
    pub fn entry(sizes: Sizes) -> BoxedStrategy<Entry> {
        let addr = proptest::option::of(laws::addr(sizes));
        (laws::length(sizes), addr, any::<u32>(), vec(1u8.., 4), any::<[u8; 16]>())
            .prop_map(|(name, object_header, cache_type, reserved, scratch)| Entry {
                name,
                object_header,
                cache_type,
                reserved,
                scratch,
            })
            .boxed()
    }

    /// Any node.
    pub fn node(sizes: Sizes) -> BoxedStrategy<Node> {
        (vec(1u8.., 1), vec(entry(sizes), 0..9)).prop_map(|(reserved, entries)| Node { reserved, entries }).boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<Node>(|sizes| node(sizes).prop_map(|n| (n, ())).boxed());
    }

    #[test]
    fn a_soft_link_s_target_stands_in_the_scratch_pad() {
        let mut entry = Entry { name: 8, object_header: None, cache_type: 2, reserved: vec![], scratch: [0; 16] };
        entry.scratch[..4].copy_from_slice(&[0x18, 1, 0, 0]);
        assert_eq!(entry.cached(), Some(Cached::SoftLink(0x118)));
        assert_eq!(Entry { cache_type: 3, ..entry }.cached(), None);
    }
}
