//! Casts between element types in memory, with the rules of NumPy's `astype`; see [`Conversion::Wrapping`].

use crate::convert::element::{ByteOrder, ElementType, NumberKind, NumberType};
use crate::convert::number::{self, Conversion, Layout, Meaning};
use crate::error::{Error, Result};
use crate::format::message::datatype;

/// One byte, 0 or 1.
const BOOL: NumberType = NumberType { kind: NumberKind::Unsigned, size: 1, order: ByteOrder::Little };

/// Whether [`cast`] knows a way from `from` to `to`.
pub fn castable(from: &ElementType, to: &ElementType) -> bool {
    let number = |element: &ElementType| matches!(element, ElementType::Number(_) | ElementType::Bool);
    match (from, to) {
        (ElementType::Complex(_), ElementType::Complex(_)) => true,
        _ => from == to || number(from) && number(to),
    }
}

/// The elements of `bytes`, of type `from`, as type `to`.
///
/// Errors: `WrongType` where no cast is known.
pub fn cast(bytes: &[u8], from: &ElementType, to: &ElementType) -> Result<Vec<u8>> {
    let mut cast = vec![0; bytes.len() / from.size().max(1) * to.size()];
    cast_to(bytes, from, &mut cast, to)?;
    Ok(cast)
}

/// Casts the elements of `bytes` to `cast`, which is as large as they need.
///
/// Errors: `WrongType` where no cast is known.
pub(crate) fn cast_to(bytes: &[u8], from: &ElementType, cast: &mut [u8], to: &ElementType) -> Result<()> {
    match (from, to) {
        _ if from == to => cast.copy_from_slice(bytes),
        (ElementType::Number(from), ElementType::Number(to)) => numbers(bytes, *from, cast, *to),
        (ElementType::Complex(from), ElementType::Complex(to)) => numbers(bytes, *from, cast, *to),
        (ElementType::Bool, ElementType::Number(to)) => {
            let mut zeros_and_ones = vec![0; bytes.len()];
            truths(bytes, BOOL, &mut zeros_and_ones);
            numbers(&zeros_and_ones, BOOL, cast, *to);
        }
        (ElementType::Number(from), ElementType::Bool) => truths(bytes, *from, cast),
        _ => return Err(Error::wrong_type(format!("elements are {from}, wanted {to}"))),
    }
    Ok(())
}

fn numbers(bytes: &[u8], from: NumberType, cast: &mut [u8], to: NumberType) {
    let done = number::convert(bytes, &layout(from), cast, &layout(to), Conversion::Wrapping);
    done.expect("because only a conversion without loss can find one");
}

/// For each number whether it is anything but 0.
fn truths(bytes: &[u8], from: NumberType, truths: &mut [u8]) {
    let (layout, zero) = (layout(from), [0; 16]);
    let truth = |number: &[u8]| u8::from(!number::equal(number, &zero[..number.len()], &layout));
    bytes.chunks_exact(from.size).zip(truths).for_each(|(number, to)| *to = truth(number));
}

fn layout(number: NumberType) -> Layout {
    let order = match number.order {
        ByteOrder::Big if number.size > 1 => datatype::ByteOrder::BigEndian,
        ByteOrder::Little | ByteOrder::Big => datatype::ByteOrder::LittleEndian,
    };
    let bits = u32::try_from(8 * number.size).expect("because numbers have at most 8 bytes");
    let float = |exponent: u32, mantissa: u32| Meaning::Float {
        sign: exponent + mantissa,
        exponent: (mantissa, exponent),
        mantissa: (0, mantissa),
        bias: (1 << (exponent - 1)) - 1,
        implied: true,
    };
    let meaning = match (number.kind, number.size) {
        (NumberKind::Signed, _) => Meaning::Integer { signed: true, position: 0, bits },
        (NumberKind::Unsigned, _) => Meaning::Integer { signed: false, position: 0, bits },
        (NumberKind::Float, 2) => float(5, 10),
        (NumberKind::Float, 4) => float(8, 23),
        (NumberKind::Float, _) => float(11, 52),
    };
    Layout { size: number.size, order, meaning }
}

