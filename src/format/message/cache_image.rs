//! The metadata cache image message: where the image of a closed file's metadata cache is. Specification: none; as
//! libhdf5 since 1.10.1 writes it.

use crate::error::Result;
use crate::wire::{Addr, Structure, Walk};

/// Where the metadata cache image is. Stands in the superblock extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheImageInfo {
    /// The block with the image.
    pub block: Option<Addr>,
    /// Its size in bytes.
    pub size: u64,
}

impl Structure for CacheImageInfo {
    const NAME: &'static str = "metadata cache image message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.version(|_| 0, 0..=0)?;
        let block = w.offset("metadata cache image block address", |c| c.block)?;
        let size = w.length("metadata cache image block size", |c| c.size)?;
        Ok(CacheImageInfo { block, size })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::cache_image_info;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Sizes, laws};

    /// Any place of an image.
    pub fn cache_image_info(sizes: Sizes) -> BoxedStrategy<CacheImageInfo> {
        (proptest::option::of(laws::addr(sizes)), laws::length(sizes))
            .prop_map(|(block, size)| CacheImageInfo { block, size })
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
        laws::hold::<CacheImageInfo>(|sizes| cache_image_info(sizes).prop_map(|c| (c, ())).boxed());
    }
}
