//! Frames of Zstandard, RFC 8878, that are all at hand, decoded into a slice.
//!
//! ```text
//! 0xfd2fb528 u32 | descriptor u8 | window u8? | dictionary, 0 to 4 bytes | plain size, 0 to 8 bytes
//! blocks: 21 bits of size, 2 of kind, 1 for the last, then the content     | checksum u32?
//! ```
//! Numbers are little-endian. As the output is one slice, it is its own window: what a match refers to is where it was
//! decoded to.

use super::bytes::{Bytes, LARGEST_BLOCK};
use super::fast;
use super::literals::Literals;
use super::sequences::Sequences;
use super::xxhash::xxh64;
use crate::error::{Error, Result};
use crate::filter::ends_early;

const MAGIC: u32 = 0xfd2f_b528;
/// Frames that are passed over have this number, or one of the 15 after it.
const SKIPPED: u32 = 0x184d_2a50;

/// What a thread keeps for the next frame: tables, and decoded literals.
#[derive(Default)]
pub(super) struct Workspace {
    literals: Literals,
    sequences: Sequences,
}

/// Decodes all frames of `input` to `to`; gives how many bytes that were. What follows the last frame is ignored.
pub(super) fn decode(input: &[u8], to: &mut [u8], workspace: &mut Workspace) -> Result<usize> {
    let (mut rest, mut at, mut frames) = (Bytes { input, at: 0 }, 0, 0);
    loop {
        match input.get(rest.at..).and_then(<[u8]>::first_chunk).map(|magic| u32::from_le_bytes(*magic)) {
            Some(MAGIC) => {
                rest.at += 4;
                at += frame(&mut rest, &mut to[at..], workspace)?;
            }
            Some(magic) if magic & !15 == SKIPPED => {
                rest.at += 4;
                let len = rest.number(4)?;
                rest.take(len)?;
            }
            _ if frames > 0 => return Ok(at),
            Some(magic) => return Err(Error::corrupt(format!("no zstd frame: it begins with {magic:#010x}"))),
            None => return Err(ends_early()),
        }
        frames += 1;
    }
}

/// Decodes the frame after its magic number to the start of `to`.
fn frame(rest: &mut Bytes<'_>, to: &mut [u8], workspace: &mut Workspace) -> Result<usize> {
    let descriptor = rest.number(1)?;
    if descriptor & 8 != 0 {
        return Err(Error::unsupported(format!("frame descriptor {descriptor:#04x}, its reserved bit is set")));
    }
    let single = descriptor & 32 != 0;
    if !single {
        // The window only says how much a streaming decoder has to keep.
        rest.take(1)?;
    }
    let dictionary = rest.number([0, 1, 2, 4][descriptor & 3])?;
    if dictionary != 0 {
        return Err(Error::unsupported(format!("a zstd frame with dictionary {dictionary}")));
    }
    let claimed = match (descriptor >> 6, single) {
        (0, false) => None,
        (0, true) => Some(rest.number(1)?),
        (1, _) => Some(rest.number(2)? + 256),
        (2, _) => Some(rest.number(4)?),
        _ => Some(
            rest.take(8)?
                .iter()
                .rev()
                .try_fold(0usize, |n, &b| Some(n.checked_mul(256)? + usize::from(b)))
                .unwrap_or(usize::MAX),
        ),
    };
    if let Some(claimed) = claimed.filter(|&claimed| claimed > to.len()) {
        return Err(Error::corrupt(format!("the frame claims {claimed} bytes, {} are allowed", to.len())));
    }
    workspace.literals.begin();
    workspace.sequences.begin();
    let mut at = 0;
    loop {
        let header = rest.number(3)?;
        let len = header >> 3;
        match header >> 1 & 3 {
            0 => {
                let bytes = rest.take(len)?;
                room(to, at, len)?.copy_from_slice(bytes);
                at += len;
            }
            1 => {
                room(to, at, len)?.fill(rest.take(1)?[0]);
                at += len;
            }
            2 if len <= LARGEST_BLOCK => {
                let end = rest.at + len;
                let input = rest.input.get(..end).ok_or_else(ends_early)?;
                let mut block = Bytes { input, at: rest.at };
                let literals = workspace.literals.read(&mut block)?;
                at = fast::block(&mut workspace.sequences, &mut block, literals, to, at)?;
                rest.at = end;
            }
            kind => return Err(Error::corrupt(format!("a block of kind {kind} and {len} bytes"))),
        }
        if header & 1 == 1 {
            break;
        }
    }
    if let Some(claimed) = claimed.filter(|&claimed| claimed != at) {
        return Err(Error::corrupt(format!("the frame gives {at} bytes, it claims {claimed}")));
    }
    if descriptor & 4 != 0 {
        let (stored, [a, b, c, d, ..]) = (rest.take(4)?, xxh64(&to[..at]).to_le_bytes());
        if stored != [a, b, c, d] {
            return Err(Error::corrupt(format!("checksum is {stored:02x?}, bytes give {:02x?}", [a, b, c, d])));
        }
    }
    Ok(at)
}

/// The next `len` bytes of the output.
pub(super) fn room(to: &mut [u8], at: usize, len: usize) -> Result<&mut [u8]> {
    let allowed = to.len();
    let room = to.get_mut(at..).and_then(|rest| rest.get_mut(..len));
    room.ok_or_else(|| Error::corrupt(format!("the frame gives more than the {allowed} bytes that are allowed")))
}
