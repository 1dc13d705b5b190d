//! Stored elements as elements of another datatype, as libhdf5 converts them where a virtual dataset and its source
//! differ: numbers to the nearest, strings cut or padded, members and enumerated values by their names.

use super::notation::short;
use super::number::{self, Conversion};
use super::string::trim;
use super::types::whole_member;
use crate::error::{Error, Result};
use crate::format::message::datatype::{Class, Datatype, Enumeration, Member, Text};

/// What becomes of elements that say where something is.
pub(crate) trait Sequences {
    /// A sequence of elements of type `from`, as one of elements of type `to`.
    fn sequence(&self, element: &[u8], from: &Datatype, to: &Datatype, out: &mut [u8]) -> Result<()>;

    /// A reference.
    fn reference(&self, element: &[u8], out: &mut [u8]) -> Result<()>;
}

/// The elements in `bytes`, which are of type `from`, as elements of type `to`.
///
/// Errors are `WrongType` if there is no such conversion.
pub(crate) fn converted(bytes: &[u8], from: &Datatype, to: &Datatype, sequences: &dyn Sequences) -> Result<Vec<u8>> {
    let mismatch = || Error::wrong_type(format!("elements are {}, not {}", short(from), short(to)));
    match (&from.class, &to.class) {
        (Class::VariableLength { text: a, base: x }, Class::VariableLength { text: b, base: y })
            if a.is_some() == b.is_some() =>
        {
            // Whether elements can be converted shows on none as on many.
            converted(&[], x, y, sequences)?;
            each(bytes, from, to, |element, out| sequences.sequence(element, x, y, out))
        }
        (Class::Reference { kind: a, .. }, Class::Reference { kind: b, .. }) if a == b => {
            each(bytes, from, to, |element, out| sequences.reference(element, out))
        }
        (Class::Enumeration(a), Class::Enumeration(b)) => enumerated(bytes, a, b, to),
        (_, Class::Enumeration(_)) => Err(mismatch()),
        (Class::String(a), Class::String(b)) if a.character_set == b.character_set => {
            each(bytes, from, to, |element, out| string(element, *a, *b, out))
        }
        (Class::Array { shape: a, base: x, .. }, Class::Array { shape: b, base: y, .. }) if a == b => {
            converted(bytes, x, y, sequences)
        }
        (Class::Complex { form: a, base: x }, Class::Complex { form: b, base: y }) if a == b => {
            converted(bytes, x, y, sequences)
        }
        // The real part, and numbers without an imaginary one.
        (Class::Complex { base, .. }, Class::FixedPoint(_) | Class::FloatingPoint(_)) => {
            let part = in_memory(base.size)?;
            each(bytes, from, to, |element, out| number_to(&element[..part], base, to, out))
        }
        (Class::FixedPoint(_) | Class::FloatingPoint(_), Class::Complex { base, .. }) => {
            let part = in_memory(base.size)?;
            each(bytes, from, to, |element, out| number_to(element, from, base, &mut out[..part]))
        }
        (Class::Compound(a), Class::Compound(b)) => {
            let pairs = pairs(a, b);
            if pairs.is_empty() {
                return Err(mismatch());
            }
            // Whether each member can be converted shows on no elements as on many.
            for (from, to) in &pairs {
                converted(&[], &whole_member(from), &whole_member(to), sequences)?;
            }
            each(bytes, from, to, |element, out| members(element, &pairs, sequences, out))
        }
        _ if from == to => Ok(bytes.to_vec()),
        _ => number::converted(bytes, from, to, Conversion::Saturating),
    }
}

fn number_to(number: &[u8], from: &Datatype, to: &Datatype, out: &mut [u8]) -> Result<()> {
    out.copy_from_slice(&number::converted(number, from, to, Conversion::Saturating)?);
    Ok(())
}

/// One element after the other.
fn each(
    bytes: &[u8],
    from: &Datatype,
    to: &Datatype,
    mut job: impl FnMut(&[u8], &mut [u8]) -> Result<()>,
) -> Result<Vec<u8>> {
    let (size, wanted) = (in_memory(from.size)?.max(1), in_memory(to.size)?.max(1));
    let mut out = vec![0; bytes.len() / size * wanted];
    for (element, out) in bytes.chunks_exact(size).zip(out.chunks_exact_mut(wanted)) {
        job(element, out)?;
    }
    Ok(out)
}

fn in_memory(size: u32) -> Result<usize> {
    usize::try_from(size).map_err(|_| Error::limit("an element is larger than memory"))
}

/// A text without its padding, cut where there is no space, with the padding of the wanted type.
fn string(element: &[u8], from: Text, to: Text, out: &mut [u8]) -> Result<()> {
    const TERMINATED: u8 = 0;
    const SPACES: u8 = 2;
    let text = trim(element, from);
    let room = if to.padding == TERMINATED { out.len().saturating_sub(1) } else { out.len() };
    let text = &text[..text.len().min(room)];
    out.fill(if to.padding == SPACES { b' ' } else { 0 });
    out[..text.len()].copy_from_slice(text);
    Ok(())
}

/// The members of two compounds that have the same names.
fn pairs<'a>(from: &'a [Member], to: &'a [Member]) -> Vec<(&'a Member, &'a Member)> {
    let pair =
        |wanted: &'a Member| from.iter().find(|member| member.name == wanted.name).map(|member| (member, wanted));
    to.iter().filter_map(pair).collect()
}

