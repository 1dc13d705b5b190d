//! What is loaded of a file so far. Code that parses is plain and synchronous: it asks a [`View`] for structures, and
//! either gets them or stops with the ranges that are missing.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;

use super::observer::{Observer, show, show_space};
use super::{Buffer, IoProfile, SharedSource, Wanted, past_the_end};
use crate::error::{Error, Result};
use crate::limits::{Limits, Purse};
use crate::wire::{Addr, ByteRange, Sizes, Structure};

/// Why a job stopped.
#[derive(Debug)]
pub enum Stop {
    /// It needs these ranges of the source, and may be run again when they are loaded.
    Missing(Vec<ByteRange>),
    /// It failed.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

impl Stop {
    /// The same stop, an error being seen from one place further out.
    #[must_use]
    pub fn at(self, place: impl FnOnce() -> crate::error::Place) -> Self {
        match self {
            Stop::Missing(ranges) => Stop::Missing(ranges),
            Stop::Error(error) => Stop::Error(error.at(place())),
        }
    }
}

/// Bytes of metadata kept at most.
const CACHED_BYTES: u64 = 64 << 20;
/// Decoded structures kept at most.
const KEPT: usize = 1024;
/// Items that are worth sharing among cores.
#[cfg(feature = "rayon")]
const MANY: usize = 256;
/// Misses before reading ahead begins, so that a look at a file costs little.
const PATIENCE: u64 = 8;

/// A source with what is loaded of it. Shared by all jobs on the file.
#[derive(Debug)]
pub struct Loaded {
    source: SharedSource,
    profile: IoProfile,
    len: u64,
    /// Where the file says that it ends, if that is to be believed.
    end: u64,
    base: u64,
    sizes: Sizes,
    limits: Limits,
    extents: RwLock<Extents>,
    /// Structures that were in the writer's cache when it closed the file, by position; they win over the file.
    overlay: BTreeMap<u64, Bytes>,
    kept: Mutex<Kept>,
    observer: Option<Arc<dyn Observer>>,
    misses: AtomicU64,
    window: AtomicU64,
}

#[derive(Debug, Default)]
struct Extents {
    by_start: BTreeMap<u64, Bytes>,
    bytes: u64,
}

#[derive(Debug, Default)]
struct Kept {
    values: HashMap<(TypeId, Addr), (u64, Arc<dyn Any + Send + Sync>)>,
    clock: u64,
}

impl Loaded {
    /// Nothing loaded yet, addresses counted from the first byte.
    pub fn new(source: SharedSource, limits: Limits) -> Result<Self> {
        let (len, profile) = (source.len()?, source.profile());
        Ok(Loaded {
            source,
            profile,
            len,
            end: u64::MAX,
            base: 0,
            sizes: Sizes::EIGHT,
            limits,
            extents: RwLock::default(),
            overlay: BTreeMap::new(),
            kept: Mutex::default(),
            observer: None,
            misses: AtomicU64::new(0),
            window: AtomicU64::new(profile.block),
        })
    }

    /// Counts addresses from `base`, and takes them to be as wide as `sizes` say.
    pub fn set_frame(&mut self, base: u64, sizes: Sizes) {
        (self.base, self.sizes) = (base, sizes);
    }

    /// Takes the file to end at position `end` of the source: what lies beyond is not part of it.
    pub fn set_end(&mut self, end: u64) {
        self.end = end;
    }

    /// Lets `image` stand for what the file holds at `addr`.
    pub fn lay_over(&mut self, addr: Addr, image: Bytes) -> Result<()> {
        let position = addr.plus(self.base)?;
        self.overlay.insert(position.0, image);
        Ok(())
    }

    /// Whether what is missing is read on the spot, so that jobs never stop for it.
    pub fn reads_on_the_spot(&self) -> bool {
        self.profile.on_the_spot || self.source.in_memory().is_some()
    }

