//! Inflates a zlib stream that is all at hand into a slice of known size. RFC 1950 and 1951.
//!
//! Knowing both ends is what streaming decoders cannot use: the bit buffer is filled by whole words, the code
//! of a symbol is looked up while the one before is copied, matches are copied in steps that may write past their end, and
//! the checksum is taken while the bytes are still in the first cache. Near the ends a plainer loop takes over.

#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "compiled for AVX2 too; measured"))]
mod adler32;
mod bits;
mod entry;
#[expect(unsafe_code, reason = "steps without a check each; measured")]
mod fast;
mod tables;

use std::cell::RefCell;

use self::adler32::Adler32;
use self::bits::Bits;
use self::tables::{END, LITERAL, SUBTABLE, Tables};
use super::ends_early;
use super::lz::copy_match;
use crate::error::{Error, Result};

thread_local! {
    static TABLES: RefCell<Box<Tables>> = RefCell::default();
}

/// Bytes between two steps of the checksum.
const STRIDE: usize = 16 << 10;

/// Decodes the zlib stream at the start of `input`, which has to fill `to`. What follows the stream is ignored.
pub(super) fn inflate(input: &[u8], to: &mut [u8]) -> Result<()> {
    let Some(&[method, flags]) = input.first_chunk::<2>() else { return Err(ends_early()) };
    check_header(method, flags)?;
    let mut bits = Bits::new(&input[2..]);
    let mut output = Written { to, at: 0, checked: 0, adler: Adler32::new() };
    TABLES.with(|tables| {
        let tables = &mut *tables.borrow_mut();
        loop {
            let last = bits.take(1) == 1;
            match bits.take(2) {
                0 => stored(&mut bits, &mut output)?,
                1 => {
                    tables.fixed()?;
                    coded(&mut bits, tables, &mut output)?;
                }
                2 => {
                    tables.read(&mut bits)?;
                    coded(&mut bits, tables, &mut output)?;
                }
                _ => return Err(Error::corrupt("a block of type 3")),
            }
            bits.check()?;
            if last {
                break;
            }
        }
        output.finish(bits.last_word()?)
    })
}

/// The checksum of `bytes`, for other formats that end with it.
#[cfg(feature = "lzo")]
pub(super) fn adler32(bytes: &[u8]) -> u32 {
    let mut adler = Adler32::new();
    adler.update(bytes);
    adler.value()
}

fn check_header(method: u8, flags: u8) -> Result<()> {
    if !u16::from_be_bytes([method, flags]).is_multiple_of(31) {
        return Err(Error::corrupt("no zlib stream: its header is not a multiple of 31"));
    }
    if method & 15 != 8 || method >> 4 > 7 || flags & 32 != 0 {
        return Err(Error::corrupt(format!("a zlib stream with method {method:#04x} and flags {flags:#04x}")));
    }
    Ok(())
}

/// The bytes that are filled, and the checksum of those up to `checked`.
struct Written<'a> {
    to: &'a mut [u8],
    at: usize,
    checked: usize,
    adler: Adler32,
}

impl Written<'_> {
    /// Brings the checksum up to here.
    fn check(&mut self) {
        self.adler.update(&self.to[self.checked..self.at]);
        self.checked = self.at;
    }

    fn finish(mut self, stored: u32) -> Result<()> {
        if self.at != self.to.len() {
            let what = format!("the stream gives {} bytes, {} are expected", self.at, self.to.len());
            return Err(Error::corrupt(what));
        }
        self.check();
        let found = self.adler.value();
        if stored == found {
            return Ok(());
        }
        Err(Error::corrupt(format!("checksum is {stored:#010x}, bytes give {found:#010x}")))
    }

    #[cold]
    fn too_long(&self) -> Error {
        Error::corrupt(format!("the stream gives more than the {} bytes that are expected", self.to.len()))
    }
}

/// A block of bytes as they are.
fn stored(bits: &mut Bits<'_>, output: &mut Written<'_>) -> Result<()> {
    let bytes = bits.stored()?;
    let Some(place) = output.to.get_mut(output.at..).and_then(|rest| rest.get_mut(..bytes.len())) else {
        return Err(output.too_long());
    };
    place.copy_from_slice(bytes);
    output.at += bytes.len();
    output.check();
    Ok(())
}

/// A block of literals and matches.
fn coded(bits: &mut Bits<'_>, tables: &Tables, output: &mut Written<'_>) -> Result<()> {
    loop {
        if fast(bits, tables, output)? {
            output.check();
            return Ok(());
        }
        if output.at - output.checked >= STRIDE {
            output.check();
        } else if one(bits, tables, output)? {
            return Ok(());
        }
    }
}

