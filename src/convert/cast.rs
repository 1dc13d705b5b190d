//! Casts between element types, with the rules of NumPy's `astype`: integers wrap, floats are cut towards 0 (and stop
//! at the ends of the integer's range), byte orders are obeyed.

use crate::convert::element::{ByteOrder, Element, ElementType, Number, NumberKind};
use crate::error::{Error, Result};

/// A number on its way from one type to another, without loss.
#[derive(Clone, Copy)]
enum Value {
    Integer(i128),
    Float(f64),
}

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
    if from == to {
        return Ok(bytes.to_vec());
    }
    match (from, to) {
        (ElementType::Complex(from), ElementType::Complex(to)) => {
            cast(bytes, &ElementType::Number(*from), &ElementType::Number(*to))
        }
        (ElementType::Number(from), ElementType::Number(to)) if from.kind == to.kind && from.size == to.size => {
            Ok(swapped(bytes, from.size))
        }
        _ if castable(from, to) => {
            if let Some(cast) = native(bytes, from, to) {
                return Ok(cast);
            }
            let mut cast = Vec::with_capacity(bytes.len() / from.size() * to.size());
            bytes.chunks_exact(from.size()).for_each(|element| push(read(element, from), to, &mut cast));
            Ok(cast)
        }
        _ => Err(Error::wrong_type(format!("elements are {from}, wanted {to}"))),
    }
}

/// The cast between numbers in this machine's byte order that both have a Rust type; `None` for others. Rust's `as`
/// obeys the same rules.
fn native(bytes: &[u8], from: &ElementType, to: &ElementType) -> Option<Vec<u8>> {
    macro_rules! dispatch {
        ($from:ty: $($to:ty)*) => {
            $(if *to == <$to>::TYPE { return Some(each_as::<$from, $to>(bytes, |x| x as $to)); })*
        };
        ($($from:ty)*; $all:tt) => { $(if *from == <$from>::TYPE { dispatch!(@ $from $all); })* };
        (@ $from:ty [$($to:ty)*]) => { dispatch!($from: $($to)*) };
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a cast is asked for"
    )]
    {
        dispatch!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64; [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]);
    }
    None
}

fn each_as<A: Element, B: Element>(bytes: &[u8], cast: impl Fn(A) -> B) -> Vec<u8> {
    const AT_ONCE: usize = 1024;
    let mut casts = Vec::with_capacity(bytes.len() / size_of::<A>() * size_of::<B>());
    let (mut from, mut to) = ([A::default(); AT_ONCE], [B::default(); AT_ONCE]);
    for bytes in bytes.chunks(AT_ONCE * size_of::<A>()) {
        A::load(bytes, &mut from);
        to.iter_mut().zip(&from).for_each(|(to, from)| *to = cast(*from));
        let done = casts.len();
        casts.resize(done + bytes.len() / size_of::<A>() * size_of::<B>(), 0);
        B::store(&to, &mut casts[done..]);
    }
    casts
}

fn swapped(bytes: &[u8], size: usize) -> Vec<u8> {
    let mut swapped = bytes.to_vec();
    swapped.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    swapped
}

/// The element's bytes, least significant first, in 8.
fn little(element: &[u8], order: ByteOrder) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..element.len()].copy_from_slice(element);
    if order == ByteOrder::Big {
        bytes[..element.len()].reverse();
    }
    bytes
}

