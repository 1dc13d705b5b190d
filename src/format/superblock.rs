//! The superblock: where everything begins. Specification II.A (versions 0 to 3) and III.C (the root group's entry).

use super::symbol_table::Entry;
use crate::error::Result;
use crate::wire::{Addr, Sizes, Structure, Walk, lookup3};

/// The eight bytes a superblock begins with. It stands at 0, or at 512, 1024, 2048, ...
pub const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// The superblock of any version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Widths of all addresses and lengths in the file.
    pub sizes: Sizes,
    /// File consistency flags: bit 0 open for writing, bit 2 open for single-writer multiple-reader access.
    pub consistency: u32,
    /// What all addresses are relative to.
    pub base: Addr,
    /// End of the file's data, relative to the base address.
    pub end_of_file: Addr,
    /// What the versions have and have not.
    pub version: Version,
}

/// The parts of a superblock that depend on its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// Versions 0 and 1.
    Old(Old),
    /// Versions 2 and 3.
    New {
        /// Whether it is version 3.
        is_3: bool,
        /// Object header with messages that concern the whole file.
        extension: Option<Addr>,
        /// Object header of the root group.
        root: Option<Addr>,
    },
}

/// What only superblocks of version 0 and 1 have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Old {
    /// Half of the largest number of entries in a symbol-table node.
    pub leaf_k: u16,
    /// Half of the largest number of children of a version 1 B-tree node of groups.
    pub internal_k: u16,
    /// The same for chunked data; version 1 only, 32 otherwise.
    pub chunk_k: Option<u16>,
    /// Address of file free-space information, always undefined.
    pub free_space: Option<Addr>,
    /// The driver information block, if another driver than the usual one wrote the file.
    pub driver_info: Option<Addr>,
    /// The root group's symbol-table entry.
    pub root: Entry,
    /// Nonzero reserved bytes, in order of appearance.
    pub reserved: [Vec<u8>; 3],
}

impl Superblock {
    /// The version number.
    pub fn number(&self) -> u8 {
        match &self.version {
            Version::Old(old) => u8::from(old.chunk_k.is_some()),
            Version::New { is_3, .. } => 2 + u8::from(*is_3),
        }
    }

    fn old(&self) -> &Old {
        match &self.version {
            Version::Old(old) => old,
            Version::New { .. } => unreachable!("because the walk asks only in versions 0 and 1"),
        }
    }

    fn extension(&self) -> Option<Addr> {
        match &self.version {
            Version::New { extension, .. } => *extension,
            Version::Old(_) => None,
        }
    }

    /// Object header of the root group.
    pub fn root(&self) -> Option<Addr> {
        match &self.version {
            Version::Old(old) => old.root.object_header,
            Version::New { root, .. } => *root,
        }
    }
}

impl Structure for Superblock {
    const NAME: &'static str = "superblock";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.signature(SIGNATURE)?;
        match w.version(Superblock::number, 0..=3)? {
            version @ 0..=1 => walk_old(w, version),
            version => walk_new(w, version),
        }
    }
}

fn walk_sizes(w: &mut Walk<'_, '_, Superblock>) -> Result<Sizes> {
    let offsets = w.u8("size of offsets", |s| s.sizes.offsets)?;
    let lengths = w.u8("size of lengths", |s| s.sizes.lengths)?;
    for (field, width) in [("size of offsets", offsets), ("size of lengths", lengths)] {
        if !Sizes::is_known(width) {
            return w.corrupt(field, format!("width is {width}, must be 2, 4, 8 or 16"));
        }
    }
    let sizes = Sizes { offsets, lengths };
    w.set_sizes(sizes);
    Ok(sizes)
}

