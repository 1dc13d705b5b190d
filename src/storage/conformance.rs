//! What every source of bytes has to keep to; for tests of sources, also of those that are made elsewhere.

use super::{Buffer, ByteSource, Wanted};
use crate::error::{Error, ErrorKind, Result};
use crate::wire::{Addr, ByteRange};

/// Checks that `source`, which has to hold `content`, keeps what [`ByteSource`] promises.
///
/// # Panics
///
/// If it does not; the message says what is wrong.
pub fn check(source: &dyn ByteSource, content: &[u8]) {
    let len = count(content);
    assert_eq!(source.len().ok(), Some(len), "the length");
    assert_eq!(source.is_empty().ok(), Some(content.is_empty()), "whether it is empty");
    assert_eq!(source.identity(), source.identity(), "the identity does not stay");
    if let Some(all) = source.in_memory() {
        assert!(all == content, "what is in memory");
    }
    let whole = [ByteRange::new(Addr(0), len)];
    assert!(source.pending(&whole) <= len, "more is pending than was asked for");
    assert_eq!(source.pending(&[]), 0, "something is pending of nothing");
    ranges_arrive(source, content, &[]);
    ranges_arrive(source, content, &whole);
    ranges_arrive(source, content, &scattered(len));
    ends_are_known(source, len);
    errors_are_passed_on(source, len);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| ranges_arrive(source, content, &scattered(len)));
        }
    });
}

/// Ranges of all sizes: in no order, with gaps, overlaps, equal ones and empty ones.
fn scattered(len: u64) -> Vec<ByteRange> {
    let mut all = vec![ByteRange::new(Addr(len), 0), ByteRange::new(Addr(0), 0)];
    let mut state = 88_172_645_463_325_252_u64;
    for n in 0..40 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let start = state % len.max(1);
        let size = (state >> 32) % (len / (1 + n % 7) + 1);
        all.push(ByteRange::new(Addr(start), size.min(len - start)));
    }
    all.extend_from_within(3..6);
    all
}

/// Each range arrives once, on this thread, with its bytes.
fn ranges_arrive(source: &dyn ByteSource, content: &[u8], ranges: &[ByteRange]) {
    let mut missing = ranges.to_vec();
    let (mut lent, mut wanted) = (Vec::new(), Vec::new());
    for range in ranges {
        lent.push(vec![0xee; size(range)]);
    }
    for (n, (range, lent)) in ranges.iter().zip(&mut lent).enumerate() {
        let buffer = if n % 2 == 0 { Buffer::Lent(lent) } else { Buffer::Owned(vec![0xee; size(range)]) };
        wanted.push(Wanted { range: *range, buffer });
    }
    let read = source.read_ranges(wanted, &mut |arrived| {
        let at = missing.iter().position(|range| *range == arrived.range);
        let at = at.ok_or_else(|| Error::invalid("a range arrives that nobody wants, or twice"))?;
        missing.swap_remove(at);
        let start = usize::try_from(arrived.range.addr.0).unwrap_or(usize::MAX);
        assert!(content[start..start + size(&arrived.range)] == arrived.buffer[..], "the bytes of {:?}", arrived.range);
        Ok(())
    });
    assert!(read.is_ok(), "{read:?}");
    assert!(missing.is_empty(), "{missing:?} never arrive");
}

fn ends_are_known(source: &dyn ByteSource, len: u64) {
    for (start, size) in [(len, 1), (len.saturating_sub(3), 5), (len + 1000, 7), (u64::MAX, 1), (u64::MAX - 2, 3)] {
        let mut buffer = vec![0; size];
        let past = super::read_at(source, start, &mut buffer).map_err(|e| e.kind());
        assert_eq!(past, Err(ErrorKind::Corrupt), "{size} bytes at {start} of {len}");
    }
}

/// An error of who is handed a range is the result, and nothing more is handed over.
fn errors_are_passed_on(source: &dyn ByteSource, len: u64) {
    let own = |range: &ByteRange| Wanted { range: *range, buffer: Buffer::Owned(vec![0; size(range)]) };
    let mut calls = 0;
    let read: Result<()> = source.read_ranges(scattered(len).iter().map(own).collect(), &mut |_| {
        calls += 1;
        if calls == 3 { Err(Error::new(ErrorKind::Cancelled, "enough")) } else { Ok(()) }
    });
    assert_eq!(read.map_err(|e| e.kind()), Err(ErrorKind::Cancelled), "an error is not passed on");
    assert_eq!(calls, 3, "ranges are handed over after an error");
}

fn size(range: &ByteRange) -> usize {
    usize::try_from(range.size).expect("because as much is in memory")
}

fn count(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).expect("because memory is smaller than 64 bits")
}
