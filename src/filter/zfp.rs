//! Zfp, filter 32013: the chunk is one zfp stream whose header stands in the client values. By the crate `zfp-rs`.
//!
//! Client value 0 is the versions, the others are the header, bit by bit: magic, 52 bits of field description, 12 or 64
//! bits of mode. The values are little-endian i32, i64, f32 or f64.

use std::borrow::Cow;

use byteorder::{ByteOrder, LittleEndian};
use zfp_rs::{ZfpBitStream, ZfpConfig, ZfpField, ZfpFieldMut, ZfpHeaderMask, ZfpScalar, ZfpScalarType};

use super::{Bound, ChunkInfo, Filter, Output, ends_early};
use crate::error::{Error, Result};

/// Zfp for fields of one shape.
#[derive(Clone, Debug)]
pub(super) struct Zfp {
    kind: ZfpScalarType,
    dims: [usize; 4],
    count: usize,
    config: ZfpConfig,
    /// Whether a big-endian machine wrote the header: the numbers of the dataset are big-endian then.
    swapped: bool,
}

/// Numbers that zfp knows, from and to little-endian bytes.
trait Number: ZfpScalar + Default + Clone {
    fn load(from: &[u8]) -> Vec<Self>;
    fn store(numbers: &[Self], to: &mut [u8]);
}

macro_rules! numbers {
    ($($kind:ty, $read:ident, $write:ident;)*) => { $(
        impl Number for $kind {
            fn load(from: &[u8]) -> Vec<Self> {
                let mut numbers = vec![Self::default(); from.len() / size_of::<Self>()];
                LittleEndian::$read(from, &mut numbers);
                numbers
            }

            fn store(numbers: &[Self], to: &mut [u8]) {
                LittleEndian::$write(numbers, to);
            }
        }
    )* };
}

numbers! {
    i32, read_i32_into, write_i32_into;
    i64, read_i64_into, write_i64_into;
    f32, read_f32_into, write_f32_into;
    f64, read_f64_into, write_f64_into;
}

impl Zfp {
    pub(super) fn new(client_data: &[u32], chunk: ChunkInfo) -> Result<Self> {
        let words = client_data.get(1..).unwrap_or_default();
        let magic = u32::from_le_bytes(*b"zfp\x05");
        let swapped = words.first() == Some(&magic.swap_bytes());
        let bytes: Vec<u8> =
            words.iter().flat_map(|word| if swapped { word.to_be_bytes() } else { word.to_le_bytes() }).collect();
        let mut stream = ZfpBitStream::from_bytes(&in_words(&bytes)).map_err(|e| Error::limit(e.to_string()))?;
        let header = stream.read_header(ZfpHeaderMask::FULL).map_err(|e| Error::corrupt(e.to_string()))?;
        let (Some(field), Some(config)) = (header.metadata, header.config) else {
            return Err(Error::corrupt("client values lack a zfp header"));
        };
        let mut used = field.dims.iter().take_while(|&&n| n > 0);
        let count = used.try_fold(1usize, |product, &n| product.checked_mul(n)).unwrap_or(usize::MAX);
        let size = match field.scalar_type {
            ZfpScalarType::I32 | ZfpScalarType::F32 => 4,
            ZfpScalarType::I64 | ZfpScalarType::F64 => 8,
        };
        if count.checked_mul(size) != Some(chunk.bytes) {
            let what = format!("{count} numbers of {size} bytes, a chunk has {} bytes", chunk.bytes);
            return Err(Error::corrupt(what));
        }
        Ok(Zfp { kind: field.scalar_type, dims: field.dims, count, config, swapped })
    }

    fn decode_as<T: Number>(&self, input: &[u8], to: &mut [u8]) -> Result<()> {
        let mut numbers = vec![T::default(); self.count];
        let mut field = ZfpFieldMut::new(&mut numbers, self.dims).map_err(|e| Error::corrupt(e.to_string()))?;
        let mut stream = ZfpBitStream::from_bytes(&in_words(input)).map_err(|e| Error::limit(e.to_string()))?;
        stream.decompress(&self.config, &mut field).map_err(|e| Error::corrupt(e.to_string()))?;
        // The stream is read in words of 64 bits, and is zero past its end.
        if stream.read_pos() > (input.len().next_multiple_of(8) as u64) * 8 {
            return Err(ends_early());
        }
        T::store(&numbers, to);
        Ok(())
    }

