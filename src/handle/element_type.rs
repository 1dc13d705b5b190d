//! What elements of a dataset are in memory.

use crate::convert::element::{self, ElementType, Field, NumberKind};
use crate::convert::notation::short;
use crate::error::{Error, Result};
use crate::format::message::datatype::{ByteOrder, Class, Datatype, FloatingPoint, Member, Normalization};

/// What elements of a datatype are in memory: numbers, texts, structures; everything else is bytes.
///
/// Errors: `Unsupported` for sequences of variable length, which live elsewhere in the file.
pub(super) fn element_type(datatype: &Datatype) -> Result<ElementType> {
    let size = usize::try_from(datatype.size).map_err(|_| Error::limit("an element is larger than memory"))?;
    let bytes = ElementType::Bytes(size);
    Ok(match &datatype.class {
        Class::VariableLength { text: Some(_), .. } => ElementType::Text,
        _ if holds_sequences(datatype) => {
            return Err(Error::unsupported(format!("elements of {} in a staged array", short(datatype))));
        }
        Class::FixedPoint(_) | Class::FloatingPoint(_) => number(datatype).map_or(bytes, ElementType::Number),
        Class::Enumeration(names) if names.names == [&b"FALSE"[..], b"TRUE"] && names.values == [0, 1] => {
            ElementType::Bool
        }
        Class::Enumeration(names) => number(&names.base).map_or(bytes, ElementType::Number),
        Class::Complex { base, .. } => complex(base).unwrap_or(bytes),
        Class::Compound(members) => match &members[..] {
            [real, imaginary] if real.name == b"r" && imaginary.name == b"i" && is_complex(real, imaginary, size) => {
                complex(&real.datatype).unwrap_or(bytes)
            }
            _ => ElementType::Compound { size, fields: members.iter().map(|m| field(m, size)).collect::<Result<_>>()? },
        },
        Class::Time { .. }
        | Class::String(_)
        | Class::BitField(_)
        | Class::Opaque { .. }
        | Class::Reference { .. }
        | Class::VariableLength { .. }
        | Class::Array { .. } => bytes,
    })
}

/// A member of an element of `size` bytes.
fn field(member: &Member, size: usize) -> Result<Field> {
    let outside = || Error::corrupt(format!("a member at byte {} of an element of {size}", member.byte_offset));
    let position = usize::try_from(member.byte_offset).map_err(|_| outside())?;
    let mut element = element_type(&member.datatype)?;
    if let Some(old) = member.dimensions.as_ref().filter(|old| old.rank > 0) {
        let all = old.shape().iter().try_fold(element.size(), |n, &d| n.checked_mul(usize::try_from(d).ok()?));
        element = ElementType::Bytes(all.ok_or_else(outside)?);
    }
    match position.checked_add(element.size()) {
        Some(end) if end <= size => {
            Ok(Field { name: String::from_utf8_lossy(&member.name).into_owned(), position, element })
        }
        _ => Err(outside()),
    }
}

/// Whether elements of a datatype refer to sequences elsewhere in the file.
fn holds_sequences(datatype: &Datatype) -> bool {
    match &datatype.class {
        Class::VariableLength { .. } => true,
        Class::Array { base, .. } => holds_sequences(base),
        Class::Compound(members) => members.iter().any(|member| holds_sequences(&member.datatype)),
        _ => false,
    }
}

/// The number of ours that a datatype is, if it is one.
fn number(datatype: &Datatype) -> Option<element::NumberType> {
    let bits = u16::try_from(datatype.size.checked_mul(8)?).ok()?;
    let (kind, own) = match &datatype.class {
        Class::FixedPoint(n) if matches!(bits, 8 | 16 | 32 | 64) => {
            (if n.signed { NumberKind::Signed } else { NumberKind::Unsigned }, n.bits)
        }
        Class::FloatingPoint(n) if is_ieee(n, bits.into()) => (NumberKind::Float, n.bits),
        _ => return None,
    };
    let order = match own.order {
        _ if bits == 8 => element::ByteOrder::NATIVE,
        ByteOrder::LittleEndian => element::ByteOrder::Little,
        ByteOrder::BigEndian => element::ByteOrder::Big,
        ByteOrder::Vax => return None,
    };
    let size = usize::from(bits / 8);
    (own.offset == 0 && own.precision == bits).then_some(element::NumberType { kind, size, order })
}

/// Whether a float of so many bits is laid out as IEEE 754 says.
pub(crate) fn is_ieee(n: &FloatingPoint, bits: u32) -> bool {
    let layout = (n.sign, n.exponent_position, n.exponent_size, n.mantissa_position, n.mantissa_size, n.exponent_bias);
    let standard = match bits {
        16 => (15, 10, 5, 0, 10, 15),
        32 => (31, 23, 8, 0, 23, 127),
        64 => (63, 52, 11, 0, 52, 1023),
        _ => return false,
    };
    layout == standard && n.normalization == Normalization::Implied
}

/// Whether two members are the parts of a complex number, as h5py writes it.
fn is_complex(real: &Member, imaginary: &Member, size: usize) -> bool {
    let plain = [real, imaginary].iter().all(|member| member.dimensions.as_ref().is_none_or(|old| old.rank == 0));
    let apart = (real.byte_offset, imaginary.byte_offset) == (0, real.datatype.size);
    let whole = usize::try_from(real.datatype.size).is_ok_and(|part| 2 * part == size);
    plain && apart && whole && real.datatype == imaginary.datatype && complex(&real.datatype).is_some()
}

fn complex(part: &Datatype) -> Option<ElementType> {
    number(part).filter(|number| number.kind == NumberKind::Float).map(ElementType::Complex)
}
