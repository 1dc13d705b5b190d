//! The bogus message, with which libhdf5 tests what happens to messages nobody knows. Specification IV.A.2.j.

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// A number that means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bogus;

impl Structure for Bogus {
    const NAME: &'static str = "bogus message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.constant("bogus value", 4, 0xdead_beef)?;
        Ok(Bogus)
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::bogus;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::prelude::*;

    use super::*;

    /// The only bogus message.
    pub fn bogus() -> BoxedStrategy<Bogus> {
        Just(Bogus).boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<Bogus>(|_| bogus().prop_map(|b| (b, ())).boxed());
    }
}
