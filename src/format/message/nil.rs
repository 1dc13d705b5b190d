//! The nil message: space in an object header that is not used. Specification IV.A.2.a.

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// Nothing; whatever the data hold is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nil;

impl Structure for Nil {
    const NAME: &'static str = "nil message";
    type Context = ();

    fn walk(_: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        Ok(Nil)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<Nil>(|_| Just((Nil, ())).boxed());
    }
}
