//! The datatype message: what the elements of a dataset, attribute or committed datatype are. Specification IV.A.2.d.
//!
//! A datatype is a tree. Every property that the file states is kept, so that any datatype is written back alike.

use crate::error::{Error, Result};
use crate::wire::{Structure, Walk};

/// A datatype.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Datatype {
    /// Version of the encoding, 1 to 5.
    pub version: u8,
    /// Bytes of one element.
    pub size: u32,
    /// The class and its properties.
    pub class: Class,
    /// Bits of the class bit field that the class does not use; zero as a rule.
    pub unused_bits: u32,
}

/// The class of a datatype, with its properties.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Integers.
    FixedPoint(FixedPoint),
    /// Floating-point numbers.
    FloatingPoint(FloatingPoint),
    /// Times, which nothing writes.
    Time {
        /// Byte order.
        order: ByteOrder,
        /// Significant bits.
        precision: u16,
    },
    /// Strings of a fixed size.
    String(Text),
    /// Bit fields.
    BitField(Bits),
    /// Bytes with a description.
    Opaque {
        /// The description, as stored (with its NUL and padding).
        tag: Vec<u8>,
    },
    /// Structures.
    Compound(Vec<Member>),
    /// References.
    Reference {
        /// What is referred to.
        kind: ReferenceKind,
        /// Version of the reference encoding, for the revised kinds.
        encoding: u8,
    },
    /// Named integers.
    Enumeration(Box<Enumeration>),
    /// Sequences or strings of any length, kept in the global heap.
    VariableLength {
        /// `Some` for strings.
        text: Option<Text>,
        /// The element.
        base: Box<Datatype>,
    },
    /// Arrays of a fixed shape.
    Array {
        /// Elements per dimension.
        shape: Vec<u32>,
        /// What only versions 1 and 2 have.
        old: Option<Box<OldArray>>,
        /// The element.
        base: Box<Datatype>,
    },
    /// Complex numbers.
    Complex {
        /// Bits of the class bit field: 0 both parts of one type, 1 and 2 form (0 rectangular).
        form: u8,
        /// The type of the parts.
        base: Box<Datatype>,
    },
}

/// Byte order of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    LittleEndian,
    /// Most significant byte first.
    BigEndian,
    /// Words of two bytes, the most significant word first, each least significant byte first.
    Vax,
}

/// Where the significant bits of a number stand, and what the others are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    /// Byte order.
    pub order: ByteOrder,
    /// Position of the least significant bit.
    pub offset: u16,
    /// Number of significant bits.
    pub precision: u16,
    /// Bits below: 0 or 1.
    pub low_padding: bool,
    /// Bits above: 0 or 1.
    pub high_padding: bool,
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedPoint {
    /// Its bits.
    pub bits: Bits,
    /// Whether it is in two's complement.
    pub signed: bool,
}

/// A floating-point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatingPoint {
    /// Its bits.
    pub bits: Bits,
    /// Bits between the parts of the number.
    pub internal_padding: bool,
    /// What the highest bit of the mantissa is.
    pub normalization: Normalization,
    /// Position of the sign bit.
    pub sign: u8,
    /// Position of the exponent's lowest bit.
    pub exponent_position: u8,
    /// Bits of the exponent.
    pub exponent_size: u8,
    /// Position of the mantissa's lowest bit.
    pub mantissa_position: u8,
    /// Bits of the mantissa.
    pub mantissa_size: u8,
    /// What is subtracted from the stored exponent.
    pub exponent_bias: u32,
}

/// What the highest bit of a mantissa is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// Stored as it is.
    None,
    /// Always set, and stored.
    MsbSet,
    /// Always set, and not stored.
    Implied,
    /// A value that the specification reserves.
    Reserved,
}

/// Padding and character set of strings. Numbers that the specification reserves are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Text {
    /// 0 NUL terminated, 1 padded with NULs, 2 padded with spaces.
    pub padding: u8,
    /// 0 ASCII, 1 UTF-8.
    pub character_set: u8,
}

