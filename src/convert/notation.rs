//! Datatypes as text: one notation without spaces, for documents and errors.

use std::fmt::{self, Write};

use crate::format::message::datatype::{
    Bits, ByteOrder, Class, Datatype, FixedPoint, FloatingPoint, Normalization, ReferenceKind, Text,
};

/// Bytes as text: as they are where they are UTF-8, else with each byte from 0x80 on as `\xHH`.
pub fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().fold(String::new(), |mut out, &b| {
            match b {
                0x80.. => write!(out, "\\x{b:02x}").expect("because a string takes any text"),
                _ => out.push(char::from(b)),
            }
            out
        }),
    }
}

/// Text for people's eyes: what would command a terminal, begin a line or turn the direction of writing stands as an
/// escape, `\n` or `\u{1b}`.
pub fn visible(text: &str) -> String {
    let commands = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if commands(letter) { out.extend(letter.escape_default()) } else { out.push(letter) }
    }
    out
}

/// Text in quotes, as JSON has it.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if u32::from(c) < 0x20 => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("because a string takes any text");
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The datatype with all its properties, for example `int{size=4,order=le,sign=2c,off=0,prec=32,lsb=0,msb=0}`.
pub fn datatype(datatype: &Datatype) -> String {
    let size = datatype.size;
    match &datatype.class {
        Class::FixedPoint(number) => int(size, number),
        Class::FloatingPoint(number) => float(size, number),
        Class::Time { order: o, precision } => format!("time{{size={size},order={},prec={precision}}}", order(*o)),
        Class::String(t) => format!("string{{size={size},{}}}", string(t)),
        Class::BitField(b) => format!("bits{{size={size},order={},{}}}", order(b.order), bits(b)),
        Class::Opaque { tag } => {
            let end = tag.iter().position(|&b| b == 0).unwrap_or(tag.len());
            format!("opaque{{size={size},tag={}}}", quoted(&text(&tag[..end])))
        }
        Class::Compound(members) => {
            let mut out = format!("compound{{size={size}");
            for member in members {
                let inner = self::datatype(&member.datatype);
                let shape = member.dimensions.as_ref().map_or(&[][..], |d| d.shape());
                let inner = if shape.is_empty() { inner } else { array(shape, &inner) };
                let name = quoted(&text(&member.name));
                write!(out, ";{name}@{}:{inner}", member.byte_offset).expect("because a string takes any text");
            }
            out + "}"
        }
        Class::Reference { kind, .. } => format!("ref{{kind={}}}", reference(*kind)),
        Class::Enumeration(names) => {
            let mut out = format!("enum{{{}", self::datatype(&names.base));
            for (name, value) in names.iter() {
                let name = quoted(&text(name));
                write!(out, ";{name}={}", integer(value, &names.base)).expect("because a string takes any text");
            }
            out + "}"
        }
        Class::VariableLength { text: Some(t), .. } => format!("vlenstr{{{}}}", string(t)),
        Class::VariableLength { text: None, base } => format!("vlen{{{}}}", self::datatype(base)),
        Class::Array { shape, base, .. } => array(shape, &self::datatype(base)),
        Class::Complex { base, .. } => format!("complex{{size={size};{}}}", self::datatype(base)),
    }
}

fn array(shape: &[u32], inner: &str) -> String {
    let shape: Vec<String> = shape.iter().map(u32::to_string).collect();
    format!("array{{[{}];{inner}}}", shape.join(","))
}

fn order(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::LittleEndian => "le",
        ByteOrder::BigEndian => "be",
        ByteOrder::Vax => "vax",
    }
}

fn bits(b: &Bits) -> String {
    let padding = u8::from;
    format!("off={},prec={},lsb={},msb={}", b.offset, b.precision, padding(b.low_padding), padding(b.high_padding))
}

fn int(size: u32, n: &FixedPoint) -> String {
    let sign = if n.signed { "2c" } else { "none" };
    format!("int{{size={size},order={},sign={sign},{}}}", order(n.bits.order), bits(&n.bits))
}

fn float(size: u32, n: &FloatingPoint) -> String {
    let norm = match n.normalization {
        Normalization::None => "none",
        Normalization::MsbSet => "msbset",
        Normalization::Implied => "implied",
        Normalization::Reserved => "reserved",
    };
    format!(
        "float{{size={size},order={},{},sign={},epos={},esize={},ebias={},mpos={},msize={},norm={norm},int={}}}",
        order(n.bits.order),
        bits(&n.bits),
        n.sign,
        n.exponent_position,
        n.exponent_size,
        n.exponent_bias,
        n.mantissa_position,
        n.mantissa_size,
        u8::from(n.internal_padding),
    )
}

fn string(t: &Text) -> String {
    let padding = match t.padding {
        0 => "nullterm".to_owned(),
        1 => "nullpad".to_owned(),
        2 => "spacepad".to_owned(),
        other => other.to_string(),
    };
    let set = match t.character_set {
        0 => "ascii".to_owned(),
        1 => "utf8".to_owned(),
        other => other.to_string(),
    };
    format!("pad={padding},cset={set}")
}

fn reference(kind: ReferenceKind) -> &'static str {
    match kind {
        ReferenceKind::Object1 => "object1",
        ReferenceKind::Region1 => "region1",
        ReferenceKind::Object2 | ReferenceKind::Region2 | ReferenceKind::Attribute => "std",
    }
}