fn walk_old(w: &mut Walk<'_, '_, Superblock>, version: u8) -> Result<Superblock> {
    w.version(|_| 0, 0..=0)?; // of the free-space storage
    w.version(|_| 0, 0..=0)?; // of the root group's entry
    let reserved = w.reserved(1, |s| &s.old().reserved[0])?;
    w.version(|_| 0, 0..=0)?; // of the shared header messages
    let sizes = walk_sizes(w)?;
    let reserved_2 = w.reserved(1, |s| &s.old().reserved[1])?;
    let leaf_k = w.u16("group leaf node k", |s| s.old().leaf_k)?;
    let internal_k = w.u16("group internal node k", |s| s.old().internal_k)?;
    let consistency = w.u32("file consistency flags", |s| s.consistency)?;
    let (mut chunk_k, mut reserved_3) = (None, Vec::new());
    if version == 1 {
        chunk_k = Some(w.u16("indexed storage internal node k", |s| s.old().chunk_k.unwrap_or(0))?);
        reserved_3 = w.reserved(2, |s| &s.old().reserved[2])?;
    }
    let base = w.address("base address", |s| s.base)?;
    let free_space = w.offset("address of file free space info", |s| s.old().free_space)?;
    let end_of_file = w.address("end of file address", |s| s.end_of_file)?;
    let driver_info = w.offset("driver information block address", |s| s.old().driver_info)?;
    let root = w.nest(|s| &s.old().root, ())?;
    let reserved = [reserved, reserved_2, reserved_3];
    let old = Old { leaf_k, internal_k, chunk_k, free_space, driver_info, root, reserved };
    Ok(Superblock { sizes, consistency, base, end_of_file, version: Version::Old(old) })
}

fn walk_new(w: &mut Walk<'_, '_, Superblock>, version: u8) -> Result<Superblock> {
    let sizes = walk_sizes(w)?;
    let consistency = w.uint("file consistency flags", 1, |s| s.consistency.into())?;
    let base = w.address("base address", |s| s.base)?;
    let extension = w.offset("superblock extension address", |s| s.extension())?;
    let end_of_file = w.address("end of file address", |s| s.end_of_file)?;
    let root = w.offset("root group object header address", Superblock::root)?;
    w.checksum(lookup3)?;
    let consistency = u32::try_from(consistency).expect("because one byte was read");
    let version = Version::New { is_3: version == 3, extension, root };
    Ok(Superblock { sizes, consistency, base, end_of_file, version })
}

#[cfg(any(test, feature = "testing"))]
pub use testing::superblock;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::super::symbol_table::entry;
    use super::*;
    use crate::wire::laws;

    /// Any superblock of this version.
    pub fn superblock(sizes: Sizes, number: u8) -> BoxedStrategy<Superblock> {
        let addr = move || option::of(laws::addr(sizes));
        let consistency = if number < 2 { any::<u32>().boxed() } else { (0u32..256).boxed() };
        let version = if number < 2 {
            let k = (any::<u16>(), any::<u16>(), any::<u16>());
            let reserved = (vec(1u8.., 1), vec(1u8.., 1), vec(1u8.., 2));
            (k, addr(), addr(), entry(sizes), reserved)
                .prop_map(move |((leaf_k, internal_k, chunk_k), free_space, driver_info, root, reserved)| {
                    let last = if number == 1 { reserved.2 } else { Vec::new() };
                    Version::Old(Old {
                        leaf_k,
                        internal_k,
                        chunk_k: (number == 1).then_some(chunk_k),
                        free_space,
                        driver_info,
                        root,
                        reserved: [reserved.0, reserved.1, last],
                    })
                })
                .boxed()
        } else {
            let is_3 = number == 3;
            (addr(), addr()).prop_map(move |(extension, root)| Version::New { is_3, extension, root }).boxed()
        };
        (consistency, laws::addr(sizes), laws::addr(sizes), version)
            .prop_map(move |(consistency, base, end_of_file, version)| Superblock {
                sizes,
                consistency,
                base,
                end_of_file,
                version,
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        for number in 0..=3 {
            laws::hold::<Superblock>(|sizes| superblock(sizes, number).prop_map(|s| (s, ())).boxed());
        }
    }

    #[test]
    fn widths_that_no_file_has_are_corrupt() {
        let bytes = [SIGNATURE as &[u8], &[2, 8, 3, 0], &[0; 60]].concat();
        let error = Superblock::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().starts_with("width is 3, must be 2, 4, 8 or 16 (superblock"), "{error}");
    }
}