/// A member of a compound datatype.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The name's bytes.
    pub name: Vec<u8>,
    /// Nonzero padding of the name in versions 1 and 2.
    pub name_padding: Vec<u8>,
    /// Where the member begins in the element, in bytes.
    pub byte_offset: u32,
    /// Dimensions that only version 1 has.
    pub dimensions: Option<Box<OldDimensions>>,
    /// The member's type.
    pub datatype: Datatype,
}

/// Dimensions of a member of a version 1 compound: it is an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OldDimensions {
    /// Rank, 0 to 4.
    pub rank: u8,
    /// Permutation of the dimensions, never used.
    pub permutation: u32,
    /// Elements per dimension; those past the rank are kept.
    pub shape: [u32; 4],
    /// Nonzero reserved bytes.
    pub reserved: [Vec<u8>; 2],
}

/// What only versions 1 and 2 of an array have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OldArray {
    /// Permutation of the dimensions, never used.
    pub permutation: Vec<u32>,
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
}

/// What a reference refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    /// An object, by address.
    Object1,
    /// A region of a dataset, in the global heap.
    Region1,
    /// An object, since 1.12.
    Object2,
    /// A region, since 1.12.
    Region2,
    /// An attribute, since 1.12.
    Attribute,
}

/// Names of integer values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Enumeration {
    /// The integer type.
    pub base: Box<Datatype>,
    /// Names, in stored order.
    pub names: Vec<Vec<u8>>,
    /// Padding of each name in versions 1 and 2; empty if all of it is zero.
    pub name_padding: Vec<Vec<u8>>,
    /// Values in the base type, one after the other, in the order of the names.
    pub values: Vec<u8>,
}

impl Datatype {
    /// The number of the class.
    pub fn class_number(&self) -> u8 {
        match self.class {
            Class::FixedPoint(_) => 0,
            Class::FloatingPoint(_) => 1,
            Class::Time { .. } => 2,
            Class::String(_) => 3,
            Class::BitField(_) => 4,
            Class::Opaque { .. } => 5,
            Class::Compound(_) => 6,
            Class::Reference { .. } => 7,
            Class::Enumeration(_) => 8,
            Class::VariableLength { .. } => 9,
            Class::Array { .. } => 10,
            Class::Complex { .. } => 11,
        }
    }

    fn class_bits(&self) -> u32 {
        self.unused_bits | self.class.bits()
    }
}

/// How deep datatypes may nest, so that a hostile file cannot exhaust the stack.
const DEEPEST: u8 = 32;

/// The level of a datatype inside others; `Level::TOP` for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(u8);

impl Level {
    /// Not inside another.
    pub const TOP: Level = Level(0);
}

impl Structure for Datatype {
    const NAME: &'static str = "datatype message";
    type Context = Level;

    fn walk(w: &mut Walk<'_, '_, Self>, Level(level): Level) -> Result<Self> {
        if level > DEEPEST {
            return w.unsupported("class and version", format!("datatypes nest deeper than {DEEPEST} levels"));
        }
        let first = w.u8("class and version", |d| d.version << 4 | d.class_number())?;
        let (version, class) = (first >> 4, first & 15);
        if !(1..=5).contains(&version) {
            return w.unsupported("class and version", format!("version is {version}, 1 to 5 are known"));
        }
        let bits = w.uint("class bit field", 3, |d| d.class_bits().into())?;
        let bits = u32::try_from(bits).expect("because three bytes were read");
        let size = w.u32("size", |d| d.size)?;
        let class = walk_class(w, Head { version, class, bits, size, inner: Level(level + 1) })?;
        let unused_bits = bits & !class.known_bits();
        Ok(Datatype { version, size, class, unused_bits })
    }
}

/// What stands before the properties of a class.
#[derive(Clone, Copy)]
struct Head {
    version: u8,
    class: u8,
    bits: u32,
    size: u32,
    inner: Level,
}

impl Head {
    fn bit(self, number: u32) -> bool {
        self.bits >> number & 1 == 1
    }

    fn field(self, shift: u32, mask: u8) -> u8 {
        u8::try_from(self.bits >> shift & u32::from(mask)).expect("because the mask has eight bits")
    }

    /// Number of members of compounds and enumerations.
    fn members(self) -> usize {
        usize::from(u16::try_from(self.bits & 0xffff).expect("because masked to 16 bits"))
    }