fn read(element: &[u8], element_type: &ElementType) -> Value {
    let ElementType::Number(number) = element_type else {
        return Value::Integer(i128::from(element[0] != 0));
    };
    let bytes = little(element, number.order);
    let bits = u64::from_le_bytes(bytes);
    match (number.kind, number.size) {
        (NumberKind::Unsigned, _) => Value::Integer(i128::from(bits)),
        (NumberKind::Signed, size) => {
            let unused = 64 - 8 * size;
            Value::Integer(i128::from((bits << unused).cast_signed() >> unused))
        }
        (NumberKind::Float, 2) => Value::Float(half(u16::from_le_bytes([bytes[0], bytes[1]]))),
        (NumberKind::Float, 4) => Value::Float(f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))),
        (NumberKind::Float, _) => Value::Float(f64::from_bits(bits)),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a cast is asked for: integers wrap, floats are rounded and cut"
)]
fn push(value: Value, to: &ElementType, bytes: &mut Vec<u8>) {
    let ElementType::Number(Number { kind, size, order }) = *to else {
        let truth = match value {
            Value::Integer(n) => n != 0,
            Value::Float(x) => x != 0.0,
        };
        return bytes.push(u8::from(truth));
    };
    let bits = match (kind, value) {
        (NumberKind::Float, value) => {
            let x = match value {
                Value::Integer(n) => n as f64,
                Value::Float(x) => x,
            };
            match (size, value) {
                (2, _) => u64::from(to_half(x)),
                // Straight to f32: rounding twice would round wrongly.
                (4, Value::Integer(n)) => u64::from((n as f32).to_bits()),
                (4, Value::Float(x)) => u64::from((x as f32).to_bits()),
                _ => x.to_bits(),
            }
        }
        (_, Value::Integer(n)) => n as u64,
        (NumberKind::Unsigned, Value::Float(x)) => (x as u64).min(u64::MAX >> (64 - 8 * size)),
        (NumberKind::Signed, Value::Float(x)) => {
            let end = i64::MAX >> (64 - 8 * size);
            (x as i64).clamp(-end - 1, end) as u64
        }
    };
    let at = bytes.len();
    bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
    if order == ByteOrder::Big {
        bytes[at..].reverse();
    }
}

/// The value of an IEEE half.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The nearest IEEE half, ties to even.
fn to_half(x: f64) -> u16 {
    let sign = if x.is_sign_negative() { 1 << 15 } else { 0 };
    let size = x.abs();
    if size.is_nan() {
        return sign | 0x7e00;
    }
    // Halves are ordered like their bits: the two around `size` are found by halving the interval.
    let (mut low, mut high) = (0u16, 0x7c00u16);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if half(middle) <= size {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    if low == 0x7c00 {
        return sign | low;
    }
    // The step above the largest half counts as infinity.
    let above = if low == 0x7bff { 65536.0 } else { half(low + 1) };
    let (down, up) = (size - half(low), above - size);
    let up = up < down || up == down && low & 1 == 1;
    sign | (low + u16::from(up))
}

/// Whether two elements are equal as values: 0.0 is -0.0, and no NaN is anything.
pub fn equal(a: &[u8], b: &[u8], element: &ElementType) -> bool {
    match element {
        ElementType::Number(Number { kind: NumberKind::Float, .. }) => {
            matches!((read(a, element), read(b, element)), (Value::Float(a), Value::Float(b)) if a == b)
        }
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
        let big = |kind, size| ElementType::Number(Number { kind, size, order: ByteOrder::Big });
        let bytes = cast(&i32::bytes(&[1, -2]), &i32::TYPE, &big(NumberKind::Signed, 4)).unwrap();
        assert_eq!(bytes, [0, 0, 0, 1, 255, 255, 255, 254]);
        let bytes = cast(&bytes, &big(NumberKind::Signed, 4), &big(NumberKind::Float, 8)).unwrap();
        assert_eq!(bytes, [1f64.to_be_bytes(), (-2f64).to_be_bytes()].concat());
    }

    #[test]
    fn the_fast_way_is_the_careful_way() {
        let values = [0.0, -1.5, 2.9, 300.7, -70_000.2, 5e9, -1e30, f64::NAN, f64::INFINITY];
        let numbers =
            [(NumberKind::Signed, 1), (NumberKind::Unsigned, 2), (NumberKind::Signed, 8), (NumberKind::Float, 4)];
        for (kind, size) in numbers {
            let to = ElementType::Number(Number::native(kind, size));
            let mut careful = vec![];
            values.iter().for_each(|x| push(Value::Float(*x), &to, &mut careful));
            assert_eq!(native(&f64::bytes(&values), &f64::TYPE, &to), Some(careful));
        }
    }

    #[test]
    fn halves_round_to_the_nearest_even() {
        for bits in (0..0x7c00u16).chain([0x7c00, 0x8000, 0xfbff]) {
            assert_eq!(to_half(half(bits)), bits);
        }
        assert_eq!([65_519.9, 65_520.0, 1e9].map(to_half), [0x7bff, 0x7c00, 0x7c00]);
        assert_eq!([1.0 + 1.0 / 2048.0, 1.0 + 3.0 / 2048.0].map(to_half), [0x3c00, 0x3c02]);
        assert!(half(to_half(f64::NAN)).is_nan());
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
        assert_eq!(error.message(), "elements are bytes[3], wanted f64");
    }
}
