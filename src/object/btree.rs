//! Walks over B-trees, a level at a time, so that what is missing of a level is asked for at once.

use super::Step;
use super::container::Scope;
use crate::error::Error;
use crate::format::btree_v1::{self, GroupKey};
use crate::format::btree_v2::{Header, Node, NodeContext, Record};
use crate::wire::{Addr, ByteRange, Structure};

type GroupNode = btree_v1::Node<GroupKey>;

/// The symbol-table nodes of an old-style group's tree, in order.
pub fn symbol_table_nodes(scope: Scope<'_>, root: Addr) -> Step<Vec<Addr>> {
    let mut at = vec![root];
    let mut level = None;
    let size = GroupNode::allocated(scope.view.sizes(), (), scope.container.internal_k);
    while !at.is_empty() {
        let nodes = scope.view.load_all::<GroupNode>(&at, ())?;
        at.iter().for_each(|node| scope.container.loaded.takes(GroupNode::NAME, ByteRange::of(*node, size)));
        for node in &nodes {
            check_level(level, node.level, root)?;
        }
        let below = nodes.first().and_then(|n| n.level.checked_sub(1));
        at = nodes.into_iter().flat_map(|n| n.children).collect();
        match below {
            Some(below) => level = Some(below),
            None => return Ok(at),
        }
    }
    Ok(at)
}

/// A node must be on the level that its parent is above, or the walk would not end.
pub fn check_level(expected: Option<u8>, found: u8, root: Addr) -> Result<(), Error> {
    match expected {
        Some(expected) if expected != found => {
            Err(Error::corrupt(format!("a node of the B-tree at {root} is on level {found}, must be on {expected}")))
        }
        _ => Ok(()),
    }
}

/// The symbol-table node in which `name` stands if it is a member; `key` gives the text of a heap position.
pub fn symbol_table_node(
    scope: Scope<'_>,
    root: Addr,
    name: &[u8],
    key: impl Fn(u64) -> Step<Vec<u8>>,
) -> Step<Option<Addr>> {
    let (mut at, mut level) = (root, None);
    loop {
        let node: GroupNode = scope.view.load(at, ())?;
        check_level(level, node.level, root)?;
        // Key i + 1 is the largest name under child i.
        let (mut low, mut high) = (0, node.children.len());
        while low < high {
            let middle = (low + high) / 2;
            if key(node.keys[middle + 1].name)?.as_slice() < name { low = middle + 1 } else { high = middle }
        }
        let Some(&child) = node.children.get(low) else { return Ok(None) };
        match node.level.checked_sub(1) {
            Some(below) => (at, level) = (child, Some(below)),
            None => return Ok(Some(child)),
        }
    }
}

/// All records of a version 2 B-tree, in order.
pub fn records<R: Record + Clone>(scope: Scope<'_>, header: Addr, cx: R::Context) -> Step<Vec<R>> {
    let header: Header = scope.view.load(header, ())?;
    let sizes = scope.view.sizes();
    let Some(root) = header.root else { return Ok(Vec::new()) };
    let layout = header.layout(sizes)?;
    let mut level = vec![Part::Node(root, header.root_context::<R>(sizes, cx)?)];
    loop {
        let wanted: Vec<_> = level.iter().filter_map(Part::node).collect();
        if wanted.is_empty() {
            return Ok(level.into_iter().filter_map(Part::record).collect());
        }
        let nodes = scope.view.each(&wanted, |(addr, cx)| scope.view.load::<Node<R>>(*addr, *cx))?;
        let mut nodes = nodes.into_iter();
        let mut next = Vec::new();
        for part in level {
            let Part::Node(_, context) = part else {
                next.push(part);
                continue;
            };
            let node = nodes.next().expect("because every node of the level was loaded");
            let mut records = node.records.into_iter();
            let below = context.level().wrapping_sub(1);
            for child in node.children {
                next.push(Part::Node(child.addr, layout.node::<R>(below, child.records, sizes, cx)?));
                next.extend(records.next().map(Part::Record));
            }
            next.extend(records.map(Part::Record));
        }
        level = next;
    }
}

/// A part of a tree that is being unfolded, in order.
enum Part<R: Record> {
    Record(R),
    Node(Addr, NodeContext<R::Context>),
}

impl<R: Record> Part<R> {
    fn node(&self) -> Option<(Addr, NodeContext<R::Context>)> {
        match self {
            Part::Node(addr, cx) => Some((*addr, *cx)),
            Part::Record(_) => None,
        }
    }

    fn record(self) -> Option<R> {
        match self {
            Part::Record(record) => Some(record),
            Part::Node(..) => None,
        }
    }
}

/// The records of a version 2 B-tree for which `compare` says that they equal what is sought, in order. `compare` says
/// how a record stands to what is sought, and must agree with the order of the tree.
pub fn find<R: Record + Clone>(
    scope: Scope<'_>,
    header: Addr,
    cx: R::Context,
    compare: impl Fn(&R) -> std::cmp::Ordering,
) -> Step<Vec<R>> {
    let header: std::sync::Arc<Header> = scope.view.keep(header, ())?;
    let sizes = scope.view.sizes();
    let Some(root) = header.root else { return Ok(Vec::new()) };
    let layout = header.layout(sizes)?;
    let mut found = Vec::new();
    let mut stack = vec![(root, header.root_context::<R>(sizes, cx)?)];
    while let Some((addr, context)) = stack.pop() {
        let node: Node<R> = scope.view.load(addr, context)?;
        // Equal records may stand on both sides of an equal one.
        let low = node.records.partition_point(|r| compare(r).is_lt());
        let high = node.records.partition_point(|r| compare(r).is_le());
        let below = context.level().wrapping_sub(1);
        for child in node.children.iter().take(high + 1).skip(low) {
            stack.push((child.addr, layout.node::<R>(below, child.records, sizes, cx)?));
        }
        found.extend_from_slice(&node.records[low..high]);
    }
    Ok(found)
}
