//! What an element is in memory: a type known when the program runs, with its byte order, and the Rust types that have
//! one.
//!
//! Elements are moved as bytes; only casting, comparing and showing look inside.

use std::fmt;

use crate::error::{Error, Result};

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The order of this machine.
    pub const NATIVE: ByteOrder = if cfg!(target_endian = "big") { ByteOrder::Big } else { ByteOrder::Little };
}

/// What the bits of a number mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// Two's complement.
    Signed,
    /// Not negative.
    Unsigned,
    /// IEEE 754 of 2, 4 or 8 bytes.
    Float,
}

/// A number type: kind, size and byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberType {
    /// What its bits mean.
    pub kind: NumberKind,
    /// Bytes: 1, 2, 4 or 8; at least 2 for floats.
    pub size: usize,
    /// The order of the bytes.
    pub order: ByteOrder,
}

/// A member of a compound element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Bytes from the start of the element.
    pub position: usize,
    /// What it is.
    pub element: ElementType,
}

/// The type of an element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElementType {
    /// A number.
    Number(NumberType),
    /// One byte, 0 or 1.
    Bool,
    /// Two floats: real and imaginary part.
    Complex(NumberType),
    /// So many bytes that mean nothing to us: fixed-size strings, opaque values.
    Bytes(usize),
    /// Named members.
    Compound {
        /// Bytes of the whole element.
        size: usize,
        /// Its members.
        fields: Vec<Field>,
    },
    /// Text of any length. In a buffer it is a number of 8 bytes that stands for the text; 0 is the empty text.
    Text,
}

impl NumberType {
    /// A number type in this machine's byte order.
    pub const fn native(kind: NumberKind, size: usize) -> NumberType {
        NumberType { kind, size, order: ByteOrder::NATIVE }
    }
}

impl ElementType {
    /// Bytes of one element in a buffer.
    pub fn size(&self) -> usize {
        match self {
            ElementType::Number(number) => number.size,
            ElementType::Bool => 1,
            ElementType::Complex(number) => 2 * number.size,
            ElementType::Bytes(size) | ElementType::Compound { size, .. } => *size,
            ElementType::Text => 8,
        }
    }

    /// The element whose bytes are all 0, which is 0, `false`, empty.
    pub fn zero(&self) -> Vec<u8> {
        vec![0; self.size()]
    }
}

/// In the notation of [`short`](crate::convert::notation::short).
impl fmt::Display for NumberType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            NumberKind::Signed => "i",
            NumberKind::Unsigned => "u",
            NumberKind::Float => "f",
        };
        let order = if self.size > 1 && self.order == ByteOrder::Big { " be" } else { "" };
        write!(f, "{kind}{}{order}", self.size * 8)
    }
}

/// In the notation of [`short`](crate::convert::notation::short).
impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementType::Number(number) => number.fmt(f),
            ElementType::Bool => f.write_str("bool"),
            ElementType::Complex(number) => write!(f, "complex({number})"),
            ElementType::Bytes(size) => write!(f, "opaque({size})"),
            ElementType::Text => f.write_str("string"),
            ElementType::Compound { fields, .. } => {
                f.write_str("{")?;
                for (n, field) in fields.iter().enumerate() {
                    write!(f, "{}{}: {}", if n > 0 { ", " } else { "" }, field.name, field.element)?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A Rust type whose values are elements of one [`ElementType`].
pub trait Element: Copy + Default + Send + Sync + 'static {
    /// Its type.
    const TYPE: ElementType;

    /// Writes `values` to `bytes`, which are exactly as long as they need.
    fn store(values: &[Self], bytes: &mut [u8]);

    /// Reads as many values as there are in `bytes`.
    fn load(bytes: &[u8], values: &mut [Self]);

    /// The bytes of `values`.
    fn bytes(values: &[Self]) -> Vec<u8> {
        let mut bytes = vec![0; std::mem::size_of_val(values)];
        Self::store(values, &mut bytes);
        bytes
    }

    /// The values in `bytes`; an error if these are not whole elements.
    fn values(bytes: &[u8]) -> Result<Vec<Self>> {
        if !bytes.len().is_multiple_of(size_of::<Self>()) {
            return Err(Error::invalid(format!("{} bytes are no whole elements of {}", bytes.len(), Self::TYPE)));
        }
        let mut values = vec![Self::default(); bytes.len() / size_of::<Self>()];
        Self::load(bytes, &mut values);
        Ok(values)
    }
}

macro_rules! numbers {
    ($($rust:ty, $kind:ident;)*) => { $(
        impl Element for $rust {
            const TYPE: ElementType = ElementType::Number(NumberType::native(NumberKind::$kind, size_of::<$rust>()));

            fn store(values: &[Self], bytes: &mut [u8]) {
                for (to, value) in bytes.chunks_exact_mut(size_of::<$rust>()).zip(values) {
                    to.copy_from_slice(&value.to_ne_bytes());
                }
            }

            fn load(bytes: &[u8], values: &mut [Self]) {
                for (value, from) in values.iter_mut().zip(bytes.as_chunks().0) {
                    *value = <$rust>::from_ne_bytes(*from);
                }
            }
        }
    )* };
}
numbers!(i8, Signed; i16, Signed; i32, Signed; i64, Signed; u8, Unsigned; u16, Unsigned; u32, Unsigned; u64, Unsigned;
    f32, Float; f64, Float;);

impl Element for bool {
    const TYPE: ElementType = ElementType::Bool;

    fn store(values: &[Self], bytes: &mut [u8]) {
        bytes.iter_mut().zip(values).for_each(|(to, value)| *to = u8::from(*value));
    }

    fn load(bytes: &[u8], values: &mut [Self]) {
        values.iter_mut().zip(bytes).for_each(|(value, from)| *value = *from != 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn values_go_to_bytes_and_back() {
        let values = [1.5f64, -0.0, 3e300];
        assert_eq!(f64::values(&f64::bytes(&values)).unwrap(), values);
        assert_eq!(bool::values(&bool::bytes(&[true, false])).unwrap(), [true, false]);
        assert_eq!(i16::values(&[1, 2, 3]).unwrap_err().kind(), ErrorKind::Invalid);
    }

    #[test]
    fn types_are_named_in_one_notation() {
        let foreign = if cfg!(target_endian = "big") { ByteOrder::Little } else { ByteOrder::Big };
        let other = NumberType { kind: NumberKind::Float, size: 8, order: foreign };
        let fields = vec![
            Field { name: "x".into(), position: 0, element: i32::TYPE },
            Field { name: "y".into(), position: 4, element: ElementType::Number(other) },
        ];
        let compound = ElementType::Compound { size: 12, fields };
        let named = if foreign == ByteOrder::Big { "{x: i32, y: f64 be}" } else { "{x: i32 be, y: f64}" };
        assert_eq!(compound.to_string(), named);
        assert_eq!(
            ElementType::Complex(NumberType { kind: NumberKind::Float, size: 4, order: ByteOrder::Little }).to_string(),
            "complex(f32)"
        );
        assert_eq!((compound.size(), ElementType::Text.size(), ElementType::Bytes(5).zero().len()), (12, 8, 5));
    }
}
