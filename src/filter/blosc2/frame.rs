//! The contiguous frame of blosc2: a header in msgpack, chunks, an index of the chunks, and a trailer.
//!
//! Numbers in the header are big-endian, each with its tag byte before it. The index is a chunk of its own.

use byteorder::{BigEndian, ByteOrder, LittleEndian};

use super::grid::Grid;
use crate::error::{Error, Result};
use crate::filter::blocks::Blocks;
use crate::filter::blosc::chunk::Chunk;
use crate::filter::blosc::encoder::Encoder;
use crate::filter::ends_early;

/// Where the header keeps things.
mod at {
    pub(super) const MAGIC: usize = 2;
    pub(super) const HEADER_LEN: usize = 11;
    pub(super) const FRAME_LEN: usize = 16;
    pub(super) const PLAIN: usize = 30;
    pub(super) const STORED: usize = 39;
    pub(super) const TYPE_SIZE: usize = 48;
    pub(super) const LAYERS: usize = 87;
}

const MAGIC: &[u8] = b"b2frame\0";

/// The one chunk of a frame, and how it is cut into n-dimensional blocks.
pub(super) struct Frame<'a> {
    pub(super) chunk: Chunk<'a>,
    pub(super) grid: Option<Grid>,
}

/// A number of the header as a size.
fn number(bytes: &[u8], at: usize, width: usize) -> Result<usize> {
    let field = bytes.get(at..).and_then(|rest| rest.get(..width)).ok_or_else(ends_early)?;
    let value = BigEndian::read_int(field, width);
    usize::try_from(value).map_err(|_| Error::corrupt(format!("a size of {value} in the frame's header")))
}

impl<'a> Frame<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self> {
        if bytes.get(at::MAGIC..at::MAGIC + 8) != Some(MAGIC) {
            return Err(Error::corrupt("no signature of a blosc2 frame"));
        }
        let header = number(bytes, at::HEADER_LEN, 4)?;
        let (plain, stored) = (number(bytes, at::PLAIN, 8)?, number(bytes, at::STORED, 8)?);
        let type_size = number(bytes, at::TYPE_SIZE, 4)?;
        let chunks = bytes.get(header..).ok_or_else(ends_early)?;
        let index = chunks.get(stored..).ok_or_else(ends_early)?;
        let mut chunk = match first_offset(index)? {
            Ok(offset) => Chunk::new(chunks.get(offset..).ok_or_else(ends_early)?)?,
            Err(mark) => Chunk::special(mark, type_size, plain)?,
        };
        if chunk.plain != plain {
            return Err(Error::corrupt(format!("the chunk has {} bytes, the frame {plain}", chunk.plain)));
        }
        let grid = match layer(bytes)? {
            Some(content) => Some(Grid::new(content, &mut chunk)?),
            None => None,
        };
        Ok(Frame { chunk, grid })
    }
}

/// Where the first chunk begins, or the mark of a special one.
fn first_offset(index: &[u8]) -> Result<Result<usize, u8>> {
    let mut index = Chunk::new(index)?;
    if index.plain != 8 {
        return Err(Error::corrupt(format!("an index of {} bytes, one chunk has 8", index.plain)));
    }
    let mut offset = [0; 8];
    match index.next_len() {
        Some(8) => index.decode_next(&mut offset)?,
        other => return Err(Error::corrupt(format!("a block of {other:?} bytes in the index"))),
    }
    let offset = LittleEndian::read_i64(&offset);
    Ok(usize::try_from(offset).map_err(|_| offset.to_le_bytes()[7] & 7))
}

/// The content of the layer that cuts the chunk into n-dimensional blocks.
fn layer(bytes: &[u8]) -> Result<Option<&[u8]>> {
    let array = bytes.get(at::LAYERS..at::LAYERS + 7);
    let Some(&[0x93, 0xcd, _, _, 0xde, high, low]) = array else { return Ok(None) };
    let mut at = at::LAYERS + 7;
    for _ in 0..u16::from_be_bytes([high, low]) {
        let len = usize::from(bytes.get(at).ok_or_else(ends_early)? & 31);
        let name = bytes.get(at + 1..at + 1 + len).ok_or_else(ends_early)?;
        at += 1 + len;
        let content = number(bytes, at + 1, 4)?;
        at += 5;
        if name == b"b2nd" || name == b"caterva" {
            let len = number(bytes, content + 1, 4)?;
            let content = bytes.get(content + 5..).and_then(|rest| rest.get(..len));
            return content.ok_or_else(ends_early).map(Some);
        }
    }
    Ok(None)
}

