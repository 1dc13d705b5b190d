//! The tape under a walk: bytes that are read, or a buffer that is written. The only place that indexes bytes.

use byteorder::{ByteOrder, LittleEndian as LE};
use bytes::Bytes;

use super::Sizes;
use crate::error::{Error, ErrorKind, Place, Result};

/// What the bytes of a field say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Described {
    /// An unsigned number.
    Number(u64),
    /// The undefined address.
    Undefined,
    /// Bytes as they are.
    Bytes(Vec<u8>),
}

/// A field of a structure, where it lies and what it holds; an entry of an annotated dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The structure's name in the specification.
    pub structure: &'static str,
    /// The field's name in the specification.
    pub field: &'static str,
    /// Address of the field's first byte.
    pub address: u64,
    /// Size in bytes.
    pub size: usize,
    /// What the bytes say.
    pub value: Described,
}

/// A column of a table of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// An unsigned number of so many bytes.
    Number(u8),
    /// An address; the undefined one comes as `u64::MAX`.
    Address,
}

impl Column {
    fn width(self, sizes: Sizes) -> usize {
        match self {
            Column::Number(width) => width.into(),
            Column::Address => sizes.offsets.into(),
        }
    }
}

/// Bytes being read or written, with the file's widths and the address of the first byte.
pub(super) struct Tape<'b> {
    /// What is read; nothing when writing.
    bytes: &'b [u8],
    /// How much of it was read.
    position: usize,
    /// Who shares the bytes that are read.
    owner: Option<&'b Bytes>,
    /// What is written, if anything is.
    out: Option<&'b mut Vec<u8>>,
    pub(super) sizes: Sizes,
    pub(super) base: u64,
    log: Option<&'b mut Vec<Placed>>,
    /// Whether bytes are read and nobody looks on.
    plain: bool,
}

/// A field's names and position, for errors and dumps.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) structure: &'static str,
    pub(super) field: &'static str,
    pub(super) position: usize,
}

impl<'b> Tape<'b> {
    pub(super) fn read(bytes: &'b [u8], owner: Option<&'b Bytes>, base: u64, sizes: Sizes) -> Self {
        Tape { bytes, position: 0, owner, out: None, sizes, base, log: None, plain: true }
    }

    pub(super) fn write(out: &'b mut Vec<u8>, base: u64, sizes: Sizes) -> Self {
        Tape { bytes: &[], position: 0, owner: None, out: Some(out), sizes, base, log: None, plain: false }
    }

    pub(super) fn logged(mut self, log: &'b mut Vec<Placed>) -> Self {
        (self.log, self.plain) = (Some(log), false);
        self
    }

    /// Whether bytes are read and no log is kept.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    #[inline]
    pub(super) fn position(&self) -> usize {
        self.out.as_ref().map_or(self.position, |out| out.len())
    }

    #[inline]
    pub(super) fn is_reading(&self) -> bool {
        self.out.is_none()
    }

    /// Bytes that remain to be read; 0 when writing.
    #[inline]
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Everything from `start` to here.
    pub(super) fn since(&self, start: usize) -> &[u8] {
        match &self.out {
            None => &self.bytes[start..self.position],
            Some(out) => &out[start..],
        }
    }

