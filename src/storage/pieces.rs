//! Files whose bytes lie in several: one source made of pieces, each at its own range of the addresses.

use super::{Buffer, ByteSource, Identity, SharedSource, Wanted, past_the_end};
use crate::error::{Error, Result};
use crate::wire::{Addr, ByteRange};

/// A piece of a source: another source that begins at some position.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Position of the first byte.
    pub start: u64,
    /// The bytes.
    pub source: SharedSource,
}

/// A source made of pieces.
#[derive(Debug)]
pub struct Pieces {
    /// With the length of each, in ascending order of their starts.
    pieces: Vec<(Piece, u64)>,
}

impl Pieces {
    /// A source made of `pieces`, which must not overlap.
    pub fn new(mut pieces: Vec<Piece>) -> Result<Self> {
        pieces.sort_by_key(|piece| piece.start);
        let mut measured: Vec<(Piece, u64)> = Vec::new();
        for piece in pieces {
            if let Some((last, len)) = measured.last_mut() {
                // A member that is longer than its share is cut, as the driver does.
                *len = (*len).min(piece.start - last.start);
            }
            let len = piece.source.len()?;
            measured.push((piece, len));
        }
        if measured.is_empty() {
            return Err(Error::not_found("a file of several pieces has none"));
        }
        Ok(Pieces { pieces: measured })
    }
}

impl ByteSource for Pieces {
    fn len(&self) -> Result<u64> {
        let end = |(piece, len): &(Piece, u64)| piece.start.saturating_add(*len);
        Ok(self.pieces.last().map_or(0, end))
    }

    fn stretch(&self, position: u64) -> Result<std::ops::Range<u64>> {
        let mut stretch = 0..0;
        for (piece, len) in &self.pieces {
            if piece.start > position {
                break;
            }
            let start = if stretch.end == piece.start { stretch.start } else { piece.start };
            stretch = start..piece.start.saturating_add(*len);
        }
        // A family continues into the pieces that follow without a hole.
        for (piece, len) in self.pieces.iter().filter(|(piece, _)| piece.start > position) {
            if stretch.end == piece.start {
                stretch.end = piece.start.saturating_add(*len);
            }
        }
        Ok(stretch)
    }

    fn identity(&self) -> Identity {
        let names: Vec<_> = self.pieces.iter().map(|(piece, _)| format!("{:?}", piece.source.identity())).collect();
        Identity::Weak(names.join("+"))
    }

    fn read_ranges<'a>(
        &self,
        wanted: Vec<Wanted<'a>>,
        arrived: &mut dyn FnMut(Wanted<'a>) -> Result<()>,
    ) -> Result<()> {
        for mut wanted in wanted {
            let mut done = 0;
            while done < wanted.buffer.len() {
                let at = wanted.range.addr.plus(u64::try_from(done).unwrap_or(u64::MAX))?.0;
                let next = self.pieces.partition_point(|(piece, _)| piece.start <= at);
                let inside =
                    next.checked_sub(1).and_then(|i| self.pieces.get(i)).filter(|(p, len)| at - p.start < *len);
                let Some((piece, len)) = inside else { return Err(past_the_end(wanted.range, self.len()?)) };
                let here = usize::try_from(len - (at - piece.start)).unwrap_or(usize::MAX);
                let here = here.min(wanted.buffer.len() - done);
                let range = ByteRange::new(Addr(at - piece.start), u64::try_from(here).unwrap_or(u64::MAX));
                let buffer = Buffer::Lent(&mut wanted.buffer[done..done + here]);
                piece.source.read_ranges(vec![Wanted { range, buffer }], &mut |_| Ok(()))?;
                done += here;
            }
            arrived(wanted)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{MemorySource, read_at};
    use super::*;

    #[test]
    fn a_range_may_run_over_pieces_but_not_over_holes() {
        let piece = |start, bytes: &[u8]| Piece { start, source: Arc::new(MemorySource::new(bytes.to_vec())) };
        let pieces = Pieces::new(vec![piece(4, &[5, 6, 7]), piece(0, &[1, 2, 3, 4]), piece(100, &[9])]).unwrap();
        let mut buffer = [0; 5];
        read_at(&pieces, 2, &mut buffer).unwrap();
        assert_eq!(buffer, [3, 4, 5, 6, 7]);
        assert!(read_at(&pieces, 3, &mut buffer).is_err());
        assert_eq!(pieces.len().unwrap(), 101);
        assert_eq!(pieces.stretch(5).unwrap(), 0..7);
        assert_eq!(pieces.stretch(100).unwrap(), 100..101);
    }
}
