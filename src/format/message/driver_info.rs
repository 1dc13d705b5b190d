//! The driver info message: how the file's storage is laid out. Specification IV.A.2.u.

use bytes::Bytes;

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// What a storage driver kept. Stands in the superblock extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverInfo {
    /// The driver: `NCSAmult` or `NCSAfami`.
    pub id: [u8; 8],
    /// What it kept, as in the driver information block.
    pub information: Bytes,
}

impl Structure for DriverInfo {
    const NAME: &'static str = "driver info message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.version(|_| 0, 0..=0)?;
        let id = w.array("driver identification", |d| &d.id)?;
        let size = w.count("driver information size", 2, |d| d.information.len())?;
        let information = w.payload("driver information", size, |d| &d.information)?;
        Ok(DriverInfo { id, information })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::driver_info;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// What any driver might keep.
    pub fn driver_info() -> BoxedStrategy<DriverInfo> {
        (any::<[u8; 8]>(), vec(any::<u8>(), 0..40))
            .prop_map(|(id, information)| DriverInfo { id, information: information.into() })
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
        laws::hold::<DriverInfo>(|_| driver_info().prop_map(|d| (d, ())).boxed());
    }
}
