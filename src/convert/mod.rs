//! Values: what an element is in memory, and how one kind becomes another.

pub mod cast;
pub mod decoder;
pub mod element;
pub mod encoder;
pub mod h5type;
pub mod heaps;
pub mod notation;
pub mod number;
pub mod reference;
pub(crate) mod stored;
pub mod string;
pub mod time;
pub mod types;
pub mod value;

pub use cast::{cast, castable, equal};
pub use decoder::Decoder;
pub use element::{ByteOrder, Element, ElementType, Field, NumberKind, NumberType};
pub use encoder::{Encoder, HeapSink};
pub use h5type::H5Type;
pub use heaps::Heaps;
pub use number::Conversion;
pub use reference::Reference;
pub use time::{DateTime64, TimeUnit};
pub use value::{Value, ValueArray};
