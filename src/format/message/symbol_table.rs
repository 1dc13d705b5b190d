//! The symbol table message: where an old-style group keeps its members. Specification IV.A.2.r.

use crate::error::Result;
use crate::wire::{Addr, Structure, Walk};

/// Where the members of an old-style group are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolTable {
    /// Version 1 B-tree over the symbol-table nodes.
    pub btree: Option<Addr>,
    /// Local heap with the names.
    pub local_heap: Option<Addr>,
}

impl Structure for SymbolTable {
    const NAME: &'static str = "symbol table message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        let btree = w.offset("v1 B-tree address", |t| t.btree)?;
        let local_heap = w.offset("local heap address", |t| t.local_heap)?;
        Ok(SymbolTable { btree, local_heap })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::symbol_table;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Sizes, laws};

    /// Any symbol table message.
    pub fn symbol_table(sizes: Sizes) -> BoxedStrategy<SymbolTable> {
        let addr = || proptest::option::of(laws::addr(sizes));
        (addr(), addr()).prop_map(|(btree, local_heap)| SymbolTable { btree, local_heap }).boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<SymbolTable>(|sizes| symbol_table(sizes).prop_map(|t| (t, ())).boxed());
    }
}
