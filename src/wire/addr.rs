//! Places in a file and widths of numbers in it.

use std::fmt;

use crate::error::{Error, Result};

/// An address in an HDF5 file, relative to the file's base address. The undefined address is `None` of `Option<Addr>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addr(pub u64);

impl Addr {
    /// The address `bytes` further on.
    pub fn plus(self, bytes: u64) -> Result<Addr> {
        self.0.checked_add(bytes).map(Addr).ok_or_else(|| Error::corrupt(format!("address {self} + {bytes} overflows")))
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// An address and a size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteRange {
    /// Where it begins.
    pub addr: Addr,
    /// How many bytes it covers.
    pub size: u64,
}

impl ByteRange {
    /// The range of `size` bytes from `addr`.
    pub fn new(addr: Addr, size: u64) -> Self {
        ByteRange { addr, size }
    }

    /// The range of `size` bytes in memory, from `addr`.
    pub(crate) fn of(addr: Addr, size: usize) -> Self {
        ByteRange { addr, size: u64::try_from(size).expect("because memory is smaller than 64 bits") }
    }

    /// The address after the last byte.
    pub fn end(&self) -> Result<Addr> {
        self.addr.plus(self.size)
    }
}

/// Which source of bytes a chunk or segment lies in: 0 is the file itself, others are external raw files and the
/// sources of virtual datasets, in the order in which they were met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// Width in bytes of a file's offsets (addresses) and lengths: 2, 4, 8, or 16 with the upper half zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// Size of offsets.
    pub offsets: u8,
    /// Size of lengths.
    pub lengths: u8,
}

impl Sizes {
    /// What nearly every file has.
    pub const EIGHT: Sizes = Sizes { offsets: 8, lengths: 8 };

    /// How many bytes hold every number up to `limit`: how wide counts and sizes are that the format keeps narrow.
    pub fn of_numbers_up_to(limit: u64) -> u8 {
        u8::try_from(limit.max(1).ilog2() / 8 + 1).expect("because it is at most 8")
    }

    /// Whether `width` is one that a file may have.
    pub fn is_known(width: u8) -> bool {
        matches!(width, 2 | 4 | 8 | 16)
    }
}

/// Where a value was read. Not part of the value: any origin equals any other.
#[derive(Clone, Copy, Debug)]
pub struct Origin(pub Addr);

impl Default for Origin {
    fn default() -> Self {
        Origin(Addr(0))
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Origin {}
