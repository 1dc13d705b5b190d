//! Where decoded bytes go.

use std::fmt;

use crate::error::{Error, Result};

/// Places decoded bytes by their position in the plain chunk: rows of a chunk into a larger array, for example.
pub trait Scatter {
    /// Takes `bytes`, which stand at `position` of the plain chunk.
    fn put(&mut self, position: usize, bytes: &[u8]);
}

/// The destination of a decoder: a buffer of the caller's that is filled exactly, a vector that grows up to an
/// allowance, or a [`Scatter`] that is handed the bytes in order.
pub struct Output<'a> {
    place: Place<'a>,
    written: usize,
}

enum Place<'a> {
    Exact(&'a mut [u8]),
    Growing { to: &'a mut Vec<u8>, start: usize, allowance: usize },
    Scattered { to: &'a mut dyn Scatter, expected: usize },
}

impl<'a> Output<'a> {
    /// Exactly the bytes of `to`, from its start.
    pub fn exact(to: &'a mut [u8]) -> Self {
        Output { place: Place::Exact(to), written: 0 }
    }

    /// Appends to `to`, which may grow by at most `allowance` bytes.
    pub fn growing(to: &'a mut Vec<u8>, allowance: usize) -> Self {
        let start = to.len();
        Output { place: Place::Growing { to, start, allowance }, written: 0 }
    }

    /// Hands `expected` bytes in order to `to`.
    pub fn scattered(to: &'a mut dyn Scatter, expected: usize) -> Self {
        Output { place: Place::Scattered { to, expected }, written: 0 }
    }

    /// How many bytes are wanted, if that is known exactly.
    pub fn expected(&self) -> Option<usize> {
        match &self.place {
            Place::Exact(to) => Some(to.len()),
            Place::Growing { .. } => None,
            Place::Scattered { expected, .. } => Some(*expected),
        }
    }

    /// Whether [`Output::slice`] gives slices: all but scattered outputs do.
    pub fn takes_slices(&self) -> bool {
        !matches!(self.place, Place::Scattered { .. })
    }

    /// How many bytes may still be written.
    pub fn room(&self) -> usize {
        let all = match &self.place {
            Place::Exact(to) => to.len(),
            Place::Growing { allowance, .. } => *allowance,
            Place::Scattered { expected, .. } => *expected,
        };
        all - self.written
    }

    /// How many bytes were written.
    pub fn written(&self) -> usize {
        self.written
    }

    /// Appends `bytes`. `Corrupt` when there is no room for them.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_room(bytes.len())?;
        let at = self.written;
        match &mut self.place {
            Place::Exact(to) => to[at..at + bytes.len()].copy_from_slice(bytes),
            Place::Growing { to, .. } => to.extend_from_slice(bytes),
            Place::Scattered { to, .. } => to.put(at, bytes),
        }
        self.written += bytes.len();
        Ok(())
    }

    /// The next `len` bytes of the destination as one slice, counted as written; the decoder is to fill all of it.
    /// `None` for a scattered destination, which takes `write` only. `Corrupt` when there is no room.
    pub fn slice(&mut self, len: usize) -> Result<Option<&mut [u8]>> {
        self.check_room(len)?;
        let at = self.written;
        let slice = match &mut self.place {
            Place::Exact(to) => &mut to[at..at + len],
            Place::Growing { to, start, .. } => {
                let from = *start + at;
                to.resize(from + len, 0);
                &mut to[from..]
            }
            Place::Scattered { .. } => return Ok(None),
        };
        self.written += len;
        Ok(Some(slice))
    }

    /// Gives back the last `count` bytes of what [`Output::slice`] gave.
    pub fn give_back(&mut self, count: usize) {
        self.written -= count;
        if let Place::Growing { to, start, .. } = &mut self.place {
            to.truncate(*start + self.written);
        }
    }

    /// Ends the decoding. `Corrupt` if bytes are missing.
    pub fn finish(&self) -> Result<usize> {
        match self.expected() {
            Some(expected) if expected != self.written => {
                Err(Error::corrupt(format!("gives {} bytes, {expected} are expected", self.written)))
            }
            _ => Ok(self.written),
        }
    }

    fn check_room(&self, len: usize) -> Result<()> {
        if len <= self.room() {
            return Ok(());
        }
        let what = format!("gives more than the {} bytes that are allowed", self.written + self.room());
        Err(Error::corrupt(what))
    }
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Output {{ written: {}, expected: {:?}, room: {} }}", self.written, self.expected(), self.room())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_destination_takes_more_than_its_room() {
        let mut buffer = [0; 4];
        let mut output = Output::exact(&mut buffer);
        output.write(&[1, 2, 3]).unwrap();
        assert!(output.write(&[4, 5]).is_err());
        assert!(output.finish().is_err());
        let mut grown = vec![9];
        let mut output = Output::growing(&mut grown, 3);
        output.slice(2).unwrap().unwrap().fill(7);
        assert!(output.slice(2).is_err());
        assert_eq!(output.finish().unwrap(), 2);
        assert_eq!(grown, [9, 7, 7]);
    }
}
