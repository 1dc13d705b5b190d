//! What the bytes at an address are: the structure in which they lie, field by field.

use std::sync::{Arc, Mutex, PoisonError};

use super::map::{Map, Region, Surveyor, visit};
use crate::error::{Error, Result};
use crate::handle::{File, OpenOptions};
use crate::storage::{Observer, Seen};
use crate::wire::{Addr, Placed};

/// What lies at an address.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The structure or data in which the address lies.
    pub region: Region,
    /// Its fields in file order, those of messages in object headers among them; none for data.
    pub fields: Vec<Placed>,
}

/// Keeps the fields of the structures in a range.
#[derive(Debug)]
struct Reader {
    start: u64,
    end: u64,
    fields: Mutex<Vec<(bool, Vec<Placed>)>>,
}

impl Observer for Reader {
    fn see(&self, seen: &Seen<'_>) {
        let end = seen.addr.0.saturating_add(seen.size);
        if self.start <= seen.addr.0 && end <= self.end && !seen.bytes.is_empty() {
            let seen = (seen.is_whole, seen.fields());
            let mut fields = self.fields.lock().unwrap_or_else(PoisonError::into_inner);
            if !fields.contains(&seen) {
                fields.push(seen);
            }
        }
    }
}

/// What lies at `addr` of a file that `open` opens with the options that it is given. The file is opened twice: once to
/// find out what lies where, once to read the structure.
///
/// Errors are `NotFound` if nothing that the file leads to lies there, and those of opening.
pub fn explain(options: &OpenOptions, open: impl Fn(&OpenOptions) -> Result<File>, addr: Addr) -> Result<Explained> {
    let surveyor = Arc::new(Surveyor::default());
    let file = open(&options.clone().observer(Arc::clone(&surveyor) as _))?;
    let tree = visit(&file)?;
    let map = Map::of(&file, &surveyor, &tree);
    let region = map.at(addr).cloned().ok_or_else(|| nothing(&map, addr))?;
    let (start, size) = (region.range.addr.0, region.range.size);
    let reader = Arc::new(Reader { start, end: start.saturating_add(size), fields: Mutex::default() });
    visit(&open(&options.clone().observer(Arc::clone(&reader) as _))?)?;
    let mut seen = std::mem::take(&mut *reader.fields.lock().unwrap_or_else(PoisonError::into_inner));
    // The frame before what is in it.
    seen.sort_by_key(|(is_whole, fields)| (!is_whole, fields.first().map(|f| f.address)));
    let mut seen = seen.into_iter().map(|(_, fields)| fields);
    let mut fields = seen.next().unwrap_or_default();
    for part in seen {
        let Some(first) = part.first() else { continue };
        // The bytes of a message give way to its fields.
        let place = fields.iter().position(|f| f.address == first.address && f.size > 0);
        if let Some(place) = place {
            fields.splice(place..=place, part);
        }
    }
    Ok(Explained { region, fields })
}

fn nothing(map: &Map, addr: Addr) -> Error {
    let gap = map.gaps().into_iter().find(|gap| gap.addr <= addr && addr.0 < gap.addr.0.saturating_add(gap.size));
    match gap {
        Some(gap) => {
            Error::not_found(format!("{addr} lies in {} bytes from {} that belong to nothing", gap.size, gap.addr))
        }
        None => Error::not_found(format!("{addr} lies beyond the end of the file, which is at {:#x}", map.size)),
    }
}