/// The decimal value of a stored integer; in hexadecimal if it has more than 16 bytes.
pub(crate) fn integer(stored: &[u8], base: &Datatype) -> String {
    let Class::FixedPoint(number) = &base.class else { return format!("{stored:02x?}") };
    let mut bytes = stored.to_vec();
    if number.bits.order == ByteOrder::BigEndian {
        bytes.reverse();
    }
    let negative = number.signed && bytes.last().is_some_and(|b| b & 0x80 != 0);
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    match wide.get_mut(..bytes.len()) {
        Some(low) => low.copy_from_slice(&bytes),
        None => return format!("{bytes:02x?}"),
    }
    if number.signed { i128::from_le_bytes(wide).to_string() } else { u128::from_le_bytes(wide).to_string() }
}

/// The datatype in a few letters, for people: `f32`, `u16 be`, `string(12)`, `string`, `{x: f64, y: f64}`.
pub fn short(datatype: &Datatype) -> String {
    let size = datatype.size;
    match &datatype.class {
        Class::FixedPoint(n) => {
            let kind = if n.signed { 'i' } else { 'u' };
            let whole = u64::from(n.bits.precision) == 8 * u64::from(size);
            let width = if whole { String::new() } else { format!(" in {size} bytes") };
            format!("{kind}{}{width}{}", n.bits.precision, byte_order(n.bits.order, size))
        }
        Class::FloatingPoint(n) => short_float(size, n),
        Class::Time { .. } => format!("time({size})"),
        Class::String(_) => format!("string({size})"),
        Class::BitField(b) => format!("bits({}){}", b.precision, byte_order(b.order, size)),
        Class::Opaque { tag } => {
            let end = tag.iter().position(|&b| b == 0).unwrap_or(tag.len());
            format!("opaque({size}{}{})", if end == 0 { "" } else { ", " }, text(&tag[..end]))
        }
        Class::Compound(members) => {
            let member = |m: &crate::format::message::datatype::Member| {
                let shape = m.dimensions.as_ref().map_or(&[][..], |d| d.shape());
                format!("{}: {}{}", text(&m.name), short(&m.datatype), short_shape(shape))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Class::Reference { kind, .. } => match kind {
            ReferenceKind::Object1 | ReferenceKind::Object2 => "reference".to_owned(),
            ReferenceKind::Region1 | ReferenceKind::Region2 => "region reference".to_owned(),
            ReferenceKind::Attribute => "attribute reference".to_owned(),
        },
        Class::Enumeration(names) if is_bool(&names.names) => "bool".to_owned(),
        Class::Enumeration(names) => {
            let list: Vec<String> = names.iter().map(|(name, _)| text(name)).collect();
            format!("enum {}({})", short(&names.base), list.join(", "))
        }
        Class::VariableLength { text: Some(_), .. } => "string".to_owned(),
        Class::VariableLength { text: None, base } => format!("sequence({})", short(base)),
        Class::Array { shape, base, .. } => format!("{}{}", short(base), short_shape(shape)),
        Class::Complex { base, .. } => format!("complex({})", short(base)),
    }
}

/// In a few letters, as [`short`] has it.
impl fmt::Display for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&short(self))
    }
}

/// h5py keeps truth values as an enumeration of these two names.
pub(super) fn is_bool(names: &[Vec<u8>]) -> bool {
    names.len() == 2 && names.iter().all(|name| matches!(name.as_slice(), b"FALSE" | b"TRUE"))
}

fn short_float(size: u32, n: &FloatingPoint) -> String {
    let order = byte_order(n.bits.order, size);
    match (size, n.exponent_size, n.mantissa_size) {
        (2, 5, 10) | (4, 8, 23) | (8, 11, 52) => format!("f{}{order}", 8 * u64::from(size)),
        (2, 8, 7) => format!("bf16{order}"),
        (1, 5, 2) => "f8e5m2".to_owned(),
        (1, 4, 3) => "f8e4m3".to_owned(),
        (_, exponent, mantissa) => format!("f{}(e{exponent}m{mantissa}){order}", 8 * u64::from(size)),
    }
}

fn byte_order(order: ByteOrder, size: u32) -> &'static str {
    match order {
        ByteOrder::LittleEndian => "",
        ByteOrder::BigEndian if size == 1 => "",
        ByteOrder::BigEndian => " be",
        ByteOrder::Vax => " vax",
    }
}

fn short_shape(shape: &[u32]) -> String {
    if shape.is_empty() { String::new() } else { format!("{shape:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A damaged file claimed numbers of half a gigabyte, whose bits 32 bits cannot count.
    #[test]
    fn types_of_any_size_have_a_name() {
        let of = |class| short(&Datatype { version: 1, size: u32::MAX, class, unused_bits: 0 });
        let bits =
            Bits { order: ByteOrder::BigEndian, offset: 0, precision: 32, low_padding: false, high_padding: false };
        assert_eq!(of(Class::FixedPoint(FixedPoint { bits, signed: true })), "i32 in 4294967295 bytes be");
        assert_eq!(of(Class::BitField(bits)), "bits(32) be");
    }
}
