//! Elements that say where something is, for another file: sequences go to its global heap, references to its objects.

use bytes::Bytes;

use super::Copier;
use crate::convert::Heaps;
use crate::convert::types::whole_member;
use crate::error::{Error, Result};
use crate::format::global_heap::GlobalHeapId;
use crate::format::message::datatype::{Class, Datatype, ReferenceKind as Stored};
use crate::format::reference::{
    Contents, ObjectReference, ReferenceBlock, ReferenceElement, ReferenceKind, RegionReference, token_address,
};
use crate::object::heap;
use crate::wire::{Addr, Sizes, Structure};

/// Where references lead that led to something that is no object, or is left out: they still lead to nothing.
const NOWHERE: Addr = Addr(u64::MAX - 1);

/// Whether elements of this type say where something is.
pub(super) fn points(datatype: &Datatype) -> bool {
    match &datatype.class {
        Class::VariableLength { .. } | Class::Reference { .. } => true,
        Class::Array { base, .. } => points(base),
        Class::Compound(members) => members.iter().any(|member| points(&member.datatype)),
        _ => false,
    }
}

/// The datatype that such elements have where addresses have eight bytes.
pub(super) fn widened(datatype: &Datatype, from: Sizes) -> Datatype {
    if from.offsets == Sizes::EIGHT.offsets || !points(datatype) {
        return datatype.clone();
    }
    let more = u32::from(Sizes::EIGHT.offsets).wrapping_sub(from.offsets.into());
    let mut wide = datatype.clone();
    match &mut wide.class {
        Class::VariableLength { base, .. } => {
            **base = widened(base, from);
            wide.size = wide.size.wrapping_add(more);
        }
        Class::Reference { .. } => wide.size = wide.size.wrapping_add(more),
        Class::Array { shape, base, .. } => {
            **base = widened(base, from);
            wide.size = shape.iter().fold(base.size, |size, n| size.wrapping_mul(*n));
        }
        Class::Compound(members) => {
            let mut order: Vec<usize> = (0..members.len()).collect();
            order.sort_by_key(|i| members[*i].byte_offset);
            let mut grown = 0u32;
            for i in order {
                let member = &mut members[i];
                let whole = whole_member(member).into_owned();
                let new = widened(&whole, from);
                member.byte_offset = member.byte_offset.wrapping_add(grown);
                grown = grown.wrapping_add(new.size.wrapping_sub(whole.size));
                (member.datatype, member.dimensions) = (new, None);
            }
            wide.size = wide.size.wrapping_add(grown);
        }
        _ => {}
    }
    wide
}

fn size_of(datatype: &Datatype) -> Result<usize> {
    usize::try_from(datatype.size).map_err(|_| Error::limit("an element is larger than memory"))
}

