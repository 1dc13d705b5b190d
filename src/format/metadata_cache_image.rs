//! The metadata cache image: blocks of metadata that were not written to their places when the file was closed.
//! Specification IV.A.2, the metadata cache image message, and the block it points at. Signature `MDCI`.
//!
//! ```text
//! header | entry: fields, parents' addresses, the block's bytes | ... | checksum
//! ```
//! Where a file has one, the blocks in it stand for what lies at their addresses.

use bytes::Bytes;

use crate::error::Result;
use crate::wire::{Addr, Structure, Walk, lookup3};

/// The image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataCacheImage {
    /// Flags; bit 0 says that the cache's size is in the image, which no writer does.
    pub flags: u8,
    /// Bytes in the image, header and checksum included.
    pub size: u64,
    /// The blocks.
    pub entries: Vec<CacheEntry>,
}

/// A block of metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheEntry {
    /// What kind of block it is, as libhdf5 numbers them.
    pub kind: u8,
    /// Bit 0 not yet written, 1 recently used, 2 others depend on it, 3 it depends on others.
    pub flags: u8,
    /// Which ring of the cache it belongs to.
    pub ring: u8,
    /// How often the file was closed since it was used.
    pub age: u8,
    /// Blocks that must be written before it.
    pub children: u16,
    /// Those of them that were not yet written.
    pub dirty_children: u16,
    /// Place in the list of recently used blocks; all ones if it is not in it.
    pub rank: u32,
    /// Where the block belongs.
    pub addr: Addr,
    /// Blocks that must be written after it.
    pub parents: Vec<Addr>,
    /// The block's bytes.
    pub image: Bytes,
}

impl Structure for MetadataCacheImage {
    const NAME: &'static str = "metadata cache image";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        w.signature(b"MDCI")?;
        w.version(|_| 0, 0..=0)?;
        let flags = w.u8("flags", |i| i.flags)?;
        if flags & 1 != 0 {
            return w.unsupported("flags", "the cache's size is in the image");
        }
        let size = w.length("image data length", |i| i.size)?;
        let count = w.count("number of entries", 4, |i| i.entries.len())?;
        let entries = w.each(count, |i| &i.entries, ())?;
        w.checksum(lookup3)?;
        Ok(MetadataCacheImage { flags, size, entries })
    }
}

impl Structure for CacheEntry {
    const NAME: &'static str = "metadata cache image entry";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let kind = w.u8("type", |e| e.kind)?;
        let flags = w.u8("flags", |e| e.flags)?;
        let ring = w.u8("ring", |e| e.ring)?;
        let age = w.u8("age", |e| e.age)?;
        let children = w.u16("dependency child count", |e| e.children)?;
        let dirty_children = w.u16("dirty dependency child count", |e| e.dirty_children)?;
        let parent_count = w.count("dependency parent count", 2, |e| e.parents.len())?;
        let rank = w.u32("index in LRU", |e| e.rank)?;
        let addr = w.address("entry offset", |e| e.addr)?;
        let width = w.sizes().lengths;
        let size = w.count("entry length", width, |e| e.image.len())?;
        let mut parents = Vec::new();
        for i in 0..parent_count {
            parents.push(w.address("dependency parent offset", |e| e.parents[i])?);
        }
        let image = w.payload("entry image", size, |e| &e.image)?;
        Ok(CacheEntry { kind, flags, ring, age, children, dirty_children, rank, addr, parents, image })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::metadata_cache_image;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Sizes, laws};

    /// Any image.
    pub fn metadata_cache_image(sizes: Sizes) -> BoxedStrategy<MetadataCacheImage> {
        let bytes = vec(any::<u8>(), 0..20).prop_map(Bytes::from);
        let small = any::<([u8; 4], u16, u16, u32)>();
        let entry = (small, laws::addr(sizes), vec(laws::addr(sizes), 0..3), bytes).prop_map(
            |(([kind, flags, ring, age], children, dirty_children, rank), addr, parents, image)| CacheEntry {
                kind,
                flags,
                ring,
                age,
                children,
                dirty_children,
                rank,
                addr,
                parents,
                image,
            },
        );
        (any::<u8>(), laws::length(sizes), vec(entry, 0..4))
            .prop_map(|(flags, size, entries)| MetadataCacheImage { flags: flags & !1, size, entries })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::{Sizes, laws};

    #[test]
    fn laws_hold() {
        laws::hold::<MetadataCacheImage>(|sizes| metadata_cache_image(sizes).prop_map(|i| (i, ())).boxed());
    }

    #[test]
    fn a_bad_checksum_names_the_structure() {
        let image = MetadataCacheImage { flags: 0, size: 22, entries: vec![] };
        let mut bytes = image.encode(Addr(0), Sizes::EIGHT, ()).unwrap();
        assert_eq!(bytes.len(), 22);
        bytes[6] = 23;
        let error = MetadataCacheImage::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains(r#"(metadata cache image, "checksum", at 0x12)"#), "{error}");
    }
}
