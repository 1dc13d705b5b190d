//! Files of the format `.npy`, version 1: a line that describes the array, then its elements as they are.

use std::io::Write;

use hdfive::Dataset;
use hdfive::format::message::datatype::{ByteOrder, Class, Datatype, Member};
use hdfive::inspect::notation::{short, text};
use hdfive::selection::Selection;

use crate::Failure;

/// Writes the selected elements to the file at `path`.
pub(crate) fn write(path: &str, dataset: &Dataset, part: Selection) -> Result<(), Failure> {
    let described = describe(dataset.datatype());
    let described = described.ok_or_else(|| {
        Failure::Said(format!("elements that are {} cannot be written for NumPy", short(dataset.datatype())))
    })?;
    let selection = dataset.select(part);
    let shape: String = selection.shape()?.iter().map(|size| format!("{size}, ")).collect();
    let head = format!("{{'descr': {described}, 'fortran_order': False, 'shape': ({shape}), }}");
    // The elements begin at a multiple of 64.
    let padding = 64 - (10 + head.len() + 1) % 64;
    let length = head.len() + padding + 1;
    let length = u16::try_from(length).map_err(|_| Failure::Said("the type has too many members".to_owned()))?;
    let created = std::fs::File::create(path);
    let mut out = created.map_err(|error| Failure::Said(format!("{path} cannot be written: {error}")))?;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(format!("{head}{}\n", " ".repeat(padding)).as_bytes())?;
    Ok(out.write_all(&selection.read_bytes()?)?)
}

/// A datatype as NumPy describes it; `None` for one that has no such description.
fn describe(datatype: &Datatype) -> Option<String> {
    Some(match &datatype.class {
        Class::Compound(members) => format!("[{}]", fields(members, datatype.size)?),
        Class::Array { .. } => return None,
        _ => format!("'{}'", simple(datatype)?),
    })
}

fn simple(datatype: &Datatype) -> Option<String> {
    let size = datatype.size;
    let order = |order: ByteOrder| match order {
        _ if size == 1 => Some('|'),
        ByteOrder::LittleEndian => Some('<'),
        ByteOrder::BigEndian => Some('>'),
        ByteOrder::Vax => None,
    };
    let whole = |bits: hdfive::format::message::datatype::Bits| {
        bits.offset == 0 && u32::from(bits.precision) == 8 * size && matches!(size, 1 | 2 | 4 | 8)
    };
    match &datatype.class {
        Class::FixedPoint(number) if whole(number.bits) => {
            Some(format!("{}{}{size}", order(number.bits.order)?, if number.signed { 'i' } else { 'u' }))
        }
        Class::FloatingPoint(number) if whole(number.bits) && size > 1 => {
            let ieee =
                matches!((size, number.exponent_size, number.mantissa_size), (2, 5, 10) | (4, 8, 23) | (8, 11, 52));
            ieee.then_some(())?;
            Some(format!("{}f{size}", order(number.bits.order)?))
        }
        Class::Complex { base, .. } => {
            let part = simple(base)?;
            let (order, size) = part.split_once('f')?;
            Some(format!("{order}c{}", 2 * size.parse::<u32>().ok()?))
        }
        Class::Enumeration(names) if short(datatype) == "bool" && names.base.size == 1 => Some("|b1".to_owned()),
        Class::Enumeration(names) => simple(&names.base),
        Class::String(_) => Some(format!("|S{size}")),
        Class::Opaque { .. } => Some(format!("|V{size}")),
        _ => None,
    }
}

/// The members of a compound in the order of their offsets, with what lies between them as nameless fields.
fn fields(members: &[Member], size: u32) -> Option<String> {
    let mut sorted: Vec<&Member> = members.iter().collect();
    sorted.sort_by_key(|member| member.byte_offset);
    let (mut fields, mut at) = (Vec::new(), 0u32);
    for member in sorted {
        let gap = member.byte_offset.checked_sub(at)?;
        if gap > 0 {
            fields.push(format!("('', '|V{gap}')"));
        }
        let name = text(&member.name).replace('\\', "\\\\").replace('\'', "\\'");
        let old = member.dimensions.as_ref().map_or(&[][..], |old| old.shape());
        let (shape, base) = match &member.datatype.class {
            Class::Array { shape, base, .. } if old.is_empty() => (shape.as_slice(), base.as_ref()),
            _ => (old, &member.datatype),
        };
        let listed: String = shape.iter().map(|size| format!("{size}, ")).collect();
        fields.push(match shape {
            [] => format!("('{name}', {})", describe(base)?),
            _ => format!("('{name}', {}, ({listed}))", describe(base)?),
        });
        let size = old.iter().try_fold(member.datatype.size, |size, &count| size.checked_mul(count))?;
        at = member.byte_offset.checked_add(size)?;
    }
    let gap = size.checked_sub(at)?;
    if gap > 0 {
        fields.push(format!("('', '|V{gap}')"));
    }
    Some(fields.join(", "))
}
