//! Bytes in, bytes out: addresses, tapes, and the walk that lists a structure's fields once for both directions.

mod addr;
mod lookup3;
pub mod place;
mod tape;
mod walk;

pub use addr::{Addr, ByteRange, Origin, Sizes, SourceId};
pub use lookup3::{lookup3, lookup3_from};
pub use tape::{Column, Described, Placed};
#[cfg(any(test, feature = "testing"))]
pub(crate) use walk::laws;
pub use walk::{Structure, Walk};
