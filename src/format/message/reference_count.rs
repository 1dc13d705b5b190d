//! The reference count message: number of hard links to an object. Specification IV.A.2.w.

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// How many hard links lead to an object with a version 2 header; 1 if there is no such message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceCount {
    /// The number.
    pub count: u32,
}

impl Structure for ReferenceCount {
    const NAME: &'static str = "object reference count message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.version(|_| 0, 0..=0)?;
        Ok(ReferenceCount { count: w.u32("reference count", |r| r.count)? })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::reference_count;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::prelude::*;

    use super::*;

    /// Any count.
    pub fn reference_count() -> BoxedStrategy<ReferenceCount> {
        any::<u32>().prop_map(|count| ReferenceCount { count }).boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<ReferenceCount>(|_| reference_count().prop_map(|r| (r, ())).boxed());
    }
}