    /// Ends the bytes to be read `len` after here; gives the old end back, for `reopen`.
    #[inline]
    pub(super) fn narrow(&mut self, len: usize) -> Option<&'b [u8]> {
        if !self.is_reading() {
            return None;
        }
        let all = self.bytes;
        self.bytes = all.get(..self.position.checked_add(len)?)?;
        Some(all)
    }

    /// Undoes `narrow`.
    #[inline]
    pub(super) fn reopen(&mut self, all: &'b [u8]) {
        self.bytes = all;
    }

    /// The next `len` bytes, if bytes are read, nobody looks on, and they are there.
    #[inline]
    pub(super) fn take_plain(&mut self, len: usize) -> Option<&'b [u8]> {
        if !self.plain {
            return None;
        }
        let found = self.bytes.get(self.position..self.position.checked_add(len)?)?;
        self.position += len;
        Some(found)
    }

    pub(super) fn fail(&self, spot: Spot, error: Error) -> Error {
        let address = self.base.saturating_add(u64::try_from(spot.position).unwrap_or(u64::MAX));
        error.at(Place::Field { structure: spot.structure, field: spot.field, address })
    }

    fn log(&mut self, spot: Spot, size: usize, value: impl FnOnce() -> Described) {
        if let Some(log) = &mut self.log {
            let address = self.base + u64::try_from(spot.position).unwrap_or(u64::MAX);
            log.push(Placed { structure: spot.structure, field: spot.field, address, size, value: value() });
        }
    }

    fn take(&mut self, spot: Spot, len: usize) -> Result<Option<&'b [u8]>> {
        if !self.is_reading() {
            return Ok(None);
        }
        match self.bytes[self.position..].get(..len) {
            Some(found) => {
                self.position += len;
                Ok(Some(found))
            }
            None => Err(self.fail(spot, Error::short(as_u64(len), as_u64(self.left())))),
        }
    }

    /// A little-endian unsigned number of `width` bytes: 1 to 8, or 16 with the upper half zero.
    #[inline]
    pub(super) fn uint(&mut self, spot: Spot, width: u8, get: impl FnOnce() -> u64) -> Result<u64> {
        if width <= 8
            && let Some(found) = self.take_plain(usize::from(width))
            && let Some(value) = number(found)
        {
            return Ok(value);
        }
        self.uint_seen(spot, width, get)
    }

    /// As `uint`, where it is written, logged, or not there.
    #[cold]
    fn uint_seen(&mut self, spot: Spot, width: u8, get: impl FnOnce() -> u64) -> Result<u64> {
        if let Some(found) = self.take(spot, usize::from(width))? {
            let Some(value) = number(found) else { return Err(self.fail(spot, Error::unsupported(BEYOND))) };
            self.log(spot, usize::from(width), || Described::Number(value));
            return Ok(value);
        }
        let value = get();
        if width < 8 && value >> (8 * width) != 0 {
            let what = format!("{value} does not fit in {width} bytes");
            return Err(self.fail(spot, Error::new(ErrorKind::Invalid, what)));
        }
        if let Some(out) = &mut self.out {
            let full = u128::from(value).to_le_bytes();
            out.extend_from_slice(&full[..usize::from(width)]);
        }
        self.log(spot, usize::from(width), || Described::Number(value));
        Ok(value)
    }

    /// An address, all ones for the undefined one.
    #[inline]
    pub(super) fn offset(&mut self, spot: Spot, width: u8, get: impl FnOnce() -> Option<u64>) -> Result<Option<u64>> {
        if self.is_reading() {
            let left = &self.bytes[self.position..];
            let undefined = left.get(..usize::from(width)).is_some_and(|found| found.iter().all(|&b| b == 0xff));
            if !undefined {
                return self.uint(spot, width, || 0).map(Some);
            }
            self.position += usize::from(width);
        } else if let Some(value) = get() {
            return self.uint(spot, width, || value).map(Some);
        }
        if let Some(out) = &mut self.out {
            out.resize(out.len() + usize::from(width), 0xff);
        }
        self.log(spot, usize::from(width), || Described::Undefined);
        Ok(None)
    }

    /// `len` bytes as they are, borrowed from what is read (`None` when writing, after `get` was appended).
    pub(super) fn raw(&mut self, spot: Spot, len: usize, get: impl FnOnce(&mut Vec<u8>)) -> Result<Option<&'b [u8]>> {
        if let Some(found) = self.take(spot, len)? {
            self.log(spot, len, || Described::Bytes(found.to_vec()));
            return Ok(Some(found));
        }
        if let Some(out) = &mut self.out {
            let before = out.len();
            get(out);
            if out.len() - before != len {
                let what = format!("{} bytes given for a field of {len}", out.len() - before);
                return Err(self.fail(spot, Error::new(ErrorKind::Invalid, what)));
            }
            let written = if self.log.is_some() { out[before..].to_vec() } else { Vec::new() };
            self.log(spot, len, || Described::Bytes(written));
        }
        Ok(None)
    }

    /// `count` rows of numbers, given one by one; nothing when writing.
    pub(super) fn rows(
        &mut self,
        spot: Spot,
        columns: &[Column],
        count: usize,
        mut each: impl FnMut(&[u64]),
    ) -> Result<()> {
        let widths: Vec<usize> = columns.iter().map(|c| c.width(self.sizes)).collect();
        let size: usize = widths.iter().sum();
        let Some(total) = size.checked_mul(count) else {
            return Err(self.fail(spot, Error::limit(format!("{count} rows of {size} bytes are too many"))));
        };
        if total == 0 {
            return Ok(());
        }
        let Some(all) = self.take(spot, total)? else { return Ok(()) };
        let mut values = vec![0; columns.len()];
        for (i, row) in all.chunks_exact(size).enumerate() {
            let mut rest = row;
            for ((value, column), &width) in values.iter_mut().zip(columns).zip(&widths) {
                let (found, after) = rest.split_at(width);
                rest = after;
                *value = match (number(found), column) {
                    (Some(value), Column::Number(_)) => value,
                    (Some(value), Column::Address) if width < 8 && value == (1 << (8 * width)) - 1 => u64::MAX,
                    (Some(value), Column::Address) => value,
                    (None, Column::Address) if found.iter().all(|&b| b == 0xff) => u64::MAX,
                    (None, _) => {
                        let position = spot.position + i * size + (size - rest.len() - width);
                        return Err(self.fail(Spot { position, ..spot }, Error::unsupported(BEYOND)));
                    }
                };
            }
            each(&values);
        }
        self.log(spot, total, || Described::Bytes(all.to_vec()));
        Ok(())
    }

    /// Four bytes at `position` of what was written so far; nothing when reading.
    pub(super) fn patch(&mut self, position: usize, value: u32) {
        if let Some(out) = &mut self.out {
            out[position..position + 4].copy_from_slice(&value.to_le_bytes());
        }
    }

    /// `found`, which lies in what is read, without a copy where the bytes have a shared owner.
    #[inline]
    pub(super) fn shared(&self, found: &[u8]) -> Bytes {
        match self.owner {
            Some(owner) => owner.slice_ref(found),
            None => Bytes::copy_from_slice(found),
        }
    }

    /// What is left to read, without moving.
    pub(super) fn ahead(&self) -> &'b [u8] {
        &self.bytes[self.position..]
    }
}

const BEYOND: &str = "a number of 16 bytes is beyond 64 bits";

/// A little-endian number of up to 8 bytes, or of 16 with the upper half zero.
#[inline]
fn number(found: &[u8]) -> Option<u64> {
    Some(match found.len() {
        1 => u64::from(found[0]),
        2 => u64::from(LE::read_u16(found)),
        4 => u64::from(LE::read_u32(found)),
        8 => LE::read_u64(found),
        0 => 0,
        width @ (3 | 5..=7) => LE::read_uint(found, width),
        _ if found[8..].iter().any(|&b| b != 0) => return None,
        _ => LE::read_u64(found),
    })
}

fn as_u64(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
