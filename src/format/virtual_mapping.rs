//! The mappings of a virtual dataset, an object of the global heap. Specification III.F.
//!
//! ```text
//! version | count | per mapping: [flags] source file, source dataset, source selection, virtual selection | checksum
//! ```
//! Version 1 (HDF5 2.0) does not repeat names: a mapping says in which mapping a name stands, counting from 0.

use super::encoded_selection::EncodedSelection;
use crate::error::{Error, Result};
use crate::wire::{Structure, Walk, lookup3};

/// All mappings of a virtual dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualMapping {
    /// 0, or 1, where names may be shared.
    pub version: u8,
    /// The mappings, later ones being in front of earlier ones where they overlap.
    pub mappings: Vec<Mapping>,
}

/// Which elements of a source dataset are which elements of the virtual one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The file of the source dataset.
    pub file: Name,
    /// The source dataset's path in it.
    pub dataset: Name,
    /// Elements of the source dataset.
    pub source: EncodedSelection,
    /// Elements of the virtual dataset.
    pub target: EncodedSelection,
}

/// A name of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// This name. In version 0 the file "." is the virtual dataset's own. `%b` stands for the number of a block.
    Text(Vec<u8>),
    /// The same as in the mapping of this number. Version 1 only.
    Shared(u64),
    /// The virtual dataset's own file. Version 1 only, and only of files.
    SameFile,
}

const FILE_SHARED: u8 = 1;
const DATASET_SHARED: u8 = 2;
const SAME_FILE: u8 = 4;

impl VirtualMapping {
    /// The file of mapping `number`, `None` for the virtual dataset's own.
    pub fn file(&self, number: usize) -> Result<Option<&[u8]>> {
        self.resolve(number, |m| &m.file).map(|name| name.filter(|&text| text != b"."))
    }

    /// The dataset's path of mapping `number`.
    pub fn dataset(&self, number: usize) -> Result<&[u8]> {
        let path = self.resolve(number, |m| &m.dataset)?;
        path.ok_or_else(|| Error::corrupt(format!("mapping {number} of a virtual dataset has no source dataset")))
    }

    fn resolve(&self, number: usize, name: impl Fn(&Mapping) -> &Name) -> Result<Option<&[u8]>> {
        let Some(mapping) = self.mappings.get(number) else {
            return Err(Error::out_of_bounds(format!("mapping {number} of {}", self.mappings.len())));
        };
        match name(mapping) {
            Name::Text(text) => Ok(Some(text)),
            Name::SameFile => Ok(None),
            Name::Shared(other) => {
                let shared = usize::try_from(*other).ok().and_then(|i| self.mappings.get(i)).map(name);
                match shared {
                    Some(Name::Text(text)) => Ok(Some(text)),
                    _ => Err(Error::corrupt(format!(
                        "mapping {number} of a virtual dataset shares a name of mapping {other}, which has none"
                    ))),
                }
            }
        }
    }
}

impl Mapping {
    fn flags(&self) -> u8 {
        let file = match self.file {
            Name::Text(_) => 0,
            Name::Shared(_) => FILE_SHARED,
            Name::SameFile => SAME_FILE,
        };
        file | if matches!(self.dataset, Name::Shared(_)) { DATASET_SHARED } else { 0 }
    }
}

impl Name {
    fn text(&self) -> &[u8] {
        match self {
            Name::Text(text) => text,
            Name::Shared(_) | Name::SameFile => &[],
        }
    }

    fn shared(&self) -> u64 {
        match self {
            Name::Shared(number) => *number,
            Name::Text(_) | Name::SameFile => 0,
        }
    }
}

impl Structure for VirtualMapping {
    const NAME: &'static str = "global heap block for virtual datasets";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let version = w.version(|m| m.version, 0..=1)?;
        let width = w.sizes().lengths;
        let count = w.count("num entries", width, |m| m.mappings.len())?;
        let mappings = w.each(count, |m| &m.mappings, version)?;
        w.checksum(lookup3)?;
        Ok(VirtualMapping { version, mappings })
    }
}

impl Structure for Mapping {
    const NAME: &'static str = "virtual dataset mapping";
    type Context = u8; // the block's version

