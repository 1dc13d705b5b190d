//! Who looks on while a file is read: maps and explanations of files are made this way, and tests that encode again
//! whatever was decoded.

use std::fmt;

use crate::error::Result;
use crate::wire::{Addr, ByteRange, Placed, Sizes, Structure};

/// Sees the structures of a file as they are decoded, on whatever thread that is.
pub trait Observer: Send + Sync + fmt::Debug {
    /// Sees one structure. The same one may come again.
    fn see(&self, seen: &Seen<'_>);
}

/// A structure that was decoded.
pub struct Seen<'a> {
    /// Its name in the specification.
    pub structure: &'static str,
    /// Where it stands; for what was decoded from a heap, the block or message that it was found by.
    pub addr: Addr,
    /// Its bytes; none for space that is taken by something without fields.
    pub bytes: &'a [u8],
    /// Bytes that it takes, or that are reserved for it.
    pub size: u64,
    /// Whether it stands in the file by itself, at its address. Others are parts: messages of object headers, objects of
    /// heaps, elements of data.
    pub is_whole: bool,
    encode: &'a dyn Fn() -> Result<Vec<u8>>,
    describe: &'a dyn Fn() -> Vec<Placed>,
}

impl<'a> Seen<'a> {
    pub(crate) fn part(
        structure: &'static str,
        addr: Addr,
        bytes: &'a [u8],
        encode: &'a dyn Fn() -> Result<Vec<u8>>,
        describe: &'a dyn Fn() -> Vec<Placed>,
    ) -> Self {
        Seen { structure, addr, bytes, size: len(bytes), is_whole: false, encode, describe }
    }

    /// The bytes that the decoded value is written as. Errors are those of encoding.
    pub fn encode(&self) -> Result<Vec<u8>> {
        (self.encode)()
    }

    /// Its fields, as far as they can be read.
    pub fn fields(&self) -> Vec<Placed> {
        (self.describe)()
    }
}

impl fmt::Debug for Seen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}, {} bytes", self.structure, self.addr, self.size)
    }
}

/// Shows `value`, which was decoded from `bytes`.
pub(crate) fn show<S: Structure>(
    observer: &dyn Observer,
    value: &S,
    bytes: &[u8],
    is_whole: bool,
    (addr, sizes, cx): (Addr, Sizes, S::Context),
) {
    let encode = || value.encode(addr, sizes, cx);
    let describe = || S::describe(bytes, addr, sizes, cx).0;
    let size = len(bytes);
    observer.see(&Seen { structure: S::NAME, addr, bytes, size, is_whole, encode: &encode, describe: &describe });
}

/// Shows that `range` belongs to `structure`.
pub(crate) fn show_space(observer: &dyn Observer, structure: &'static str, range: ByteRange) {
    let (encode, describe) = (|| Ok(Vec::new()), Vec::new);
    let ByteRange { addr, size } = range;
    observer.see(&Seen { structure, addr, bytes: &[], size, is_whole: true, encode: &encode, describe: &describe });
}

fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
