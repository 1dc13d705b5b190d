//! The attribute info message: where an object keeps its attributes. Specification IV.A.2.v.

use crate::error::Result;
use crate::wire::{Addr, Structure, Walk};

/// How an object with a version 2 header stores its attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeInfo {
    /// The creation order that the next attribute gets, if creation order is tracked.
    pub max_creation_index: Option<u16>,
    /// Fractal heap of the attributes in dense storage; undefined in compact storage.
    pub fractal_heap: Option<Addr>,
    /// Version 2 B-tree that indexes the names.
    pub name_index: Option<Addr>,
    /// Version 2 B-tree that indexes the creation order: absent, or present and maybe undefined.
    pub creation_order_index: Option<Option<Addr>>,
}

impl Structure for AttributeInfo {
    const NAME: &'static str = "attribute info message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.version(|_| 0, 0..=0)?;
        let flags = w.u8("flags", |i| {
            u8::from(i.max_creation_index.is_some()) | u8::from(i.creation_order_index.is_some()) << 1
        })?;
        if flags & 0xfc != 0 {
            return w.unsupported("flags", format!("flags are {flags:#04x}"));
        }
        let mut max_creation_index = None;
        if flags & 1 != 0 {
            max_creation_index = Some(w.u16("maximum creation index", |i| i.max_creation_index.unwrap_or(0))?);
        }
        let fractal_heap = w.offset("fractal heap address", |i| i.fractal_heap)?;
        let name_index = w.offset("attribute name v2 B-tree address", |i| i.name_index)?;
        let mut creation_order_index = None;
        if flags & 2 != 0 {
            let field = "attribute creation order v2 B-tree address";
            creation_order_index = Some(w.offset(field, |i| i.creation_order_index.flatten())?);
        }
        Ok(AttributeInfo { max_creation_index, fractal_heap, name_index, creation_order_index })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::attribute_info;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Sizes, laws};

    /// Any attribute info message.
    pub fn attribute_info(sizes: Sizes) -> BoxedStrategy<AttributeInfo> {
        let addr = || proptest::option::of(laws::addr(sizes));
        (any::<Option<u16>>(), addr(), addr(), proptest::option::of(addr()))
            .prop_map(|(max_creation_index, fractal_heap, name_index, creation_order_index)| AttributeInfo {
                max_creation_index,
                fractal_heap,
                name_index,
                creation_order_index,
            })
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
        laws::hold::<AttributeInfo>(|sizes| attribute_info(sizes).prop_map(|i| (i, ())).boxed());
    }
}