impl Copier<'_> {
    /// Stores objects in the global heap.
    pub(super) fn store(&mut self, objects: &[Bytes]) -> Result<Vec<GlobalHeapId>> {
        let draft = self.site.draft()?;
        draft.heap.store(&mut draft.space, objects)
    }

    /// Elements of type `from` as elements of type `to`, which is `from` widened, in the new file.
    pub(super) fn elements(&mut self, stored: &[u8], from: &Datatype, to: &Datatype) -> Result<Vec<u8>> {
        let file = self.file;
        self.elements_within(&file.heaps(), stored, from, to)
    }

    /// As [`elements`](Self::elements), with what the heaps may still give out.
    fn elements_within(&mut self, heaps: &Heaps<'_>, stored: &[u8], from: &Datatype, to: &Datatype) -> Result<Vec<u8>> {
        if !points(from) {
            return Ok(stored.to_vec());
        }
        let (size, wide) = (size_of(from)?.max(1), size_of(to)?);
        let mut out = vec![0; stored.len() / size * wide];
        let mut objects = Vec::new();
        for (element, place) in stored.chunks_exact(size).zip((0..).step_by(wide)) {
            self.element(heaps, element, from, to, (place, &mut out), &mut objects)?;
        }
        let (places, data): (Vec<usize>, Vec<Bytes>) = objects.into_iter().unzip();
        let ids = self.store(&data)?;
        for (place, id) in places.into_iter().zip(ids) {
            put(&mut out, place, &id.encode(Addr(0), Sizes::EIGHT, ())?)?;
        }
        Ok(out)
    }

    /// One element, to `place` of the result. What goes to the global heap is gathered, with the place of its id.
    fn element(
        &mut self,
        heaps: &Heaps<'_>,
        element: &[u8],
        from: &Datatype,
        to: &Datatype,
        (place, out): (usize, &mut [u8]),
        objects: &mut Vec<(usize, Bytes)>,
    ) -> Result<()> {
        match (&from.class, &to.class) {
            (Class::VariableLength { base, .. }, Class::VariableLength { base: wide, .. }) => {
                if let Some(data) = heaps.sequence(element, size_of(base)?)? {
                    let data = self.elements_within(heaps, &data, base, wide)?;
                    put(out, place, element.get(..4).unwrap_or_default())?;
                    objects.push((place + 4, data.into()));
                }
                Ok(())
            }
            (Class::Reference { kind, .. }, _) => self.reference(element, *kind, (place, out), objects),
            (Class::Array { base, .. }, Class::Array { base: wide, .. }) => {
                let (size, step) = (size_of(base)?.max(1), size_of(wide)?);
                for (part, at) in element.chunks_exact(size).zip((place..).step_by(step)) {
                    self.element(heaps, part, base, wide, (at, out), objects)?;
                }
                Ok(())
            }
            (Class::Compound(members), Class::Compound(wide)) => {
                for (member, new) in members.iter().zip(wide) {
                    let (old, new_type) = (whole_member(member).into_owned(), whole_member(new).into_owned());
                    let start =
                        usize::try_from(member.byte_offset).map_err(|_| Error::limit("a member beyond memory"))?;
                    let at = usize::try_from(new.byte_offset).map_err(|_| Error::limit("a member beyond memory"))?;
                    let part = element.get(start..start + size_of(&old)?);
                    let part = part.ok_or_else(|| Error::corrupt("a member leaves its compound"))?;
                    self.element(heaps, part, &old, &new_type, (place + at, out), objects)?;
                }
                Ok(())
            }
            _ => put(out, place, element),
        }
    }

    fn reference(
        &mut self,
        element: &[u8],
        kind: Stored,
        (place, out): (usize, &mut [u8]),
        objects: &mut Vec<(usize, Bytes)>,
    ) -> Result<()> {
        if element.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let file = self.file.clone();
        let container = file.heaps().container();
        let sizes = container.loaded.sizes();
        match kind {
            Stored::Object1 => {
                let reference = ObjectReference::decode(element, Addr(0), sizes, ())?;
                let object = self.moved(reference.target())?;
                put(
                    out,
                    place,
                    &ObjectReference { object: Some(object.unwrap_or(Addr(0))) }.encode(Addr(0), Sizes::EIGHT, ())?,
                )
            }
            Stored::Region1 => {
                let id = GlobalHeapId::decode(element, Addr(0), sizes, ())?;
                let Some(block) = container.run(|scope| heap::global(scope, id))? else { return Ok(()) };
                let (region, _) = RegionReference::decode_shared(&block, Addr(0), sizes, ())?;
                let Some(object) = self.moved(Some(region.object))? else { return Ok(()) };
                let region = RegionReference { object, ..region }.encode(Addr(0), Sizes::EIGHT, ())?;
                objects.push((place, region.into()));
                Ok(())
            }
            Stored::Object2 | Stored::Region2 | Stored::Attribute => {
                let mut reference = ReferenceElement::decode(element, Addr(0), sizes, element.len())?;
                let context = reference.block_context();
                match &mut reference.contents {
                    _ if reference.kind == ReferenceKind::Null => {}
                    Contents::Token(token) => *token = self.token(token, sizes)?,
                    Contents::Heap { size, id } => {
                        let block = container.run(|scope| heap::global(scope, *id))?;
                        let block = block.ok_or_else(|| Error::corrupt("a reference names nothing in the heap"))?;
                        let (mut block, _) = ReferenceBlock::decode_shared(&block, Addr(0), sizes, context)?;
                        // The token of an object of another file stays what it is.
                        if block.file.is_none() {
                            block.token = self.token(&block.token, sizes)?;
                        }
                        let data = block.encode(Addr(0), Sizes::EIGHT, context)?;
                        *size = u32::try_from(data.len()).map_err(|_| Error::limit("a reference is too large"))?;
                        let stored = self.store(&[data.into()])?;
                        *id = stored.into_iter().next().unwrap_or(*id);
                    }
                }
                let wide = element.len() + usize::from(Sizes::EIGHT.offsets) - usize::from(sizes.offsets);
                put(out, place, &reference.encode(Addr(0), Sizes::EIGHT, wide)?)
            }
        }
    }

    /// The token of an object in the new file.
    fn token(&mut self, token: &[u8], sizes: Sizes) -> Result<Vec<u8>> {
        let object = self.moved(token_address(token, sizes))?;
        ObjectReference { object: Some(object.unwrap_or(Addr(0))) }.encode(Addr(0), Sizes::EIGHT, ())
    }

    /// Where the header of an object will be; `None` if there was none.
    fn moved(&mut self, old: Option<Addr>) -> Result<Option<Addr>> {
        let Some(old) = old else { return Ok(None) };
        match self.ids.get(&old).copied() {
            Some(id) => self.site.draft()?.promise(id).map(Some),
            None => Ok(Some(NOWHERE)),
        }
    }
}

fn put(out: &mut [u8], place: usize, bytes: &[u8]) -> Result<()> {
    let room = out.get_mut(place..place.saturating_add(bytes.len()));
    room.ok_or_else(|| Error::corrupt("an element leaves its place"))?.copy_from_slice(bytes);
    Ok(())
}