    fn order(self) -> ByteOrder {
        if self.bit(0) { ByteOrder::BigEndian } else { ByteOrder::LittleEndian }
    }

    fn text(self, shift: u32) -> Text {
        Text { padding: self.field(shift, 15), character_set: self.field(shift + 4, 15) }
    }
}

fn walk_class(w: &mut Walk<'_, '_, Datatype>, head: Head) -> Result<Class> {
    Ok(match head.class {
        0 => Class::FixedPoint(FixedPoint { bits: walk_bits(w, head.order(), head)?, signed: head.bit(3) }),
        1 => Class::FloatingPoint(walk_float(w, head)?),
        2 => Class::Time { order: head.order(), precision: w.u16("bit precision", |d| d.class.precision())? },
        3 => Class::String(head.text(0)),
        4 => Class::BitField(walk_bits(w, head.order(), head)?),
        5 => Class::Opaque { tag: w.bytes("ascii tag", head.field(0, 255).into(), |d| d.class.tag())? },
        6 => {
            let cx = MemberContext { version: head.version, size: head.size, inner: head.inner };
            Class::Compound(w.each(head.members(), |d| d.class.members(), cx)?)
        }
        7 => walk_reference(w, head)?,
        8 => Class::Enumeration(Box::new(walk_enumeration(w, head)?)),
        9 => {
            let text = match head.field(0, 15) {
                0 => None,
                1 => Some(head.text(4)),
                other => return w.unsupported("class bit field", format!("variable-length type {other} is not known")),
            };
            Class::VariableLength { text, base: Box::new(w.nest(|d| d.class.base(), head.inner)?) }
        }
        10 => walk_array(w, head)?,
        11 => {
            let base = w.nest(|d| d.class.base(), head.inner)?;
            check_size(w, head, Some(2), &base)?;
            Class::Complex { form: head.field(0, 7), base: Box::new(base) }
        }
        other => return w.unsupported("class and version", format!("datatype class {other} is not known")),
    })
}

fn walk_bits(w: &mut Walk<'_, '_, Datatype>, order: ByteOrder, head: Head) -> Result<Bits> {
    let offset = w.u16("bit offset", |d| d.class.number_bits().offset)?;
    let precision = w.u16("bit precision", |d| d.class.number_bits().precision)?;
    if u64::from(offset) + u64::from(precision) > 8 * u64::from(head.size) {
        let what = format!("{precision} bits from bit {offset} do not fit in {} bytes", head.size);
        return w.corrupt("bit precision", what);
    }
    Ok(Bits { order, offset, precision, low_padding: head.bit(1), high_padding: head.bit(2) })
}

fn walk_float(w: &mut Walk<'_, '_, Datatype>, head: Head) -> Result<FloatingPoint> {
    let order = match (head.bit(6), head.bit(0)) {
        (false, false) => ByteOrder::LittleEndian,
        (false, true) => ByteOrder::BigEndian,
        (true, true) => ByteOrder::Vax,
        (true, false) => return w.unsupported("class bit field", "byte order 2 is not known"),
    };
    let normalization = match head.field(4, 3) {
        0 => Normalization::None,
        1 => Normalization::MsbSet,
        2 => Normalization::Implied,
        _ => Normalization::Reserved,
    };
    Ok(FloatingPoint {
        bits: walk_bits(w, order, head)?,
        internal_padding: head.bit(3),
        normalization,
        sign: head.field(8, 255),
        exponent_position: w.u8("exponent location", |d| d.class.float().exponent_position)?,
        exponent_size: w.u8("exponent size", |d| d.class.float().exponent_size)?,
        mantissa_position: w.u8("mantissa location", |d| d.class.float().mantissa_position)?,
        mantissa_size: w.u8("mantissa size", |d| d.class.float().mantissa_size)?,
        exponent_bias: w.u32("exponent bias", |d| d.class.float().exponent_bias)?,
    })
}

fn walk_reference(w: &mut Walk<'_, '_, Datatype>, head: Head) -> Result<Class> {
    let kind = match head.field(0, 15) {
        0 => ReferenceKind::Object1,
        1 => ReferenceKind::Region1,
        2 => ReferenceKind::Object2,
        3 => ReferenceKind::Region2,
        4 => ReferenceKind::Attribute,
        other => return w.unsupported("class bit field", format!("reference type {other} is not known")),
    };
    Ok(Class::Reference { kind, encoding: head.field(4, 15) })
}

