//! Loops over numbers that both are a Rust type's, in either byte order: a thousand at a time, which compilers turn into
//! vector instructions.

use super::{Conversion, Layout, Meaning};
use crate::format::message::datatype::ByteOrder;

/// The layout of an `f64` in memory.
pub(super) const F64: Layout = <f64 as Primitive>::LAYOUT;

/// The byte order of this machine.
pub(crate) const NATIVE: ByteOrder =
    if cfg!(target_endian = "big") { ByteOrder::BigEndian } else { ByteOrder::LittleEndian };

/// Numbers that are loaded, converted and stored at once.
const AT_ONCE: usize = 1024;

/// A Rust number.
pub(crate) trait Primitive: bytemuck::Pod {
    /// How it is stored in memory.
    const LAYOUT: Layout;

    /// With its bytes in the other order.
    fn swapped(self) -> Self;
}

/// The ways from one Rust number to another.
trait To<D>: Primitive {
    /// As `as` does it.
    fn cast(self) -> D;
    /// The nearest in the range.
    fn saturated(self) -> D;
    /// Whether `cast`, which is `to`, is exactly this number.
    fn is_exactly(self, to: D) -> bool;
}

/// Converts where both layouts are a Rust number's; `None` where one is not.
pub(super) fn convert(
    from: &[u8],
    from_layout: &Layout,
    to: &mut [u8],
    to_layout: &Layout,
    conversion: Conversion,
) -> Option<Result<(), usize>> {
    macro_rules! dispatch {
        ($($from:ident)*; $all:tt) => {
            $(if let Some(swap) = is::<$from>(from_layout) { dispatch!(@ swap $from $all); })*
        };
        (@ $swap:ident $from:ident [$($to:ident)*]) => {
            $(if let Some(back) = is::<$to>(to_layout) {
                return Some(each::<$from, $to>(from, $swap, to, back, conversion));
            })*
        };
    }
    dispatch!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64; [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]);
    short_floats(from, from_layout, to, to_layout)
}

/// Floats of 16 bits as those of 32 or 64, which hold them all; `None` for others.
fn short_floats(from: &[u8], from_layout: &Layout, to: &mut [u8], to_layout: &Layout) -> Option<Result<(), usize>> {
    let Meaning::Float { exponent: (position, bits), bias, implied: true, .. } = from_layout.meaning else {
        return None;
    };
    let meaning = |exponent: u32, mantissa: u32| Meaning::Float {
        sign: 15,
        exponent: (mantissa, exponent),
        mantissa: (0, mantissa),
        bias,
        implied: true,
    };
    let widen: fn(u16) -> f32 = match (position, bits, bias) {
        (10, 5, 15) if from_layout.meaning == meaning(5, 10) => widen_half,
        (7, 8, 127) if from_layout.meaning == meaning(8, 7) => |bits| f32::from_bits(u32::from(bits) << 16),
        _ => return None,
    };
    let swap = is::<u16>(&Layout { meaning: u16::LAYOUT.meaning, ..*from_layout })?;
    let number = |bytes: &[u8; 2]| {
        let bits = u16::from_ne_bytes(*bytes);
        widen(if swap { bits.swap_bytes() } else { bits })
    };
    let numbers = from.as_chunks().0.iter().map(number);
    if let Some(false) = is::<f32>(to_layout) {
        numbers.zip(to.as_chunks_mut().0).for_each(|(number, to)| *to = number.to_ne_bytes());
    } else if let Some(false) = is::<f64>(to_layout) {
        numbers.zip(to.as_chunks_mut().0).for_each(|(number, to)| *to = f64::from(number).to_ne_bytes());
    } else {
        return None;
    }
    Some(Ok(()))
}

