//! The object comment message: words about an object. Specification IV.A.2.n.

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// A comment on an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The text, without its NUL.
    pub text: Vec<u8>,
}

impl Structure for Comment {
    const NAME: &'static str = "object comment message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        Ok(Comment { text: w.c_string("comment", |c| &c.text)? })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::comment;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Any comment.
    pub fn comment() -> BoxedStrategy<Comment> {
        vec(1u8..=255, 0..40).prop_map(|text| Comment { text }).boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<Comment>(|_| comment().prop_map(|c| (c, ())).boxed());
    }
}