/// Bytes after a name and its NUL: before version 3 the three make a multiple of eight.
fn name_padding(version: u8, name: &[u8]) -> usize {
    if version < 3 { (name.len() + 1).wrapping_neg() % 8 } else { 0 }
}

fn walk_enumeration(w: &mut Walk<'_, '_, Datatype>, head: Head) -> Result<Enumeration> {
    let base: Datatype = w.nest(|d| d.class.base(), head.inner)?;
    let (mut names, mut paddings) = (Vec::new(), Vec::new());
    for i in 0..head.members() {
        let name = w.c_string("name", |d| &d.class.enumeration().names[i])?;
        let padding = name_padding(head.version, &name);
        paddings.push(w.slack("name padding", padding, |d| d.class.enumeration().padding(i))?);
        names.push(name);
    }
    if paddings.iter().all(Vec::is_empty) {
        paddings.clear();
    }
    let Some(size) = usize::try_from(base.size).ok().and_then(|size| size.checked_mul(names.len())) else {
        return w.corrupt("values", "the values are larger than memory");
    };
    let values = w.bytes("values", size, |d| &d.class.enumeration().values)?;
    Ok(Enumeration { base: Box::new(base), names, name_padding: paddings, values })
}

/// An element is as large as what it is made of.
fn check_size(w: &Walk<'_, '_, Datatype>, head: Head, count: Option<u64>, base: &Datatype) -> Result<()> {
    if count.and_then(|count| count.checked_mul(base.size.into())) == Some(head.size.into()) {
        return Ok(());
    }
    w.corrupt("size", format!("an element has {} bytes, its parts of {} bytes have others", head.size, base.size))
}

fn walk_array(w: &mut Walk<'_, '_, Datatype>, head: Head) -> Result<Class> {
    let rank = w.count("dimensionality", 1, |d| d.class.array().0.len())?;
    // Version 1 is not supposed to have arrays; early writers used it nevertheless, laid out as version 2.
    let mut old = (head.version < 3).then(Box::<OldArray>::default);
    if let Some(old) = &mut old {
        old.reserved = w.reserved(3, |d| d.class.array().1.map_or(&[], |old| &old.reserved))?;
    }
    let mut shape = Vec::new();
    for i in 0..rank {
        shape.push(w.u32("dimension size", |d| d.class.array().0[i])?);
    }
    if let Some(old) = &mut old {
        for i in 0..rank {
            let index = |d: &Datatype| d.class.array().1.map_or(0, |old| old.permutation[i]);
            old.permutation.push(w.u32("permutation index", index)?);
        }
    }
    let base = w.nest(|d| d.class.base(), head.inner)?;
    check_size(w, head, array_count(&shape).ok(), &base)?;
    Ok(Class::Array { shape, old, base: Box::new(base) })
}

/// What a member's layout depends on.
#[derive(Clone, Copy, Debug)]
pub struct MemberContext {
    version: u8,
    size: u32,
    inner: Level,
}

impl Structure for Member {
    const NAME: &'static str = "compound member";
    type Context = MemberContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: MemberContext) -> Result<Self> {
        let name = w.c_string("name", |m| &m.name)?;
        let name_padding = w.slack("name padding", name_padding(cx.version, &name), |m| &m.name_padding)?;
        let width = if cx.version < 3 { 4 } else { minimum_width(cx.size) };
        let byte_offset = w.uint("byte offset of member", width, |m| m.byte_offset.into())?;
        let dimensions = if cx.version == 1 { Some(Box::new(walk_old_dimensions(w)?)) } else { None };
        let datatype: Datatype = w.nest(|m| &m.datatype, cx.inner)?;
        let elements = dimensions.as_ref().map_or(1, |d| d.count());
        let size = elements.saturating_mul(datatype.size.into());
        if byte_offset.saturating_add(size) > cx.size.into() {
            let what = format!("{size} bytes from byte {byte_offset} do not fit in {} bytes", cx.size);
            return w.corrupt("byte offset of member", what);
        }
        let byte_offset = u32::try_from(byte_offset).expect("because at most four bytes were read");
        Ok(Member { name, name_padding, byte_offset, dimensions, datatype })
    }
}