/// The value of an IEEE half.
fn widen_half(bits: u16) -> f32 {
    // As the bits of an f32 it is 2^112 times too small, whether it is normal or not.
    let small = f32::from_bits(u32::from(bits & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
    let special = if bits & 0x7c00 == 0x7c00 { 0xff << 23 } else { 0 };
    f32::from_bits(small.to_bits() | special | u32::from(bits & 0x8000) << 16)
}

/// Whether a layout is that of `T`: `Some(true)` with its bytes in the other order.
fn is<T: Primitive>(layout: &Layout) -> Option<bool> {
    let other = match NATIVE {
        ByteOrder::LittleEndian | ByteOrder::Vax => ByteOrder::BigEndian,
        ByteOrder::BigEndian => ByteOrder::LittleEndian,
    };
    match layout.order {
        _ if layout.size != T::LAYOUT.size || layout.meaning != T::LAYOUT.meaning => None,
        order if order == T::LAYOUT.order => Some(false),
        order if order == other => Some(true),
        ByteOrder::LittleEndian | ByteOrder::BigEndian | ByteOrder::Vax => None,
    }
}

fn each<S: To<D>, D: Primitive>(
    from: &[u8],
    swap: bool,
    to: &mut [u8],
    back: bool,
    conversion: Conversion,
) -> Result<(), usize> {
    let (mut numbers, mut made) = ([S::zeroed(); AT_ONCE], [D::zeroed(); AT_ONCE]);
    let parts = from.chunks(AT_ONCE * size_of::<S>()).zip(to.chunks_mut(AT_ONCE * size_of::<D>()));
    for (part, (from, to)) in parts.enumerate() {
        let count = from.len() / size_of::<S>();
        let (numbers, made) = (&mut numbers[..count], &mut made[..count]);
        bytemuck::cast_slice_mut(numbers).copy_from_slice(from);
        if swap {
            numbers.iter_mut().for_each(|number| *number = number.swapped());
        }
        let pairs = made.iter_mut().zip(&*numbers);
        match conversion {
            Conversion::Saturating => pairs.for_each(|(to, from)| *to = from.saturated()),
            Conversion::Lossless | Conversion::Wrapping => pairs.for_each(|(to, from)| *to = from.cast()),
        }
        if conversion == Conversion::Lossless {
            let exact = |(from, to): (&S, &D)| from.is_exactly(*to);
            // All are looked at, without a way out in the middle: that is a loop of vectors.
            if !numbers.iter().zip(&*made).map(exact).fold(true, |all, one| all & one) {
                let first = numbers.iter().zip(&*made).position(|pair| !exact(pair)).unwrap_or(0);
                return Err(part * AT_ONCE + first);
            }
        }
        if back {
            made.iter_mut().for_each(|number| *number = number.swapped());
        }
        to.copy_from_slice(bytemuck::cast_slice(made));
    }
    Ok(())
}

macro_rules! primitives {
    (integers $($rust:ident $signed:literal)*) => { $(
        impl Primitive for $rust {
            const LAYOUT: Layout = Layout {
                size: size_of::<$rust>(),
                order: if size_of::<$rust>() == 1 { ByteOrder::LittleEndian } else { NATIVE },
                meaning: Meaning::Integer { signed: $signed, position: 0, bits: <$rust>::BITS },
            };

            fn swapped(self) -> Self {
                self.swap_bytes()
            }
        }
    )* };
    (floats $($rust:ident $exponent:literal $mantissa:literal)*) => { $(
        impl Primitive for $rust {
            const LAYOUT: Layout = Layout {
                size: size_of::<$rust>(),
                order: NATIVE,
                meaning: Meaning::Float {
                    sign: $exponent + $mantissa,
                    exponent: ($mantissa, $exponent),
                    mantissa: (0, $mantissa),
                    bias: (1 << ($exponent - 1)) - 1,
                    implied: true,
                },
            };

            fn swapped(self) -> Self {
                <$rust>::from_bits(self.to_bits().swap_bytes())
            }
        }
    )* };
}
primitives!(integers i8 true i16 true i32 true i64 true u8 false u16 false u32 false u64 false);
primitives!(floats f32 8 23 f64 11 52);

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    unused_comparisons,
    reason = "the casts are what is asked for, and the tests of exactness say what they lose"
)]
mod ways {
    use super::To;

    macro_rules! ways {
        ($kind:ident $($from:ident)*; $all:tt) => { $( ways!(@ $kind $from $all); )* };
        (@ $kind:ident $from:ident [$($to:ident)*]) => { $(
            impl To<$to> for $from {
                #[inline]
                fn cast(self) -> $to {
                    self as $to
                }

                #[inline]
                fn saturated(self) -> $to {
                    ways!(saturated $kind $from $to, self)
                }

                #[inline]
                fn is_exactly(self, to: $to) -> bool {
                    ways!(exact $kind $from $to, self, to)
                }
            }
        )* };
        (saturated integers $from:ident $to:ident, $number:ident) => {{
            let to = $number as $to;
            let end = if $number < 0 { $to::MIN } else { $to::MAX };
            if $number.is_exactly(to) { to } else { end }
        }};
        (saturated $kind:ident $from:ident $to:ident, $number:ident) => { $number as $to };
        (exact integers $from:ident $to:ident, $number:ident, $made:ident) => {
            ($made as $from == $number) & (($made < 0) == ($number < 0))
        };
        // What is rounded up to the end of an integer's range would come back as its last number.
        (exact to_float $from:ident $to:ident, $number:ident, $made:ident) => {
            ($made as $from == $number) & ($made < (1u128 << ($from::MAX.count_ones())) as $to)
        };
        (exact from_float $from:ident $to:ident, $number:ident, $made:ident) => {
            ($made as $from == $number) & ($number < (1u128 << ($to::MAX.count_ones())) as $from)
        };
        (exact floats $from:ident $to:ident, $number:ident, $made:ident) => {
            ($made as $from == $number) | $number.is_nan()
        };
    }
    ways!(integers i8 i16 i32 i64 u8 u16 u32 u64; [i8 i16 i32 i64 u8 u16 u32 u64]);
    ways!(to_float i8 i16 i32 i64 u8 u16 u32 u64; [f32 f64]);
    ways!(from_float f32 f64; [i8 i16 i32 i64 u8 u16 u32 u64]);
    ways!(floats f32 f64; [f32 f64]);
}