    /// Lets `observer` see whatever is decoded from now on.
    pub fn set_observer(&mut self, observer: Option<Arc<dyn Observer>>) {
        self.observer = observer;
    }

    /// Who sees whatever is decoded, if anybody does.
    pub(crate) fn observer(&self) -> Option<&dyn Observer> {
        self.observer.as_deref()
    }

    /// Says that the structure that stands at `addr` was decoded from `bytes`.
    pub(crate) fn decoded<S: Structure>(&self, value: &S, bytes: &[u8], addr: Addr, cx: S::Context) {
        if let Some(observer) = &self.observer {
            show(observer.as_ref(), value, bytes, true, (addr, self.sizes, cx));
        }
    }

    /// Says that `range` is taken by `structure`: one without fields, or with more space than it uses.
    pub(crate) fn takes(&self, structure: &'static str, range: ByteRange) {
        if let Some(observer) = &self.observer {
            show_space(observer.as_ref(), structure, range);
        }
    }

    /// As `decoded`, for a part of a structure.
    pub(crate) fn decoded_part<S: Structure>(&self, value: &S, bytes: &[u8], addr: Addr, cx: S::Context) {
        if let Some(observer) = &self.observer {
            show(observer.as_ref(), value, bytes, false, (addr, self.sizes, cx));
        }
    }

    /// Where the bytes come from.
    pub fn source(&self) -> &SharedSource {
        &self.source
    }

    /// Bytes of the source.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the source has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What addresses are relative to.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The widths of addresses and lengths.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// What reading may cost.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A view for one run of one job.
    pub fn view(&self) -> View<'_> {
        View { loaded: self, purse: self.limits.purse(self.len) }
    }

    /// Loads ranges of the source. `false` if all of them were loaded already.
    pub fn fetch(&self, ranges: &[ByteRange]) -> Result<bool> {
        let mut gaps = Vec::new();
        for range in joined(ranges) {
            gaps.extend(self.gather(range.addr.0, range.size).err().into_iter().flatten());
        }
        let mut wanted = Vec::new();
        for range in &gaps {
            let size = usize::try_from(range.size).map_err(|_| Error::limit("a range is larger than memory"))?;
            wanted.push(Wanted { range: *range, buffer: Buffer::Owned(vec![0; size]) });
        }
        self.source.read_ranges(wanted, &mut |arrived| {
            self.insert(arrived.range.addr.0, arrived.buffer.into_vec().into());
            Ok(())
        })?;
        Ok(!gaps.is_empty())
    }

    /// Lets go of what is loaded if it has become much. A job has to find all that it asked for, so this is for its end.
    pub(super) fn settle(&self) {
        let is_much = |extents: &Extents| extents.bytes > CACHED_BYTES;
        if !self.profile.on_the_spot && is_much(&self.extents.read().unwrap_or_else(PoisonError::into_inner)) {
            *self.extents.write().unwrap_or_else(PoisonError::into_inner) = Extents::default();
        }
    }

    /// What can be read in one piece around a position.
    pub fn stretch(&self, position: u64) -> std::ops::Range<u64> {
        let stretch = self.source.stretch(position).unwrap_or(0..self.len);
        stretch.start..stretch.end.min(self.end)
    }

    fn insert(&self, start: u64, bytes: Bytes) {
        let mut extents = self.extents.write().unwrap_or_else(PoisonError::into_inner);
        let size = u64::try_from(bytes.len()).expect("because memory is smaller than 64 bits");
        if self.profile.on_the_spot && extents.bytes + size > CACHED_BYTES {
            *extents = Extents::default();
        }
        if extents.by_start.get(&start).is_none_or(|old| old.len() < bytes.len()) {
            extents.bytes += size;
            extents.by_start.insert(start, bytes);
        }
    }

