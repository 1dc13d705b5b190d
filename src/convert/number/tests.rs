use proptest::prelude::*;

use super::layout::{float, integer};
use super::*;
use crate::convert::element::Element;
use crate::convert::number::bulk::{NATIVE, Primitive};
use crate::format::message::datatype::{Bits, ByteOrder, Class, FixedPoint, FloatingPoint, Normalization};

fn one<A: Primitive, B: Primitive>(number: A, conversion: Conversion) -> Result<B, usize> {
    let mut made = [B::zeroed()];
    convert(bytemuck::bytes_of(&number), &A::LAYOUT, bytemuck::cast_slice_mut(&mut made), &B::LAYOUT, conversion)?;
    Ok(made[0])
}

/// The same by the way that knows every layout.
fn slowly<A: Primitive, B: Primitive>(number: A, conversion: Conversion) -> Result<B, usize> {
    let exact = exact::read(A::LAYOUT.bits(bytemuck::bytes_of(&number)), &A::LAYOUT);
    let (bits, is_exact) = exact.stored(&B::LAYOUT, conversion.of(&A::LAYOUT));
    if conversion == Conversion::Lossless && !is_exact {
        return Err(0);
    }
    let mut made = [B::zeroed()];
    B::LAYOUT.store(bits, bytemuck::cast_slice_mut(&mut made));
    Ok(made[0])
}

/// Numbers at and around the ends of all ranges, and random ones.
fn bits() -> impl Strategy<Value = u64> {
    let near =
        (0..65u32, -2i64..3).prop_map(|(bit, more)| 1u64.checked_shl(bit).unwrap_or(0).wrapping_add_signed(more));
    let float = (0..66i32, -2i64..3, any::<bool>()).prop_map(|(power, more, negative)| {
        let number = 2f64.powi(power) * if negative { -1.0 } else { 1.0 };
        number.to_bits().wrapping_add_signed(more)
    });
    prop_oneof![any::<u64>(), near.clone(), near.prop_map(u64::wrapping_neg), float, Just(0x7ff8 << 48), Just(1 << 63)]
}

macro_rules! both_ways_agree {
    ($bits:ident, $($from:ident $read:expr;)*) => { $(
        both_ways_agree!(@ $bits, $from, $read, i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    )* };
    (@ $bits:ident, $from:ident, $read:expr, $($to:ident)*) => { $(
        let number: $from = $read;
        for conversion in [Conversion::Lossless, Conversion::Saturating, Conversion::Wrapping] {
            let (fast, careful) = (one::<$from, $to>(number, conversion), slowly::<$from, $to>(number, conversion));
            let equal = match (fast, careful) {
                #[allow(clippy::eq_op, reason = "a float that is not itself is not a number")]
                (Ok(a), Ok(b)) => a == b || a != a && b != b,
                (a, b) => a == b,
            };
            prop_assert!(
                equal,
                "{number:?} {} as {}, {conversion:?}: {fast:?}, carefully {careful:?}",
                stringify!($from),
                stringify!($to)
            );
        }
    )* };
}

proptest! {
    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "any bits will do")]
    fn the_fast_way_is_the_careful_way(bits in bits()) {
        both_ways_agree!(bits,
            i8 bits as i8; i16 bits as i16; i32 bits as i32; i64 bits as i64;
            u8 bits as u8; u16 bits as u16; u32 bits as u32; u64 bits;
            f32 f32::from_bits(bits as u32); f64 f64::from_bits(bits);
        );
    }
}

#[test]
fn every_short_float_is_widened_as_the_careful_way_does() {
    for (exponent, mantissa) in [(5, 10), (8, 7)] {
        for order in [ByteOrder::LittleEndian, ByteOrder::BigEndian] {
            let layout = Layout::of(&float(2, order, exponent, mantissa)).unwrap();
            let stored: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
            let (mut single, mut double) = (vec![0f32; 65_536], vec![0f64; 65_536]);
            let rule = Conversion::Lossless;
            convert(&stored, &layout, bytemuck::cast_slice_mut(&mut single), &f32::LAYOUT, rule).unwrap();
            convert(&stored, &layout, bytemuck::cast_slice_mut(&mut double), &f64::LAYOUT, rule).unwrap();
            for (stored, (single, double)) in stored.chunks_exact(2).zip(single.iter().zip(double)) {
                let (bits, _) = exact::read(layout.bits(stored), &layout).stored(&f64::LAYOUT, rule);
                let careful = f64::from_bits(u64::try_from(bits).unwrap());
                assert_eq!(double.to_bits() >> 63, careful.to_bits() >> 63);
                assert!(double == careful || double.is_nan() && careful.is_nan(), "{stored:?}: {double}, {careful}");
                assert!(f64::from(*single) == careful || single.is_nan() && careful.is_nan(), "{stored:?}");
            }
        }
    }
}

#[test]
fn the_table_of_the_documentation_holds() {
    use Conversion::{Lossless, Saturating, Wrapping};
    let row =
        |c| (one::<i32, u8>(300, c), one::<i32, u8>(-1, c), one::<f64, i32>(2.7, c), one::<f64, i32>(f64::NAN, c));
    assert_eq!(row(Lossless), (Err(0), Err(0), Err(0), Err(0)));
    assert_eq!(row(Saturating), (Ok(255), Ok(0), Ok(2), Ok(0)));
    assert_eq!(row(Wrapping), (Ok(44), Ok(255), Ok(2), Ok(0)));
    assert_eq!(one::<f64, f32>(0.1, Lossless), Err(0));
    assert_eq!(one::<f64, f32>(0.1, Saturating), Ok(0.1));
}