    fn encode_as<T: Number>(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let invalid = |error: &dyn std::fmt::Display| Error::invalid(error.to_string());
        let numbers = T::load(input);
        let field = ZfpField::new(&numbers, self.dims).map_err(|e| invalid(&e))?;
        let Some(largest) = self.config.maximum_size(self.kind, self.dims) else { return Ok(false) };
        let mut stream = ZfpBitStream::new(largest).map_err(|e| invalid(&e))?;
        stream.compress(&self.config, &field).map_err(|e| invalid(&e))?;
        output.extend_from_slice(&in_words(stream.as_bytes()));
        Ok(true)
    }
}

/// A stream of words of 64 bits, least significant byte first, as the crate wants it: each in this machine's order.
fn in_words(stream: &[u8]) -> Cow<'_, [u8]> {
    let mut words = Cow::Borrowed(stream);
    if cfg!(target_endian = "big") {
        let words = words.to_mut();
        words.resize(words.len().next_multiple_of(8), 0);
        words.chunks_exact_mut(8).for_each(<[u8]>::reverse);
    }
    words
}

impl Filter for Zfp {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let size = if matches!(self.kind, ZfpScalarType::I32 | ZfpScalarType::F32) { 4 } else { 8 };
        let Some(to) = output.slice(self.count * size)? else {
            return Err(Error::invalid("zfp does not decode to a scattered output"));
        };
        match self.kind {
            ZfpScalarType::I32 => self.decode_as::<i32>(input, to),
            ZfpScalarType::I64 => self.decode_as::<i64>(input, to),
            ZfpScalarType::F32 => self.decode_as::<f32>(input, to),
            ZfpScalarType::F64 => self.decode_as::<f64>(input, to),
        }?;
        if self.swapped {
            to.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        Ok(())
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        let largest = self.config.maximum_size(self.kind, self.dims).unwrap_or(0);
        Bound::AtMost(largest.max(Bound::of_codec(plain).bytes()))
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        if self.swapped {
            // The header of such a dataset was made elsewhere; a chunk can be left as it is.
            return Ok(false);
        }
        match self.kind {
            ZfpScalarType::I32 => self.encode_as::<i32>(input, output),
            ZfpScalarType::I64 => self.encode_as::<i64>(input, output),
            ZfpScalarType::F32 => self.encode_as::<f32>(input, output),
            ZfpScalarType::F64 => self.encode_as::<f64>(input, output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    /// Client values for reversible i32 of 30 by 20.
    fn values(kind: u64, mode: u64) -> Vec<u32> {
        let description = (kind - 1) | 1 << 2 | 29 << 4 | 19 << 28;
        let header =
            u128::from(u32::from_le_bytes(*b"zfp\x05")) | u128::from(description) << 32 | u128::from(mode) << (32 + 52);
        let bytes = header.to_le_bytes();
        std::iter::once(0x1010_5110).chain(bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w))).collect()
    }

    #[test]
    fn reversible_fields_come_back_and_damage_is_survived() {
        let reversible = ZfpConfig::reversible().mode_bits();
        let mut random = Random::new(60);
        for (kind, size) in [(1, 4), (2, 8), (3, 4), (4, 8)] {
            let chunk = ChunkInfo { bytes: 600 * size, element_size: size };
            let filter = Zfp::new(&values(kind, reversible), chunk).unwrap();
            let plain: Vec<u8> = (0..chunk.bytes).map(|_| random.byte() & 0x3f).collect();
            let stored = round_trip(&filter, &plain).unwrap();
            survives_damage(&filter, &stored, plain.len(), 1000);
            assert!(filter.decode(&stored[..stored.len() / 2], &mut Output::exact(&mut vec![0; plain.len()])).is_err());
        }
        assert!(Zfp::new(&values(1, reversible), ChunkInfo { bytes: 2404, element_size: 4 }).is_err());
        assert!(Zfp::new(&[1], ChunkInfo { bytes: 2400, element_size: 4 }).is_err());
    }
}
