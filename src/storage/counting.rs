//! A source for tests that is memory, misses everything at first, and counts what is asked of it. A parser that only
//! works on a view that never misses is wrong, and shows here.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{ByteSource, Identity, IoProfile, MemorySource, Wanted};
use crate::error::Result;
use crate::wire::ByteRange;

/// A counting source.
#[derive(Debug)]
pub struct CountingSource {
    memory: MemorySource,
    profile: IoProfile,
    batches: AtomicU64,
    ranges: AtomicU64,
    bytes: AtomicU64,
}

/// What was asked of a counting source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Calls of `read_ranges`.
    pub batches: u64,
    /// Ranges in all calls.
    pub ranges: u64,
    /// Bytes in all ranges.
    pub bytes: u64,
}

impl CountingSource {
    /// A source over `bytes` that gives exactly what is asked for and never reads ahead.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self::with_profile(bytes, IoProfile { block: 1, read_ahead: 1, ..IoProfile::REMOTE })
    }

    /// A source over `bytes` that costs what `profile` says.
    pub fn with_profile(bytes: Vec<u8>, profile: IoProfile) -> Self {
        let zero = || AtomicU64::new(0);
        CountingSource { memory: MemorySource::new(bytes), profile, batches: zero(), ranges: zero(), bytes: zero() }
    }

    /// What was asked so far.
    pub fn counts(&self) -> Counts {
        let read = |n: &AtomicU64| n.load(Ordering::Relaxed);
        Counts { batches: read(&self.batches), ranges: read(&self.ranges), bytes: read(&self.bytes) }
    }
}

impl ByteSource for CountingSource {
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
        let ranges: Vec<ByteRange> = wanted.iter().map(|w| w.range).collect();
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.ranges.fetch_add(u64::try_from(ranges.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.bytes.fetch_add(self.pending(&ranges), Ordering::Relaxed);
        self.memory.read_ranges(wanted, arrived)
    }

    fn profile(&self) -> IoProfile {
        self.profile
    }
}