#[test]
fn the_first_number_that_is_lost_is_named() {
    let mut numbers = vec![7i64; 5000];
    (numbers[3001], numbers[4000]) = (-129, 128);
    let bytes = i64::bytes(&numbers);
    let mut to = vec![0; 5000];
    assert_eq!(convert(&bytes, &i64::LAYOUT, &mut to, &i8::LAYOUT, Conversion::Lossless), Err(3001));
    let types = (integer(8, NATIVE, true), integer(1, NATIVE, true));
    let error = converted(&bytes, &types.0, &types.1, Conversion::Lossless).unwrap_err();
    let message = format!("elements are {}, and -129 is not exactly one of i8; Conversion says", short(&types.0));
    assert!(error.message().starts_with(&message), "{error}");
    assert_eq!(error.kind(), crate::ErrorKind::WrongType);
}

#[test]
fn integers_of_odd_bits_are_read_and_made() {
    let bits = Bits { order: ByteOrder::BigEndian, offset: 5, precision: 17, low_padding: false, high_padding: false };
    let class = Class::FixedPoint(FixedPoint { bits, signed: true });
    let odd = Datatype { version: 1, size: 4, class, unused_bits: 0 };
    let numbers = [0, 1, -1, 65_535, -65_536i32];
    let native = integer(4, NATIVE, true);
    let stored = converted(&i32::bytes(&numbers), &native, &odd, Conversion::Lossless).unwrap();
    assert_eq!(stored[4..8], [0, 0, 0, 32]);
    assert_eq!(i32::values(&converted(&stored, &odd, &native, Conversion::Lossless).unwrap()).unwrap(), numbers);
    let over = converted(&i32::bytes(&[65_536, -70_000]), &native, &odd, Conversion::Saturating).unwrap();
    assert_eq!(
        i32::values(&converted(&over, &odd, &native, Conversion::Lossless).unwrap()).unwrap(),
        [65_535, -65_536]
    );
}

#[test]
fn floats_of_every_kind_are_read() {
    let double = float(8, NATIVE, 11, 52);
    let read = |stored: &[u8], datatype: &Datatype| {
        f64::values(&converted(stored, datatype, &double, Conversion::Lossless).unwrap()).unwrap()
    };
    // bfloat16, and the two of 8 bits.
    let bf16 = float(2, ByteOrder::BigEndian, 8, 7);
    assert_eq!(read(&[0x3f, 0xc0, 0x80, 0x00, 0xff, 0x80], &bf16), [1.5, -0.0, f64::NEG_INFINITY]);
    assert_eq!(read(&[0x3c, 0x01, 0xc4], &float(1, ByteOrder::LittleEndian, 5, 2)), [1.0, 2f64.powi(-16), -4.0]);
    assert_eq!(read(&[0x38, 0x01, 0xbc], &float(1, ByteOrder::LittleEndian, 4, 3)), [1.0, 2f64.powi(-9), -1.5]);
    // The 80 bits of x87 in 16 bytes: the leading 1 is stored.
    let mut x87 = float(16, ByteOrder::LittleEndian, 15, 63);
    let Class::FloatingPoint(number) = &mut x87.class else { unreachable!() };
    *number = FloatingPoint {
        normalization: Normalization::None,
        sign: 79,
        exponent_position: 64,
        mantissa_size: 64,
        ..*number
    };
    let mut stored = vec![0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0xbf, 0, 0, 0, 0, 0, 0];
    assert_eq!(read(&stored, &x87), [-1.5]);
    stored[0] = 1;
    assert!(converted(&stored, &x87, &double, Conversion::Lossless).is_err());
    // VAX F: words of two bytes, the more significant first.
    let mut vax = float(4, ByteOrder::Vax, 8, 23);
    let Class::FloatingPoint(number) = &mut vax.class else { unreachable!() };
    number.exponent_bias = 129;
    assert_eq!(read(&[0x80, 0x40, 0, 0], &vax), [1.0]);
    // Quadruple precision.
    let quad = float(16, ByteOrder::BigEndian, 15, 112);
    assert_eq!(read(&[0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &quad), [3.0]);
}

#[test]
fn enumerations_and_bit_fields_are_integers_and_strings_are_not() {
    let string = Datatype {
        version: 1,
        size: 4,
        class: Class::String(crate::format::message::datatype::Text { padding: 0, character_set: 0 }),
        unused_bits: 0,
    };
    let number = integer(4, ByteOrder::BigEndian, true);
    let error = converted(b"abcd", &string, &number, Conversion::Lossless).unwrap_err();
    assert_eq!(error.message(), "elements are string(4), not i32 be");
    let bits = Bits { order: NATIVE, offset: 0, precision: 8, low_padding: false, high_padding: false };
    let field = Datatype { version: 1, size: 1, class: Class::BitField(bits), unused_bits: 0 };
    assert_eq!(converted(&[200], &field, &integer(1, NATIVE, false), Conversion::Lossless).unwrap(), [200]);
}
