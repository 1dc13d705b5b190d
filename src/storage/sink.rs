//! Where bytes go. As sources, sinks speak positions: no cursor, no seek.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Place, Result};

/// Something that bytes are written to.
pub trait ByteSink: Send + fmt::Debug {
    /// Writes `bytes` from position `start` on; what lies between the old end and `start` becomes zeros.
    fn write_at(&mut self, start: u64, bytes: &[u8]) -> Result<()>;

    /// Reads back what was written from position `start` on.
    fn read_at(&self, start: u64, bytes: &mut [u8]) -> Result<()>;

    /// Makes the sink `len` bytes long.
    fn set_len(&mut self, len: u64) -> Result<()>;

    /// Everything is written: makes it last, and be found under its name.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// A new local file. It has another name in the same folder until it is finished, and takes the place of what was there
/// in one step then; if it is dropped before, what was there stays.
#[derive(Debug)]
pub struct FileSink {
    file: File,
    temporary: PathBuf,
    path: PathBuf,
    finished: bool,
}

/// Tells the temporary files of one process apart.
static NUMBER: AtomicU64 = AtomicU64::new(0);

impl FileSink {
    /// A new file that will be at `path`.
    ///
    /// Errors are `Io`, also if there is a folder of that name; they name the file.
    pub fn create(path: impl AsRef<Path>) -> Result<FileSink> {
        let path = path.as_ref().to_owned();
        let named = |error: Error| error.at(Place::File(path.display().to_string()));
        if path.is_dir() {
            return Err(named(std::io::Error::from(std::io::ErrorKind::IsADirectory).into()));
        }
        let name = path.file_name().ok_or_else(|| named(Error::invalid("the path names no file")))?.to_owned();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut own = std::ffi::OsString::from(".");
        own.push(&name);
        own.push(format!(".{}-{number}.part", std::process::id()));
        let temporary = path.with_file_name(own);
        let file = File::options().read(true).write(true).create_new(true).open(&temporary);
        let file = file.map_err(|e| named(e.into()))?;
        Ok(FileSink { file, temporary, path, finished: false })
    }
}

impl ByteSink for FileSink {
    #[cfg(unix)]
    fn write_at(&mut self, start: u64, bytes: &[u8]) -> Result<()> {
        Ok(std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, start)?)
    }

    #[cfg(not(unix))]
    fn write_at(&mut self, start: u64, bytes: &[u8]) -> Result<()> {
        use std::io::{Seek, SeekFrom, Write};
        self.file.seek(SeekFrom::Start(start))?;
        Ok(self.file.write_all(bytes)?)
    }

    #[cfg(unix)]
    fn read_at(&self, start: u64, bytes: &mut [u8]) -> Result<()> {
        Ok(std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, start)?)
    }

    #[cfg(not(unix))]
    fn read_at(&self, start: u64, bytes: &mut [u8]) -> Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        (&self.file).seek(SeekFrom::Start(start))?;
        Ok((&self.file).read_exact(bytes)?)
    }

    fn set_len(&mut self, len: u64) -> Result<()> {
        Ok(self.file.set_len(len)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.temporary, &self.path)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        if !self.finished {
            // Nobody is left to tell if this fails.
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

/// Memory that others see when the sink is finished.
#[derive(Debug)]
pub struct MemorySink {
    bytes: Vec<u8>,
    result: std::sync::Arc<std::sync::OnceLock<Vec<u8>>>,
}

impl MemorySink {
    /// Nothing yet; the bytes will be in `result`.
    pub fn new(result: std::sync::Arc<std::sync::OnceLock<Vec<u8>>>) -> MemorySink {
        MemorySink { bytes: Vec::new(), result }
    }
}

impl ByteSink for MemorySink {
    fn write_at(&mut self, start: u64, bytes: &[u8]) -> Result<()> {
        let start = usize::try_from(start).map_err(|_| Error::limit("the file is larger than memory"))?;
        let end = start.checked_add(bytes.len()).ok_or_else(|| Error::limit("the file is larger than memory"))?;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, start: u64, bytes: &mut [u8]) -> Result<()> {
        let start = usize::try_from(start).ok();
        let there = start.and_then(|start| self.bytes.get(start..start.checked_add(bytes.len())?));
        bytes.copy_from_slice(there.ok_or_else(|| Error::invalid("nothing was written there"))?);
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> Result<()> {
        let len = usize::try_from(len).map_err(|_| Error::limit("the file is larger than memory"))?;
        self.bytes.resize(len, 0);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let set = self.result.set(self.bytes);
        set.map_err(|_| Error::invalid("the result of another file stands there already"))
    }
}
