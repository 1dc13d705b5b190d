//! Numbers: from the file's integers and floats to those of Rust, where nothing is lost.

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
    let mismatch = || Error::wrong_type(format!("elements of {datatype:?} cannot be read as {} without loss", T::NAME));
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
