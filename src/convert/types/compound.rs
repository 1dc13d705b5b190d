//! Structs: the members of a compound, found by their names.

use std::borrow::Cow;

use crate::convert::decoder::Decoder;
use crate::convert::encoder::{Encoder, HeapSink};
use crate::convert::h5type::H5Type;
use crate::convert::heaps::Heaps;
use crate::convert::notation::{short, text};
use crate::convert::number::Conversion;
use crate::error::{Error, Result};
use crate::format::message::datatype::{Class, Datatype, Member};

/// The members of stored compounds, as `#[derive(H5Type)]` asks for them.
#[derive(Debug)]
pub struct Fields<'a> {
    stored: &'a Datatype,
    members: &'a [Member],
    conversion: Conversion,
}

/// The way to one field of a struct.
#[derive(Debug)]
pub struct Field<T> {
    start: usize,
    decoder: Decoder<T>,
}

impl<'a> Fields<'a> {
    /// The members of `stored`. `WrongType`, with the struct's own datatype in it, if that is no compound.
    pub fn of<T: H5Type>(stored: &'a Datatype, conversion: Conversion) -> Result<Self> {
        match &stored.class {
            Class::Compound(members) => Ok(Fields { stored, members, conversion }),
            _ => Err(crate::convert::h5type::mismatch::<T>(stored)),
        }
    }

    /// The way to the field called `name`. `WrongType` if there is none, or if it is no `T`.
    pub fn field<T: H5Type>(&self, name: &str) -> Result<Field<T>> {
        let member = self.members.iter().find(|member| member.name == name.as_bytes());
        let missing = || Error::wrong_type(format!("elements are {}, without a field {name:?}", short(self.stored)));
        self.way(member.ok_or_else(missing)?)
    }

    /// The members of these names; where not all of them are there, all members as they come. `WrongType`, with the tuple's
    /// own datatype in it, if these are more or fewer.
    pub(super) fn in_order<T: H5Type>(&self, names: &[&str]) -> Result<Vec<&'a Member>> {
        in_order(self.members.iter().collect(), names).ok_or_else(|| crate::convert::h5type::mismatch::<T>(self.stored))
    }

    /// The way to the next of `members`.
    pub(super) fn next<T: H5Type>(&self, members: &mut impl Iterator<Item = &'a Member>) -> Result<Field<T>> {
        self.way(members.next().ok_or_else(|| Error::invalid("a tuple has more fields than members were found"))?)
    }

    fn way<T: H5Type>(&self, member: &Member) -> Result<Field<T>> {
        let start =
            usize::try_from(member.byte_offset).map_err(|_| Error::limit("an element is larger than memory"))?;
        let decoder = T::decoder(&whole(member), self.conversion);
        let of = |e: Error| Error::new(e.kind(), format!("of field {:?} {}", text(&member.name), e.message()));
        let decoder = decoder.map_err(of)?;
        Ok(Field { start, decoder })
    }
}

impl<T: H5Type> Field<T> {
    /// The field's value in a stored compound.
    pub fn decode(&self, element: &[u8], heaps: &Heaps<'_>) -> Result<T> {
        let end = self.start.saturating_add(self.decoder.size());
        let member = element.get(self.start..end).ok_or_else(|| Error::corrupt("a member leaves its compound"))?;
        self.decoder.decode(member, heaps)
    }
}

/// The members of these names; where not all of them are there, all as they come, if they are as many.
fn in_order<'a>(members: Vec<&'a Member>, names: &[&str]) -> Option<Vec<&'a Member>> {
    let called = |name: &&str| members.iter().copied().find(|member| member.name == name.as_bytes());
    let named = names.iter().map(called).collect::<Option<Vec<&Member>>>();
    named.or_else(|| (members.len() == names.len()).then_some(members))
}

/// The members of compounds that are to be stored, as `#[derive(H5Type)]` asks for them.
#[derive(Debug)]
pub struct FieldsToStore<'a> {
    stored: &'a Datatype,
    /// Those that no field was asked for yet.
    left: Vec<&'a Member>,
    conversion: Conversion,
}

/// The way from one field of a struct.
#[derive(Debug)]
pub struct FieldToStore<T> {
    start: usize,
    encoder: Encoder<T>,
}

impl<'a> FieldsToStore<'a> {
    /// The members of `stored`. `WrongType`, with the struct's own datatype in it, if that is no compound.
    pub fn of<T: H5Type>(stored: &'a Datatype, conversion: Conversion) -> Result<Self> {
        match &stored.class {
            Class::Compound(members) => Ok(FieldsToStore { stored, left: members.iter().collect(), conversion }),
            _ => Err(crate::convert::h5type::mismatch::<T>(stored)),
        }
    }

