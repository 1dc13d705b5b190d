//! Files that lie in several: finds the members and says at which address each begins.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::format::driver_info::{DriverInfo, Parameters};
use crate::format::message::driver_info::DriverInfo as DriverMessage;
use crate::format::superblock::{Superblock, Version};
use crate::object::container::{Container, Opening};
use crate::storage::pieces::Piece;
use crate::storage::{FileSource, SharedSource};

/// A family has at most so many members.
const MOST_MEMBERS: u64 = 1 << 20;

fn open(path: &Path) -> Result<SharedSource> {
    Ok(Arc::new(FileSource::open(path)?))
}

/// The name of member `number` of a family: `%d`, `%5d` and `%05d` stand for the number.
fn member_name(pattern: &str, number: u64) -> Result<String> {
    let invalid = || Error::invalid(format!("the family name {pattern:?} has no %d for the number of a member"));
    let (before, rest) = pattern.split_once('%').ok_or_else(invalid)?;
    let (format, after) = rest.split_once('d').ok_or_else(invalid)?;
    let width: usize = if format.is_empty() { 0 } else { format.parse().map_err(|_| invalid())? };
    let number = if format.starts_with('0') { format!("{number:0width$}") } else { format!("{number:width$}") };
    Ok(format!("{before}{number}{after}"))
}

/// Members of one size, one after the other.
pub(super) fn family(path: &Path) -> Result<Vec<Piece>> {
    let pattern = path.to_str().ok_or_else(|| Error::invalid("the family name is not UTF-8"))?;
    let first = open(Path::new(&member_name(pattern, 0)?))?;
    let size = member_size(&first)?;
    let (mut pieces, mut next) = (vec![Piece { start: 0, source: first }], 1);
    while next < MOST_MEMBERS {
        let name = member_name(pattern, next)?;
        if !Path::new(&name).exists() {
            break;
        }
        let start = size.checked_mul(next).ok_or_else(|| Error::corrupt("the family's members are too large"))?;
        pieces.push(Piece { start, source: open(Path::new(&name))? });
        next += 1;
    }
    Ok(pieces)
}

/// Bytes of a member: as the first one says, or as many as it has.
fn member_size(first: &SharedSource) -> Result<u64> {
    match parameters(first)? {
        Some(Parameters::Family(size)) if size > 0 => Ok(size),
        _ => first.len(),
    }
}

/// Metadata in one member, raw data in another.
pub(super) fn split(path: &Path) -> Result<Vec<Piece>> {
    members(path, &["-m.h5"], &[("-r.h5", u64::MAX >> 1)])
}

/// One member for each kind of contents.
pub(super) fn multi(path: &Path) -> Result<Vec<Piece>> {
    members(path, &["-s.h5", "-m.h5"], &[])
}

/// The members that the driver information in the first of them names; `usual` if it names none.
fn members(path: &Path, first: &[&str], usual: &[(&str, u64)]) -> Result<Vec<Piece>> {
    let with = |ending: &str| PathBuf::from(format!("{}{ending}", path.display()));
    let found = first.iter().map(|ending| with(ending)).find(|path| path.exists());
    let found = found.ok_or_else(|| Error::not_found(format!("there is no {}", with(first[0]).display())))?;
    let head = open(&found)?;
    let mut pieces = Vec::new();
    if let Some(Parameters::Multi(multi)) = parameters(&head)? {
        for member in &multi.members {
            let name = String::from_utf8_lossy(&member.name).replace("%s", &path.display().to_string());
            let name = if name.contains('/') { PathBuf::from(name) } else { path.with_file_name(name) };
            if name.exists() {
                pieces.push(Piece { start: member.start, source: open(&name)? });
            }
        }
    }
    if pieces.is_empty() {
        pieces.push(Piece { start: 0, source: head });
        for (ending, start) in usual.iter().filter(|(ending, _)| with(ending).exists()) {
            pieces.push(Piece { start: *start, source: open(&with(ending))? });
        }
    }
    Ok(pieces)
}

/// What the driver that wrote the file kept, by its first member alone.
fn parameters(first: &SharedSource) -> Result<Option<Parameters>> {
    let container = Container::open(Arc::clone(first), Opening { salvage: true, ..Opening::default() })?;
    let Superblock { version: Version::Old(old), .. } = &container.superblock else {
        let Some((id, information)) = &container.driver else { return Ok(None) };
        let message = DriverMessage { id: *id, information: information.clone() };
        return Parameters::of_message(&message).map(Some);
    };
    let Some(addr) = old.driver_info else { return Ok(None) };
    let info: DriverInfo = container.run(|scope| scope.view.load(addr, ()))?;
    Ok(Some(info.parameters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_numbered_as_printf_does() {
        assert_eq!(member_name("a/f%05d.h5", 12).unwrap(), "a/f00012.h5");
        assert_eq!(member_name("f%d", 7).unwrap(), "f7");
        assert_eq!(member_name("f%3d", 7).unwrap(), "f  7");
        assert!(member_name("f", 7).is_err());
        assert!(member_name("f%sd", 7).is_err());
    }
}
