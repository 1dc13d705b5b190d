//! Memory of staged arrays, which begins as zeros.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::memory;

/// Bytes of a line of the cache, and from how many bytes on memory begins at one: a copy past the cache wants whole lines.
const LINE: usize = 64;
const LINED_UP: usize = 1 << 16;

/// A piece of memory.
pub(crate) struct Zeroed {
    bytes: Vec<u8>,
    /// Where it begins among them.
    start: usize,
}

impl Zeroed {
    /// `len` zeros.
    pub(crate) fn new(len: usize) -> Zeroed {
        if len < LINED_UP {
            return Zeroed { bytes: vec![0; len], start: 0 };
        }
        let mut bytes = memory::zeroed::<u8>(len + LINE - 1);
        let start = bytes.as_ptr().align_offset(LINE).min(LINE - 1);
        bytes.truncate(start + len);
        Zeroed { bytes, start }
    }
}

impl From<Vec<u8>> for Zeroed {
    fn from(bytes: Vec<u8>) -> Self {
        Zeroed { bytes, start: 0 }
    }
}

impl Deref for Zeroed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

impl DerefMut for Zeroed {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }
}

impl Clone for Zeroed {
    fn clone(&self) -> Self {
        let mut copy = Zeroed::new(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl PartialEq for Zeroed {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Zeroed {}

impl fmt::Debug for Zeroed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_begins_as_zeros_and_is_copied_by_value() {
        for len in [0, 3, 33 << 20] {
            let mut own = Zeroed::new(len);
            assert!(own.len() == len && own.iter().all(|byte| *byte == 0));
            own.fill(7);
            let mut copy = own.clone();
            assert_eq!(copy, own);
            copy.fill(8);
            assert!(len == 0 || copy != own);
        }
    }
}