/// Whether two elements are equal as values: 0.0 is -0.0, and no NaN is anything.
pub fn equal(a: &[u8], b: &[u8], element: &ElementType) -> bool {
    match element {
        ElementType::Number(number) if number.kind == NumberKind::Float => number::equal(a, b, &layout(*number)),
        ElementType::Complex(number) => {
            let part = ElementType::Number(*number);
            let (first, second) = (a.split_at(number.size), b.split_at(number.size));
            equal(first.0, second.0, &part) && equal(first.1, second.1, &part)
        }
        ElementType::Compound { fields, .. } => fields.iter().all(|field| {
            let own = field.position..field.position + field.element.size();
            equal(&a[own.clone()], &b[own], &field.element)
        }),
        ElementType::Number(_) | ElementType::Bool | ElementType::Bytes(_) | ElementType::Text => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::element::Element;
    use crate::error::ErrorKind;

    fn to<A: Element, B: Element>(values: &[A]) -> Vec<B> {
        B::values(&cast(&A::bytes(values), &A::TYPE, &B::TYPE).unwrap()).unwrap()
    }

    #[test]
    fn integers_wrap_and_floats_are_cut() {
        assert_eq!(to::<i64, u8>(&[-1, 256, 259]), [255, 0, 3]);
        assert_eq!(to::<u64, i64>(&[u64::MAX]), [-1]);
        assert_eq!(to::<f64, i16>(&[-2.9, 2.9, 40_000.0, f64::NAN]), [-2, 2, i16::MAX, 0]);
        assert_eq!(to::<i8, f32>(&[-5]), [-5.0]);
        assert_eq!(to::<f32, bool>(&[0.0, 0.5]), [false, true]);
    }

    #[test]
    fn byte_orders_are_obeyed() {
        let big = |kind, size| ElementType::Number(NumberType { kind, size, order: ByteOrder::Big });
        let bytes = cast(&i32::bytes(&[1, -2]), &i32::TYPE, &big(NumberKind::Signed, 4)).unwrap();
        assert_eq!(bytes, [0, 0, 0, 1, 255, 255, 255, 254]);
        let bytes = cast(&bytes, &big(NumberKind::Signed, 4), &big(NumberKind::Float, 8)).unwrap();
        assert_eq!(bytes, [1f64.to_be_bytes(), (-2f64).to_be_bytes()].concat());
    }

    #[test]
    fn halves_round_to_the_nearest_even() {
        let half = ElementType::Number(NumberType::native(NumberKind::Float, 2));
        let to_half = |x: f64| {
            let bytes = cast(&f64::bytes(&[x]), &f64::TYPE, &half).unwrap();
            u16::from_ne_bytes([bytes[0], bytes[1]])
        };
        for bits in (0..0x7c00u16).chain([0x7c00, 0x8000, 0xfbff]) {
            let wide = cast(&bits.to_ne_bytes(), &half, &f64::TYPE).unwrap();
            assert_eq!(to_half(f64::values(&wide).unwrap()[0]), bits);
        }
        assert_eq!([65_519.9, 65_520.0, 1e9].map(to_half), [0x7bff, 0x7c00, 0x7c00]);
        assert_eq!([1.0 + 1.0 / 2048.0, 1.0 + 3.0 / 2048.0].map(to_half), [0x3c00, 0x3c02]);
    }

    #[test]
    fn values_are_compared_not_bits() {
        assert!(equal(&f64::bytes(&[0.0]), &f64::bytes(&[-0.0]), &f64::TYPE));
        assert!(!equal(&f32::bytes(&[f32::NAN]), &f32::bytes(&[f32::NAN]), &f32::TYPE));
        assert!(!equal(b"abc", b"abd", &ElementType::Bytes(3)));
    }

    #[test]
    fn types_without_a_cast_are_the_wrong_type() {
        let error = cast(b"abc", &ElementType::Bytes(3), &f64::TYPE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongType);
        assert_eq!(error.message(), format!("elements are opaque(3), wanted {}", f64::TYPE));
    }
}
