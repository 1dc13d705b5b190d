//! The files that a dataset's data lie in, and bytes of them.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::lanes;
use crate::error::{Error, Result};
use crate::object::Container;
use crate::plan::PieceRead;
use crate::storage::{Buffer, ByteSource, SharedSource, Wanted, read_at};
use crate::wire::{ByteRange, SourceId};

/// The files that a dataset's data lie in.
#[derive(Clone, Debug)]
pub struct SourceTable<'a> {
    /// The file of the dataset: source 0.
    pub container: &'a Container,
    /// External raw files: source 1 is the first.
    pub others: Vec<SharedSource>,
}

/// Reads up to this many bytes go through what is loaded of the file, as their neighbours probably will.
pub(super) const SMALL: u64 = 16 << 10;

/// Bytes that one thread reads at once: copying what the system has in memory is all it takes, and several threads copy
/// more. Of less in all, an eighth.
///
/// Measured: 512 MB take 67 ms in parts of 4 MiB, 85 in parts of 1 MiB, where two threads want one huge page.
const PART: u64 = 4 << 20;

impl SourceTable<'_> {
    /// The stored bytes of `range` of the dataset's own file, to `buffer`, which grows once they are known to be there.
    pub(crate) fn stored(&self, range: ByteRange, buffer: &mut Vec<u8>) -> Result<()> {
        self.position(range)?;
        buffer.resize(in_memory(range.size)?, 0);
        self.read(SourceId(0), range, buffer)
    }

    /// Where `range` of the dataset's own file is in its source. It is all there.
    pub(super) fn position(&self, range: ByteRange) -> Result<ByteRange> {
        let loaded = &self.container.loaded;
        let position = range.addr.plus(loaded.base())?;
        if position.plus(range.size)?.0 > loaded.stretch(position.0).end {
            return Err(beyond(range));
        }
        Ok(ByteRange::new(position, range.size))
    }

    /// The source of the dataset's own file, if what is wanted of it is to be asked for in batches. (WebAssembly has no
    /// threads that could fetch ahead.)
    pub(super) fn remote(&self) -> Option<&dyn ByteSource> {
        let loaded = &self.container.loaded;
        let is_remote = !loaded.reads_on_the_spot() && !cfg!(target_family = "wasm");
        is_remote.then(|| loaded.source().as_ref())
    }

    /// Loads `ranges` of the dataset's own file at once, which are so few bytes that their neighbours will probably be wanted.
    pub(super) fn load(&self, ranges: &[ByteRange]) -> Result<()> {
        crate::storage::run(&self.container.loaded, |view| view.each(ranges, |range| view.bytes(*range)).map(|_| ()))
    }

    /// Reads `range` of a source into `slot`, which is as large.
    pub(crate) fn read(&self, source: SourceId, range: ByteRange, slot: &mut [u8]) -> Result<()> {
        let loaded = &self.container.loaded;
        if let Some(other) = self.other(source)? {
            let there = there(other, range, slot)?;
            return if there.is_empty() { Ok(()) } else { read_at(other, range.addr.0, there) };
        }
        if range.size <= SMALL {
            let found: Bytes = crate::storage::run(loaded, |view| view.bytes(range))?;
            slot.copy_from_slice(&found);
            return Ok(());
        }
        read_at(loaded.source().as_ref(), self.position(range)?.addr.0, slot)
    }

    /// The external raw file that `source` is; `None` for the dataset's own file.
    fn other(&self, source: SourceId) -> Result<Option<&dyn ByteSource>> {
        let Some(other) = source.0.checked_sub(1) else { return Ok(None) };
        let other = usize::try_from(other).ok().and_then(|i| self.others.get(i));
        let other = other.ok_or_else(|| Error::invalid("the manifest names a source that is not open"))?;
        Ok(Some(other.as_ref()))
    }

    /// Reads `pieces` into `into`, on at most so many threads.
    pub(crate) fn read_pieces(&self, pieces: &[PieceRead], into: &mut [u8], threads: usize) -> Result<()> {
        let bytes = pieces.iter().fold(0, |sum: u64, piece| sum.saturating_add(piece.size));
        if bytes > SMALL && self.remote().is_some() {
            return self.read_at_once(pieces, into);
        }
        let part = if bytes < PART { PART / 8 } else { PART };
        let parts = usize::try_from(bytes / part).unwrap_or(usize::MAX).saturating_add(pieces.len());
        let lanes = lanes::number(threads, parts, bytes);
        let cut = Parts { pieces: pieces.iter(), part, rest: None, left: into, position: 0 };
        lanes::run(lanes, cut, |(): &mut (), part| {
            let (piece, slot) = part?;
            self.read(piece.source, ByteRange::new(piece.addr, piece.size), slot)
        })
    }

    /// As `read_pieces`, all of a source being asked for together.
    pub(super) fn read_at_once(&self, pieces: &[PieceRead], into: &mut [u8]) -> Result<()> {
        let mut wanted: BTreeMap<SourceId, Vec<Wanted<'_>>> = BTreeMap::new();
        let cut = Parts { pieces: pieces.iter(), part: u64::MAX, rest: None, left: into, position: 0 };
        for piece in cut {
            let (piece, slot) = piece?;
            let range = ByteRange::new(piece.addr, piece.size);
            let (range, slot) = match self.other(piece.source)? {
                None => (self.position(range)?, slot),
                Some(other) => {
                    let slot = there(other, range, slot)?;
                    (ByteRange::of(range.addr, slot.len()), slot)
                }
            };
            wanted.entry(piece.source).or_default().push(Wanted { range, buffer: Buffer::Lent(slot) });
        }
        for (source, wanted) in wanted {
            let own = self.container.loaded.source().as_ref();
            self.other(source)?.unwrap_or(own).read_ranges(wanted, &mut |_| Ok(()))?;
        }
        Ok(())
    }
}

