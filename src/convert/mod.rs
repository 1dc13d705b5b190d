//! Values: what an element is in memory, and how one kind becomes another.

pub mod cast;
pub mod element;
pub mod notation;
pub mod number;
pub mod string;

pub use cast::{cast, castable, equal};
pub use element::{ByteOrder, Element, ElementType, Field, Number, NumberKind};
