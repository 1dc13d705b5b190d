//! The links of a group, however it stores them.

use super::container::Scope;
use super::header::{Header, decode, decode_body};
use super::heap::FractalHeap;
use super::{Step, btree, heap};
use crate::error::Error;
use crate::format::btree_v2::LinkName;
use crate::format::local_heap;
use crate::format::message::link::{Link, LinkEncoding, LinkTarget};
use crate::format::message::link_info::LinkInfo;
use crate::format::message::symbol_table::SymbolTable;
use crate::format::symbol_table::{Cached, Entry, Node};
use crate::wire::{ByteRange, Structure, lookup3};

/// How a group stores its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkStorage {
    /// In symbol-table nodes under a version 1 B-tree, names in a local heap.
    SymbolTable,
    /// In the object header.
    Compact,
    /// In a fractal heap, indexed by version 2 B-trees.
    Dense,
}

/// How the group with this header stores its links, and whether it tracks and indexes their creation order.
pub fn storage(scope: Scope<'_>, header: &Header) -> Step<(LinkStorage, bool, bool)> {
    match header.message::<LinkInfo>(scope)? {
        None => Ok((LinkStorage::SymbolTable, false, false)),
        Some(info) => {
            let storage = if info.fractal_heap.is_some() { LinkStorage::Dense } else { LinkStorage::Compact };
            Ok((storage, info.max_creation_index.is_some(), info.creation_order_index.is_some()))
        }
    }
}

/// All links of the group with this header, sorted by the bytes of their names.
pub fn list(scope: Scope<'_>, header: &Header) -> Step<Vec<Link>> {
    let mut links = match header.message::<LinkInfo>(scope)? {
        None => list_old(scope, &header.expect(scope)?)?,
        Some(LinkInfo { fractal_heap: Some(heap), name_index: Some(index), .. }) => {
            let heap = FractalHeap::open(scope, heap)?;
            let records = btree::records::<LinkName>(scope, index, ())?;
            scope.view.each(&records, |record| from_heap(scope, &heap, record))?
        }
        Some(LinkInfo { fractal_heap: Some(_), name_index: None, .. }) => {
            let what = format!("the group at {} has a fractal heap and no index of names", header.addr);
            return Err(Error::corrupt(what).into());
        }
        Some(_) => header.messages.iter().filter(|m| m.kind == 6).map(|m| decode(scope, m)).collect::<Step<_>>()?,
    };
    links.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(links)
}

/// The link called `name`, if the group with this header has one. Costs a search, not a listing.
pub fn find(scope: Scope<'_>, header: &Header, name: &[u8]) -> Step<Option<Link>> {
    match header.message::<LinkInfo>(scope)? {
        None => find_old(scope, &header.expect(scope)?, name),
        Some(LinkInfo { fractal_heap: Some(heap), name_index: Some(index), .. }) => {
            let heap = FractalHeap::open(scope, heap)?;
            let hash = lookup3(name);
            for record in btree::find::<LinkName>(scope, index, (), |record| record.hash.cmp(&hash))? {
                let link = from_heap(scope, &heap, &record)?;
                if link.name == name {
                    return Ok(Some(link));
                }
            }
            Ok(None)
        }
        Some(_) => Ok(list(scope, header)?.into_iter().find(|link| link.name == name)),
    }
}

fn from_heap(scope: Scope<'_>, heap: &FractalHeap, record: &LinkName) -> Step<Link> {
    let (data, addr) = heap.object(scope, &record.heap_id)?;
    decode_body(scope, &data, addr)
}

fn list_old(scope: Scope<'_>, table: &SymbolTable) -> Step<Vec<Link>> {
    let (Some(btree), Some(local_heap)) = (table.btree, table.local_heap) else { return Ok(Vec::new()) };
    let names = heap::local(scope, local_heap)?;
    let nodes = btree::symbol_table_nodes(scope, btree)?;
    let size = Node::allocated(scope.view.sizes(), scope.container.leaf_k);
    nodes.iter().for_each(|node| scope.container.loaded.takes(Node::NAME, ByteRange::of(*node, size)));
    let mut links = Vec::new();
    for node in scope.view.load_all::<Node>(&nodes, ())? {
        for entry in &node.entries {
            links.push(link(entry, &names)?);
        }
    }
    Ok(links)
}

fn find_old(scope: Scope<'_>, table: &SymbolTable, name: &[u8]) -> Step<Option<Link>> {
    let (Some(btree), Some(local_heap)) = (table.btree, table.local_heap) else { return Ok(None) };
    let names = heap::local(scope, local_heap)?;
    let text = |position| Ok(local_heap::text(&names, position)?.to_vec());
    let Some(node) = btree::symbol_table_node(scope, btree, name, text)? else { return Ok(None) };
    let node: Node = scope.view.load(node, ())?;
    for entry in &node.entries {
        if local_heap::text(&names, entry.name)? == name {
            return Ok(Some(link(entry, &names)?));
        }
    }
    Ok(None)
}

/// A symbol-table entry as a link.
fn link(entry: &Entry, names: &bytes::Bytes) -> Result<Link, Error> {
    let name = local_heap::text(names, entry.name)?.to_vec();
    let target = match entry.cached() {
        Some(Cached::SoftLink(position)) => LinkTarget::Soft(local_heap::text(names, position.into())?.to_vec()),
        Some(Cached::Nothing | Cached::Group) => match entry.object_header {
            Some(addr) => LinkTarget::Hard(addr),
            None => {
                let name = String::from_utf8_lossy(&name).into_owned();
                return Err(Error::corrupt(format!("the link {name:?} leads to an undefined address")));
            }
        },
        None => {
            return Err(Error::unsupported(format!("symbol table entry has cache type {}", entry.cache_type)));
        }
    };
    Ok(Link { creation_order: None, character_set: None, name, target, encoding: LinkEncoding::default() })
}