/// Pieces with the memory that they go to, large ones in parts.
struct Parts<'p, 'a> {
    pieces: std::slice::Iter<'p, PieceRead>,
    /// Bytes of a part at most.
    part: u64,
    /// What is left of a large piece.
    rest: Option<PieceRead>,
    /// Memory from `position` on.
    left: &'a mut [u8],
    position: u64,
}

impl<'a> Parts<'_, 'a> {
    /// The first part of `piece`, and where it goes.
    fn cut(&mut self, piece: PieceRead) -> Result<(PieceRead, &'a mut [u8])> {
        let now = PieceRead { size: piece.size.min(self.part), ..piece };
        if now.size < piece.size {
            let (addr, destination) = (piece.addr.plus(now.size)?, piece.destination.saturating_add(now.size));
            self.rest = Some(PieceRead { addr, destination, size: piece.size - now.size, ..piece });
        }
        let other = || Error::invalid("pieces of a plan overlap, or the buffer is smaller than what was planned");
        let gap = now.destination.checked_sub(self.position).ok_or_else(other)?;
        let (gap, size) = (in_memory(gap)?, in_memory(now.size)?);
        let (_, left) = std::mem::take(&mut self.left).split_at_mut_checked(gap).ok_or_else(other)?;
        let (slot, left) = left.split_at_mut_checked(size).ok_or_else(other)?;
        (self.left, self.position) = (left, now.destination.saturating_add(now.size));
        Ok((now, slot))
    }
}

impl<'a> Iterator for Parts<'_, 'a> {
    type Item = Result<(PieceRead, &'a mut [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = self.rest.take().or_else(|| self.pieces.next().copied())?;
        Some(self.cut(piece))
    }
}

fn in_memory(size: u64) -> Result<usize> {
    usize::try_from(size).map_err(|_| too_large())
}

pub(super) fn too_large() -> Error {
    Error::limit("the selection is larger than memory")
}

fn beyond(range: ByteRange) -> Error {
    Error::corrupt(format!("{} bytes at {} reach beyond the end of the file", range.size, range.addr))
}

/// The part of `slot` for which there are bytes: external raw files may end early, and what is not there is zeros, as in
/// libhdf5.
fn there<'a>(source: &dyn ByteSource, range: ByteRange, slot: &'a mut [u8]) -> Result<&'a mut [u8]> {
    let there = in_memory(source.len()?.saturating_sub(range.addr.0).min(range.size))?;
    let (read, rest) = slot.split_at_mut(there);
    rest.fill(0);
    Ok(read)
}
