//! The shared message table message: where a file keeps messages that many objects share. Specification IV.A.2.p.

use crate::error::Result;
use crate::wire::{Addr, Structure, Walk};

/// Where the table of shared messages is. Stands in the superblock extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMessageTableInfo {
    /// The table.
    pub table: Addr,
    /// Number of indexes in it.
    pub index_count: u8,
}

impl Structure for SharedMessageTableInfo {
    const NAME: &'static str = "shared message table message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.version(|_| 0, 0..=0)?;
        let table = w.address("shared object header message table address", |t| t.table)?;
        let index_count = w.u8("number of indices", |t| t.index_count)?;
        Ok(SharedMessageTableInfo { table, index_count })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::shared_message_table_info;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Sizes, laws};

    /// Any place of a table.
    pub fn shared_message_table_info(sizes: Sizes) -> BoxedStrategy<SharedMessageTableInfo> {
        (laws::addr(sizes), any::<u8>())
            .prop_map(|(table, index_count)| SharedMessageTableInfo { table, index_count })
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
        laws::hold::<SharedMessageTableInfo>(|sizes| shared_message_table_info(sizes).prop_map(|t| (t, ())).boxed());
    }
}
