//! A file in memory.

use bytes::Bytes;

use super::{ByteSource, Identity, Wanted, past_the_end};
use crate::error::Result;

/// Bytes in memory; cheap to clone.
#[derive(Clone, Debug)]
pub struct MemorySource {
    bytes: Bytes,
}

impl MemorySource {
    /// A source over `bytes`.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        MemorySource { bytes: bytes.into() }
    }
}

impl ByteSource for MemorySource {
    fn len(&self) -> Result<u64> {
        Ok(u64::try_from(self.bytes.len()).expect("because memory is smaller than 64 bits"))
    }

    fn identity(&self) -> Identity {
        Identity::None
    }

    fn read_ranges<'a>(
        &self,
        wanted: Vec<Wanted<'a>>,
        arrived: &mut dyn FnMut(Wanted<'a>) -> Result<()>,
    ) -> Result<()> {
        for mut wanted in wanted {
            let start = usize::try_from(wanted.range.addr.0).unwrap_or(usize::MAX);
            let end = start.saturating_add(wanted.buffer.len());
            match self.bytes.get(start..end) {
                Some(found) => wanted.buffer.copy_from_slice(found),
                None => return Err(past_the_end(wanted.range, self.len()?)),
            }
            arrived(wanted)?;
        }
        Ok(())
    }

    fn in_memory(&self) -> Option<&Bytes> {
        Some(&self.bytes)
    }
}
