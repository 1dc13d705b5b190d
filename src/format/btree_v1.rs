//! Version 1 B-tree nodes: the members of an old-style group, or the chunks of a dataset. Specification III.A.1.
//!
//! ```text
//! key 0 | child 0 | key 1 | child 1 | ... | key n      keys 0 and 1 bound what child 0 leads to
//! ```
//! A node occupies the space of 2K children, K being set in the superblock; only the entries in use are its value.
//! Signature `TREE`.

use crate::error::Result;
use crate::wire::{Addr, Column, Sizes, Structure, Walk};

/// What stands between the children of a node.
pub trait NodeKey: Structure {
    /// 0 for groups, 1 for chunks.
    const NODE_TYPE: u8;
    /// Half of the largest number of children, where the superblock does not say otherwise.
    const USUAL_K: u16;

    /// The size of a key.
    fn width(sizes: Sizes, cx: Self::Context) -> usize;
}

/// A node of any level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<K> {
    /// 0 for a leaf, whose children are symbol-table nodes or chunks; they are nodes of the level below otherwise.
    pub level: u8,
    /// The node before this one on the same level.
    pub left: Option<Addr>,
    /// The node after this one on the same level.
    pub right: Option<Addr>,
    /// One more than there are children; none if there are no children.
    pub keys: Vec<K>,
    /// What the node leads to.
    pub children: Vec<Addr>,
}

/// The key of a group's tree: the names that follow are not smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupKey {
    /// Where the name stands in the group's local heap.
    pub name: u64,
}

/// The key of a dataset's tree. In a leaf it describes the chunk that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkKey {
    /// Bytes the chunk takes in the file.
    pub size: u32,
    /// The filters that were left out, bit 0 for the first of the pipeline.
    pub filter_mask: u32,
    /// Coordinates of the chunk's first element, then one more for the position within an element, which is 0.
    pub offsets: Vec<u64>,
}

/// A key and its child, as [`Node::scan`] gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRow<'a> {
    /// The node's level; 0 if the child is a chunk.
    pub level: u8,
    /// Bytes the chunk takes in the file.
    pub size: u32,
    /// The filters that were left out.
    pub filter_mask: u32,
    /// As [`ChunkKey::offsets`].
    pub offsets: &'a [u64],
    /// The chunk, or the node of the level below.
    pub child: Addr,
}

/// What stands before the entries of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The node's level.
    pub level: u8,
    /// How many children follow.
    pub count: usize,
    /// The node before this one on the same level.
    pub left: Option<Addr>,
    /// The node after this one on the same level.
    pub right: Option<Addr>,
}

impl<K: NodeKey> Node<K> {
    /// How many bytes a node takes in the file, with room for 2 `k` children.
    pub fn allocated(sizes: Sizes, cx: K::Context, k: u16) -> usize {
        let children = 2 * usize::from(k);
        8 + (2 + children) * usize::from(sizes.offsets) + (children + 1) * K::width(sizes, cx)
    }
}

impl Node<ChunkKey> {
    /// Decodes a node of chunks in one pass, without a vector for each key; `each` is given the entries in order.
    pub fn scan(
        bytes: &[u8],
        addr: Addr,
        sizes: Sizes,
        rank: u8,
        mut each: impl FnMut(ChunkRow<'_>),
    ) -> Result<Prefix> {
        Self::read_with(bytes, addr, sizes, |w| {
            let prefix = walk_prefix(w)?;
            let mut columns = vec![Column::Number(4), Column::Number(4)];
            columns.resize(3 + usize::from(rank), Column::Number(8));
            columns.push(Column::Address);
            let mut undefined = false;
            w.rows("key and child", &columns, prefix.count, |row| {
                let [size, filter_mask, offsets @ .., child] = row else { unreachable!("because three columns are") };
                undefined |= *child == u64::MAX;
                each(ChunkRow {
                    level: prefix.level,
                    size: u32::try_from(*size).expect("because four bytes were read"),
                    filter_mask: u32::try_from(*filter_mask).expect("because four bytes were read"),
                    offsets,
                    child: Addr(*child),
                });
            })?;
            if undefined {
                return w.corrupt("child", "the address is undefined");
            }
            if prefix.count > 0 {
                w.rows("key", &columns[..columns.len() - 1], 1, |_| ())?;
            }
            Ok(prefix)
        })
    }
}

impl<K: NodeKey> Structure for Node<K> {
    const NAME: &'static str = "version 1 B-tree node";
    type Context = K::Context;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: K::Context) -> Result<Self> {
        let Prefix { level, count, left, right } = walk_prefix(w)?;
        let (mut keys, mut children) = (Vec::new(), Vec::new());
        for i in 0..count {
            keys.push(w.nest(|n| &n.keys[i], cx)?);
            children.push(w.address("child", |n| n.children[i])?);
        }
        if count > 0 {
            keys.push(w.nest(|n| &n.keys[count], cx)?);
        }
        Ok(Node { level, left, right, keys, children })
    }

    fn first_read(sizes: Sizes, cx: K::Context) -> usize {
        Self::allocated(sizes, cx, K::USUAL_K)
    }
}

fn walk_prefix<K: NodeKey>(w: &mut Walk<'_, '_, Node<K>>) -> Result<Prefix> {
    w.signature(b"TREE")?;
    w.constant("node type", 1, K::NODE_TYPE.into())?;
    let level = w.u8("node level", |n| n.level)?;
    let count = w.count("entries used", 2, |n| n.children.len())?;
    let left = w.offset("address of left sibling", |n| n.left)?;
    let right = w.offset("address of right sibling", |n| n.right)?;
    Ok(Prefix { level, count, left, right })
}

