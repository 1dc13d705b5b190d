//! Memory that begins as zeros, large pieces of it in huge pages where the machine has them: a fresh page costs more
//! than the copy that fills it.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Bytes from which pages of their own are worth it: less than that, allocators keep and hand out again.
#[cfg(feature = "memmap2")]
const LARGE: usize = 32 << 20;

/// Bytes of a line of the cache, and from how many bytes on memory begins at one: a copy past the cache wants whole lines.
const LINE: usize = 64;
const LINED_UP: usize = 1 << 16;

/// A piece of memory.
pub(crate) enum Zeroed {
    /// The bytes from so many on.
    Heap(Vec<u8>, usize),
    #[cfg(feature = "memmap2")]
    Pages(memmap2::MmapMut),
}

impl Zeroed {
    /// `len` zeros.
    pub(crate) fn new(len: usize) -> Zeroed {
        #[cfg(feature = "memmap2")]
        if len >= LARGE
            && let Ok(pages) = memmap2::MmapMut::map_anon(len)
        {
            // A machine without huge pages refuses, and ordinary ones do as well.
            #[cfg(target_os = "linux")]
            let _ = pages.advise(memmap2::Advice::HugePage);
            return Zeroed::Pages(pages);
        }
        if len < LINED_UP {
            return Zeroed::Heap(vec![0; len], 0);
        }
        let mut bytes = vec![0; len + LINE - 1];
        let start = bytes.as_ptr().align_offset(LINE).min(LINE - 1);
        bytes.truncate(start + len);
        Zeroed::Heap(bytes, start)
    }
}

impl From<Vec<u8>> for Zeroed {
    fn from(bytes: Vec<u8>) -> Self {
        Zeroed::Heap(bytes, 0)
    }
}

impl Deref for Zeroed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Zeroed::Heap(bytes, start) => &bytes[*start..],
            #[cfg(feature = "memmap2")]
            Zeroed::Pages(pages) => pages,
        }
    }
}

impl DerefMut for Zeroed {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Zeroed::Heap(bytes, start) => &mut bytes[*start..],
            #[cfg(feature = "memmap2")]
            Zeroed::Pages(pages) => pages,
        }
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