fn members(element: &[u8], pairs: &[(&Member, &Member)], sequences: &dyn Sequences, out: &mut [u8]) -> Result<()> {
    for (from, to) in pairs {
        let (old, new) = (whole_member(from), whole_member(to));
        let start = in_memory(from.byte_offset)?;
        let part = start.checked_add(in_memory(old.size)?).and_then(|end| element.get(start..end));
        let part = part.ok_or_else(|| Error::corrupt("a member leaves its compound"))?;
        let member = converted(part, &old, &new, sequences)?;
        let start = in_memory(to.byte_offset)?;
        let slot = start.checked_add(member.len()).and_then(|end| out.get_mut(start..end));
        slot.ok_or_else(|| Error::corrupt("a member leaves its compound"))?.copy_from_slice(&member);
    }
    Ok(())
}

/// Enumerated values by their names; all bits are set where a value has no name, or one that is not wanted.
fn enumerated(bytes: &[u8], from: &Enumeration, to: &Enumeration, wanted: &Datatype) -> Result<Vec<u8>> {
    let (size, new) = (in_memory(from.base.size)?.max(1), in_memory(wanted.size)?.max(1));
    let known: std::collections::HashMap<&[u8], &[u8]> =
        to.names.iter().map(Vec::as_slice).zip(to.values.chunks_exact(new)).collect();
    if let Some(name) = from.names.iter().find(|name| !known.contains_key(name.as_slice())) {
        let name = String::from_utf8_lossy(name);
        return Err(Error::wrong_type(format!("{name:?} is no value of {}", short(wanted))));
    }
    let values: std::collections::HashMap<&[u8], &[u8]> =
        from.values.chunks_exact(size).zip(&from.names).map(|(value, name)| (value, known[name.as_slice()])).collect();
    let none = vec![0xff; new];
    Ok(bytes.chunks_exact(size).flat_map(|value| *values.get(value).unwrap_or(&none.as_slice())).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::H5Type;
    use crate::convert::types::compound;

    /// There is none here.
    struct Nothing;

    impl Sequences for Nothing {
        fn sequence(&self, _: &[u8], _: &Datatype, _: &Datatype, _: &mut [u8]) -> Result<()> {
            Err(Error::invalid("there is no sequence here"))
        }

        fn reference(&self, _: &[u8], _: &mut [u8]) -> Result<()> {
            Err(Error::invalid("there is no reference here"))
        }
    }

    fn converted(bytes: &[u8], from: &Datatype, to: &Datatype) -> Result<Vec<u8>> {
        super::converted(bytes, from, to, &Nothing)
    }

    fn text(size: u32, padding: u8) -> Datatype {
        let class = Class::String(Text { padding, character_set: 0 });
        Datatype { version: 1, size, class, unused_bits: 0 }
    }

    fn enumeration(values: &[(&str, u8)]) -> Datatype {
        let names = values.iter().map(|(name, _)| name.as_bytes().to_vec()).collect();
        let numbers = values.iter().map(|(_, value)| *value).collect();
        let base = Box::new(u8::type_descriptor());
        let class =
            Class::Enumeration(Box::new(Enumeration { base, names, name_padding: Vec::new(), values: numbers }));
        Datatype { version: 3, size: 1, class, unused_bits: 0 }
    }

    #[test]
    fn enumerated_values_go_by_their_names() {
        let (from, to) = (enumeration(&[("A", 1), ("B", 2)]), enumeration(&[("B", 7), ("A", 70), ("C", 0)]));
        assert_eq!(converted(&[1, 2, 1, 9], &from, &to).unwrap(), [70, 7, 70, 0xff]);
        assert_eq!(converted(&[1], &to, &from).unwrap_err().kind(), crate::ErrorKind::WrongType);
        assert_eq!(converted(&[1], &u8::type_descriptor(), &to).unwrap_err().kind(), crate::ErrorKind::WrongType);
    }

    #[test]
    fn strings_are_cut_and_padded() {
        assert_eq!(converted(b"abcab\0", &text(3, 1), &text(5, 2)).unwrap(), b"abc  ab   ");
        assert_eq!(converted(b"abc", &text(3, 1), &text(3, 0)).unwrap(), b"ab\0");
        assert_eq!(converted(b"abc", &text(3, 1), &text(2, 1)).unwrap(), b"ab");
    }

    #[test]
    fn members_go_by_their_names() {
        let from = compound(&[("a", u8::type_descriptor()), ("b", i16::type_descriptor())]);
        let to =
            compound(&[("b", i32::type_descriptor()), ("c", u8::type_descriptor()), ("a", u16::type_descriptor())]);
        let (stored, wanted) =
            ((-2i16).to_ne_bytes(), [&(-2i32).to_ne_bytes()[..], &[0], &5u16.to_ne_bytes()].concat());
        assert_eq!(converted(&[&[5], &stored[..]].concat(), &from, &to).unwrap(), wanted);
        let none = compound(&[("x", u8::type_descriptor())]);
        assert_eq!(converted(&[], &from, &none).unwrap_err().kind(), crate::ErrorKind::WrongType);
    }
}
