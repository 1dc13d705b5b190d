//! Elements as NumPy holds them in memory: numbers whole and little-endian, members side by side.

use hdfive::format::message::datatype::{Bits, ByteOrder, Class, Datatype, FloatingPoint};

/// Appends the element that is stored as `stored`.
pub(super) fn element(stored: &[u8], datatype: &Datatype, to: &mut Vec<u8>) {
    match &datatype.class {
        Class::FixedPoint(number) => {
            let value = significant(stored, &number.bits);
            let above = 64 - u32::from(number.bits.precision);
            let value = if number.signed { (value.cast_signed() << above >> above).cast_unsigned() } else { value };
            to.extend_from_slice(&value.to_le_bytes()[..stored.len()]);
        }
        Class::FloatingPoint(number) => {
            let value =
                float(significant(stored, &Bits { offset: 0, precision: bits_of(stored), ..number.bits }), number);
            match number.mantissa_size {
                ..=23 => to.extend_from_slice(&single(value).to_le_bytes()),
                _ => to.extend_from_slice(&value.to_le_bytes()),
            }
        }
        Class::Compound(members) => {
            for member in members {
                let at = usize::try_from(member.byte_offset).unwrap();
                let size = usize::try_from(member.datatype.size).unwrap();
                element(&stored[at..at + size], &member.datatype, to);
            }
        }
        Class::Array { base, .. } => {
            let size = usize::try_from(base.size).unwrap();
            stored.chunks_exact(size).for_each(|item| element(item, base, to));
        }
        _ => to.extend_from_slice(stored),
    }
}

fn bits_of(stored: &[u8]) -> u16 {
    u16::try_from(8 * stored.len()).unwrap()
}

/// The significant bits, as a number.
fn significant(stored: &[u8], bits: &Bits) -> u64 {
    let mut word = [0; 8];
    word[..stored.len()].copy_from_slice(stored);
    if bits.order == ByteOrder::BigEndian {
        word[..stored.len()].reverse();
    }
    u64::from_le_bytes(word) >> bits.offset & (u64::MAX >> (64 - bits.precision))
}

/// A float from its parts; the doubles are exact for all that have no more bits.
fn float(bits: u64, number: &FloatingPoint) -> f64 {
    let part = |position: u8, size: u8| bits >> position & ((1 << size) - 1);
    let (exponent, mantissa) =
        (part(number.exponent_position, number.exponent_size), part(number.mantissa_position, number.mantissa_size));
    let sign = part(number.sign, 1) << 63;
    let fraction = mantissa << (52 - number.mantissa_size);
    let largest = (1 << number.exponent_size) - 1;
    assert!(exponent != 0 || mantissa == 0 || number.exponent_size == 11, "a small subnormal number");
    let exponent = match exponent {
        0 => 0,
        e if e == largest => 2047,
        e => e + 1023 - u64::from(number.exponent_bias),
    };
    f64::from_bits(sign | exponent << 52 | fraction)
}

#[expect(clippy::cast_possible_truncation, reason = "the vectors hold singles")]
fn single(value: f64) -> f32 {
    value as f32
}
