//! Scale-offset, filter 6: numbers as their difference from the smallest, in as few bits as the largest needs.
//!
//! ```text
//! minimum bits u32 | 8 | minimum value u64 | 8 unused bytes | codes, most significant bit first, not aligned
//! ```
//! Client values: scale type (0 float by decimal digits, 2 integer), scale factor, elements per chunk, class (0
//! integer, 1 float), element size, sign, order, whether a fill value is defined, and the fill value, four bytes each.
//! The code of all ones stands for the fill value.

mod number;

use byteorder::{ByteOrder, LittleEndian};

use self::number::Number;
use super::bits::{BitReader, BitWriter};
use super::{Bound, ChunkInfo, Filter, Output, ends_early, size};
use crate::error::{Error, Result};

/// Bytes before the codes.
const HEADER: usize = 21;

/// The packing of one type of number.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScaleOffset {
    kind: Kind,
    elements: usize,
    big_endian: bool,
    /// Its bytes as a little-endian number.
    fill: Option<u64>,
    scale: Scale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// The bytes pass through.
    Unchanged,
    /// As many bits as are needed.
    Computed,
    /// The writer's choice of bits.
    Bits(u32),
    /// Decimal digits that are kept.
    Digits(i32),
}

/// Runs `$body` with `$T` as the type that `$kind` stands for.
macro_rules! with_number {
    ($kind:expr, $T:ident => $body:expr) => {
        match $kind {
            Kind::U8 => {
                type $T = u8;
                $body
            }
            Kind::U16 => {
                type $T = u16;
                $body
            }
            Kind::U32 => {
                type $T = u32;
                $body
            }
            Kind::U64 => {
                type $T = u64;
                $body
            }
            Kind::I8 => {
                type $T = i8;
                $body
            }
            Kind::I16 => {
                type $T = i16;
                $body
            }
            Kind::I32 => {
                type $T = i32;
                $body
            }
            Kind::I64 => {
                type $T = i64;
                $body
            }
            Kind::F32 => {
                type $T = f32;
                $body
            }
            Kind::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}

impl Kind {
    fn new(class: u32, size: u32, sign: u32) -> Result<Self> {
        match (class, size, sign) {
            (0, 1, 0) => Ok(Kind::U8),
            (0, 2, 0) => Ok(Kind::U16),
            (0, 4, 0) => Ok(Kind::U32),
            (0, 8, 0) => Ok(Kind::U64),
            (0, 1, 1) => Ok(Kind::I8),
            (0, 2, 1) => Ok(Kind::I16),
            (0, 4, 1) => Ok(Kind::I32),
            (0, 8, 1) => Ok(Kind::I64),
            (1, 4, _) => Ok(Kind::F32),
            (1, 8, _) => Ok(Kind::F64),
            _ => Err(Error::corrupt(format!("no number of class {class}, {size} bytes and sign {sign}"))),
        }
    }

    fn size(self) -> usize {
        with_number!(self, T => size_of::<T>())
    }
}

impl ScaleOffset {
    pub(super) fn new(client_data: &[u32], chunk: ChunkInfo) -> Result<Self> {
        let &[scale_type, factor, elements, class, element_size, sign, order, filled, ref fill @ ..] = client_data
        else {
            return Err(Error::corrupt(format!("has {} client values, 8 are needed", client_data.len())));
        };
        let kind = Kind::new(class, element_size, sign)?;
        if order > 1 {
            return Err(Error::corrupt(format!("byte order {order}, 0 and 1 are known")));
        }
        let scale = scale(scale_type, factor, class, element_size)?;
        let elements = size(elements);
        if elements.checked_mul(kind.size()) != Some(chunk.bytes) {
            let what = format!("packs {elements} numbers of {element_size} bytes, a chunk has {} bytes", chunk.bytes);
            return Err(Error::corrupt(what));
        }
        let fill = if filled == 1 { Some(fill_value(fill, kind.size())?) } else { None };
        Ok(ScaleOffset { kind, elements, big_endian: order == 1, fill, scale })
    }

    fn unpack(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let Some((header, codes)) = input.split_at_checked(HEADER) else { return Err(ends_early()) };
        let bits = LittleEndian::read_u32(header);
        let (size, full) = (self.kind.size(), 8 * u32::try_from(self.kind.size()).unwrap_or(8));
        if bits > full {
            return Err(Error::corrupt(format!("codes have {bits} bits, numbers {full}")));
        }
        let mut len = self.elements * size;
        if bits == full && output.expected().is_none() {
            // After a filter that shrinks, libhdf5 has fewer bytes than the chunk's numbers, and stores those as they are.
            len = len.min(codes.len());
        }
        let Some(to) = output.slice(len)? else {
            return Err(Error::invalid("scale-offset does not decode to a scattered output"));
        };
        let mut minimum = [0; 8];
        let stored = usize::from(header[4]).min(8);
        minimum[..stored].copy_from_slice(&header[5..5 + stored]);
        let minimum = u64::from_le_bytes(minimum);
        if bits == full {
            return with_number!(self.kind, T => self.copy_as::<T>(codes, to));
        }
        with_number!(self.kind, T => self.unpack_as::<T>(bits, minimum, codes, to))
    }

    /// Numbers as they are, little-endian; the last one may lack bytes.
    fn copy_as<T: Number>(&self, stored: &[u8], to: &mut [u8]) -> Result<()> {
        let stored = stored.get(..to.len()).ok_or_else(ends_early)?;
        let whole = to.len() / size_of::<T>() * size_of::<T>();
        let (to, last) = to.split_at_mut(whole);
        for (number, stored) in to.chunks_exact_mut(size_of::<T>()).zip(stored.chunks_exact(size_of::<T>())) {
            T::from_le(stored).put(number, self.big_endian);
        }
        last.copy_from_slice(&stored[whole..]);
        Ok(())
    }

    fn unpack_as<T: Number>(&self, bits: u32, minimum: u64, codes: &[u8], to: &mut [u8]) -> Result<()> {
        let mut reader = BitReader::new(codes);
        reader.check_left(self.elements.checked_mul(size(bits)))?;
        let digits = if let Scale::Digits(digits) = self.scale { digits } else { 0 };
        let (minimum, scale) = (T::from_low_bits(minimum), T::power_of_ten(digits));
        let (all_ones, fill) = match self.fill {
            Some(fill) => (if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }, T::from_low_bits(fill)),
            None => (u64::MAX, T::from_low_bits(0)),
        };
        let value = |code: u64| if code == all_ones { fill } else { T::decode(code, minimum, scale) };
        let numbers = to.chunks_exact_mut(size_of::<T>());
        if bits == 0 {
            let same = if self.fill.is_some() { fill } else { value(0) };
            numbers.for_each(|number| same.put(number, self.big_endian));
        } else if bits > BitReader::WINDOW {
            for number in numbers {
                value(reader.take(bits)?).put(number, self.big_endian);
            }
        } else {
            let mut numbers = numbers;
            let big_endian = self.big_endian;
            reader.each(bits, self.elements, |code| {
                if let Some(number) = numbers.next() {
                    value(code).put(number, big_endian);
                }
            });
        }
        Ok(())
    }

    fn pack_as<T: Number>(&self, input: &[u8], output: &mut Vec<u8>) -> bool {
        let numbers: Vec<T> = input.chunks_exact(size_of::<T>()).map(|n| T::get(n, self.big_endian)).collect();
        let fill = self.fill.map(T::from_low_bits);
        let digits = if let Scale::Digits(digits) = self.scale { digits } else { 0 };
        let Some(plan) = T::plan(&numbers, fill, T::power_of_ten(digits)) else { return false };
        let full = 8 * u32::try_from(size_of::<T>()).unwrap_or(8);
        let bits = match self.scale {
            Scale::Bits(bits) => bits,
            _ => plan.bits,
        };
        output.extend_from_slice(&bits.to_le_bytes());
        output.push(8);
        output.extend_from_slice(&plan.minimum.to_bits().to_le_bytes());
        output.extend_from_slice(&[0; 8]);
        if bits >= full {
            numbers
                .iter()
                .for_each(|number| output.extend_from_slice(&number.to_bits().to_le_bytes()[..size_of::<T>()]));
            return true;
        }
        let all_ones = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
        let mut writer = BitWriter::new(output);
        for &number in &numbers {
            let filled = fill.is_some_and(|fill| number.is_fill(fill, T::power_of_ten(digits)));
            let code = if filled { all_ones } else { number.encode(plan.minimum, T::power_of_ten(digits)) };
            writer.put(code, bits);
        }
        writer.finish();
        true
    }
}

fn scale(scale_type: u32, factor: u32, class: u32, element_size: u32) -> Result<Scale> {
    let factor = factor.cast_signed();
    match (class, scale_type) {
        (1, 0) => Ok(Scale::Digits(factor)),
        (1, _) => Err(Error::unsupported(format!("scale type {scale_type} of floats, only 0 is defined"))),
        _ => match u32::try_from(factor) {
            Ok(0) => Ok(Scale::Computed),
            Ok(bits) if bits == 8 * element_size => Ok(Scale::Unchanged),
            Ok(bits) if bits < 8 * element_size => Ok(Scale::Bits(bits)),
            _ => Err(Error::corrupt(format!("{factor} bits for numbers of {element_size} bytes"))),
        },
    }
}

fn fill_value(values: &[u32], element_size: usize) -> Result<u64> {
    match *values {
        [low, ..] if element_size <= 4 => Ok(u64::from(low)),
        [low, high, ..] => Ok(u64::from(high) << 32 | u64::from(low)),
        _ => Err(Error::corrupt("client values lack the fill value")),
    }
}

impl Filter for ScaleOffset {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        if self.scale == Scale::Unchanged {
            return output.write(input);
        }
        self.unpack(input, output)
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        match self.scale {
            Scale::Unchanged => Bound::Exactly(plain),
            _ => Bound::AtMost(plain.saturating_add(HEADER + 64)),
        }
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        if self.scale == Scale::Unchanged {
            output.extend_from_slice(input);
            return Ok(true);
        }
        if input.len() != self.elements * self.kind.size() {
            return Err(Error::invalid(format!("a chunk of {} bytes", input.len())));
        }
        Ok(with_number!(self.kind, T => self.pack_as::<T>(input, output)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    fn filter(head: [u32; 5], order: u32, fill: Option<u64>, elements: u32) -> ScaleOffset {
        let [scale_type, factor, class, element_size, sign] = head;
        let fill_bytes = fill.unwrap_or(0);
        let low = u32::try_from(fill_bytes & 0xffff_ffff).unwrap();
        let high = u32::try_from(fill_bytes >> 32).unwrap();
        let filled = u32::from(fill.is_some());
        let values = [scale_type, factor, elements, class, element_size, sign, order, filled, low, high];
        let bytes = size(elements * element_size);
        ScaleOffset::new(&values, ChunkInfo { bytes, element_size: size(element_size) }).unwrap()
    }

    #[test]
    fn integers_of_every_width_come_back() {
        let mut random = Random::new(11);
        for element_size in [1u32, 2, 4, 8] {
            for (sign, order, fill) in [(0, 0, None), (1, 1, None), (0, 1, Some(77)), (1, 0, Some(5))] {
                for range in 0..8 * element_size {
                    let packed = filter([2, 0, 0, element_size, sign], order, fill, 43);
                    let mut plain = Vec::new();
                    for _ in 0..43 {
                        let value = (random.next() >> (63 - range)).wrapping_sub(3);
                        let value = if random.below(9) == 0 { fill.unwrap_or(value) } else { value };
                        let bytes = value.to_le_bytes();
                        let part = &bytes[..size(element_size)];
                        if order == 0 { plain.extend(part) } else { plain.extend(part.iter().rev()) }
                    }
                    round_trip(&packed, &plain).unwrap();
                }
            }
        }
    }

    #[test]
    fn decimal_digits_keep_floats_near() {
        let packed = filter([0, 2, 1, 4, 0], 0, Some(u64::from((-999f32).to_bits())), 50);
        let mut plain: Vec<f32> = (0..49u16).map(|i| f32::from(i) * 0.337 - 5.0).collect();
        plain.push(-999.0);
        let bytes: Vec<u8> = plain.iter().flat_map(|v| v.to_le_bytes()).collect();
        let mut stored = Vec::new();
        assert!(packed.encode(&bytes, &mut stored).unwrap());
        assert!(stored.len() < 100);
        let mut back = vec![0; bytes.len()];
        packed.decode(&stored, &mut Output::exact(&mut back)).unwrap();
        for (value, near) in plain.iter().zip(back.as_chunks::<4>().0) {
            assert!((value - f32::from_le_bytes(*near)).abs() < 0.006);
        }
        assert_eq!(&back[196..], (-999f32).to_le_bytes());
    }

    #[test]
    fn short_and_damaged_streams_are_errors() {
        let packed = filter([2, 0, 0, 4, 1], 0, None, 60);
        let plain: Vec<u8> = (0..60u32).flat_map(|i| (i * i).to_le_bytes()).collect();
        let stored = round_trip(&packed, &plain).unwrap();
        for len in 0..stored.len() {
            assert!(packed.decode(&stored[..len], &mut Output::exact(&mut [0; 240])).is_err());
        }
        survives_damage(&packed, &stored, 240, 20_000);
    }

    #[test]
    fn contradictory_client_values_are_errors() {
        let chunk = ChunkInfo { bytes: 40, element_size: 4 };
        assert!(ScaleOffset::new(&[2, 0, 10, 0, 4, 0, 0, 0], chunk).is_ok());
        for values in [
            &[2, 0, 10, 0, 4, 0, 0][..],
            &[2, 0, 11, 0, 4, 0, 0, 0],
            &[2, 0, 10, 0, 4, 0, 2, 0],
            &[2, 33, 10, 0, 4, 0, 0, 0],
            &[2, 0, 10, 0, 4, 2, 0, 0],
            &[2, 0, 10, 0, 4, 0, 0, 1],
            &[1, 0, 10, 1, 4, 0, 0, 0],
        ] {
            assert!(ScaleOffset::new(values, chunk).is_err(), "{values:?}");
        }
    }
}
