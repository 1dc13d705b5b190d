//! The header of a version 2 B-tree, and what its parameters mean for the nodes. Specification III.A.2. Signature
//! `BTHD`.

use super::node::NodeContext;
use super::record::Record;
use crate::error::{Error, Result};
use crate::wire::{Addr, Sizes, Structure, Walk, lookup3};

/// What stands in a node besides records and children: signature, version, type and checksum.
const NODE_OVERHEAD: u64 = 4 + 1 + 1 + 4;

/// The header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the records are; see [`Record::TYPE`].
    pub record_type: u8,
    /// Bytes in each node.
    pub node_size: u32,
    /// Bytes in each record.
    pub record_size: u16,
    /// How many levels lie below the root; 0 if the root is a leaf.
    pub depth: u16,
    /// How full a node is, in percent, before it is split.
    pub split_percent: u8,
    /// How full a node is, in percent, before it is merged with another.
    pub merge_percent: u8,
    /// The root node; undefined if there are no records.
    pub root: Option<Addr>,
    /// Records in the root node.
    pub root_records: u16,
    /// Records in the tree.
    pub total_records: u64,
}

/// How many records fit into nodes of each level, and how wide their counts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    node_size: usize,
    record_size: usize,
    offsets: u8,
    /// From the leaves up.
    levels: Vec<Level>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    max_records: u64,
    /// Most records in a node and everything below it.
    max_total: u64,
}

impl Header {
    /// What the header's parameters mean for its nodes.
    pub fn layout(&self, sizes: Sizes) -> Result<Layout> {
        Layout::new(self.node_size, self.record_size, self.depth, sizes)
    }

    /// What the root node looks like; `cx` is what its records depend on.
    pub fn root_context<R: Record>(&self, sizes: Sizes, cx: R::Context) -> Result<NodeContext<R::Context>> {
        if self.record_type != R::TYPE {
            let what = format!("B-tree records are of type {}, must be {}", self.record_type, R::TYPE);
            return Err(Error::corrupt(what));
        }
        self.layout(sizes)?.node::<R>(self.depth, self.root_records.into(), sizes, cx)
    }
}

impl Layout {
    /// The layout of a tree whose root has `depth` levels below it.
    pub fn new(node_size: u32, record_size: u16, depth: u16, sizes: Sizes) -> Result<Self> {
        let corrupt = |what: &str| {
            let parameters = format!("nodes of {node_size} bytes, records of {record_size}, depth {depth}");
            Err(Error::corrupt(format!("{what}: {parameters}")))
        };
        let room = u64::from(node_size).saturating_sub(NODE_OVERHEAD);
        let mut levels = Vec::new();
        for level in 0..=depth {
            // A child takes an address, its count of records, and, above the leaves, the count of all below it.
            let (child, below) = match levels.last() {
                None => (0, 0),
                Some(&Level { max_total, .. }) => {
                    let leaf: &Level = &levels[0];
                    let count = Sizes::of_numbers_up_to(leaf.max_records);
                    let total = if level > 1 { Sizes::of_numbers_up_to(max_total) } else { 0 };
                    (u64::from(sizes.offsets) + u64::from(count) + u64::from(total), max_total)
                }
            };
            let max_records = room.saturating_sub(child).checked_div(u64::from(record_size) + child).unwrap_or(0);
            let total = (max_records + 1).checked_mul(below).and_then(|n| n.checked_add(max_records));
            match total {
                _ if max_records == 0 => return corrupt("not one B-tree record fits into a node"),
                None => return corrupt("the B-tree is too deep"),
                Some(max_total) => levels.push(Level { max_records, max_total }),
            }
        }
        let node_size = usize::try_from(node_size).map_err(|_| Error::limit("B-tree nodes are too large"))?;
        Ok(Layout { node_size, record_size: record_size.into(), offsets: sizes.offsets, levels })
    }

    /// How many levels lie below the root.
    pub fn depth(&self) -> u16 {
        u16::try_from(self.levels.len() - 1).expect("because it was one")
    }

    /// The most records that a node of this level holds, 0 being the leaves; 0 above the root.
    pub fn max_records(&self, level: u16) -> u64 {
        self.levels.get(usize::from(level)).map_or(0, |l| l.max_records)
    }

    /// The most records that a node of this level and everything below it hold; 0 above the root.
    pub fn max_total(&self, level: u16) -> u64 {
        self.levels.get(usize::from(level)).map_or(0, |l| l.max_total)
    }

    /// What a node of `records` records looks like. Level 0 are the leaves; `cx` is what the records depend on.
    pub fn node<R: Record>(
        &self,
        level: u16,
        records: u64,
        sizes: Sizes,
        cx: R::Context,
    ) -> Result<NodeContext<R::Context>> {
        if R::width(sizes, cx) != self.record_size || sizes.offsets != self.offsets {
            let what = format!("B-tree records have {} bytes, must have {}", self.record_size, R::width(sizes, cx));
            return Err(Error::corrupt(what));
        }
        let most = self.max_records(level);
        if records > most {
            return Err(Error::corrupt(format!("a B-tree node has {records} records, at most {most} fit")));
        }
        let below = level.checked_sub(1).and_then(|l| self.levels.get(usize::from(l)));
        Ok(NodeContext {
            node_size: self.node_size,
            level,
            records: usize::try_from(records).map_err(|_| Error::limit("B-tree nodes are too large"))?,
            count_width: Sizes::of_numbers_up_to(self.levels[0].max_records),
            total_width: below.filter(|_| level > 1).map_or(0, |l| Sizes::of_numbers_up_to(l.max_total)),
            record: cx,
        })
    }
}

