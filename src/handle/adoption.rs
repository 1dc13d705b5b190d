//! Elements of a virtual dataset that come from another file: sequences come along, references cannot.

use crate::convert::stored::{Sequences, converted};
use crate::convert::string::Sequence;
use crate::error::{Error, Result};
use crate::format::message::datatype::Datatype;
use crate::object::Container;
use crate::wire::{Addr, Structure};

/// From the file of a source to that of the virtual dataset.
pub(super) struct Adoption<'a> {
    pub(super) source: &'a Container,
    pub(super) own: &'a Container,
}

impl Sequences for Adoption<'_> {
    fn sequence(&self, element: &[u8], from: &Datatype, to: &Datatype, out: &mut [u8]) -> Result<()> {
        let (source, own) = (self.source, self.own);
        let sequence = Sequence::decode(element, source)?;
        let size = usize::try_from(from.size).map_err(|_| Error::limit("an element is larger than memory"))?;
        let Some(bytes) = sequence.bytes(size, source)? else { return Ok(()) };
        let bytes = if from == to { bytes } else { converted(&bytes, from, to, self)?.into() };
        // Files stay open, and so where they are, as long as the one that led to them.
        let from = (std::ptr::from_ref(self.source).addr(), sequence.id, sequence.count);
        let id = own.adopted.take((from, to.clone()), own.loaded.sizes(), bytes)?;
        let id = id.encode(Addr(0), own.loaded.sizes(), ())?;
        let whole = [sequence.count.to_le_bytes().as_slice(), &id].concat();
        let slot = out.get_mut(..whole.len()).ok_or_else(|| Error::corrupt("a sequence leaves its element"))?;
        slot.copy_from_slice(&whole);
        Ok(())
    }

    fn reference(&self, element: &[u8], out: &mut [u8]) -> Result<()> {
        if !std::ptr::eq(self.source, self.own) && element.iter().any(|byte| *byte != 0) {
            return Err(Error::unsupported("references in a virtual dataset come from another file"));
        }
        let slot = out.get_mut(..element.len()).ok_or_else(|| Error::corrupt("a reference leaves its element"))?;
        slot.copy_from_slice(element);
        Ok(())
    }
}