    /// The way from the field called `name`. `WrongType` if there is none, or if it can be no `T`.
    pub fn field<T: H5Type>(&mut self, name: &str) -> Result<FieldToStore<T>> {
        let found = self.left.iter().position(|member| member.name == name.as_bytes());
        let missing = || Error::wrong_type(format!("elements are {}, without a field {name:?}", short(self.stored)));
        let member = self.left.remove(found.ok_or_else(missing)?);
        self.way(member)
    }

    /// The members of these names, as many as there are; as for [`Fields`].
    pub(super) fn in_order<T: H5Type>(&self, names: &[&str]) -> Result<Vec<&'a Member>> {
        let found = in_order(self.left.clone(), names).filter(|found| found.len() == self.left.len());
        found.ok_or_else(|| crate::convert::h5type::mismatch::<T>(self.stored))
    }

    /// The way to the next of `members`.
    pub(super) fn next<T: H5Type>(&self, members: &mut impl Iterator<Item = &'a Member>) -> Result<FieldToStore<T>> {
        self.way(members.next().ok_or_else(|| Error::invalid("a tuple has more fields than members were found"))?)
    }

    fn way<T: H5Type>(&self, member: &Member) -> Result<FieldToStore<T>> {
        let start =
            usize::try_from(member.byte_offset).map_err(|_| Error::limit("an element is larger than memory"))?;
        let of = |e: Error| Error::new(e.kind(), format!("of field {:?} {}", text(&member.name), e.message()));
        Ok(FieldToStore { start, encoder: T::encoder(&whole(member), self.conversion).map_err(of)? })
    }

    /// Every member has its field: values of the others would be made up. `WrongType` if one has none.
    pub fn finish(self) -> Result<()> {
        match self.left.first() {
            None => Ok(()),
            Some(member) => {
                let name = text(&member.name);
                Err(Error::wrong_type(format!("elements are {}, and no value is for {name:?}", short(self.stored))))
            }
        }
    }
}

impl<T: H5Type> FieldToStore<T> {
    /// Writes the field's value to its place in a compound.
    pub fn encode(&self, value: &T, element: &mut [u8], heap: &mut dyn HeapSink) -> Result<()> {
        self.encoder.encode(value, part(element, self.start, self.encoder.size())?, heap)
    }
}

/// The bytes of a part of an element.
pub(super) fn part(element: &mut [u8], start: usize, size: usize) -> Result<&mut [u8]> {
    let part = start.checked_add(size).and_then(|end| element.get_mut(start..end));
    part.ok_or_else(|| Error::invalid("a member leaves its compound"))
}

/// The whole type of a member: the oldest compounds keep the shape of arrays apart from it.
pub(crate) fn whole(member: &Member) -> Cow<'_, Datatype> {
    match member.dimensions.as_ref().map_or(&[][..], |d| d.shape()) {
        [] => Cow::Borrowed(&member.datatype),
        shape => Cow::Owned(array(shape, member.datatype.clone())),
    }
}

/// The datatype of arrays of `shape`.
pub(crate) fn array(shape: &[u32], base: Datatype) -> Datatype {
    let size = shape.iter().fold(base.size, |size, &n| size.saturating_mul(n));
    let class = Class::Array { shape: shape.to_vec(), old: None, base: Box::new(base) };
    Datatype { version: 3, size, class, unused_bits: 0 }
}

/// The datatype of compounds of these members, one behind the other.
pub fn compound(members: &[(&str, Datatype)]) -> Datatype {
    let mut size = 0u32;
    let member = |(name, datatype): &(&str, Datatype)| {
        let byte_offset = size;
        size = size.saturating_add(datatype.size);
        let (name, datatype) = (name.as_bytes().to_vec(), datatype.clone());
        Member { name, name_padding: Vec::new(), byte_offset, dimensions: None, datatype }
    };
    let members: Vec<Member> = members.iter().map(member).collect();
    Datatype { version: 3, size, class: Class::Compound(members), unused_bits: 0 }
}

/// What the real and the imaginary part of complex numbers are called, by h5py, by others.
const COMPLEX: [[&[u8]; 2]; 3] = [[b"r", b"i"], [b"re", b"im"], [b"real", b"imag"]];

/// The parts of complex elements: their type, and where the real and the imaginary one begin.
pub(crate) fn complex_parts(stored: &Datatype) -> Option<(&Datatype, [usize; 2])> {
    match &stored.class {
        Class::Complex { base, .. } => Some((base, [0, usize::try_from(base.size).ok()?])),
        Class::Compound(members) => {
            let [a, b] = members.as_slice() else { return None };
            let names = [a.name.as_slice(), b.name.as_slice()];
            let is_number = matches!(a.datatype.class, Class::FloatingPoint(_) | Class::FixedPoint(_));
            let plain = a.dimensions.as_ref().is_none_or(|d| d.shape().is_empty());
            if !COMPLEX.contains(&names) || !is_number || !plain || a.datatype != b.datatype {
                return None;
            }
            Some((&a.datatype, [usize::try_from(a.byte_offset).ok()?, usize::try_from(b.byte_offset).ok()?]))
        }
        _ => None,
    }
}
