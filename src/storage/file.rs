//! A local file, read by position.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{ByteSource, Identity, Wanted, past_the_end};
use crate::error::{Error, ErrorKind, Result};

/// A local file. Any number of threads read it at once; there is no cursor.
#[derive(Debug)]
pub struct FileSource {
    file: Positioned,
    len: u64,
    identity: Identity,
}

impl FileSource {
    /// Opens the file at `path` for reading.
    ///
    /// Errors are `Io`, also for what is no regular file (a folder, a pipe, a device), or `NotFound` if there is no such
    /// file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let file = open_regular(path.as_ref())?;
        let metadata = file.metadata()?;
        let identity = identity(&metadata);
        Ok(FileSource { len: metadata.len(), identity, file: Positioned::new(file) })
    }
}

/// Opens a regular file. Others are asked about before they are opened: that can wait for somebody who writes to a pipe.
pub(super) fn open_regular(path: &Path) -> Result<File> {
    let not_found = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => Error::not_found("no such file"),
        _ => e.into(),
    };
    let metadata = std::fs::metadata(path).map_err(not_found)?;
    if metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    if !metadata.is_file() {
        return Err(Error::new(ErrorKind::Io, "it is no regular file, and cannot be read by position"));
    }
    File::open(path).map_err(not_found)
}

/// Whether two paths lead to one file.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    let (Ok(a), Ok(b)) = (std::fs::metadata(one), std::fs::metadata(other)) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (a.dev(), a.ino()) == (b.dev(), b.ino())
    }
    #[cfg(not(unix))]
    {
        let canonical = |path: &Path| path.canonicalize().ok();
        a.len() == b.len() && canonical(one).is_some() && canonical(one) == canonical(other)
    }
}

fn identity(metadata: &std::fs::Metadata) -> Identity {
    let modified = metadata.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    let time = modified.map_or(0, |t| t.as_nanos());
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    let inode = 0;
    Identity::Weak(format!("{}-{time}-{inode}", metadata.len()))
}

impl ByteSource for FileSource {
    fn len(&self) -> Result<u64> {
        Ok(self.len)
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn read_ranges<'a>(
        &self,
        wanted: Vec<Wanted<'a>>,
        arrived: &mut dyn FnMut(Wanted<'a>) -> Result<()>,
    ) -> Result<()> {
        for mut wanted in wanted {
            match self.file.read_exact_at(&mut wanted.buffer, wanted.range.addr.0) {
                Ok(()) => {}
                // Systems do not take positions beyond what they call a file at most.
                Err(e) if matches!(e.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput) => {
                    return Err(past_the_end(wanted.range, self.len));
                }
                Err(e) => return Err(e.into()),
            }
            arrived(wanted)?;
        }
        Ok(())
    }
}

#[cfg(any(unix, windows))]
#[derive(Debug)]
struct Positioned(File);

#[cfg(any(unix, windows))]
impl Positioned {
    fn new(file: File) -> Self {
        Positioned(file)
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, buffer, position)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, mut buffer: &mut [u8], mut position: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(&self.0, buffer, position) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    buffer = &mut buffer[n..];
                    position += u64::try_from(n).expect("because memory is smaller than 64 bits");
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

/// Elsewhere there is only a cursor, which a lock guards from its move to the end of the read.
#[cfg(not(any(unix, windows)))]
#[derive(Debug)]
struct Positioned(std::sync::Mutex<File>);

#[cfg(not(any(unix, windows)))]
impl Positioned {
    fn new(file: File) -> Self {
        Positioned(std::sync::Mutex::new(file))
    }

    fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(position))?;
        file.read_exact(buffer)
    }
}
