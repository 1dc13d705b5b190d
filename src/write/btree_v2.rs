//! Version 2 B-trees from their sorted records, in one go. Specification III.A.2.

use crate::error::{Error, Result};
use crate::format::btree_v2::{Child, Header, Layout, Node, Record};
use crate::wire::Addr;
use crate::wire::place::{Place, place};

/// How large nodes are, and when they are split and merged by who changes the tree later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    /// Bytes of a node.
    pub node_size: u32,
    /// Percentage at which nodes are split.
    pub split_percent: u8,
    /// Percentage at which nodes are merged.
    pub merge_percent: u8,
}

impl Parameters {
    /// Of links, attributes and huge objects.
    pub(super) const OBJECTS: Parameters = Parameters { node_size: 512, split_percent: 100, merge_percent: 40 };
    /// Of chunks.
    pub(super) const CHUNKS: Parameters = Parameters { node_size: 2048, split_percent: 100, merge_percent: 40 };
}

/// Places the tree of these records, which are in its order, and says where its header is.
pub(super) fn build<R: Record>(
    space: &mut dyn Place,
    parameters: Parameters,
    records: Vec<R>,
    cx: R::Context,
) -> Result<Addr> {
    let sizes = space.sizes();
    let total = records.len() as u64;
    let record_size = u16::try_from(R::width(sizes, cx)).map_err(|_| Error::limit("a B-tree record is too large"))?;
    let mut layout = Layout::new(parameters.node_size, record_size, 0, sizes)?;
    while layout.max_total(layout.depth()) < total {
        layout = Layout::new(parameters.node_size, record_size, layout.depth() + 1, sizes)?;
    }
    let mut records = records.into_iter();
    let root = match total {
        0 => None,
        _ => Some(subtree(space, &layout, layout.depth(), total, &mut records, cx)?),
    };
    let root_records = root.map_or(0, |root| root.records);
    let header = Header {
        record_type: R::TYPE,
        node_size: parameters.node_size,
        record_size,
        depth: layout.depth(),
        split_percent: parameters.split_percent,
        merge_percent: parameters.merge_percent,
        root: root.map(|root| root.addr),
        root_records: u16::try_from(root_records).map_err(|_| Error::limit("a B-tree node holds too many records"))?,
        total_records: total,
    };
    place(space, &header, ())
}

/// Places a node with the next `total` records in it and below it. Children share them as evenly as can be, so that no
/// node is emptier than whoever changes the tree later expects.
fn subtree<R: Record>(
    space: &mut dyn Place,
    layout: &Layout,
    level: u16,
    total: u64,
    records: &mut impl Iterator<Item = R>,
    cx: R::Context,
) -> Result<Child> {
    let sizes = space.sizes();
    let mut node = Node { records: Vec::new(), children: Vec::new(), slack: Vec::new() };
    if level == 0 {
        node.records.extend(records.take(usize::try_from(total).unwrap_or(usize::MAX)));
    } else {
        // Between n children stand n - 1 records.
        let children = (total + 1).div_ceil(layout.max_total(level - 1) + 1).max(2);
        let (each, more) = ((total + 1 - children) / children, (total + 1 - children) % children);
        for child in 0..children {
            let below = each + u64::from(child < more);
            node.children.push(subtree(space, layout, level - 1, below, records, cx)?);
            if child + 1 < children {
                node.records.extend(records.next());
            }
        }
    }
    let count = node.records.len() as u64;
    let context = layout.node::<R>(level, count, sizes, cx)?;
    Ok(Child { addr: place(space, &node, context)?, records: count, total })
}
