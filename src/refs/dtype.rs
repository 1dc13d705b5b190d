//! Datatypes as NumPy, and so Zarr, calls them.

use serde_json::{Value as Json, json};

use crate::convert::notation::{short, text};
use crate::format::message::datatype::{Bits, ByteOrder, Class, Datatype, Member};
use crate::handle::is_ieee;

/// What elements are, for Zarr.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dtype {
    /// The element as version 2 has it: `<i4`, or a list of fields.
    pub(super) v2: Json,
    /// The name in version 3, for those that it has.
    pub(super) v3: Option<String>,
    /// The order of bytes in version 3: none for those of one byte.
    pub(super) endian: Option<&'static str>,
    /// Dimensions of an element that is an array.
    pub(super) inner: Vec<u64>,
    /// Attributes that say what else there is to know.
    pub(super) attributes: Vec<(&'static str, Json)>,
}

/// What the elements are.
///
/// Errors say why they cannot be expressed.
pub(super) fn dtype(datatype: &Datatype) -> Result<Dtype, String> {
    let mut dtype = Dtype { v2: Json::Null, v3: None, endian: None, inner: Vec::new(), attributes: Vec::new() };
    match &datatype.class {
        Class::Array { shape, base, .. } => {
            dtype = self::dtype(base)?;
            let own: Vec<u64> = shape.iter().map(|size| u64::from(*size)).collect();
            dtype.inner = [own, dtype.inner].concat();
            return Ok(dtype);
        }
        Class::Compound(members) if complex(members, datatype.size).is_none() => {
            dtype.v2 = Json::Array(fields(members, datatype.size)?);
            return Ok(dtype);
        }
        Class::Enumeration(names) if short(datatype) != "bool" => {
            dtype = self::dtype(&names.base)?;
            let pairs: Vec<(String, String)> = names
                .iter()
                .map(|(name, value)| (text(name), crate::convert::notation::integer(value, &names.base)))
                .collect();
            let values: Option<Vec<i64>> = pairs.iter().map(|(_, value)| value.parse().ok()).collect();
            let meanings: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
            dtype.attributes.push(("flag_values", json!(values)));
            dtype.attributes.push(("flag_meanings", json!(meanings.join(" "))));
            return Ok(dtype);
        }
        _ => {}
    }
    let simple = simple(datatype)?;
    let (order, kind) = simple.split_at(1);
    dtype.endian = match order {
        "<" => Some("little"),
        ">" => Some("big"),
        _ => None,
    };
    dtype.v3 = match kind {
        "b1" => Some("bool".to_owned()),
        "i1" | "i2" | "i4" | "i8" => Some(format!("int{}", 8 * datatype.size)),
        "u1" | "u2" | "u4" | "u8" => Some(format!("uint{}", 8 * datatype.size)),
        "f2" | "f4" | "f8" => Some(format!("float{}", 8 * datatype.size)),
        "c8" | "c16" => Some(format!("complex{}", 8 * datatype.size)),
        _ => None,
    };
    dtype.v2 = Json::String(simple);
    Ok(dtype)
}

fn whole(bits: Bits, size: u32) -> bool {
    bits.offset == 0 && u32::from(bits.precision) == 8 * size && matches!(size, 1 | 2 | 4 | 8)
}

fn order(order: ByteOrder, size: u32) -> Result<char, String> {
    match order {
        _ if size == 1 => Ok('|'),
        ByteOrder::LittleEndian => Ok('<'),
        ByteOrder::BigEndian => Ok('>'),
        ByteOrder::Vax => Err("numbers in the byte order of the VAX".to_owned()),
    }
}

/// One that is not made of others.
fn simple(datatype: &Datatype) -> Result<String, String> {
    let size = datatype.size;
    let no = || Err(format!("elements that are {}, which Zarr does not know", short(datatype)));
    match &datatype.class {
        Class::FixedPoint(number) if whole(number.bits, size) => {
            Ok(format!("{}{}{size}", order(number.bits.order, size)?, if number.signed { 'i' } else { 'u' }))
        }
        Class::FloatingPoint(number) if whole(number.bits, size) && is_ieee(number, 8 * size) => {
            Ok(format!("{}f{size}", order(number.bits.order, size)?))
        }
        Class::BitField(bits) if whole(*bits, size) => Ok(format!("{}u{size}", order(bits.order, size)?)),
        Class::Complex { base, .. } => match (simple(base)?.split_once('f'), base.size) {
            (Some((order, _)), 4 | 8) => Ok(format!("{order}c{size}")),
            _ => no(),
        },
        Class::Compound(members) => complex(members, size).map_or_else(no, Ok),
        Class::Enumeration(names) if short(datatype) == "bool" && names.base.size == 1 => Ok("|b1".to_owned()),
        Class::String(text) if text.padding < 2 => Ok(format!("|S{size}")),
        Class::Opaque { tag } => {
            let tag = text(tag);
            let tag = tag.trim_end_matches('\0');
            let time = tag.strip_prefix("NUMPY:").filter(|time| time.starts_with(['<', '>']) && size == 8);
            Ok(time.map_or_else(|| format!("|V{size}"), str::to_owned))
        }
        Class::Reference { .. } => Err("references, which are addresses in the file".to_owned()),
        Class::VariableLength { .. } => Err("sequences of variable length, which lie elsewhere in the file".to_owned()),
        _ => no(),
    }
}

/// h5py's complex numbers: two floats that are called r and i.
fn complex(members: &[Member], size: u32) -> Option<String> {
    let [re, im] = members else { return None };
    let is_complex = (&re.name[..], &im.name[..]) == (b"r", b"i")
        && (re.byte_offset, im.byte_offset) == (0, re.datatype.size)
        && re.datatype == im.datatype
        && re.datatype.size.checked_mul(2) == Some(size)
        && [re, im].iter().all(|member| member.dimensions.as_ref().is_none_or(|old| old.rank == 0));
    let part = simple(&re.datatype).ok()?;
    let order = part.strip_suffix("f4").or_else(|| part.strip_suffix("f8")).filter(|_| is_complex)?;
    Some(format!("{order}c{size}"))
}

/// The fields of a structure, gaps among them.
fn fields(members: &[Member], size: u32) -> Result<Vec<Json>, String> {
    let (mut at, mut fields, mut gaps) = (0, Vec::new(), 0);
    let mut gap = |fields: &mut Vec<Json>, size: u32| {
        if size > 0 {
            fields.push(json!([format!("_pad{gaps}"), format!("|V{size}")]));
            gaps += 1;
        }
    };
    for member in members {
        let whole = crate::convert::types::whole_member(member);
        let before = member.byte_offset.checked_sub(at);
        gap(&mut fields, before.ok_or_else(|| "a structure whose members are not in order".to_owned())?);
        let own = dtype(&whole)?;
        // Zarr 3 for Python has no arrays in structures: they are their bytes.
        let own = if own.inner.is_empty() { own.v2 } else { json!(format!("|V{}", whole.size)) };
        fields.push(json!([text(&member.name), own]));
        at = member.byte_offset.saturating_add(whole.size);
    }
    gap(&mut fields, size.saturating_sub(at));
    Ok(fields)
}
