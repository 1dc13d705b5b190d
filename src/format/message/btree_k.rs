//! The B-tree 'K' values message: sizes of version 1 B-tree nodes. Specification IV.A.2.t.

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// Half of the largest number of entries of the nodes of version 1 B-trees. Stands in the superblock extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BTreeK {
    /// Of nodes that index chunks.
    pub chunk_k: u16,
    /// Of nodes of groups.
    pub internal_k: u16,
    /// Of symbol-table nodes.
    pub leaf_k: u16,
}

impl Structure for BTreeK {
    const NAME: &'static str = "B-tree 'K' values message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.version(|_| 0, 0..=0)?;
        let chunk_k = w.u16("indexed storage internal node k", |k| k.chunk_k)?;
        let internal_k = w.u16("group internal node k", |k| k.internal_k)?;
        let leaf_k = w.u16("group leaf node k", |k| k.leaf_k)?;
        Ok(BTreeK { chunk_k, internal_k, leaf_k })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::btree_k;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::prelude::*;

    use super::*;

    /// Any three numbers.
    pub fn btree_k() -> BoxedStrategy<BTreeK> {
        any::<(u16, u16, u16)>()
            .prop_map(|(chunk_k, internal_k, leaf_k)| BTreeK { chunk_k, internal_k, leaf_k })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<BTreeK>(|_| btree_k().prop_map(|k| (k, ())).boxed());
    }
}
