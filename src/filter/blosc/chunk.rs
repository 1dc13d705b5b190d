//! The chunks of blosc and blosc2: a header that says all, then blocks of streams.
//!
//! ```text
//! version | codec version | flags | type size | plain u32 | block u32 | stored u32     16 bytes
//! filters ×6 | … | metas ×6 | flags | flags                                            16 more, of blosc2
//! offsets of blocks u32 | per block, per stream: stored size u32, data
//! ```
//! Numbers are little-endian. A block of a splittable codec has one stream per byte of the type.

use byteorder::{ByteOrder, LittleEndian};

use crate::error::{Error, Result};
use crate::filter::bitshuffle::bit_unshuffle;
use crate::filter::blocks::Blocks;
use crate::filter::codec::Codec;
use crate::filter::scratch::with_buffer;
use crate::filter::shuffle::unshuffle;
use crate::filter::{ends_early, size};

pub(super) const HEADER: usize = 16;
const LONG_HEADER: usize = 32;
/// Where a chunk has no blocks of its own, it is cut into pieces of about this size.
const UNCODED_BLOCK: usize = 64 << 10;

pub(super) const BYTE_SHUFFLED: u8 = 1;
pub(super) const STORED: u8 = 2;
pub(super) const BIT_SHUFFLED: u8 = 4;
pub(super) const NOT_SPLIT: u8 = 16;

/// Which rules a chunk follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) enum Generation {
    First,
    Second,
}

/// A chunk whose blocks are taken in order.
pub(in crate::filter) struct Chunk<'a> {
    bytes: &'a [u8],
    /// Size of the decoded chunk.
    pub(in crate::filter) plain: usize,
    /// Size of a decoded block but the last.
    block: usize,
    next: usize,
    body: Body<'a>,
    /// The first block, where others are differences from it.
    first: Vec<u8>,
}

enum Body<'a> {
    Stored(&'a [u8]),
    /// One value over and over.
    Repeated(&'a [u8]),
    Coded(Coding),
}

struct Coding {
    generation: Generation,
    codec: Codec,
    /// Where the offsets of the blocks stand.
    offsets: usize,
    type_size: usize,
    split: bool,
    /// What is to be undone, in this order.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Unshuffle(usize),
    /// The type size, and whether a block that is no whole number of 8 elements was left as it is.
    BitUnshuffle(usize, bool),
    /// Words of this size are differences.
    Delta(usize),
}

/// The number a chunk of `t`-byte values counts as not-a-number.
const NAN_F32: &[u8] = &[0, 0, 0xc0, 0x7f];
const NAN_F64: &[u8] = &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f];

impl<'a> Chunk<'a> {
    /// Reads the header of a chunk of either generation.
    pub(in crate::filter) fn new(bytes: &'a [u8]) -> Result<Self> {
        let header = bytes.get(..HEADER).ok_or_else(ends_early)?;
        let number = |at: usize| size(LittleEndian::read_u32(&header[at..]));
        let (flags, type_size) = (header[2], usize::from(header[3]).max(1));
        let (plain, block, stored) = (number(4), number(8), number(12));
        let bytes = bytes.get(..stored).ok_or_else(ends_early)?;
        if block == 0 && plain > 0 {
            return Err(Error::corrupt("block size is 0"));
        }
        let chunk = Chunk { bytes, plain, block, next: 0, body: Body::Stored(&[]), first: Vec::new() };
        if flags & (BYTE_SHUFFLED | BIT_SHUFFLED) == BYTE_SHUFFLED | BIT_SHUFFLED {
            return chunk.second(flags, type_size);
        }
        if flags & STORED != 0 {
            return chunk.stored(HEADER);
        }
        let mut steps = Vec::new();
        if flags & BYTE_SHUFFLED != 0 && type_size > 1 {
            steps.push(Step::Unshuffle(type_size));
        } else if flags & BIT_SHUFFLED != 0 && block >= type_size {
            steps.push(Step::BitUnshuffle(type_size, true));
        }
        let split = flags & NOT_SPLIT == 0 && splits(type_size, block);
        chunk.coded(Generation::First, flags, HEADER, type_size, split, steps)
    }

    /// The rest of a header of blosc2.
    fn second(self, flags: u8, type_size: usize) -> Result<Self> {
        let header = self.bytes.get(..LONG_HEADER).ok_or_else(ends_early)?;
        if header[31] & 1 != 0 || header[30] & 1 != 0 {
            return Err(Error::unsupported("a chunk with a dictionary or with blocks of various lengths"));
        }
        let value = match header[31] >> 4 & 7 {
            0 if flags & STORED != 0 => return self.stored(LONG_HEADER),
            0 => {
                let steps = steps(header, type_size)?;
                return self.coded(Generation::Second, flags, LONG_HEADER, type_size, flags & NOT_SPLIT == 0, steps);
            }
            1 | 4 => &[0][..],
            2 if type_size == 4 => NAN_F32,
            2 => NAN_F64,
            3 => &self.bytes[LONG_HEADER..],
            other => return Err(Error::corrupt(format!("special chunk {other}, 1 to 4 are known"))),
        };
        Ok(self.repeated(value))
    }

