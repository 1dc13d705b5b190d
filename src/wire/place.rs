//! Where new structures go. Builders of headers, indexes and heaps see no more of a file than this.

use super::{Addr, Sizes, Structure};
use crate::error::Result;

/// Space of a file that is being written.
///
/// Widths are file-wide, so the size of a structure does not depend on the addresses in it: what points to nothing is
/// placed first, then what points to it. Where two structures point at each other, one is reserved before it is encoded.
pub trait Place {
    /// The file's widths.
    fn sizes(&self) -> Sizes;

    /// Takes `size` bytes that nothing else has.
    ///
    /// Errors are `Limit` if addresses cannot reach them.
    fn reserve(&mut self, size: u64) -> Result<Addr>;

    /// Puts `bytes` at `addr`, which was reserved for as many.
    ///
    /// Errors are those of the storage.
    fn put(&mut self, addr: Addr, bytes: Vec<u8>) -> Result<()>;
}

/// Places a structure, and says where.
pub fn place<S: Structure>(space: &mut dyn Place, structure: &S, cx: S::Context) -> Result<Addr> {
    let bytes = structure.encode(Addr(0), space.sizes(), cx)?;
    place_bytes(space, bytes)
}

/// Puts a structure where space was reserved for it.
pub fn place_at<S: Structure>(space: &mut dyn Place, addr: Addr, structure: &S, cx: S::Context) -> Result<()> {
    let bytes = structure.encode(addr, space.sizes(), cx)?;
    space.put(addr, bytes)
}

/// Places encoded bytes, and says where.
pub fn place_bytes(space: &mut dyn Place, bytes: Vec<u8>) -> Result<Addr> {
    let addr = space.reserve(bytes.len() as u64)?;
    space.put(addr, bytes)?;
    Ok(addr)
}