    /// `size` bytes from position `start`, or the ranges that are missing of them.
    fn gather(&self, start: u64, size: u64) -> Result<Bytes, Vec<ByteRange>> {
        let extents = self.extents.read().unwrap_or_else(PoisonError::into_inner);
        let end = start + size;
        let (mut at, mut pieces, mut missing) = (start, Vec::new(), Vec::new());
        while at < end {
            let before = extents.by_start.range(..=at).next_back();
            let covered = before.and_then(|(from, bytes)| Some((at - from, bytes)).filter(|(skip, b)| *skip < len(b)));
            match covered {
                Some((skip, bytes)) => {
                    let skip = usize::try_from(skip).expect("because it is less than a length in memory");
                    if at == start && len(bytes) - u64::try_from(skip).unwrap_or(0) >= size {
                        return Ok(bytes.slice(skip..));
                    }
                    let left = usize::try_from(end - at).unwrap_or(usize::MAX);
                    let piece = &bytes[skip..bytes.len().min(skip.saturating_add(left))];
                    at += u64::try_from(piece.len()).unwrap_or(0);
                    pieces.push(piece);
                }
                None => {
                    let next = extents.by_start.range(at..).next().map_or(end, |(from, _)| (*from).min(end));
                    missing.push(ByteRange::new(Addr(at), next - at));
                    at = next;
                }
            }
        }
        if missing.is_empty() { Ok(pieces.concat().into()) } else { Err(missing) }
    }

    /// A gap, widened to what is worth reading at once, but not into what is loaded.
    fn widen(&self, gap: ByteRange) -> ByteRange {
        let misses = self.misses.fetch_add(1, Ordering::Relaxed);
        let mut window = self.window.load(Ordering::Relaxed);
        let extents = self.extents.read().unwrap_or_else(PoisonError::into_inner);
        let before = extents.by_start.range(..=gap.addr.0).next_back();
        let loaded = before.map_or(0, |(from, bytes)| (from + len(bytes)).min(gap.addr.0));
        if misses >= PATIENCE {
            // Near what was loaded before, in whatever order threads that read in different places got there.
            let near = gap.addr.0 - loaded <= 2 * window;
            window =
                if near { (2 * window).min(self.profile.read_ahead) } else { (window / 2).max(self.profile.block) };
            self.window.store(window, Ordering::Relaxed);
        }
        let stretch = self.stretch(gap.addr.0);
        let start = (gap.addr.0 - gap.addr.0 % window).max(stretch.start).max(loaded).min(gap.addr.0);
        let end = (gap.addr.0 + gap.size).max(start.saturating_add(window).min(stretch.end));
        let after = extents.by_start.range(gap.addr.0 + gap.size..).next();
        let end = after.map_or(end, |(from, _)| end.min(*from));
        ByteRange::new(Addr(start), end - start)
    }
}

/// Ranges in ascending order, those that overlap or touch in one.
fn joined(ranges: &[ByteRange]) -> Vec<ByteRange> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let mut all: Vec<ByteRange> = Vec::new();
    for range in sorted {
        match all.last_mut().filter(|last| range.addr.0 - last.addr.0 <= last.size) {
            Some(last) => last.size = last.size.max((range.addr.0 - last.addr.0).saturating_add(range.size)),
            None => all.push(range),
        }
    }
    all
}

fn len(bytes: &Bytes) -> u64 {
    u64::try_from(bytes.len()).expect("because memory is smaller than 64 bits")
}

/// What one run of one job sees of a file.
#[derive(Debug)]
pub struct View<'a> {
    loaded: &'a Loaded,
    purse: Purse,
}