    /// A chunk of one value over and over.
    pub(in crate::filter) fn filled(plain: usize, value: &'a [u8]) -> Self {
        Chunk { bytes: &[], plain, block: plain, next: 0, body: Body::Stored(&[]), first: Vec::new() }.repeated(value)
    }

    /// Zeros or not-a-numbers, as the mark of a special chunk says.
    pub(in crate::filter) fn special(mark: u8, type_size: usize, plain: usize) -> Result<Self> {
        match mark {
            1 | 4 => Ok(Chunk::filled(plain, &[0])),
            2 => Ok(Chunk::filled(plain, if type_size == 4 { NAN_F32 } else { NAN_F64 })),
            other => Err(Error::corrupt(format!("special chunk {other}, 1, 2 and 4 are known"))),
        }
    }

    fn repeated(self, value: &'a [u8]) -> Self {
        // Every block has to begin with the value.
        let block = UNCODED_BLOCK.next_multiple_of(value.len().max(1));
        Chunk { body: Body::Repeated(value), block, ..self }
    }

    fn stored(self, header: usize) -> Result<Self> {
        let plain = self.bytes.get(header..).and_then(|rest| rest.get(..self.plain)).ok_or_else(ends_early)?;
        Ok(Chunk { body: Body::Stored(plain), block: UNCODED_BLOCK, ..self })
    }

    /// Whether the blocks have `len` bytes; if they can be cut at will, from now on they do.
    pub(in crate::filter) fn has_blocks_of(&mut self, len: usize) -> bool {
        match &self.body {
            Body::Coded(_) => self.block == len,
            Body::Stored(_) => {
                self.block = len;
                true
            }
            Body::Repeated(value) => {
                self.block = len;
                len.checked_rem(value.len()) == Some(0)
            }
        }
    }

    fn coded(
        self,
        generation: Generation,
        flags: u8,
        offsets: usize,
        type_size: usize,
        split: bool,
        steps: Vec<Step>,
    ) -> Result<Self> {
        let codec = match flags >> 5 {
            0 => Codec::BloscLz,
            1 => Codec::Lz4,
            2 => Codec::Snappy,
            3 => Codec::Zlib,
            4 => Codec::Zstd,
            other => return Err(Error::unsupported(format!("codec {other} of blosc, 0 to 4 are known"))),
        };
        let blocks = if self.plain == 0 { 0 } else { self.plain.div_ceil(self.block) };
        if self.bytes.len().saturating_sub(offsets) / 4 < blocks {
            return Err(ends_early());
        }
        let coding = Coding { generation, codec, offsets, type_size, split, steps };
        Ok(Chunk { body: Body::Coded(coding), ..self })
    }
}

/// Whether a first-generation block of this size is cut into one stream per byte of the type.
pub(super) fn splits(type_size: usize, block: usize) -> bool {
    type_size <= 16 && block / type_size >= 128
}

/// The six slots of a blosc2 chunk, last to first.
fn steps(header: &[u8], type_size: usize) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for slot in (0..6).rev() {
        let (filter, meta) = (header[16 + slot], usize::from(header[24 + slot]));
        let element = if meta == 0 { type_size } else { meta };
        match filter {
            0 | 4 => {}
            1 if element > 1 => steps.push(Step::Unshuffle(element)),
            1 => {}
            2 => steps.push(Step::BitUnshuffle(type_size, header[0] == 2)),
            3 => steps.push(Step::Delta(match type_size {
                1 | 2 | 4 | 8 => type_size,
                t if t.is_multiple_of(8) => 8,
                _ => 1,
            })),
            other => return Err(Error::unsupported(format!("filter {other} of blosc2, 0 to 4 are known"))),
        }
    }
    Ok(steps)
}