impl Structure for Header {
    const NAME: &'static str = "version 2 B-tree header";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        w.signature(b"BTHD")?;
        w.version(|_| 0, 0..=0)?;
        let record_type = w.u8("type", |h| h.record_type)?;
        let node_size = w.u32("node size", |h| h.node_size)?;
        let record_size = w.u16("record size", |h| h.record_size)?;
        let depth = w.u16("depth", |h| h.depth)?;
        let split_percent = w.u8("split percent", |h| h.split_percent)?;
        let merge_percent = w.u8("merge percent", |h| h.merge_percent)?;
        let root = w.offset("root node address", |h| h.root)?;
        let root_records = w.u16("number of records in root node", |h| h.root_records)?;
        let total_records = w.length("total number of records in B-tree", |h| h.total_records)?;
        w.checksum(lookup3)?;
        Ok(Header {
            record_type,
            node_size,
            record_size,
            depth,
            split_percent,
            merge_percent,
            root,
            root_records,
            total_records,
        })
    }

    fn first_read(sizes: Sizes, (): ()) -> usize {
        22 + usize::from(sizes.offsets) + usize::from(sizes.lengths)
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::header;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    /// Any header; its parameters need not make sense together.
    pub fn header(sizes: Sizes) -> BoxedStrategy<Header> {
        let shape = (any::<u8>(), any::<u32>(), any::<u16>(), any::<u16>(), any::<u8>(), any::<u8>());
        (shape, option::of(laws::addr(sizes)), any::<u16>(), laws::length(sizes))
            .prop_map(|(shape, root, root_records, total_records)| {
                let (record_type, node_size, record_size, depth, split_percent, merge_percent) = shape;
                Header {
                    record_type,
                    node_size,
                    record_size,
                    depth,
                    split_percent,
                    merge_percent,
                    root,
                    root_records,
                    total_records,
                }
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::record::LinkName;
    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<Header>(|sizes| {
            header(sizes)
                .prop_map(|h| {
                    assert!(h.encode(Addr(0), Sizes::EIGHT, ()).unwrap().len() <= Header::first_read(Sizes::EIGHT, ()));
                    (h, ())
                })
                .boxed()
        });
    }

    #[test]
    fn any_parameters_give_a_layout_or_an_error() {
        for sizes in laws::widths() {
            proptest!(|(h in header(sizes))| {
                let _ = h.layout(sizes);
                let _ = h.root_context::<LinkName>(sizes, ());
            });
        }
    }

    #[test]
    fn the_usual_link_tree_has_the_usual_counts() {
        // Nodes of 512 bytes, records of 11: what libhdf5 makes for links in dense storage.
        let layout = Layout::new(512, 11, 3, Sizes::EIGHT).unwrap();
        let most: Vec<_> = (0..=4).map(|level| layout.max_records(level)).collect();
        // (512-10)/11; (512-10-9)/(11+9); (512-10-11)/(11+11); the total of level 2 needs two bytes, as that of 1.
        assert_eq!(most, [45, 24, 22, 22, 0]);
        let leaf = layout.node::<LinkName>(0, 45, Sizes::EIGHT, ()).unwrap();
        assert_eq!((leaf.count_width, leaf.total_width), (1, 0));
        let third = layout.node::<LinkName>(3, 22, Sizes::EIGHT, ()).unwrap();
        assert_eq!((third.count_width, third.total_width), (1, 2));
        let error = layout.node::<LinkName>(1, 25, Sizes::EIGHT, ()).unwrap_err();
        assert_eq!(error.to_string(), "a B-tree node has 25 records, at most 24 fit");
    }

    #[test]
    fn parameters_that_make_no_sense_are_corrupt() {
        for (node_size, record_size, depth) in [(0, 11, 0), (20, 11, 0), (512, 11, 900), (30, 11, 1), (u32::MAX, 0, 9)]
        {
            let error = Layout::new(node_size, record_size, depth, Sizes::EIGHT);
            assert_eq!(error.unwrap_err().kind(), ErrorKind::Corrupt, "{node_size} {record_size} {depth}");
        }
    }

    #[test]
    fn a_bad_checksum_names_the_structure() {
        let header = Header {
            record_type: 5,
            node_size: 512,
            record_size: 11,
            depth: 0,
            split_percent: 100,
            merge_percent: 40,
            root: None,
            root_records: 0,
            total_records: 0,
        };
        let mut bytes = header.encode(Addr(0), Sizes::EIGHT, ()).unwrap();
        bytes[13] = 99;
        let error = Header::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("version 2 B-tree header"), "{error}");
    }
}
