//! Writes the chunks of blosc and blosc2.

use byteorder::{ByteOrder, LittleEndian};

use super::chunk::{BIT_SHUFFLED, BYTE_SHUFFLED, Generation, NOT_SPLIT, STORED, splits};
use crate::error::Result;
use crate::filter::bitshuffle::bit_shuffle;
use crate::filter::codec::Codec;
use crate::filter::scratch::with_buffer;
use crate::filter::shuffle::shuffle;

/// What happens to a block before the codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) enum Shuffling {
    None,
    Bytes,
    Bits,
}

/// How chunks are to be written.
#[derive(Clone, Copy, Debug)]
pub(in crate::filter) struct Encoder {
    pub(in crate::filter) type_size: usize,
    pub(in crate::filter) level: u32,
    pub(in crate::filter) shuffling: Shuffling,
    pub(in crate::filter) codec: Codec,
    pub(in crate::filter) generation: Generation,
}

impl Encoder {
    /// Appends `input` as a chunk. `false` if it is too large for the format.
    pub(in crate::filter) fn encode(self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let Ok(plain) = u32::try_from(input.len()) else { return Ok(false) };
        let start = output.len();
        let block = self.block_size(input.len());
        let split = self.splittable() && splits(self.type_size, block);
        let version = match self.generation {
            Generation::First => 2,
            Generation::Second => 5,
        };
        output.extend_from_slice(&[version, 1, self.flags(split), u8::try_from(self.type_size).unwrap_or(1)]);
        output.extend_from_slice(&plain.to_le_bytes());
        output.extend_from_slice(&u32::try_from(block).unwrap_or(0).to_le_bytes());
        output.extend_from_slice(&[0; 4]);
        if self.generation == Generation::Second {
            let mut rest = [0; 16];
            rest[5] = self.filter_number();
            rest[6] = self.codec_number();
            output.extend_from_slice(&rest);
        }
        if self.level == 0 {
            output[start + 2] |= STORED;
            output.extend_from_slice(input);
        } else {
            self.encode_blocks(input, block, split, start, output)?;
        }
        let Ok(stored) = u32::try_from(output.len() - start) else { return Ok(false) };
        LittleEndian::write_u32(&mut output[start + 12..], stored);
        Ok(true)
    }

    fn encode_blocks(self, input: &[u8], block: usize, split: bool, start: usize, output: &mut Vec<u8>) -> Result<()> {
        let offsets = output.len();
        output.resize(offsets + 4 * input.len().div_ceil(block), 0);
        for (index, plain) in input.chunks(block).enumerate() {
            let at = u32::try_from(output.len() - start).unwrap_or(0);
            LittleEndian::write_u32(&mut output[offsets + 4 * index..], at);
            let streams = if split && plain.len() == block { self.type_size } else { 1 };
            with_buffer(plain.len(), |shuffled| {
                self.shuffle(plain, shuffled);
                shuffled.chunks(plain.len() / streams).try_for_each(|stream| self.encode_stream(stream, output))
            })?;
        }
        Ok(())
    }

    fn encode_stream(self, stream: &[u8], output: &mut Vec<u8>) -> Result<()> {
        if let (Generation::Second, Some(&first)) = (self.generation, stream.first())
            && stream.iter().all(|&byte| byte == first)
        {
            output.extend_from_slice(&(-i32::from(first)).to_le_bytes());
            output.extend(if first == 0 { &[][..] } else { &[1] });
            return Ok(());
        }
        let start = output.len();
        output.extend_from_slice(&[0; 4]);
        self.codec.encode(stream, self.codec_level(), output)?;
        if output.len() - start - 4 >= stream.len() {
            output.truncate(start + 4);
            output.extend_from_slice(stream);
        }
        let stored = u32::try_from(output.len() - start - 4).unwrap_or(0);
        LittleEndian::write_u32(&mut output[start..], stored);
        Ok(())
    }

    fn shuffle(self, plain: &[u8], to: &mut [u8]) {
        let count = plain.len() / self.type_size;
        let whole = match self.shuffling {
            Shuffling::Bytes if self.type_size > 1 => count * self.type_size,
            Shuffling::Bits if self.generation == Generation::Second => count / 8 * 8 * self.type_size,
            Shuffling::Bits if count.is_multiple_of(8) => count * self.type_size,
            Shuffling::None | Shuffling::Bytes | Shuffling::Bits => 0,
        };
        match self.shuffling {
            Shuffling::Bits => bit_shuffle(&plain[..whole], self.type_size, &mut to[..whole]),
            Shuffling::None | Shuffling::Bytes => shuffle(&plain[..whole], self.type_size, &mut to[..whole]),
        }
        to[whole..].copy_from_slice(&plain[whole..]);
    }

    fn flags(self, split: bool) -> u8 {
        let shuffled = match self.shuffling {
            _ if self.generation == Generation::Second => BYTE_SHUFFLED | BIT_SHUFFLED,
            Shuffling::Bytes if self.type_size > 1 => BYTE_SHUFFLED,
            Shuffling::Bits => BIT_SHUFFLED,
            Shuffling::None | Shuffling::Bytes => 0,
        };
        shuffled | if split { 0 } else { NOT_SPLIT } | self.codec_number() << 5
    }

    /// The number of the codec's format.
    pub(in crate::filter) fn codec_number(self) -> u8 {
        match self.codec {
            Codec::BloscLz => 0,
            Codec::Lz4 | Codec::Lz4High => 1,
            Codec::Snappy => 2,
            Codec::Zlib => 3,
            Codec::Zstd => 4,
        }
    }

    /// What blosc2 calls the shuffling.
    pub(in crate::filter) fn filter_number(self) -> u8 {
        match self.shuffling {
            Shuffling::None => 0,
            Shuffling::Bytes => 1,
            Shuffling::Bits => 2,
        }
    }

    /// The codecs that search little do better on one stream per byte of the type.
    fn splittable(self) -> bool {
        matches!(self.codec, Codec::BloscLz | Codec::Lz4 | Codec::Snappy)
    }

    /// Blocks fit the second cache, and are larger at higher levels and for the codecs that search harder.
    fn block_size(self, plain: usize) -> usize {
        let factor = match self.level {
            0 | 1 => 16 << 10,
            2 => 32 << 10,
            3 => 64 << 10,
            4 | 5 => 128 << 10,
            _ => 256 << 10,
        };
        let factor = if self.splittable() { factor * self.type_size.clamp(2, 8) / 2 } else { factor * 2 };
        let block = factor.min(plain).max(1);
        if block > self.type_size { block / self.type_size * self.type_size } else { block }
    }

    /// The codec's own level.
    fn codec_level(self) -> i32 {
        let level = i32::try_from(self.level).unwrap_or(9);
        match self.codec {
            Codec::Zstd if level < 9 => 2 * level - 1,
            Codec::Zstd => 22,
            Codec::BloscLz | Codec::Lz4 | Codec::Lz4High | Codec::Snappy | Codec::Zlib => level,
        }
    }
}
