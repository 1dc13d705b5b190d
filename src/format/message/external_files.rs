//! The external data files message: raw data that lie in other files. Specification IV.A.2.h.

use crate::error::Result;
use crate::wire::{Addr, Structure, Walk};

/// The files that hold the raw data of a dataset, one segment after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalFiles {
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
    /// Number of slots that there is room for.
    pub allocated: u16,
    /// Local heap with the names.
    pub heap: Addr,
    /// The segments.
    pub slots: Vec<Slot>,
}

/// One segment of raw data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Where the file's name stands in the local heap.
    pub name: u64,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes; `None` for as many as the dataset needs.
    pub size: Option<u64>,
}

impl Structure for ExternalFiles {
    const NAME: &'static str = "external data files message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.version(|_| 1, 1..=1)?;
        let reserved = w.reserved(3, |e| &e.reserved)?;
        let allocated = w.u16("allocated slots", |e| e.allocated)?;
        let used = w.count("used slots", 2, |e| e.slots.len())?;
        let heap = w.address("heap address", |e| e.heap)?;
        let slots = w.each(used, |e| &e.slots, ())?;
        Ok(ExternalFiles { reserved, allocated, heap, slots })
    }
}

impl Structure for Slot {
    const NAME: &'static str = "external file slot";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        let name = w.length("name offset in local heap", |s| s.name)?;
        let offset = w.length("offset in external data file", |s| s.offset)?;
        let size = w.length_or_none("data size in external file", |s| s.size)?;
        Ok(Slot { name, offset, size })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::external_files;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Sizes, laws};

    /// Any list of files whose numbers fit the widths.
    pub fn external_files(sizes: Sizes) -> BoxedStrategy<ExternalFiles> {
        let number = || laws::length(sizes);
        let slot = (number(), number(), proptest::option::of(number())).prop_map(|(name, offset, size)| Slot {
            name,
            offset,
            size,
        });
        (any::<u16>(), laws::addr(sizes), vec(slot, 0..5))
            .prop_map(|(allocated, heap, slots)| ExternalFiles { reserved: Vec::new(), allocated, heap, slots })
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
        laws::hold::<ExternalFiles>(|sizes| external_files(sizes).prop_map(|e| (e, ())).boxed());
    }
}
