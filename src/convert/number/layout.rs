//! How a number is stored: the few properties of a datatype that its value depends on.

use crate::format::message::datatype::{Bits, ByteOrder, Class, Datatype, FixedPoint, FloatingPoint, Normalization};

/// The largest number that is converted, in bytes.
const LARGEST: usize = 16;

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes: 1 to 16.
    pub size: usize,
    /// The order of the bytes.
    pub order: ByteOrder,
    /// What the bits mean.
    pub meaning: Meaning,
}

/// What the bits of a number mean. Positions count from the least significant bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// An integer.
    Integer {
        /// Whether it is in two's complement.
        signed: bool,
        /// Position of its lowest bit.
        position: u32,
        /// How many bits it has; at least 1.
        bits: u32,
    },
    /// Sign, exponent and mantissa.
    Float {
        /// Position of the sign.
        sign: u32,
        /// Position and number of the exponent's bits.
        exponent: (u32, u32),
        /// Position and number of the mantissa's bits.
        mantissa: (u32, u32),
        /// What is subtracted from the exponent.
        bias: i32,
        /// Whether a leading 1 is left out of the mantissa.
        implied: bool,
    },
}

impl Layout {
    /// The layout of a datatype: of integers, bit fields (which are unsigned), floats, and the integers of
    /// enumerations. `None` for others, and for numbers of more than 16 bytes.
    pub fn of(datatype: &Datatype) -> Option<Layout> {
        let size = usize::try_from(datatype.size).ok().filter(|size| (1..=LARGEST).contains(size))?;
        match &datatype.class {
            Class::FixedPoint(number) => Self::integer(size, &number.bits, number.signed),
            Class::BitField(bits) => Self::integer(size, bits, false),
            Class::FloatingPoint(number) => Self::float(size, number),
            Class::Enumeration(names) if names.base.size == datatype.size => Self::of(&names.base),
            _ => None,
        }
    }

    fn integer(size: usize, bits: &Bits, signed: bool) -> Option<Layout> {
        let (position, precision) = (u32::from(bits.offset), u32::from(bits.precision));
        if precision == 0 || position + precision > width(size) {
            return None;
        }
        let order = if size == 1 { ByteOrder::LittleEndian } else { bits.order };
        Some(Layout { size, order, meaning: Meaning::Integer { signed, position, bits: precision } })
    }

    fn float(size: usize, number: &FloatingPoint) -> Option<Layout> {
        let implied = match number.normalization {
            Normalization::Implied => true,
            Normalization::None | Normalization::MsbSet => false,
            Normalization::Reserved => return None,
        };
        let exponent = (u32::from(number.exponent_position), u32::from(number.exponent_size));
        let mantissa = (u32::from(number.mantissa_position), u32::from(number.mantissa_size));
        let fits = |(position, bits): (u32, u32)| bits > 0 && position + bits <= width(size);
        // Larger exponents would not fit the arithmetic, and nothing has them.
        let together = exponent.1 + mantissa.1 < width(size);
        if !fits(exponent) || !fits(mantissa) || !together || exponent.1 > 20 || u32::from(number.sign) >= width(size) {
            return None;
        }
        let bias = i32::try_from(number.exponent_bias).ok().filter(|bias| *bias < 1 << 24)?;
        let order = if size == 1 { ByteOrder::LittleEndian } else { number.bits.order };
        let meaning = Meaning::Float { sign: number.sign.into(), exponent, mantissa, bias, implied };
        Some(Layout { size, order, meaning })
    }

    /// A small number as it is stored; only for integers.
    pub(crate) fn small(&self, number: u8) -> Vec<u8> {
        let shift = match self.meaning {
            Meaning::Integer { position, .. } => position,
            Meaning::Float { .. } => 0,
        };
        let mut stored = vec![0; self.size];
        self.store(u128::from(number) << shift, &mut stored);
        stored
    }

    /// The bits of a stored number.
    pub(super) fn bits(&self, stored: &[u8]) -> u128 {
        let mut bytes = [0; LARGEST];
        let size = self.size.min(stored.len());
        bytes[..size].copy_from_slice(&stored[..size]);
        reorder(&mut bytes[..self.size], self.order);
        u128::from_le_bytes(bytes)
    }

    /// Stores bits in the layout's byte order.
    pub(super) fn store(&self, bits: u128, into: &mut [u8]) {
        into.copy_from_slice(&bits.to_le_bytes()[..self.size]);
        reorder(into, self.order);
    }
}

/// From `order` to least significant byte first, or back.
fn reorder(bytes: &mut [u8], order: ByteOrder) {
    match order {
        ByteOrder::LittleEndian => {}
        ByteOrder::BigEndian => bytes.reverse(),
        ByteOrder::Vax => {
            // Words of two bytes, the most significant first.
            bytes.reverse();
            bytes.chunks_exact_mut(2).for_each(<[u8]>::reverse);
        }
    }
}

/// Bits of so many bytes.
fn width(size: usize) -> u32 {
    u32::try_from(8 * size).unwrap_or(0)
}

/// An integer datatype of `size` whole bytes.
pub(crate) fn integer(size: u32, order: ByteOrder, signed: bool) -> Datatype {
    Datatype {
        version: 1,
        size,
        class: Class::FixedPoint(FixedPoint { bits: whole(size, order), signed }),
        unused_bits: 0,
    }
}

/// A floating-point datatype of `size` bytes: so many bits of exponent and mantissa, as IEEE 754 lays them out.
pub(crate) fn float(size: u32, order: ByteOrder, exponent: u8, mantissa: u8) -> Datatype {
    let number = FloatingPoint {
        bits: whole(size, order),
        internal_padding: false,
        normalization: Normalization::Implied,
        sign: exponent + mantissa,
        exponent_position: mantissa,
        exponent_size: exponent,
        mantissa_position: 0,
        mantissa_size: mantissa,
        exponent_bias: (1 << (exponent - 1)) - 1,
    };
    Datatype { version: 1, size, class: Class::FloatingPoint(number), unused_bits: 0 }
}

fn whole(size: u32, order: ByteOrder) -> Bits {
    let precision = u16::try_from(8 * size).unwrap_or(u16::MAX);
    Bits { order, offset: 0, precision, low_padding: false, high_padding: false }
}