impl NodeKey for GroupKey {
    const NODE_TYPE: u8 = 0;
    const USUAL_K: u16 = 16;

    fn width(sizes: Sizes, (): ()) -> usize {
        sizes.lengths.into()
    }
}

impl Structure for GroupKey {
    const NAME: &'static str = "group key";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        Ok(GroupKey { name: w.length("byte offset into local heap", |k| k.name)? })
    }
}

impl NodeKey for ChunkKey {
    const NODE_TYPE: u8 = 1;
    const USUAL_K: u16 = 32;

    fn width(_: Sizes, rank: u8) -> usize {
        8 + 8 * (usize::from(rank) + 1)
    }
}

impl Structure for ChunkKey {
    const NAME: &'static str = "chunk key";
    type Context = u8; // the dataset's rank

    fn walk(w: &mut Walk<'_, '_, Self>, rank: u8) -> Result<Self> {
        let size = w.u32("chunk size", |k| k.size)?;
        let filter_mask = w.u32("filter mask", |k| k.filter_mask)?;
        let offsets = w.uints("offset", 8, usize::from(rank) + 1, |k| &k.offsets)?;
        Ok(ChunkKey { size, filter_mask, offsets })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{chunk_node, group_node};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    /// Any node of a group's tree.
    pub fn group_node(sizes: Sizes) -> BoxedStrategy<Node<GroupKey>> {
        node(sizes, laws::length(sizes).prop_map(|name| GroupKey { name }).boxed())
    }

    /// Any node of the tree of a dataset of `rank` dimensions.
    pub fn chunk_node(sizes: Sizes, rank: u8) -> BoxedStrategy<Node<ChunkKey>> {
        let key = (any::<u32>(), any::<u32>(), vec(any::<u64>(), usize::from(rank) + 1))
            .prop_map(|(size, filter_mask, offsets)| ChunkKey { size, filter_mask, offsets });
        node(sizes, key.boxed())
    }

    fn node<K: NodeKey + Clone + std::fmt::Debug + 'static>(
        sizes: Sizes,
        key: BoxedStrategy<K>,
    ) -> BoxedStrategy<Node<K>> {
        let entries = vec((key.clone(), laws::addr(sizes)), 0..6);
        let sibling = || option::of(laws::addr(sizes));
        (any::<u8>(), sibling(), sibling(), entries, key)
            .prop_map(|(level, left, right, entries, last)| {
                let (mut keys, children): (Vec<K>, Vec<Addr>) = entries.into_iter().unzip();
                if !keys.is_empty() {
                    keys.push(last);
                }
                Node { level, left, right, keys, children }
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
        laws::hold::<Node<GroupKey>>(|sizes| group_node(sizes).prop_map(|n| (n, ())).boxed());
        laws::hold::<Node<ChunkKey>>(|sizes| {
            (0u8..4).prop_flat_map(move |rank| chunk_node(sizes, rank).prop_map(move |n| (n, rank))).boxed()
        });
    }

    fn scanned(bytes: &[u8], sizes: Sizes, rank: u8) -> Result<(Prefix, Vec<ChunkKey>, Vec<Addr>)> {
        let (mut keys, mut children) = (Vec::new(), Vec::new());
        let prefix = Node::scan(bytes, Addr(0), sizes, rank, |row| {
            keys.push(ChunkKey { size: row.size, filter_mask: row.filter_mask, offsets: row.offsets.to_vec() });
            children.push(row.child);
        })?;
        Ok((prefix, keys, children))
    }

    #[test]
    fn a_scan_equals_the_walk() {
        for sizes in laws::widths() {
            proptest!(|(node in chunk_node(sizes, 3))| {
                let bytes = node.encode(Addr(0), sizes, 3).unwrap();
                let (prefix, keys, children) = scanned(&bytes, sizes, 3).unwrap();
                prop_assert_eq!(&keys[..], &node.keys[..node.children.len()]);
                prop_assert_eq!(&children, &node.children);
                prop_assert_eq!((prefix.level, prefix.left, prefix.right), (node.level, node.left, node.right));
                for cut in 0..bytes.len() {
                    prop_assert!(scanned(&bytes[..cut], sizes, 3).is_err());
                }
            });
        }
    }

    #[test]
    fn an_undefined_child_is_corrupt_either_way() {
        let key = |size| ChunkKey { size, filter_mask: 3, offsets: vec![5, 0] };
        let node = Node { level: 0, left: None, right: None, keys: vec![key(1), key(2)], children: vec![Addr(9)] };
        let sizes = Sizes { offsets: 4, lengths: 8 };
        let mut bytes = node.encode(Addr(0), sizes, 1).unwrap();
        let child = bytes.iter().rposition(|&b| b == 9).unwrap();
        bytes[child..child + 4].fill(0xff);
        assert_eq!(Node::<ChunkKey>::decode(&bytes, Addr(0), sizes, 1).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(scanned(&bytes, sizes, 1).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn a_group_node_is_no_chunk_node() {
        let node = Node::<GroupKey> { level: 1, left: None, right: None, keys: vec![], children: vec![] };
        let bytes = node.encode(Addr(0), Sizes::EIGHT, ()).unwrap();
        let error = Node::<ChunkKey>::decode(&bytes, Addr(7), Sizes::EIGHT, 2).unwrap_err();
        assert_eq!(error.to_string(), r#"value is 0, must be 1 (version 1 B-tree node, "node type", at 0xb)"#);
    }

    #[test]
    fn the_usual_nodes_have_the_usual_sizes() {
        assert_eq!(Node::<GroupKey>::allocated(Sizes::EIGHT, (), 16), 544);
        assert_eq!(Node::<ChunkKey>::allocated(Sizes::EIGHT, 2, 32), 2616);
    }
}
