//! Values as people read them: short text for a handful of elements.

use crate::convert::notation::text;
use crate::convert::{number, string};
use crate::error::Result;
use crate::format::message::datatype::{Class, Datatype, Enumeration};
use crate::object::Container;

/// Elements that are printed at either end before the middle is left out.
const ENDS: usize = 4;

/// Stored elements of `datatype` as text: one value, or a list in brackets whose middle is left out if it is long.
/// Elements of a kind that has no short text are named by their type alone.
pub(super) fn elements(stored: &[u8], datatype: &Datatype, is_list: bool, container: &Container) -> Result<String> {
    let size = usize::try_from(datatype.size).unwrap_or(usize::MAX).max(1);
    let all: Vec<&[u8]> = stored.chunks_exact(size).collect();
    let of = |part: &[&[u8]]| part.iter().map(|e| element(e, datatype, container)).collect::<Result<Vec<_>>>();
    if !is_list {
        return all.first().map_or_else(|| Ok("empty".to_owned()), |e| element(e, datatype, container));
    }
    if all.len() <= 2 * ENDS {
        return Ok(format!("[{}]", of(&all)?.join(", ")));
    }
    let (head, tail) = (of(&all[..ENDS])?, of(&all[all.len() - ENDS..])?);
    Ok(format!("[{}, ..., {}]", head.join(", "), tail.join(", ")))
}

fn element(stored: &[u8], datatype: &Datatype, container: &Container) -> Result<String> {
    match &datatype.class {
        Class::FixedPoint(n) if n.signed => Ok(first::<i64>(stored, datatype)),
        Class::FixedPoint(_) => Ok(first::<u64>(stored, datatype)),
        Class::FloatingPoint(_) if datatype.size == 4 => Ok(first::<f32>(stored, datatype)),
        Class::FloatingPoint(_) => Ok(first::<f64>(stored, datatype)),
        Class::String(layout) => Ok(format!("{:?}", text(string::trim(stored, *layout)))),
        Class::VariableLength { text: Some(_), .. } => Ok(format!("{:?}", text(&string::variable(stored, container)?))),
        Class::Enumeration(names) => Ok(name_of(stored, names)),
        Class::Compound(members) => {
            let mut parts = Vec::new();
            for member in members.iter().filter(|m| m.dimensions.as_ref().is_none_or(|d| d.shape().is_empty())) {
                let start = usize::try_from(member.byte_offset).unwrap_or(usize::MAX);
                let end = start.saturating_add(usize::try_from(member.datatype.size).unwrap_or(usize::MAX));
                if let Some(part) = stored.get(start..end) {
                    parts.push(format!("{}: {}", text(&member.name), element(part, &member.datatype, container)?));
                }
            }
            Ok(format!("{{{}}}", parts.join(", ")))
        }
        Class::Array { base, .. } => elements(stored, base, true, container),
        Class::Complex { base, .. } => elements(stored, base, true, container),
        Class::VariableLength { text: None, base } => {
            let size = usize::try_from(base.size).unwrap_or(usize::MAX);
            let sequence = string::Sequence::decode(stored, container)?.bytes(size, container)?.unwrap_or_default();
            elements(&sequence, base, true, container)
        }
        Class::Time { .. } | Class::BitField(_) | Class::Opaque { .. } | Class::Reference { .. } => {
            Ok(crate::convert::notation::short(datatype))
        }
    }
}

fn first<T: number::Number + std::fmt::Display>(stored: &[u8], datatype: &Datatype) -> String {
    let found = number::decode::<T>(stored, datatype).ok().and_then(|numbers| numbers.first().map(T::to_string));
    found.unwrap_or_else(|| crate::convert::notation::short(datatype))
}

fn name_of(stored: &[u8], names: &Enumeration) -> String {
    let name = names.iter().find(|(_, value)| *value == stored).map(|(name, _)| text(name));
    name.unwrap_or_else(|| first::<i64>(stored, &names.base))
}