fn walk_old_dimensions(w: &mut Walk<'_, '_, Member>) -> Result<OldDimensions> {
    let rank = w.u8("dimensionality", |m| m.old().rank)?;
    if rank > 4 {
        return w.corrupt("dimensionality", format!("rank is {rank}, at most 4 is possible"));
    }
    let reserved = w.reserved(3, |m| &m.old().reserved[0])?;
    let permutation = w.u32("dimension permutation", |m| m.old().permutation)?;
    let reserved_2 = w.reserved(4, |m| &m.old().reserved[1])?;
    let mut shape = [0; 4];
    for (i, n) in shape.iter_mut().enumerate() {
        *n = w.u32("dimension size", |m| m.old().shape[i])?;
    }
    Ok(OldDimensions { rank, permutation, shape, reserved: [reserved, reserved_2] })
}

impl OldDimensions {
    /// The shape of the member; empty for a plain one.
    pub fn shape(&self) -> &[u32] {
        &self.shape[..usize::from(self.rank)]
    }

    fn count(&self) -> u64 {
        self.shape().iter().fold(1, |n, &d| n.saturating_mul(d.into()))
    }
}

impl Member {
    fn old(&self) -> &OldDimensions {
        self.dimensions.as_ref().expect("because the walk asks only in version 1")
    }
}

/// Bytes that hold every number below `size`; the width of member offsets since version 3.
fn minimum_width(size: u32) -> u8 {
    match size {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    }
}

/// What a walk over a datatype asks of its class. Each is asked only where the class has it.
impl Class {
    fn number_bits(&self) -> Bits {
        match self {
            Class::FixedPoint(number) => number.bits,
            Class::FloatingPoint(number) => number.bits,
            Class::BitField(bits) => *bits,
            _ => unreachable!("because the walk asks numbers only"),
        }
    }

    fn float(&self) -> FloatingPoint {
        let Class::FloatingPoint(float) = self else { unreachable!("because the walk asks floats only") };
        *float
    }

    fn precision(&self) -> u16 {
        let Class::Time { precision, .. } = self else { unreachable!("because the walk asks times only") };
        *precision
    }

    fn tag(&self) -> &[u8] {
        let Class::Opaque { tag } = self else { unreachable!("because the walk asks opaques only") };
        tag
    }

    fn members(&self) -> &[Member] {
        let Class::Compound(members) = self else { unreachable!("because the walk asks compounds only") };
        members
    }

    fn enumeration(&self) -> &Enumeration {
        let Class::Enumeration(names) = self else { unreachable!("because the walk asks enumerations only") };
        names
    }

    fn array(&self) -> (&[u32], Option<&OldArray>) {
        let Class::Array { shape, old, .. } = self else { unreachable!("because the walk asks arrays only") };
        (shape, old.as_deref())
    }

    fn base(&self) -> &Datatype {
        self.base_or_none().expect("because the walk asks derived classes only")
    }

    /// The datatype that a derived one is made of; `None` for compounds and for classes that are made of no other.
    pub(in crate::format) fn base_or_none(&self) -> Option<&Datatype> {
        match self {
            Class::Enumeration(names) => Some(&names.base),
            Class::VariableLength { base, .. } | Class::Array { base, .. } | Class::Complex { base, .. } => Some(base),
            _ => None,
        }
    }

