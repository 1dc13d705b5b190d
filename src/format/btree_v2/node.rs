//! Internal nodes and leaves of version 2 B-trees. Specification III.A.2. Signatures `BTIN` and `BTLF`.
//!
//! ```text
//! prefix | record 0 .. record n-1 | child 0 .. child n, internal nodes only | checksum | unused
//! ```
//! A node does not say how many records it has nor on which level it is: its parent, or the header, does.

use super::record::{ChunkRecord, ChunkRow, Record};
use crate::error::Result;
use crate::wire::{Addr, Sizes, Structure, Walk, lookup3};

/// A node of any level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<R> {
    /// The records, in the tree's order.
    pub records: Vec<R>,
    /// One more than there are records, what they lead to standing between them; none in a leaf.
    pub children: Vec<Child>,
    /// What stands after the checksum, unless it is zero.
    pub slack: Vec<u8>,
}

/// A node of the level below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// Where it is.
    pub addr: Addr,
    /// Records in it.
    pub records: u64,
    /// Records in it and in all nodes below it.
    pub total: u64,
}

/// What a node's layout depends on, `C` being what its records depend on. [`super::Layout`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeContext<C> {
    pub(super) node_size: usize,
    pub(super) level: u16,
    pub(super) records: usize,
    pub(super) count_width: u8,
    pub(super) total_width: u8,
    pub(super) record: C,
}

impl<C> NodeContext<C> {
    /// 0 for a leaf.
    pub fn level(&self) -> u16 {
        self.level
    }

    /// Records in the node.
    pub fn records(&self) -> usize {
        self.records
    }
}

impl<R: ChunkRecord> Node<R> {
    /// Decodes a node of chunks in one pass, without a vector for each record; `each` is given the records in order.
    pub fn scan(
        bytes: &[u8],
        addr: Addr,
        sizes: Sizes,
        cx: NodeContext<R::Context>,
        mut each: impl FnMut(ChunkRow<'_>),
    ) -> Result<Vec<Child>> {
        Self::read_with(bytes, addr, sizes, |w| {
            let columns = R::columns(cx.record);
            let node = walk_node(w, cx, |w| {
                w.rows("records", &columns, cx.records, |row| each(R::row(row)))?;
                Ok(Vec::new())
            })?;
            Ok(node.children)
        })
    }
}

impl<R: Record> Structure for Node<R> {
    const NAME: &'static str = "version 2 B-tree node";
    type Context = NodeContext<R::Context>;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: Self::Context) -> Result<Self> {
        walk_node(w, cx, |w| w.each(cx.records, |n| &n.records, cx.record))
    }

    fn first_read(_: Sizes, cx: Self::Context) -> usize {
        cx.node_size
    }
}

fn walk_node<R: Record>(
    w: &mut Walk<'_, '_, Node<R>>,
    cx: NodeContext<R::Context>,
    walk_records: impl FnOnce(&mut Walk<'_, '_, Node<R>>) -> Result<Vec<R>>,
) -> Result<Node<R>> {
    let contents = |w: &mut Walk<'_, '_, Node<R>>| {
        w.signature(if cx.level == 0 { b"BTLF" } else { b"BTIN" })?;
        w.version(|_| 0, 0..=0)?;
        w.constant("type", 1, R::TYPE.into())?;
        let records = walk_records(w)?;
        let mut children = Vec::new();
        for i in 0..=cx.records {
            if cx.level == 0 {
                break;
            }
            let addr = w.address("child node pointer", |n| n.children[i].addr)?;
            let records = w.uint("number of records for child node", cx.count_width, |n| n.children[i].records)?;
            let total = match cx.total_width {
                0 => records,
                width => w.uint("total number of records for child node", width, |n| n.children[i].total)?,
            };
            children.push(Child { addr, records, total });
        }
        w.checksum(lookup3)?;
        Ok((records, children))
    };
    let ((records, children), slack) = w.boxed("unused", cx.node_size, |n| &n.slack, contents)?;
    Ok(Node { records, children, slack })
}