impl View<'_> {
    /// The widths of addresses and lengths.
    pub fn sizes(&self) -> Sizes {
        self.loaded.sizes
    }

    /// What the job may still spend.
    pub fn purse(&self) -> &Purse {
        &self.purse
    }

    /// What reading may cost.
    pub fn limits(&self) -> &Limits {
        &self.loaded.limits
    }

    /// Bytes from `addr` to the end of the source.
    pub fn left(&self, addr: Addr) -> u64 {
        self.position(addr).map_or(0, |position| self.loaded.stretch(position).end.saturating_sub(position))
    }

    /// The structure at `addr`.
    pub fn load<S: Structure>(&self, addr: Addr, cx: S::Context) -> Result<S, Stop> {
        let first = S::first_read(self.sizes(), cx);
        self.decode(addr, first, |bytes| {
            let (value, used) = S::decode_shared(bytes, addr, self.sizes(), cx)?;
            self.loaded.decoded(&value, &bytes[..used], addr, cx);
            Ok((value, used))
        })
    }

    /// What `decode` makes of the bytes at `addr`, and how many it took; it is given `first` bytes, and more as long as
    /// it says that they are too few.
    pub fn decode<T>(
        &self,
        addr: Addr,
        first: usize,
        decode: impl Fn(&Bytes) -> Result<(T, usize)>,
    ) -> Result<T, Stop> {
        let mut wanted = u64::try_from(first).unwrap_or(u64::MAX).max(1);
        let mut before = None;
        loop {
            let bytes = self.some(addr, wanted)?;
            let had = len(&bytes);
            match decode(&bytes) {
                Ok((value, used)) => {
                    self.purse.pay(u64::try_from(used).unwrap_or(u64::MAX))?;
                    return Ok(value);
                }
                // An image of the structure may be all there is, however long the file.
                Err(error) if error.short_of() > 0 && had < self.left(addr) && before.is_none_or(|b| b < had) => {
                    self.purse.pay(had)?;
                    before = Some(had);
                    wanted = had.saturating_add(error.short_of()).max(had.saturating_mul(2));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The structures at `addrs`; what is missing of any is asked for at once.
    pub fn load_all<S: Structure>(&self, addrs: &[Addr], cx: S::Context) -> Result<Vec<S>, Stop> {
        self.each(addrs, |addr| self.load(*addr, cx))
    }

    /// What `job` gives for each item; what is missing for any is asked for at once. Where nothing can be missing, many
    /// items are shared among all cores.
    pub fn each<I: Sync, T: Send>(
        &self,
        items: &[I],
        job: impl Fn(&I) -> Result<T, Stop> + Sync,
    ) -> Result<Vec<T>, Stop> {
        #[cfg(feature = "rayon")]
        if items.len() >= MANY && self.loaded.reads_on_the_spot() {
            use rayon::prelude::*;
            return items.par_iter().with_min_len(MANY / 4).map(&job).collect();
        }
        let (mut values, mut missing) = (Vec::new(), Vec::new());
        for item in items {
            match job(item) {
                Ok(value) => values.push(value),
                Err(Stop::Missing(ranges)) => missing.extend(ranges),
                Err(stop) => return Err(stop),
            }
        }
        if missing.is_empty() { Ok(values) } else { Err(Stop::Missing(missing)) }
    }

    /// The structure at `addr`, kept for the next who asks.
    pub fn keep<S>(&self, addr: Addr, cx: S::Context) -> Result<Arc<S>, Stop>
    where
        S: Structure + Send + Sync + 'static,
    {
        let key = (TypeId::of::<S>(), addr);
        {
            let mut kept = self.loaded.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.clock += 1;
            let now = kept.clock;
            if let Some((used, value)) = kept.values.get_mut(&key) {
                *used = now;
                if let Ok(value) = Arc::clone(value).downcast::<S>() {
                    return Ok(value);
                }
            }
        }
        let value = Arc::new(self.load::<S>(addr, cx)?);
        let mut kept = self.loaded.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.values.len() >= KEPT {
            let middle = kept.clock.saturating_sub(u64::try_from(KEPT / 2).unwrap_or(0));
            kept.values.retain(|_, (used, _)| *used >= middle);
        }
        let now = kept.clock;
        kept.values.insert(key, (now, Arc::clone(&value) as _));
        Ok(value)
    }

    /// Exactly the bytes of `range`.
    pub fn bytes(&self, range: ByteRange) -> Result<Bytes, Stop> {
        let found = self.some(range.addr, range.size)?;
        if len(&found) < range.size {
            let end = self.loaded.stretch(range.addr.0).end.saturating_sub(self.loaded.base);
            return Err(past_the_end(range, end).into());
        }
        self.purse.pay(range.size)?;
        Ok(found.slice(..usize::try_from(range.size).expect("because as many bytes were found")))
    }

    /// At least `wanted` bytes from `addr`, fewer only where the source ends.
    fn some(&self, addr: Addr, wanted: u64) -> Result<Bytes, Stop> {
        let position = self.position(addr)?;
        if let Some((from, image)) = self.loaded.overlay.range(..=position).next_back() {
            let skip = position - from;
            if skip < len(image) {
                return Ok(image.slice(usize::try_from(skip).expect("because it is less than a length in memory")..));
            }
        }
        let size = wanted.min(self.loaded.stretch(position).end.saturating_sub(position));
        if size == 0 {
            return Ok(Bytes::new());
        }
        if size > self.loaded.limits.result {
            return Err(Error::limit(format!("a structure at {addr} of {size} bytes is beyond the limit")).into());
        }
        if let Some(all) = self.loaded.source.in_memory() {
            return Ok(all.slice(usize::try_from(position).expect("because the bytes are in memory")..));
        }
        loop {
            match self.loaded.gather(position, size) {
                Ok(bytes) => return Ok(bytes),
                Err(missing) => {
                    let wide: Vec<_> = missing.iter().map(|gap| self.loaded.widen(*gap)).collect();
                    if !self.loaded.profile.on_the_spot {
                        return Err(Stop::Missing(wide));
                    }
                    self.loaded.fetch(&wide)?;
                }
            }
        }
    }

    fn position(&self, addr: Addr) -> Result<u64> {
        Ok(addr.plus(self.loaded.base)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::counting::CountingSource;
    use super::*;

    #[test]
    fn pieces_are_joined_and_gaps_are_read_once() {
        let bytes: Vec<u8> = (0..=255).collect();
        let source = Arc::new(CountingSource::new(bytes.clone()));
        let loaded = Loaded::new(source.clone(), Limits::default()).unwrap();
        let range = |start, size| ByteRange::new(Addr(start), size);
        loaded.fetch(&[range(10, 5), range(20, 5)]).unwrap();
        let all = super::super::run(&loaded, |view| view.bytes(range(8, 20))).unwrap();
        assert_eq!(all, bytes[8..28]);
        assert_eq!(source.counts().bytes, 20);
        assert!(!loaded.fetch(&[range(8, 20)]).unwrap());
    }

    #[test]
    fn ranges_that_overlap_are_fetched_as_one() {
        let bytes: Vec<u8> = (0..=255).collect();
        let source = Arc::new(CountingSource::new(bytes.clone()));
        let loaded = Loaded::new(source.clone(), Limits::default()).unwrap();
        let range = |start, size| ByteRange::new(Addr(start), size);
        loaded.fetch(&[range(50, 10), range(10, 5), range(12, 20), range(32, 1), range(50, 2)]).unwrap();
        assert_eq!((source.counts().ranges, source.counts().bytes), (2, 33));
        assert!(!loaded.fetch(&[range(10, 23), range(50, 10)]).unwrap());
    }

    #[test]
    fn bytes_past_the_end_are_an_error() {
        let loaded = Loaded::new(Arc::new(CountingSource::new(vec![0; 10])), Limits::default()).unwrap();
        let past = super::super::run(&loaded, |view| view.bytes(ByteRange::new(Addr(8), 3)));
        assert_eq!(past.unwrap_err().kind(), crate::ErrorKind::Corrupt);
        let far = super::super::run(&loaded, |view| view.bytes(ByteRange::new(Addr(u64::MAX), 3)));
        assert_eq!(far.unwrap_err().kind(), crate::ErrorKind::Corrupt);
    }
}
