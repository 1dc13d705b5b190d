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

/// What a frame says before its blocks.
struct Header {
    /// How many bytes the frame gives.
    claimed: Option<usize>,
    /// Whether a checksum follows the blocks.
    checked: bool,
}

/// Decodes all frames of `input` to `to`; gives how many bytes that were. What follows the last frame is ignored.
pub(super) fn decode(input: &[u8], to: &mut [u8], workspace: &mut Workspace) -> Result<usize> {
    let mut at = 0;
    frames(input, |rest| {
        at += frame(rest, &mut to[at..], workspace)?;
        Ok(())
    })?;
    Ok(at)
}

/// How many bytes the frames of `input` give at most. Nothing is decoded.
pub(super) fn most(input: &[u8]) -> Result<usize> {
    let mut most = 0usize;
    frames(input, |rest| {
        let Header { claimed, checked } = header(rest)?;
        let mut sum = 0usize;
        loop {
            let block = block(rest)?;
            sum = sum.saturating_add(if block.kind == COMPRESSED { LARGEST_BLOCK } else { block.len });
            rest.take(if block.kind == REPEATED { 1 } else { block.len })?;
            if block.last {
                break;
            }
        }
        rest.take(if checked { 4 } else { 0 })?;
        most = most.saturating_add(claimed.map_or(sum, |claimed| claimed.min(sum)));
        Ok(())
    })?;
    Ok(most)
}

/// Hands the bytes after the magic number of every frame to `take`, which takes the frame.
fn frames(input: &[u8], mut take: impl FnMut(&mut Bytes<'_>) -> Result<()>) -> Result<()> {
    let (mut rest, mut frames) = (Bytes { input, at: 0 }, 0);
    loop {
        match input.get(rest.at..).and_then(<[u8]>::first_chunk).map(|magic| u32::from_le_bytes(*magic)) {
            Some(MAGIC) => {
                rest.at += 4;
                take(&mut rest)?;
            }
            Some(magic) if magic & !15 == SKIPPED => {
                rest.at += 4;
                let len = rest.number(4)?;
                rest.take(len)?;
            }
            _ if frames > 0 => return Ok(()),
            Some(magic) => return Err(Error::corrupt(format!("no zstd frame: it begins with {magic:#010x}"))),
            None => return Err(ends_early()),
        }
        frames += 1;
    }
}

fn header(rest: &mut Bytes<'_>) -> Result<Header> {
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
    Ok(Header { claimed, checked: descriptor & 4 != 0 })
}

const STORED: usize = 0;
const REPEATED: usize = 1;
const COMPRESSED: usize = 2;

/// What stands before a block: its content is so many bytes, or one that is repeated as often.
struct Block {
    kind: usize,
    len: usize,
    last: bool,
}

fn block(rest: &mut Bytes<'_>) -> Result<Block> {
    let header = rest.number(3)?;
    let block = Block { kind: header >> 1 & 3, len: header >> 3, last: header & 1 == 1 };
    if block.kind > COMPRESSED || block.len > LARGEST_BLOCK {
        return Err(Error::corrupt(format!("a block of kind {} and {} bytes", block.kind, block.len)));
    }
    Ok(block)
}

/// Decodes the frame after its magic number to the start of `to`.
fn frame(rest: &mut Bytes<'_>, to: &mut [u8], workspace: &mut Workspace) -> Result<usize> {
    let Header { claimed, checked } = header(rest)?;
    if let Some(claimed) = claimed.filter(|&claimed| claimed > to.len()) {
        return Err(Error::corrupt(format!("the frame claims {claimed} bytes, {} are allowed", to.len())));
    }
    workspace.literals.begin();
    workspace.sequences.begin();
    let mut at = 0;
    loop {
        let Block { kind, len, last } = block(rest)?;
        at = match kind {
            STORED => {
                let bytes = rest.take(len)?;
                room(to, at, len)?.copy_from_slice(bytes);
                at + len
            }
            REPEATED => {
                room(to, at, len)?.fill(rest.take(1)?[0]);
                at + len
            }
            _ => compressed(rest, len, to, at, workspace)?,
        };
        if last {
            break;
        }
    }
    if let Some(claimed) = claimed.filter(|&claimed| claimed != at) {
        return Err(Error::corrupt(format!("the frame gives {at} bytes, it claims {claimed}")));
    }
    if checked {
        let (stored, [a, b, c, d, ..]) = (rest.take(4)?, xxh64(&to[..at]).to_le_bytes());
        if stored != [a, b, c, d] {
            return Err(Error::corrupt(format!("checksum is {stored:02x?}, bytes give {:02x?}", [a, b, c, d])));
        }
    }
    Ok(at)
}

/// Decodes the next `len` bytes, a compressed block, to `to[at..]`; gives where it ends.
fn compressed(rest: &mut Bytes<'_>, len: usize, to: &mut [u8], at: usize, workspace: &mut Workspace) -> Result<usize> {
    let end = rest.at + len;
    let input = rest.input.get(..end).ok_or_else(ends_early)?;
    let mut block = Bytes { input, at: rest.at };
    let literals = workspace.literals.read(&mut block)?;
    let after = fast::block(&mut workspace.sequences, &mut block, literals, to, at)?;
    rest.at = end;
    if after - at <= LARGEST_BLOCK {
        return Ok(after);
    }
    Err(Error::corrupt(format!("a block gives {} bytes, {LARGEST_BLOCK} are the most", after - at)))
}

/// The next `len` bytes of the output.
pub(super) fn room(to: &mut [u8], at: usize, len: usize) -> Result<&mut [u8]> {
    let allowed = to.len();
    let room = to.get_mut(at..).and_then(|rest| rest.get_mut(..len));
    room.ok_or_else(|| Error::corrupt(format!("the frame gives more than the {allowed} bytes that are allowed")))
}
