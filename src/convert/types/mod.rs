//! The Rust types that are an [`H5Type`](super::h5type::H5Type), one kind a file.

mod boolean;
#[cfg(feature = "num-complex")]
mod complex;
mod compound;
mod enumeration;
mod number;
mod sequence;
mod text;
mod tuple;

pub use compound::{Field, FieldToStore, Fields, FieldsToStore, compound};
pub(crate) use compound::{complex_parts, whole as whole_member};
pub use enumeration::Variants;
pub use text::fixed_text;