/// Appends `input` as a frame of one chunk, without n-dimensional blocks.
pub(super) fn encode(encoder: Encoder, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
    let start = output.len();
    let (Ok(plain), Ok(type_size)) = (i32::try_from(input.len()), i32::try_from(encoder.type_size)) else {
        return Ok(false);
    };
    output.extend_from_slice(&header(encoder));
    let header_len = output.len() - start;
    if !encoder.encode(input, output)? {
        return Ok(false);
    }
    let stored = output.len() - start - header_len;
    let index = Encoder { type_size: 8, level: 0, ..encoder };
    index.encode(&[0; 8], output)?;
    output.extend_from_slice(&TRAILER);
    let frame = &mut output[start..];
    let as_i64 = |len: usize| i64::try_from(len).unwrap_or(i64::MAX);
    let len = frame.len();
    BigEndian::write_i32(&mut frame[at::HEADER_LEN..], i32::try_from(header_len).unwrap_or(0));
    BigEndian::write_i64(&mut frame[at::FRAME_LEN..], as_i64(len));
    BigEndian::write_i64(&mut frame[at::PLAIN..], i64::from(plain));
    BigEndian::write_i64(&mut frame[at::STORED..], as_i64(stored));
    BigEndian::write_i32(&mut frame[at::TYPE_SIZE..], type_size);
    BigEndian::write_i32(&mut frame[58..], plain);
    Ok(true)
}

/// No variable-length layers, its own length, and no fingerprint.
const TRAILER: [u8; 35] = {
    let mut trailer = [0; 35];
    trailer[0] = 0x94; // an array of four
    trailer[1] = 1; // version of the trailer
    trailer[2] = 0x93; // an array of three: size of the map, map, content
    trailer[3] = 0xcd;
    trailer[5] = 6; // two tags, two counts
    trailer[6] = 0xde;
    trailer[9] = 0xdc;
    trailer[12] = 0xce; // the trailer's length
    trailer[16] = 35;
    trailer[17] = 0xd8; // sixteen bytes of fingerprint, of kind 0: none
    trailer
};

/// The header of a frame without layers, its lengths still zero.
fn header(encoder: Encoder) -> Vec<u8> {
    let mut header = vec![0x9e, 0xa8];
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&[0xd2, 0, 0, 0, 0]); // header length
    header.extend_from_slice(&[0xcf, 0, 0, 0, 0, 0, 0, 0, 0]); // frame length
    let codec = encoder.codec_number();
    let codec_and_level = codec | encoder.level.to_le_bytes()[0] << 4;
    header.extend_from_slice(&[0xa4, 0x12, 0x00, codec_and_level, 0x03]); // version 2, 64-bit offsets
    header.extend_from_slice(&[0xd3, 0, 0, 0, 0, 0, 0, 0, 0]); // plain size
    header.extend_from_slice(&[0xd3, 0, 0, 0, 0, 0, 0, 0, 0]); // stored size
    header.extend_from_slice(&[0xd2, 0, 0, 0, 0]); // type size
    header.extend_from_slice(&[0xd2, 0, 0, 0, 0]); // block size
    header.extend_from_slice(&[0xd2, 0, 0, 0, 0]); // chunk size
    header.extend_from_slice(&[0xd1, 0, 1, 0xd1, 0, 1]); // threads
    header.extend_from_slice(&[0xc2, 0xd8, 6]); // no layers of various lengths; the filters
    let mut slots = [0; 16];
    slots[5] = encoder.filter_number();
    slots[6] = codec;
    header.extend_from_slice(&slots);
    header.extend_from_slice(&[0x93, 0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0]); // no layers
    header
}