#[cfg(any(test, feature = "testing"))]
pub use testing::node;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::Layout;
    use super::*;
    use crate::wire::laws;

    /// Any node with records of `record`, in a tree of small nodes, with its context.
    pub fn node<R: Record + Clone + std::fmt::Debug + 'static>(
        sizes: Sizes,
        cx: R::Context,
        record: BoxedStrategy<R>,
    ) -> BoxedStrategy<(Node<R>, NodeContext<R::Context>)>
    where
        R::Context: std::fmt::Debug + 'static,
    {
        let width = u32::try_from(R::width(sizes, cx)).expect("because it is small");
        let record_size = u16::try_from(width).expect("because it is small");
        // One more byte than is ever used, so that there is slack.
        let layout = Layout::new(11 + 3 * (width + 18) + 18, record_size, 2, sizes).expect("because records fit");
        (0u16..3, any::<u64>())
            .prop_flat_map(move |(level, count)| {
                let records = 1 + count % layout.max_records(level);
                let context = layout.node::<R>(level, records, sizes, cx).expect("because that many fit");
                let child = (laws::addr(sizes), 0u64..120, 120u64..250).prop_map(move |(addr, records, total)| Child {
                    addr,
                    records,
                    total: if level < 2 { records } else { total },
                });
                let children = if level == 0 { 0 } else { context.records + 1 };
                let record = vec(record.clone(), context.records);
                (record, vec(child, children), any::<u8>()).prop_map(move |(records, children, filling)| {
                    let mut node = Node { records, children, slack: Vec::new() };
                    let used = node.used(sizes, context);
                    if filling > 0 {
                        node.slack = vec![filling; context.node_size - used];
                    }
                    (node, context)
                })
            })
            .boxed()
    }

    impl<R: Record> Node<R> {
        fn used(&self, sizes: Sizes, cx: NodeContext<R::Context>) -> usize {
            let child = usize::from(sizes.offsets) + usize::from(cx.count_width) + usize::from(cx.total_width);
            10 + self.records.len() * R::width(sizes, cx.record) + self.children.len() * child
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Layout;
    use super::super::record::testing::{chunk, filtered_chunk, link_name};
    use super::super::record::{Chunk, FilteredChunk, FilteredChunkContext, LinkName};
    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::laws;
    use proptest::prelude::*;

    const FILTERED: FilteredChunkContext = FilteredChunkContext { rank: 3, size_width: 5 };

    #[test]
    fn laws_hold() {
        laws::hold::<Node<LinkName>>(|sizes| node(sizes, (), link_name()));
        laws::hold::<Node<Chunk>>(|sizes| node(sizes, 2, chunk(sizes, 2)));
        laws::hold::<Node<FilteredChunk>>(|sizes| node(sizes, FILTERED, filtered_chunk(sizes, FILTERED)));
    }

    #[test]
    fn a_scan_equals_the_walk() {
        for sizes in laws::widths() {
            proptest!(|((value, cx) in node(sizes, FILTERED, filtered_chunk(sizes, FILTERED)))| {
                let bytes = value.encode(Addr(0), sizes, cx).unwrap();
                let mut records = Vec::new();
                let children = Node::<FilteredChunk>::scan(&bytes, Addr(0), sizes, cx, |row| {
                    records.push(FilteredChunk {
                        addr: row.addr,
                        size: row.size.unwrap(),
                        filter_mask: row.filter_mask,
                        scaled: row.scaled.to_vec(),
                    });
                });
                prop_assert_eq!(children.unwrap(), value.children);
                prop_assert_eq!(records, value.records);
            });
            proptest!(|((value, cx) in node(sizes, 2, chunk(sizes, 2)))| {
                let bytes = value.encode(Addr(0), sizes, cx).unwrap();
                let mut records = Vec::new();
                let children = Node::<Chunk>::scan(&bytes, Addr(0), sizes, cx, |row| {
                    assert_eq!((row.size, row.filter_mask), (None, 0));
                    records.push(Chunk { addr: row.addr, scaled: row.scaled.to_vec() });
                });
                prop_assert_eq!(children.unwrap(), value.children);
                prop_assert_eq!(records, value.records);
            });
        }
    }

    #[test]
    fn a_bad_checksum_is_corrupt_also_in_a_scan() {
        let cx = Layout::new(64, 24, 0, Sizes::EIGHT).unwrap().node::<Chunk>(0, 1, Sizes::EIGHT, 2).unwrap();
        let record = Chunk { addr: Some(Addr(7)), scaled: vec![1, 2] };
        let node = Node { records: vec![record], children: vec![], slack: vec![] };
        let mut bytes = node.encode(Addr(0), Sizes::EIGHT, cx).unwrap();
        bytes[20] ^= 1;
        for error in [
            Node::<Chunk>::decode(&bytes, Addr(0), Sizes::EIGHT, cx).unwrap_err(),
            Node::<Chunk>::scan(&bytes, Addr(0), Sizes::EIGHT, cx, |_| ()).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(error.to_string().contains(r#"(version 2 B-tree node, "checksum", at 0x1e)"#), "{error}");
        }
    }
}