/// Decodes while there is room on both sides and the checksum need not be brought up. `true` at the end of the block.
fn fast(bits: &mut Bits<'_>, tables: &Tables, output: &mut Written<'_>) -> Result<bool> {
    let Some(limit) = output.to.len().checked_sub(fast::ROOM) else { return Ok(false) };
    let mut reader = bits.fast();
    if !reader.refill() {
        return Ok(false);
    }
    let limit = limit.min(output.checked + STRIDE);
    let (at, ended) = fast::symbols(&mut reader, tables, output.to, output.at, limit)?;
    output.at = at;
    bits.go_on(&reader);
    Ok(ended)
}

/// Decodes one symbol near the ends. `true` at the end of the block.
fn one(bits: &mut Bits<'_>, tables: &Tables, output: &mut Written<'_>) -> Result<bool> {
    bits.refill();
    let mut entry = tables.literal(bits.buffer);
    if entry & SUBTABLE != 0 {
        bits.skip(tables::LITERAL_BITS);
        entry = tables.literal_below(entry, bits.buffer);
        if entry & SUBTABLE != 0 {
            return Err(undefined());
        }
    }
    if entry & LITERAL != 0 {
        bits.skip(entry::total_len(entry));
        bits.check()?;
        let [_, _, literal, _] = entry.to_le_bytes();
        let Some(place) = output.to.get_mut(output.at) else { return Err(output.too_long()) };
        *place = literal;
        output.at += 1;
        return Ok(false);
    }
    if entry & END != 0 {
        bits.skip(entry::total_len(entry));
        bits.check()?;
        return Ok(true);
    }
    let len = bits.value(entry);
    bits.refill();
    let mut entry = tables.distance(bits.buffer);
    if entry & SUBTABLE != 0 {
        bits.skip(tables::DISTANCE_BITS);
        entry = tables.distance_below(entry, bits.buffer);
        if entry & SUBTABLE != 0 {
            return Err(undefined());
        }
    }
    let distance = bits.value(entry);
    bits.check()?;
    copy_match(output.to, output.at, distance, len)?;
    output.at += len;
    Ok(false)
}

fn undefined() -> Error {
    Error::corrupt("a code that the block does not define")
}

#[cfg(test)]
mod tests {
    use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

    use super::*;
    use crate::filter::testing::Random;

    fn deflated(plain: &[u8], level: u32) -> Vec<u8> {
        let mut stored = Vec::with_capacity(plain.len() + plain.len() / 8 + 100);
        Compress::new(Compression::new(level), true).compress_vec(plain, &mut stored, FlushCompress::Finish).unwrap();
        stored
    }

    /// What flate2 says: the bytes, or that they are no whole stream of this size.
    fn reference(stored: &[u8], len: usize) -> Option<Vec<u8>> {
        let mut plain = vec![0; len + 1];
        let mut inflater = Decompress::new(true);
        let status = inflater.decompress(stored, &mut plain, FlushDecompress::Finish);
        let whole = status.is_ok_and(|s| s == Status::StreamEnd) && inflater.total_out() == len as u64;
        plain.truncate(len);
        whole.then_some(plain)
    }

    #[test]
    fn all_levels_and_sizes_come_back() {
        let mut random = Random::new(71);
        for level in 0..10 {
            for len in (0..40).chain([300, 5003, 70_001, 300_000]) {
                let plain = random.bytes(len);
                let mut stored = deflated(&plain, level);
                let mut back = vec![0xaa; len];
                inflate(&stored, &mut back).unwrap();
                assert!(back == plain, "{len} bytes at level {level}");
                stored.extend_from_slice(b"trailing");
                inflate(&stored, &mut back).unwrap();
                assert!(inflate(&stored, &mut vec![0; len + 1]).is_err());
                assert!(len == 0 || inflate(&stored, &mut vec![0; len - 1]).is_err());
            }
        }
    }

    #[test]
    fn damaged_streams_get_the_same_judgement_as_from_flate2() {
        let mut random = Random::new(72);
        let mut good = 0;
        for round in 0..20_000 {
            let len = random.index(3000);
            let plain = random.bytes(len);
            let mut stored = deflated(&plain, round % 10);
            random.damage(&mut stored);
            // Without a right checksum hardly anything passes, so mend it for what comes out.
            let end = stored.len().saturating_sub(4);
            let mut back = vec![0; len];
            if let Err(error) = inflate(&stored, &mut back)
                && error.message().starts_with("checksum")
            {
                let mut adler = Adler32::new();
                adler.update(&back);
                stored[end..].copy_from_slice(&adler.value().to_be_bytes());
            }
            let ours = inflate(&stored, &mut back).is_ok().then_some(back);
            let theirs = reference(&stored, len);
            assert!(ours == theirs, "round {round}: {:?} and {:?}", ours.is_some(), theirs.is_some());
            good += u32::from(ours.is_some());
        }
        assert!(good > 1000, "only {good} streams passed");
    }

    #[test]
    fn every_cut_is_an_error() {
        let plain = Random::new(73).bytes(3001);
        let stored = deflated(&plain, 6);
        for len in 0..stored.len() {
            assert!(inflate(&stored[..len], &mut vec![0; plain.len()]).is_err(), "cut to {len}");
        }
    }
}
