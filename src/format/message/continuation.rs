//! The object header continuation message: where more messages are. Specification IV.A.2.q.

use crate::error::Result;
use crate::wire::{Addr, Structure, Walk};

/// Where a block with more messages of the same header is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinuationInfo {
    /// The block.
    pub block: Addr,
    /// Bytes of the block.
    pub size: u64,
}

impl Structure for ContinuationInfo {
    const NAME: &'static str = "object header continuation message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        let block = w.address("offset", |c| c.block)?;
        let size = w.length("length", |c| c.size)?;
        Ok(ContinuationInfo { block, size })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::continuation_info;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Sizes, laws};

    /// Any place of a block.
    pub fn continuation_info(sizes: Sizes) -> BoxedStrategy<ContinuationInfo> {
        (laws::addr(sizes), laws::length(sizes)).prop_map(|(block, size)| ContinuationInfo { block, size }).boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<ContinuationInfo>(|sizes| continuation_info(sizes).prop_map(|c| (c, ())).boxed());
    }
}
