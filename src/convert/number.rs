//! Numbers: from the file's integers and floats to those of Rust, where nothing is lost.

use super::notation::short;
use crate::error::{Error, Result};
use crate::format::message::datatype::{ByteOrder, Class, Datatype, FloatingPoint, Normalization};

/// A Rust number that stored numbers can be read as.
pub trait Number: Copy + Sized {
    /// The number that these bytes of a stored number of `datatype` are, least significant first; `None` if it is not
    /// exactly a `Self`.
    #[doc(hidden)]
    fn from_stored(bytes: &[u8], kind: Kind) -> Option<Self>;

    /// What the type is called.
    #[doc(hidden)]
    const NAME: &'static str;
}

/// A kind of stored number that Rust has too.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Unsigned,
    Signed,
    Float,
}

/// The elements in `bytes` as numbers.
///
/// Errors are `WrongType`, if the datatype is no number of 1, 2, 4 or 8 whole bytes or a value is not exactly a `T`.
pub fn decode<T: Number>(bytes: &[u8], datatype: &Datatype) -> Result<Vec<T>> {
    let mismatch = || Error::wrong_type(format!("elements are {}, not all of them are {}", short(datatype), T::NAME));
    let (kind, order) = stored(datatype).ok_or_else(mismatch)?;
    let size = usize::try_from(datatype.size).map_err(|_| mismatch())?;
    let mut numbers = Vec::with_capacity(bytes.len() / size.max(1));
    let mut element = [0; 8];
    for stored in bytes.chunks_exact(size) {
        let element = &mut element[..size];
        element.copy_from_slice(stored);
        if order == ByteOrder::BigEndian {
            element.reverse();
        }
        numbers.push(T::from_stored(element, kind).ok_or_else(mismatch)?);
    }
    Ok(numbers)
}

/// Kind and byte order of a datatype that Rust has too.
fn stored(datatype: &Datatype) -> Option<(Kind, ByteOrder)> {
    let bits = u16::try_from(8 * datatype.size).ok()?;
    match &datatype.class {
        Class::FixedPoint(n) if matches!(bits, 8 | 16 | 32 | 64) && n.bits.offset == 0 && n.bits.precision == bits => {
            Some((if n.signed { Kind::Signed } else { Kind::Unsigned }, n.bits.order))
        }
        Class::FloatingPoint(n) if is_ieee(n, bits) => Some((Kind::Float, n.bits.order)),
        Class::Enumeration(names) => stored(&names.base),
        _ => None,
    }
}

fn is_ieee(n: &FloatingPoint, bits: u16) -> bool {
    let layout = (n.sign, n.exponent_position, n.exponent_size, n.mantissa_position, n.mantissa_size, n.exponent_bias);
    let standard = match bits {
        32 => (31, 23, 8, 0, 23, 127),
        64 => (63, 52, 11, 0, 52, 1023),
        _ => return false,
    };
    layout == standard
        && n.normalization == Normalization::Implied
        && n.bits.offset == 0
        && n.bits.precision == bits
        && n.bits.order != ByteOrder::Vax
}

/// A number on its way from one datatype to another.
#[derive(Clone, Copy)]
enum Value {
    Integer(i128),
    Float(f64),
}

/// The elements in `bytes` as numbers of another datatype, as libhdf5 converts them: integers stop at the ends of the
/// new range, floats are rounded, or cut towards zero on their way to integers.
///
/// Errors are `Unsupported`, if one of the datatypes is no number of 1, 2, 4 or 8 whole bytes.
pub fn convert(bytes: &[u8], from: &Datatype, to: &Datatype) -> Result<Vec<u8>> {
    let unsupported = || Error::unsupported(format!("no conversion from {} to {} is known", short(from), short(to)));
    let ((from_kind, from_order), (to_kind, to_order)) = stored(from).zip(stored(to)).ok_or_else(unsupported)?;
    let size = |datatype: &Datatype| usize::try_from(datatype.size).map_err(|_| unsupported());
    let (from_size, to_size) = (size(from)?, size(to)?);
    let mut converted = Vec::with_capacity(bytes.len() / from_size * to_size);
    let mut element = [0; 8];
    for stored in bytes.chunks_exact(from_size) {
        let element = &mut element[..from_size];
        element.copy_from_slice(stored);
        if from_order == ByteOrder::BigEndian {
            element.reverse();
        }
        let value = match from_kind {
            Kind::Unsigned => Value::Integer(unsigned(element).into()),
            Kind::Signed => Value::Integer(signed(element).into()),
            Kind::Float => Value::Float(f64::from_stored(element, from_kind).ok_or_else(unsupported)?),
        };
        let mut out = value.stored(to_kind, to_size);
        let out = &mut out[..to_size];
        if to_order == ByteOrder::BigEndian {
            out.reverse();
        }
        converted.extend_from_slice(out);
    }
    Ok(converted)
}

