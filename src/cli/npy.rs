//! Files of the format `.npy`, version 1: a line that describes the array, then its elements as they are.

use std::io::Write;

use hdfive::format::message::datatype::{ByteOrder, Class, Datatype, Member};
use hdfive::inspect::notation::{short, text};
use hdfive::storage::{ByteSink, FileSink};
use hdfive::{Conversion, Dataset, DatasetSelection, DateTime64, H5Type};

use crate::Failure;

/// Bytes of elements that are in memory at once.
const AT_ONCE: u64 = 32 << 20;

/// Writes the selected elements to a file at `path`, which appears when all are written; to `out` for `-`.
pub(crate) fn write(
    path: &str,
    out: &mut impl Write,
    dataset: &Dataset,
    selection: &DatasetSelection,
) -> Result<(), Failure> {
    let head = head(dataset, selection)?;
    if path == "-" {
        out.write_all(&head)?;
        return selection.parts(AT_ONCE)?.try_for_each(|part| Ok(out.write_all(&part.read_bytes()?)?));
    }
    let mut file = Box::new(FileSink::create(path)?);
    file.write_at(0, &head)?;
    let mut at = u64::try_from(head.len()).unwrap_or(u64::MAX);
    for part in selection.parts(AT_ONCE)? {
        let bytes = part.read_bytes()?;
        file.write_at(at, &bytes)?;
        at += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    }
    Ok(file.finish()?)
}

/// What stands before the elements.
fn head(dataset: &Dataset, selection: &DatasetSelection) -> Result<Vec<u8>, Failure> {
    if dataset.is_null() {
        return Err(Failure::Said("the dataspace is null, and NumPy has no array without a value".to_owned()));
    }
    let described = describe(dataset.datatype());
    let described = described.ok_or_else(|| {
        Failure::Said(format!("elements that are {} cannot be written for NumPy", short(dataset.datatype())))
    })?;
    let shape: String = selection.shape()?.iter().map(|size| format!("{size}, ")).collect();
    let head = format!("{{'descr': {described}, 'fortran_order': False, 'shape': ({shape}), }}");
    // The elements begin at a multiple of 64.
    let padding = 64 - (10 + head.len() + 1) % 64;
    let length = head.len() + padding + 1;
    let length = u16::try_from(length).map_err(|_| Failure::Said("the type has too many members".to_owned()))?;
    let line = format!("{head}{}\n", " ".repeat(padding));
    Ok([&b"\x93NUMPY\x01\x00"[..], &length.to_le_bytes(), line.as_bytes()].concat())
}

/// A datatype as NumPy describes it; `None` for one that has no such description.
fn describe(datatype: &Datatype) -> Option<String> {
    Some(match &datatype.class {
        Class::Compound(members) => match complex(members, datatype.size) {
            Some(complex) => complex,
            None => format!("[{}]", fields(members, datatype.size)?),
        },
        Class::Array { .. } => return None,
        _ => format!("'{}'", simple(datatype)?),
    })
}

/// h5py's complex numbers: two floats that are called r and i.
fn complex(members: &[Member], size: u32) -> Option<String> {
    let [re, im] = members else { return None };
    let part = simple(&re.datatype)?;
    let is_complex = (&re.name[..], &im.name[..]) == (b"r", b"i")
        && (re.byte_offset, im.byte_offset) == (0, re.datatype.size)
        && re.datatype == im.datatype
        && re.datatype.size.checked_mul(2) == Some(size)
        && [re, im].iter().all(|member| member.dimensions.as_ref().is_none_or(|old| old.rank == 0));
    let order = part.strip_suffix("f4").or_else(|| part.strip_suffix("f8")).filter(|_| is_complex)?;
    Some(format!("'{order}c{size}'"))
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
        // Times are kept under NumPy's name of the type.
        Class::Opaque { tag } if DateTime64::decoder(datatype, Conversion::Lossless).is_ok() => {
            text(tag).trim_end_matches('\0').strip_prefix("NUMPY:").map(str::to_owned)
        }
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