    fn walk(w: &mut Walk<'_, '_, Self>, version: u8) -> Result<Self> {
        let mut flags = 0;
        if version > 0 {
            flags = w.u8("flags", Mapping::flags)?;
            if flags & !(FILE_SHARED | DATASET_SHARED | SAME_FILE) != 0 {
                return w.unsupported("flags", format!("flags are {flags:#x}, 0x1, 0x2 and 0x4 are known"));
            }
            if flags & FILE_SHARED != 0 && flags & SAME_FILE != 0 {
                return w.corrupt("flags", "the source file is both shared and the same file");
            }
        }
        let file = if flags & SAME_FILE != 0 {
            Name::SameFile
        } else if flags & FILE_SHARED != 0 {
            Name::Shared(w.length("source filename", |m| m.file.shared())?)
        } else {
            Name::Text(w.c_string("source filename", |m| m.file.text())?)
        };
        let dataset = if flags & DATASET_SHARED != 0 {
            Name::Shared(w.length("source dataset", |m| m.dataset.shared())?)
        } else {
            Name::Text(w.c_string("source dataset", |m| m.dataset.text())?)
        };
        let source = w.nest(|m| &m.source, ())?;
        let target = w.nest(|m| &m.target, ())?;
        Ok(Mapping { file, dataset, source, target })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::virtual_mapping;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::encoded_selection::encoded_selection;
    use super::*;
    use crate::wire::{Sizes, laws};

    /// Any mappings of either version; shared names may point nowhere.
    pub fn virtual_mapping(sizes: Sizes) -> BoxedStrategy<VirtualMapping> {
        (0u8..=1)
            .prop_flat_map(move |version| {
                vec(mapping(sizes, version), 0..5).prop_map(move |mappings| VirtualMapping { version, mappings })
            })
            .boxed()
    }

    fn mapping(sizes: Sizes, version: u8) -> BoxedStrategy<Mapping> {
        let text = || vec(1u8.., 0..9).prop_map(Name::Text).boxed();
        let shared = || laws::length(sizes).prop_map(Name::Shared);
        let (file, dataset) = match version {
            0 => (text(), text()),
            _ => (prop_oneof![text(), shared(), Just(Name::SameFile)].boxed(), prop_oneof![text(), shared()].boxed()),
        };
        (file, dataset, encoded_selection(), encoded_selection())
            .prop_map(|(file, dataset, source, target)| Mapping { file, dataset, source, target })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::encoded_selection::{Newest, Selection};
    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::{Addr, Sizes, laws};

    #[test]
    fn laws_hold() {
        laws::hold::<VirtualMapping>(|sizes| virtual_mapping(sizes).prop_map(|m| (m, ())).boxed());
    }

    fn mapping(file: Name, dataset: Name) -> Mapping {
        let all = || EncodedSelection::new(Selection::All, 4, Newest::No);
        Mapping { file, dataset, source: all(), target: all() }
    }

    #[test]
    fn shared_names_are_found_where_they_stand() {
        let text = |text: &str| Name::Text(text.into());
        let mappings = vec![
            mapping(text("one.h5"), text("/a")),
            mapping(Name::Shared(0), text("/b")),
            mapping(text("."), Name::Shared(1)),
            mapping(Name::SameFile, Name::Shared(0)),
            mapping(Name::Shared(1), Name::Shared(4)),
            mapping(Name::Shared(9), Name::Shared(2)),
        ];
        let all = VirtualMapping { version: 1, mappings };
        let files: Vec<_> = (0..4).map(|i| all.file(i).unwrap()).collect();
        assert_eq!(files, [Some(&b"one.h5"[..]), Some(b"one.h5"), None, None]);
        let datasets: Vec<_> = (0..4).map(|i| all.dataset(i).unwrap()).collect();
        assert_eq!(datasets, [b"/a", b"/b", b"/b", b"/a"]);
        for i in 4..6 {
            assert_eq!(all.file(i).unwrap_err().kind(), ErrorKind::Corrupt);
            assert_eq!(all.dataset(i).unwrap_err().kind(), ErrorKind::Corrupt);
        }
        assert_eq!(all.file(6).unwrap_err().kind(), ErrorKind::OutOfBounds);
    }

    /// The block that libhdf5 2.0 wrote for five rows from two files and the file itself.
    const WRITTEN: &str = "01 05000000 00000000 \
        00 7372633000 6100 03000000 01000000 00000000 00000000 \
        02000000 03000000 01 02 02000000 0000 0100 0100 0100 0000 0100 0100 0a00 \
        01 0000000000000000 6200 03000000 01000000 00000000 00000000 \
        02000000 03000000 01 02 02000000 0100 0100 0100 0100 0000 0100 0100 0a00 \
        06 0000000000000000 03000000 01000000 00000000 00000000 \
        02000000 03000000 01 02 02000000 0200 0100 0100 0100 0000 0100 0100 0a00";

    fn written() -> Vec<u8> {
        let digits: Vec<_> = WRITTEN.chars().filter(|c| !c.is_whitespace()).collect();
        let pairs = digits.chunks(2).map(|pair| pair.iter().collect::<String>());
        let mut bytes: Vec<u8> = pairs.map(|pair| u8::from_str_radix(&pair, 16).unwrap()).collect();
        bytes[1] = 3;
        bytes.extend_from_slice(&lookup3(&bytes).to_le_bytes());
        bytes
    }

    #[test]
    fn names_are_shared_as_libhdf5_2_0_shares_them() {
        let bytes = written();
        let all = VirtualMapping::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap();
        assert_eq!(all.encode(Addr(0), Sizes::EIGHT, ()).unwrap(), bytes);
        let names: Vec<_> = (0..3).map(|i| (all.file(i).unwrap(), all.dataset(i).unwrap())).collect();
        assert_eq!(names, [(Some(&b"src0"[..]), &b"a"[..]), (Some(b"src0"), b"b"), (None, b"a")]);
    }

    #[test]
    fn a_bad_checksum_names_the_structure() {
        let mut bytes = written();
        bytes[11] = b'S';
        let error = VirtualMapping::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("(global heap block for virtual datasets, \"checksum\""), "{error}");
    }

    #[test]
    fn flags_that_are_not_known_are_unsupported() {
        for (flags, kind) in [(8, ErrorKind::Unsupported), (5, ErrorKind::Corrupt)] {
            let mut bytes = written();
            bytes[9] = flags;
            assert_eq!(VirtualMapping::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap_err().kind(), kind);
        }
    }
}