impl Value {
    /// The bytes of the nearest number of a kind and size, least significant first.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the conversion is the purpose")]
    fn stored(self, kind: Kind, size: usize) -> [u8; 8] {
        let bits = 8 * u32::try_from(size).unwrap_or(8);
        let (low, high) = match kind {
            Kind::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            Kind::Unsigned | Kind::Float => (0, (1i128 << bits) - 1),
        };
        let mut out = [0; 8];
        match (kind, self) {
            (Kind::Float, value) if size == 4 => {
                let number = match value {
                    Value::Integer(n) => n as f32,
                    Value::Float(n) => n as f32,
                };
                out[..4].copy_from_slice(&number.to_le_bytes());
            }
            (Kind::Float, Value::Integer(n)) => out = (n as f64).to_le_bytes(),
            (Kind::Float, Value::Float(n)) => out = n.to_le_bytes(),
            (_, Value::Integer(n)) => out.copy_from_slice(&n.clamp(low, high).to_le_bytes()[..8]),
            // The cast cuts towards zero and stops at the ends; no number becomes 0.
            (_, Value::Float(n)) => out.copy_from_slice(&(n as i128).clamp(low, high).to_le_bytes()[..8]),
        }
        out
    }
}

fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

fn signed(bytes: &[u8]) -> i64 {
    let start = match bytes.last() {
        Some(0x80..) => -1,
        _ => 0,
    };
    bytes.iter().rev().fold(start, |n, &b| n << 8 | i64::from(b))
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Number for $t {
            const NAME: &'static str = stringify!($t);

            fn from_stored(bytes: &[u8], kind: Kind) -> Option<Self> {
                match kind {
                    Kind::Unsigned => unsigned(bytes).try_into().ok(),
                    Kind::Signed => signed(bytes).try_into().ok(),
                    Kind::Float => None,
                }
            }
        }
    )*};
}
integers!(u8 u16 u32 u64 i8 i16 i32 i64);

impl Number for f32 {
    const NAME: &'static str = "f32";

    fn from_stored(bytes: &[u8], kind: Kind) -> Option<Self> {
        match (kind, bytes.len()) {
            (Kind::Float, 4) => Some(f32::from_le_bytes(bytes.try_into().ok()?)),
            (Kind::Unsigned, 1 | 2) => u16::from_stored(bytes, kind).map(f32::from),
            (Kind::Signed, 1 | 2) => i16::from_stored(bytes, kind).map(f32::from),
            _ => None,
        }
    }
}

impl Number for f64 {
    const NAME: &'static str = "f64";

    fn from_stored(bytes: &[u8], kind: Kind) -> Option<Self> {
        match (kind, bytes.len()) {
            (Kind::Float, 8) => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
            (Kind::Float, 4) => f32::from_stored(bytes, kind).map(f64::from),
            (Kind::Unsigned, 1 | 2 | 4) => u32::from_stored(bytes, kind).map(f64::from),
            (Kind::Signed, 1 | 2 | 4) => i32::from_stored(bytes, kind).map(f64::from),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::message::datatype::{Bits, FixedPoint};

    fn integer(size: u32, order: ByteOrder, signed: bool) -> Datatype {
        let precision = u16::try_from(8 * size).unwrap();
        let bits = Bits { order, offset: 0, precision, low_padding: false, high_padding: false };
        Datatype { version: 1, size, class: Class::FixedPoint(FixedPoint { bits, signed }), unused_bits: 0 }
    }

    #[test]
    fn conversions_stop_at_the_ends_of_the_range() {
        let (wide, narrow) = (integer(4, ByteOrder::BigEndian, true), integer(1, ByteOrder::LittleEndian, false));
        let numbers: Vec<u8> = [-5i32, 77, 300].iter().flat_map(|n| n.to_be_bytes()).collect();
        assert_eq!(convert(&numbers, &wide, &narrow).unwrap(), [0, 77, 255]);
        assert_eq!(convert(&[200], &narrow, &wide).unwrap(), [0, 0, 0, 200]);
        assert_eq!(Value::Float(-3.9).stored(Kind::Signed, 2)[..2], (-3i16).to_le_bytes());
        assert_eq!(Value::Float(f64::NAN).stored(Kind::Signed, 2)[..2], [0, 0]);
        assert_eq!(Value::Integer(-2).stored(Kind::Float, 4)[..4], (-2f32).to_le_bytes());
    }

    #[test]
    fn numbers_are_read_where_nothing_is_lost() {
        let big = integer(2, ByteOrder::BigEndian, true);
        assert_eq!(decode::<i32>(&[0xff, 0xfe, 0x01, 0x02], &big).unwrap(), [-2, 258]);
        assert_eq!(decode::<f32>(&[0xff, 0xfe, 0x01, 0x02], &big).unwrap(), [-2.0, 258.0]);
        assert_eq!(decode::<i8>(&[0xff, 0xfe], &big).unwrap(), [-2]);
        assert!(decode::<i8>(&[0x01, 0x02], &big).is_err());
        assert!(decode::<u16>(&[0xff, 0xfe], &big).is_err());
        let wide = integer(8, ByteOrder::LittleEndian, false);
        assert!(decode::<f64>(&[1, 0, 0, 0, 0, 0, 0, 0], &wide).is_err());
    }
}