    /// The class bit field that says these properties.
    fn bits(&self) -> u32 {
        let number = |b: &Bits| {
            let order = match b.order {
                ByteOrder::LittleEndian => 0,
                ByteOrder::BigEndian => 1,
                ByteOrder::Vax => 0x41,
            };
            order | u32::from(b.low_padding) << 1 | u32::from(b.high_padding) << 2
        };
        let text = |t: &Text| u32::from(t.padding & 15) | u32::from(t.character_set & 15) << 4;
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        match self {
            Class::FixedPoint(n) => number(&n.bits) | u32::from(n.signed) << 3,
            Class::FloatingPoint(n) => {
                let normalization = match n.normalization {
                    Normalization::None => 0,
                    Normalization::MsbSet => 1,
                    Normalization::Implied => 2,
                    Normalization::Reserved => 3,
                };
                number(&n.bits) | u32::from(n.internal_padding) << 3 | normalization << 4 | u32::from(n.sign) << 8
            }
            Class::Time { order, .. } => u32::from(*order == ByteOrder::BigEndian),
            Class::String(t) => text(t),
            Class::BitField(b) => number(b),
            Class::Opaque { tag } => count(tag.len()),
            Class::Compound(members) => count(members.len()),
            Class::Reference { kind, encoding } => {
                let kind = match kind {
                    ReferenceKind::Object1 => 0,
                    ReferenceKind::Region1 => 1,
                    ReferenceKind::Object2 => 2,
                    ReferenceKind::Region2 => 3,
                    ReferenceKind::Attribute => 4,
                };
                kind | u32::from(*encoding) << 4
            }
            Class::Enumeration(e) => count(e.names.len()),
            Class::VariableLength { text: Some(t), .. } => 1 | text(t) << 4,
            Class::VariableLength { text: None, .. } | Class::Array { .. } => 0,
            Class::Complex { form, .. } => u32::from(*form),
        }
    }

    /// The bits of the class bit field that the class uses.
    fn known_bits(&self) -> u32 {
        match self {
            Class::FixedPoint(_) => 0xf,
            Class::FloatingPoint(_) => 0xff7f,
            Class::Time { .. } => 1,
            Class::BitField(_) | Class::Complex { .. } => 7,
            Class::String(_) | Class::Opaque { .. } | Class::Reference { .. } => 0xff,
            Class::Compound(_) | Class::Enumeration(_) => 0xffff,
            Class::VariableLength { text: Some(_), .. } => 0xfff,
            Class::VariableLength { text: None, .. } => 0xf,
            Class::Array { .. } => 0,
        }
    }
}

impl Enumeration {
    /// Bytes of one value.
    pub fn value_size(&self) -> usize {
        usize::try_from(self.base.size).unwrap_or(usize::MAX)
    }

    fn padding(&self, number: usize) -> &[u8] {
        self.name_padding.get(number).map_or(&[], Vec::as_slice)
    }

    /// Names with the bytes of their values, in stored order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.names.iter().map(Vec::as_slice).zip(self.values.chunks_exact(self.value_size().max(1)))
    }
}

/// The number of elements of an array shape, if it can be counted.
pub fn array_count(shape: &[u32]) -> Result<u64> {
    let overflow = || Error::corrupt(format!("an array of shape {shape:?} has too many elements"));
    shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d.into())).ok_or_else(overflow)
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{datatype, member};
#[cfg(any(test, feature = "testing"))]
#[path = "datatype_testing.rs"]
mod testing;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Addr, Sizes, laws};

    #[test]
    fn laws_hold() {
        laws::hold::<Datatype>(|_| datatype().prop_map(|d| (d, Level::TOP)).boxed());
    }

    #[test]
    fn nesting_beyond_the_deepest_level_is_refused() {
        let mut bytes = Vec::new();
        for _ in 0..5_000 {
            bytes.extend_from_slice(&[0x39, 0, 0, 0, 16, 0, 0, 0]);
        }
        let error = Datatype::decode(&bytes, Addr(0), Sizes::EIGHT, Level::TOP).unwrap_err();
        assert!(error.to_string().contains("nest deeper"), "{error}");
    }

    #[test]
    fn padding_of_names_is_written_back_alike() {
        let number = [0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0];
        let enumeration =
            [&[0x18, 2, 0, 0, 1, 0, 0, 0][..], &number, b"a\0\0\0\0\0\0\0", b"b\0garbag", &[1, 2]].concat();
        let compound = [&[0x26, 1, 0, 0, 1, 0, 0, 0][..], b"c\0......", &[0; 4], &number].concat();
        for bytes in [enumeration, compound] {
            let datatype = Datatype::decode(&bytes, Addr(0), Sizes::EIGHT, Level::TOP).unwrap();
            assert_eq!(datatype.encode(Addr(0), Sizes::EIGHT, Level::TOP).unwrap(), bytes);
        }
    }
}
