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

    /// Puts `bytes` of a structure, by its name, at `addr`, which was reserved for as many.
    ///
    /// Errors are those of the storage.
    fn put(&mut self, addr: Addr, what: &'static str, bytes: Vec<u8>) -> Result<()>;
}

/// Places a structure, and says where.
pub fn place<S: Structure>(space: &mut dyn Place, structure: &S, cx: S::Context) -> Result<Addr> {
    let bytes = structure.encode(Addr(0), space.sizes(), cx)?;
    place_bytes(space, S::NAME, bytes)
}

/// Puts a structure where space was reserved for it.
pub fn place_at<S: Structure>(space: &mut dyn Place, addr: Addr, structure: &S, cx: S::Context) -> Result<()> {
    let bytes = structure.encode(addr, space.sizes(), cx)?;
    space.put(addr, S::NAME, bytes)
}

/// Places encoded bytes, and says where.
pub fn place_bytes(space: &mut dyn Place, what: &'static str, bytes: Vec<u8>) -> Result<Addr> {
    let addr = space.reserve(bytes.len() as u64)?;
    space.put(addr, what, bytes)?;
    Ok(addr)
}

/// Space in memory, from address 0 on.
#[cfg(any(test, feature = "testing"))]
#[derive(Debug)]
pub struct MemorySpace {
    sizes: Sizes,
    /// Everything that was placed.
    pub bytes: Vec<u8>,
}

#[cfg(any(test, feature = "testing"))]
impl MemorySpace {
    /// Nothing yet, with these widths.
    pub fn new(sizes: Sizes) -> Self {
        MemorySpace { sizes, bytes: Vec::new() }
    }
}

#[cfg(any(test, feature = "testing"))]
impl Place for MemorySpace {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn reserve(&mut self, size: u64) -> Result<Addr> {
        let addr = Addr(self.bytes.len() as u64);
        let size = usize::try_from(size).map_err(|_| crate::Error::limit("more than memory"))?;
        self.bytes.resize(self.bytes.len() + size, 0);
        Ok(addr)
    }

    fn put(&mut self, addr: Addr, what: &'static str, bytes: Vec<u8>) -> Result<()> {
        let start = usize::try_from(addr.0).expect("because it was reserved");
        let room = self.bytes.get_mut(start..start + bytes.len());
        room.unwrap_or_else(|| panic!("{what} at {addr} is larger than what was reserved")).copy_from_slice(&bytes);
        Ok(())
    }
}
