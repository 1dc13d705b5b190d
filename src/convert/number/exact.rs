//! One number at a time, without loss: sign, mantissa, exponent.

use std::fmt;

use super::{Conversion, Layout, Meaning};

/// A number, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exact {
    /// `mantissa * 2^exponent`; the mantissa may be 0.
    Finite {
        /// Whether it is below zero.
        negative: bool,
        mantissa: u128,
        exponent: i32,
    },
    Infinite {
        negative: bool,
    },
    Nan {
        negative: bool,
    },
}

/// So many ones.
fn ones(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

fn field(bits: u128, (position, size): (u32, u32)) -> u128 {
    bits >> position & ones(size)
}

/// An exponent as it is stored; layouts have few bits for it.
fn stored_exponent(bits: u128) -> i32 {
    i32::try_from(bits).unwrap_or(i32::MAX)
}

/// The number that these bits are.
pub(super) fn read(bits: u128, layout: &Layout) -> Exact {
    match layout.meaning {
        Meaning::Integer { signed, position, bits: size } => {
            let value = field(bits, (position, size));
            let negative = signed && value >> (size - 1) == 1;
            let mantissa = if negative { value.wrapping_neg() & ones(size) } else { value };
            Exact::Finite { negative, mantissa, exponent: 0 }
        }
        Meaning::Float { sign, exponent, mantissa, bias, implied } => {
            let negative = bits >> sign & 1 == 1;
            let (power, fraction) = (stored_exponent(field(bits, exponent)), field(bits, mantissa));
            let top = 1 << (mantissa.1 - 1);
            // All ones are infinity or not a number, as libhdf5 has it for floats of any size.
            if field(bits, exponent) == ones(exponent.1) && exponent.1 > 1 {
                let nothing = fraction == 0 || !implied && fraction == top;
                return if nothing { Exact::Infinite { negative } } else { Exact::Nan { negative } };
            }
            let width = i32::try_from(mantissa.1).unwrap_or(0);
            let (mantissa, width) = match (implied, power) {
                (true, 0) => (fraction, width),
                (true, _) => (fraction | top << 1, width),
                (false, _) => (fraction, width - 1),
            };
            Exact::Finite { negative, mantissa, exponent: power.max(1) - bias - width }
        }
    }
}

impl Exact {
    /// The bits that stand for it in `layout`, and whether they are exactly it.
    pub(super) fn stored(self, layout: &Layout, conversion: Conversion) -> (u128, bool) {
        match layout.meaning {
            Meaning::Integer { signed, position, bits } => {
                let (value, is_exact) = self.integer(signed, bits, conversion);
                ((value & ones(bits)) << position, is_exact)
            }
            Meaning::Float { sign, exponent, mantissa, bias, implied } => {
                let (power, fraction, is_exact) = self.float(exponent.1, mantissa.1, bias, implied);
                let negative = match self {
                    Exact::Finite { negative, .. } | Exact::Infinite { negative } | Exact::Nan { negative } => negative,
                };
                (u128::from(negative) << sign | power << exponent.0 | fraction << mantissa.0, is_exact)
            }
        }
    }

    fn integer(self, signed: bool, bits: u32, conversion: Conversion) -> (u128, bool) {
        let (low, high) = if signed { (1 << (bits - 1), ones(bits - 1)) } else { (0, ones(bits)) };
        let end = |negative: bool| if negative { u128::wrapping_neg(low) } else { high };
        match self {
            Exact::Nan { .. } => (0, false),
            Exact::Infinite { negative } => (end(negative), false),
            Exact::Finite { negative, mantissa, exponent } => {
                let down = exponent.min(0).unsigned_abs();
                let whole = mantissa.checked_shr(down).unwrap_or(0);
                let is_whole = whole.checked_shl(down).unwrap_or(0) == mantissa;
                let up = exponent.max(0).unsigned_abs();
                let fits = whole == 0 || up <= whole.leading_zeros();
                let size = whole.checked_shl(up).unwrap_or(0);
                if fits && size <= if negative { low } else { high } {
                    let value = if negative { size.wrapping_neg() } else { size };
                    return (value, is_whole);
                }
                match conversion {
                    Conversion::Wrapping if exponent == 0 => {
                        (if negative { mantissa.wrapping_neg() } else { mantissa }, false)
                    }
                    Conversion::Wrapping | Conversion::Saturating | Conversion::Lossless => (end(negative), false),
                }
            }
        }
    }

    /// Exponent and mantissa as stored: the nearest, ties to even.
    fn float(self, exponent_bits: u32, mantissa_bits: u32, bias: i32, implied: bool) -> (u128, u128, bool) {
        let (infinite, top) = (ones(exponent_bits), 1u128 << (mantissa_bits - 1));
        let nothing = if implied { 0 } else { top };
        let (mantissa, exponent) = match self {
            Exact::Nan { .. } => return (infinite, top | top >> 1, true),
            Exact::Infinite { .. } => return (infinite, nothing, true),
            Exact::Finite { mantissa: 0, .. } => return (0, 0, true),
            Exact::Finite { mantissa, exponent, .. } => (mantissa, exponent),
        };
        // The mantissa gets so many bits, or fewer where the exponent cannot go lower.
        let wanted = i32::try_from(mantissa_bits + u32::from(implied)).unwrap_or(0);
        let have = i32::try_from(128 - mantissa.leading_zeros()).unwrap_or(0);
        let lowest = 1 - bias - (wanted - 1);
        let mut power = (exponent + have - wanted).max(lowest);
        let cut = power - exponent;
        let (mut fraction, is_exact) =
            if cut <= 0 { (mantissa << cut.unsigned_abs(), true) } else { rounded(mantissa, cut.unsigned_abs()) };
        if fraction > ones(mantissa_bits + u32::from(implied)) {
            fraction >>= 1;
            power += 1;
        }
        let is_normal = fraction > ones(mantissa_bits + u32::from(implied) - 1);
        let stored = if is_normal { power + bias + wanted - 1 } else { 0 };
        match u128::try_from(stored) {
            Ok(stored) if stored < infinite => {
                (stored, if implied { fraction & ones(mantissa_bits) } else { fraction }, is_exact)
            }
            Ok(_) | Err(_) => (infinite, nothing, false),
        }
    }

    /// Whether it is the same value as `other`.
    pub(super) fn equals(self, other: Exact) -> bool {
        match (self, other) {
            (Exact::Finite { mantissa: 0, .. }, Exact::Finite { mantissa: 0, .. }) => true,
            (Exact::Nan { .. }, _) => false,
            (a, b) => a.reduced() == b.reduced(),
        }
    }

    /// With an odd mantissa.
    fn reduced(self) -> Exact {
        match self {
            Exact::Finite { negative, mantissa, exponent } if mantissa != 0 => {
                let zeros = mantissa.trailing_zeros();
                let exponent = exponent.saturating_add_unsigned(zeros);
                Exact::Finite { negative, mantissa: mantissa >> zeros, exponent }
            }
            Exact::Finite { .. } | Exact::Infinite { .. } | Exact::Nan { .. } => self,
        }
    }
}

/// `mantissa / 2^cut`, rounded to the nearest, ties to even; and whether that is exact.
fn rounded(mantissa: u128, cut: u32) -> (u128, bool) {
    if cut > 128 {
        return (0, false);
    }
    let whole = mantissa.checked_shr(cut).unwrap_or(0);
    let (rest, half) = (mantissa & ones(cut), 1u128 << (cut - 1));
    let up = rest > half || rest == half && whole & 1 == 1;
    (whole + u128::from(up), rest == 0)
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Exact::Finite { negative, mantissa, exponent: 0 } => {
                write!(f, "{}{mantissa}", if negative { "-" } else { "" })
            }
            Exact::Nan { .. } => f.write_str("NaN"),
            Exact::Infinite { negative } => f.write_str(if negative { "-inf" } else { "inf" }),
            Exact::Finite { .. } => {
                // Beyond the precision of an f64 only its nearest is shown.
                let (bits, _) = self.stored(&super::bulk::F64, Conversion::Saturating);
                write!(f, "{}", f64::from_bits(u64::try_from(bits).unwrap_or(0)))
            }
        }
    }
}
