//! A local file through a memory map: opt-in, because another process that cuts the file short kills this one.
#![expect(unsafe_code, reason = "mapping a file is unsafe by nature; the safe way is `FileSource`")]

use std::path::Path;

use bytes::Bytes;
use memmap2::Mmap;

use super::{ByteSource, Identity, MemorySource, Wanted};
use crate::error::Result;

/// A mapped file.
#[derive(Clone, Debug)]
pub struct MappedSource {
    memory: MemorySource,
}

impl MappedSource {
    /// Maps the file at `path`.
    ///
    /// # Safety
    ///
    /// Nobody, in this process or another, may change or cut short the file while the source or anything read from it
    /// is in use.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self> {
        let file = super::file::open_regular(path.as_ref())?;
        // SAFETY: the caller promises that the file stays as it is.
        let map = unsafe { Mmap::map(&file)? };
        Ok(MappedSource { memory: MemorySource::new(Bytes::from_owner(map)) })
    }
}

impl ByteSource for MappedSource {
    fn len(&self) -> Result<u64> {
        self.memory.len()
    }

    fn identity(&self) -> Identity {
        Identity::None
    }

    fn read_ranges<'a>(
        &self,
        wanted: Vec<Wanted<'a>>,
        arrived: &mut dyn FnMut(Wanted<'a>) -> Result<()>,
    ) -> Result<()> {
        self.memory.read_ranges(wanted, arrived)
    }

    fn in_memory(&self) -> Option<&Bytes> {
        self.memory.in_memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_is_a_source() {
        let content: Vec<u8> = (0..=255).cycle().take(70_000).collect();
        let path = std::env::temp_dir().join(format!("hdfive-mapped-{}", std::process::id()));
        std::fs::write(&path, &content).unwrap();
        // SAFETY: nobody else knows the file.
        let mapped = unsafe { MappedSource::open(&path) }.unwrap();
        crate::storage::conformance::check(&mapped, &content);
        std::fs::remove_file(&path).unwrap();
    }
}
