//! Version 1 B-trees from their keys and children, in one go. Specification III.A.1.

use crate::error::Result;
use crate::format::btree_v1::{Node, NodeKey};
use crate::wire::place::Place;
use crate::wire::{Addr, Structure};

/// Places the tree over these children, which stand between the keys, and says where its root is.
///
/// A node has as many children at most as superblocks that say nothing else mean. A tree over nothing is an empty leaf.
pub(super) fn build<K: NodeKey + Clone>(
    space: &mut dyn Place,
    mut keys: Vec<K>,
    mut children: Vec<Addr>,
    cx: K::Context,
) -> Result<Addr> {
    let most = 2 * usize::from(K::USUAL_K);
    for level in 0.. {
        // Siblings share the children evenly, so that none is emptier than whoever inserts later expects.
        let nodes = children.len().div_ceil(most).max(1);
        let size = Node::<K>::allocated(space.sizes(), cx, K::USUAL_K) as u64;
        let addrs = (0..nodes).map(|_| space.reserve(size)).collect::<Result<Vec<Addr>>>()?;
        let (each, more) = (children.len() / nodes, children.len() % nodes);
        let (mut above, mut start) = (Vec::new(), 0);
        for (i, addr) in addrs.iter().enumerate() {
            let end = start + each + usize::from(i < more);
            let own = children.get(start..end).unwrap_or_default().to_vec();
            let own_keys = if own.is_empty() { Vec::new() } else { keys[start..=end].to_vec() };
            let (left, right) = (i.checked_sub(1).map(|i| addrs[i]), addrs.get(i + 1).copied());
            let node = Node { level, left, right, keys: own_keys, children: own };
            let mut bytes = node.encode(*addr, space.sizes(), cx)?;
            bytes.resize(Node::<K>::allocated(space.sizes(), cx, K::USUAL_K), 0);
            space.put(*addr, bytes)?;
            above.extend(keys.get(start).cloned());
            start = end;
        }
        if let [root] = addrs[..] {
            return Ok(root);
        }
        above.extend(keys.last().cloned());
        (keys, children) = (above, addrs);
    }
    unreachable!("because every level has fewer nodes than the one below")
}
