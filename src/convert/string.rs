//! Strings, of whatever kind the file has them.

use crate::error::{Error, Result};
use crate::format::global_heap::GlobalHeapId;
use crate::format::message::datatype::Text;
use crate::object::{Container, heap};
use crate::wire::{Addr, Structure};

/// A sequence or string of variable length, as it stands in an element: how many, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Number of elements of the base type.
    pub count: u32,
    /// The object of the global heap with the elements.
    pub id: GlobalHeapId,
}

impl Sequence {
    /// What an element of variable length says.
    pub fn decode(element: &[u8], container: &Container) -> Result<Sequence> {
        let sizes = container.loaded.sizes();
        let (count, id) = element.split_at_checked(4).ok_or_else(|| Error::corrupt("an element is cut short"))?;
        let count = u32::from_le_bytes(count.try_into().expect("because four bytes were split off"));
        let decoded = GlobalHeapId::decode(id, Addr(0), sizes, ())?;
        container.loaded.decoded_part(&decoded, id, Addr(0), ());
        Ok(Sequence { count, id: decoded })
    }

    /// The bytes of its elements; `None` for an empty one. `Corrupt` if there are fewer than `size` for each.
    pub fn bytes(&self, size: usize, container: &Container) -> Result<Option<bytes::Bytes>> {
        if self.count == 0 {
            return Ok(None);
        }
        let Some(bytes) = container.run(|scope| heap::global(scope, self.id))? else { return Ok(None) };
        let wanted = usize::try_from(self.count).ok().and_then(|n| n.checked_mul(size));
        match wanted.filter(|&wanted| wanted <= bytes.len()) {
            Some(wanted) => Ok(Some(bytes.slice(..wanted))),
            None => {
                let what = format!("{} elements of {size} bytes are in an object of {} bytes", self.count, bytes.len());
                Err(Error::corrupt(what))
            }
        }
    }
}

/// The text of a string of fixed size, without its padding.
pub fn trim(stored: &[u8], text: Text) -> &[u8] {
    let until = |end: Option<usize>| &stored[..end.unwrap_or(stored.len())];
    match text.padding {
        1 => until(Some(stored.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1))),
        2 => until(Some(stored.iter().rposition(|&b| b != b' ').map_or(0, |last| last + 1))),
        _ => until(stored.iter().position(|&b| b == 0)),
    }
}

/// The text of a string of variable length.
pub fn variable(element: &[u8], container: &Container) -> Result<bytes::Bytes> {
    let bytes = Sequence::decode(element, container)?.bytes(1, container)?.unwrap_or_default();
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    Ok(bytes.slice(..end))
}
