//! A file that is being written, as those see it who put elements of datasets there.

use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::filter::Registry;
use crate::manifest::ChunkPlace;
use crate::wire::Addr;
use crate::write::{Compatibility, Draft, Space};

/// A file that is being written.
///
/// The lock is held while bytes are put somewhere, never while others work for it: a thread that waits for it waits for
/// a write.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) level: Compatibility,
    pub(crate) registry: Registry,
    /// `None` once the file is closed.
    draft: Mutex<Option<Draft>>,
}

fn closed() -> Error {
    Error::conflict("the file is closed already")
}

impl Site {
    pub(crate) fn new(draft: Draft, registry: Registry) -> Site {
        Site { level: draft.level, registry, draft: Mutex::new(Some(draft)) }
    }

    /// Does something with the file. `Conflict` if it is closed.
    pub(crate) fn with<R>(&self, job: impl FnOnce(&mut Draft) -> Result<R>) -> Result<R> {
        let mut draft = self.draft.lock().unwrap_or_else(PoisonError::into_inner);
        job(draft.as_mut().ok_or_else(closed)?)
    }

    /// The file, for who has it alone. `Conflict` if it is closed.
    pub(crate) fn draft(&mut self) -> Result<&mut Draft> {
        self.draft.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut().ok_or_else(closed)
    }

    /// Makes it a file.
    pub(crate) fn close(&self) -> Result<()> {
        let draft = self.draft.lock().unwrap_or_else(PoisonError::into_inner).take();
        draft.ok_or_else(closed)?.finish()
    }

    /// Puts stored chunks one behind the other.
    pub(super) fn place(&self, chunks: &[(u64, &[u8], u32)]) -> Result<Vec<ChunkPlace>> {
        if chunks.is_empty() {
            return Ok(Vec::new());
        }
        self.with(|draft| put(&mut draft.space, chunks))
    }

    /// Reads back what was written.
    pub(super) fn read(&self, addr: Addr, bytes: &mut [u8]) -> Result<()> {
        self.with(|draft| draft.space.read(addr, bytes))
    }
}

/// Chunks of less than this many bytes are small.
const SMALL: usize = 64 << 10;

/// Puts stored chunks one behind the other; gives where.
fn put(space: &mut Space, chunks: &[(u64, &[u8], u32)]) -> Result<Vec<ChunkPlace>> {
    let mut places = Vec::with_capacity(chunks.len());
    let (mut start, mut together) = (Addr(0), Vec::new());
    for (number, data, filter_mask) in chunks {
        let (number, filter_mask, size) = (*number, *filter_mask, data.len() as u64);
        let addr = space.reserve_data(size)?;
        places.push(ChunkPlace { number, addr, size, filter_mask });
        // Small chunks that are neighbours are written together.
        if !together.is_empty() && (data.len() >= SMALL || start.plus(together.len() as u64)? != addr) {
            space.write(start, &together)?;
            together.clear();
        }
        if data.len() >= SMALL {
            space.write(addr, data)?;
            continue;
        }
        if together.is_empty() {
            start = addr;
        }
        together.extend_from_slice(data);
    }
    if !together.is_empty() {
        space.write(start, &together)?;
    }
    Ok(places)
}
