//! Where bytes come from. Storage speaks ranges: no cursor, no seek, no state that two readers could share by mistake.
//!
//! Ranges of a source count from its first byte; [`View`] adds the base address of an HDF5 file.

#[cfg(feature = "http")]
mod coalesce;
#[cfg(any(test, feature = "testing"))]
pub mod conformance;
#[cfg(any(test, feature = "testing"))]
pub mod counting;
mod drive;
mod file;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "memmap2")]
mod mapped;
mod memory;
pub(crate) mod observer;
pub mod pieces;
mod resolve;
mod sink;
mod view;

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

pub use drive::run;
pub use file::FileSource;
pub(crate) use file::is_same_file;
#[cfg(feature = "memmap2")]
pub use mapped::MappedSource;
pub use memory::MemorySource;
pub use observer::{Observer, Seen};
pub use resolve::{NoFiles, Purpose, Resolve, Roots};
pub use sink::{ByteSink, FileSink, MemorySink};
pub use view::{Loaded, Stop, View};

use crate::error::{Error, Result};
use crate::wire::{Addr, ByteRange};

/// A source of bytes: a file, memory, something remote. Shared by all threads. `storage::conformance` (feature `testing`) checks
/// that one keeps to what stands here.
pub trait ByteSource: Send + Sync + fmt::Debug {
    /// Number of bytes.
    ///
    /// Errors are `Io` where the storage does not answer.
    fn len(&self) -> Result<u64>;

    /// Whether there are no bytes.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The stretch of bytes around `position` that can be read in one piece: all, unless the source has holes.
    fn stretch(&self, position: u64) -> Result<std::ops::Range<u64>> {
        let _ = position;
        Ok(0..self.len()?)
    }

    /// What tells this content from another under the same name.
    fn identity(&self) -> Identity;

    /// Reads every wanted range into its buffer. Each is handed to `arrived` as soon as it is complete, in any order,
    /// on the calling thread.
    ///
    /// Errors are `Io`, or what `arrived` says; a range past the end of the source is `Corrupt`.
    fn read_ranges<'a>(&self, wanted: Vec<Wanted<'a>>, arrived: &mut dyn FnMut(Wanted<'a>) -> Result<()>)
    -> Result<()>;

    /// How many bytes of `ranges` would have to be moved: all, unless some are cached.
    fn pending(&self, ranges: &[ByteRange]) -> u64 {
        ranges.iter().fold(0, |sum, range| sum.saturating_add(range.size))
    }

    /// What a request costs.
    fn profile(&self) -> IoProfile {
        IoProfile::LOCAL
    }

    /// The whole content, where it is in memory anyway.
    fn in_memory(&self) -> Option<&Bytes> {
        None
    }
}

/// A range that is wanted, and the memory it is wanted in.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// The bytes.
    pub range: ByteRange,
    /// Where they go; as large as the range.
    pub buffer: Buffer<'a>,
}

/// Memory that bytes are read into.
#[derive(Debug)]
pub enum Buffer<'a> {
    /// Somebody else's.
    Lent(&'a mut [u8]),
    /// Its own, which whoever is handed the range may keep.
    Owned(Vec<u8>),
}

impl<'a> Buffer<'a> {
    /// The bytes, copied only if the memory is somebody else's.
    pub fn into_vec(self) -> Vec<u8> {
        match self {
            Buffer::Lent(bytes) => bytes.to_vec(),
            Buffer::Owned(bytes) => bytes,
        }
    }
}

impl Deref for Buffer<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Buffer::Lent(bytes) => bytes,
            Buffer::Owned(bytes) => bytes,
        }
    }
}

impl DerefMut for Buffer<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Buffer::Lent(bytes) => bytes,
            Buffer::Owned(bytes) => bytes,
        }
    }
}

/// What tells one content from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Equal identities mean equal bytes: an entity tag, a hash.
    Strong(String),
    /// Equal identities mean that nobody changed the file by ordinary means: size, time, inode.
    Weak(String),
    /// Nothing is known.
    None,
}

/// What a request to a source costs, from which requests are planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoProfile {
    /// Smallest range worth asking for, in bytes.
    pub block: u64,
    /// Largest range that is read ahead of need, in bytes.
    pub read_ahead: u64,
    /// Whether what is wanted is read on the spot, range by range; otherwise it is asked for in batches.
    pub on_the_spot: bool,
    /// Time until the first byte of an answer.
    pub latency: Duration,
    /// Bytes in a second from then on.
    pub bandwidth: u64,
    /// Requests that are made at the same time.
    pub connections: usize,
}

impl IoProfile {
    /// A local file.
    pub const LOCAL: IoProfile = IoProfile {
        block: 2 << 10,
        read_ahead: 1 << 20,
        on_the_spot: true,
        latency: Duration::ZERO,
        bandwidth: 4 << 30,
        connections: 1,
    };
    /// Something behind a network.
    pub const REMOTE: IoProfile = IoProfile {
        block: 64 << 10,
        read_ahead: 256 << 10,
        on_the_spot: false,
        latency: Duration::from_millis(50),
        bandwidth: 80 << 20,
        connections: 32,
    };

    /// Bytes of the largest request: as many as move in the time that the answer takes to begin.
    pub fn largest_request(&self) -> u64 {
        let micros = u128::from(self.bandwidth) * self.latency.as_micros();
        u64::try_from(micros / 1_000_000).unwrap_or(u64::MAX).max(self.read_ahead)
    }

    /// Bytes between two ranges up to which one request for both is cheaper than another one, of which several are made at
    /// the same time.
    pub fn largest_gap(&self) -> u64 {
        let connections = u64::try_from(self.connections).unwrap_or(u64::MAX).max(1);
        self.largest_request() / connections
    }
}

/// Reads `buffer` from position `start` of the source.
pub fn read_at(source: &dyn ByteSource, start: u64, buffer: &mut [u8]) -> Result<()> {
    let size = u64::try_from(buffer.len()).expect("because memory is smaller than 64 bits");
    let range = ByteRange::new(Addr(start), size);
    source.read_ranges(vec![Wanted { range, buffer: Buffer::Lent(buffer) }], &mut |_| Ok(()))
}

/// The error for a range past the end.
pub(crate) fn past_the_end(range: ByteRange, len: u64) -> Error {
    Error::corrupt(format!("{} bytes at {:#x} are wanted, the file ends at {len:#x}", range.size, range.addr.0))
}

/// A source that others share.
pub type SharedSource = Arc<dyn ByteSource>;
