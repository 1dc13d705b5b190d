//! The numbers that scale-offset packs: eight kinds of integers and two of floats.

/// What the codes of a chunk start from, and how many bits they have.
pub(super) struct Plan<T> {
    pub(super) minimum: T,
    pub(super) bits: u32,
}

/// A number that can be packed.
pub(super) trait Number: Copy {
    /// The number whose bits are the low bits of `bits`.
    fn from_low_bits(bits: u64) -> Self;
    /// The number's bits, extended with zeros.
    fn to_bits(self) -> u64;
    /// A number as LE writers store it.
    fn from_le(stored: &[u8]) -> Self;
    /// Takes the number from the dataset's bytes.
    fn get(from: &[u8], big_endian: bool) -> Self;
    /// Puts the number into the dataset's bytes.
    fn put(self, to: &mut [u8], big_endian: bool);
    /// 10 to the power of `digits`; 1 for integers.
    fn power_of_ten(digits: i32) -> Self;
    /// The number that a code stands for.
    fn decode(code: u64, minimum: Self, scale: Self) -> Self;
    /// The code of a number.
    fn encode(self, minimum: Self, scale: Self) -> u64;
    /// Whether the number counts as the fill value.
    fn is_fill(self, fill: Self, scale: Self) -> bool;
    /// Minimum and bits for `numbers`; `None` if they cannot be packed.
    fn plan(numbers: &[Self], fill: Option<Self>, scale: Self) -> Option<Plan<Self>>;
}

/// The bits of a largest code, and one code more where a fill value needs one.
fn bits_for(span: u64, filled: bool) -> u32 {
    match span.checked_add(u64::from(filled)) {
        Some(largest) => 64 - largest.leading_zeros(),
        None => 64,
    }
}

macro_rules! common {
    ($size:literal) => {
        fn from_le(stored: &[u8]) -> Self {
            Self::get(stored, false)
        }

        #[inline]
        fn get(from: &[u8], big_endian: bool) -> Self {
            let bytes: [u8; $size] = std::array::from_fn(|i| from[i]);
            if big_endian { Self::from_be_bytes(bytes) } else { Self::from_le_bytes(bytes) }
        }

        #[inline]
        fn put(self, to: &mut [u8], big_endian: bool) {
            to.copy_from_slice(&if big_endian { self.to_be_bytes() } else { self.to_le_bytes() });
        }
    };
}

macro_rules! integers {
    ($($kind:ty, $unsigned:ty, $size:literal;)*) => { $(
        impl Number for $kind {
            common!($size);

            #[inline]
            fn from_low_bits(bits: u64) -> Self {
                let bytes = bits.to_le_bytes();
                Self::from_le_bytes(std::array::from_fn(|i| bytes[i]))
            }

            #[inline]
            fn to_bits(self) -> u64 {
                u64::from(<$unsigned>::from_le_bytes(self.to_le_bytes()))
            }

            fn power_of_ten(_: i32) -> Self {
                1
            }

            #[inline]
            fn decode(code: u64, minimum: Self, _: Self) -> Self {
                Self::from_low_bits(code).wrapping_add(minimum)
            }

            #[inline]
            fn encode(self, minimum: Self, _: Self) -> u64 {
                self.wrapping_sub(minimum).to_bits()
            }

            fn is_fill(self, fill: Self, _: Self) -> bool {
                self == fill
            }

            fn plan(numbers: &[Self], fill: Option<Self>, _: Self) -> Option<Plan<Self>> {
                let counted = || numbers.iter().copied().filter(|&n| Some(n) != fill);
                let (minimum, bits) = match (counted().min(), counted().max()) {
                    (Some(low), Some(high)) => (low, bits_for(high.wrapping_sub(low).to_bits(), fill.is_some())),
                    _ => (0, 0),
                };
                Some(Plan { minimum, bits: bits.min(8 * $size) })
            }
        }
    )* };
}

integers! {
    u8, u8, 1;
    u16, u16, 2;
    u32, u32, 4;
    u64, u64, 8;
    i8, u8, 1;
    i16, u16, 2;
    i32, u32, 4;
    i64, u64, 8;
}

macro_rules! floats {
    ($($kind:ty, $signed:ty, $bits:ty, $size:literal;)*) => { $(
        impl Number for $kind {
            common!($size);

            #[inline]
            fn from_low_bits(bits: u64) -> Self {
                let bytes = bits.to_le_bytes();
                Self::from_le_bytes(std::array::from_fn(|i| bytes[i]))
            }

            fn to_bits(self) -> u64 {
                u64::from(<$kind>::to_bits(self))
            }

            fn power_of_ten(digits: i32) -> Self {
                // Parsing rounds correctly, repeated multiplication would not.
                format!("1e{digits}").parse().unwrap_or(Self::INFINITY)
            }

            #[inline]
            #[expect(clippy::cast_precision_loss, reason = "the format rounds the code to the float type")]
            fn decode(code: u64, minimum: Self, scale: Self) -> Self {
                <$signed as Number>::from_low_bits(code) as $kind / scale + minimum
            }

            #[expect(clippy::cast_possible_truncation, reason = "the plan has checked that codes fit")]
            fn encode(self, minimum: Self, scale: Self) -> u64 {
                Number::to_bits((self * scale - minimum * scale).round() as $signed)
            }

            fn is_fill(self, fill: Self, scale: Self) -> bool {
                (self - fill).abs() < 1.0 / scale
            }

            #[expect(clippy::cast_precision_loss, reason = "a bound that is compared with a float")]
            #[expect(clippy::cast_possible_truncation, reason = "compared with that bound before")]
            fn plan(numbers: &[Self], fill: Option<Self>, scale: Self) -> Option<Plan<Self>> {
                let counted =
                    || numbers.iter().copied().filter(|&n| !fill.is_some_and(|fill| n.is_fill(fill, scale)));
                if counted().any(|n| !n.is_finite()) {
                    return None;
                }
                let Some(low) = counted().reduce(Self::min) else { return Some(Plan { minimum: 0.0, bits: 0 }) };
                let high = counted().fold(low, Self::max);
                let span = (high * scale - low * scale).round();
                if span.is_nan() || span >= <$signed>::MAX as $kind / 2.0 {
                    return None;
                }
                Some(Plan { minimum: low, bits: bits_for(Number::to_bits(span as $signed), fill.is_some()) })
            }
        }
    )* };
}

floats! {
    f32, i32, u32, 4;
    f64, i64, u64, 8;
}