impl Coding {
    /// Decodes the streams of block `index` to `to`, before any step.
    fn streams(&self, bytes: &[u8], index: usize, whole: bool, to: &mut [u8]) -> Result<()> {
        let u32_at = |at: usize| {
            let four = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or_else(ends_early)?;
            Ok::<u32, Error>(u32::from_le_bytes(*four))
        };
        let mut at = size(u32_at(self.offsets + 4 * index)?);
        let streams = if self.split && whole { self.type_size } else { 1 };
        let len = to.len() / streams;
        if len * streams != to.len() || len == 0 {
            return Err(Error::corrupt(format!("a block of {} bytes in {streams} streams", to.len())));
        }
        for part in to.chunks_exact_mut(len) {
            let stored = u32_at(at)?;
            at += 4;
            if self.generation == Generation::Second && stored.cast_signed() <= 0 {
                at += usize::from(stored != 0);
                part.fill(self.run(bytes, at, stored)?);
                continue;
            }
            let stored = size(stored);
            let stream = bytes.get(at..).and_then(|rest| rest.get(..stored)).ok_or_else(ends_early)?;
            at += stored;
            if stored == len {
                part.copy_from_slice(stream);
            } else {
                self.codec.decode(stream, part)?;
            }
        }
        Ok(())
    }

    /// The byte of a stream that is one run. Its token stands before `at`.
    fn run(&self, bytes: &[u8], at: usize, stored: u32) -> Result<u8> {
        if stored == 0 {
            return Ok(0);
        }
        match bytes.get(at - 1) {
            Some(token) if token & 1 == 1 => Ok(stored.wrapping_neg().to_le_bytes()[0]),
            Some(token) => Err(Error::unsupported(format!("token {token} of a run, 1 is known"))),
            None => Err(ends_early()),
        }
    }

    fn undo(&self, step: Step, index: usize, first: &[u8], from: &[u8], to: &mut [u8]) {
        let whole = match step {
            Step::Unshuffle(element) => {
                let whole = from.len() / element * element;
                unshuffle(&from[..whole], element, 0, &mut to[..whole]);
                whole
            }
            Step::BitUnshuffle(element, all_or_nothing) => {
                let count = from.len() / element;
                let whole = if all_or_nothing && !count.is_multiple_of(8) { 0 } else { count / 8 * 8 * element };
                bit_unshuffle(&from[..whole], element, &mut to[..whole]);
                whole
            }
            Step::Delta(word) => {
                let whole = from.len() / word * word;
                to[..whole].copy_from_slice(&from[..whole]);
                undo_delta(index, first, word, &mut to[..whole]);
                whole
            }
        };
        to[whole..].copy_from_slice(&from[whole..]);
    }

    fn block(&self, chunk: &[u8], index: usize, whole: bool, first: &[u8], to: &mut [u8]) -> Result<()> {
        let Some((&last, others)) = self.steps.split_last() else { return self.streams(chunk, index, whole, to) };
        with_buffer(to.len(), |buffer| {
            self.streams(chunk, index, whole, buffer)?;
            for &step in others {
                self.undo(step, index, first, buffer, to);
                buffer.copy_from_slice(to);
            }
            self.undo(last, index, first, buffer, to);
            Ok(())
        })
    }

    fn has_delta(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Delta(_)))
    }
}

/// Words of the first block are differences from the word before, of others from the first block.
fn undo_delta(index: usize, first: &[u8], word: usize, to: &mut [u8]) {
    if index == 0 {
        for i in word..to.len() {
            to[i] ^= to[i - word];
        }
    } else {
        to.iter_mut().zip(first).for_each(|(to, first)| *to ^= first);
    }
}

impl Chunk<'_> {
    fn start(&self) -> usize {
        self.next.saturating_mul(self.block)
    }
}

impl Blocks for Chunk<'_> {
    fn next_len(&self) -> Option<usize> {
        match self.plain.checked_sub(self.start()) {
            None | Some(0) => None,
            Some(left) => Some(left.min(self.block)),
        }
    }

    fn decode_next(&mut self, to: &mut [u8]) -> Result<()> {
        let start = self.start();
        match &self.body {
            Body::Stored(plain) => to.copy_from_slice(&plain[start..start + to.len()]),
            Body::Repeated([same]) => to.fill(*same),
            Body::Repeated([]) => return Err(Error::corrupt("the repeated value has no bytes")),
            Body::Repeated(value) => {
                to.chunks_mut(value.len()).for_each(|part| part.copy_from_slice(&value[..part.len()]));
            }
            Body::Coded(coding) => {
                coding.block(self.bytes, self.next, to.len() == self.block, &self.first, to)?;
                if self.next == 0 && coding.has_delta() {
                    self.first = to.to_vec();
                }
            }
        }
        self.next += 1;
        Ok(())
    }

    fn skip_next(&mut self) -> Result<()> {
        match &self.body {
            Body::Coded(coding) if self.next == 0 && coding.has_delta() => {
                with_buffer(self.block.min(self.plain), |block| self.decode_next(block))
            }
            _ => {
                self.next += 1;
                Ok(())
            }
        }
    }
}
