//! The attributes of an object, however it stores them.

use std::sync::Arc;

use super::container::Scope;
use super::header::{Header, decode, decode_body, resolve};
use super::heap::FractalHeap;
use super::{Step, btree, heap};
use crate::error::{Error, Place};
use crate::format::btree_v2::AttributeName;
use crate::format::message::HeaderMessageBody;
use crate::format::message::attribute::{Attribute, Embedded};
use crate::format::message::attribute_info::AttributeInfo;
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::Datatype;
use crate::format::message::shared::SharedPlace;
use crate::storage::Stop;
use crate::wire::{Addr, lookup3};

/// An attribute with its datatype and dataspace resolved.
#[derive(Clone, Debug)]
pub struct Found {
    /// The name's bytes.
    pub name: bytes::Bytes,
    /// Whether the name is marked as UTF-8.
    pub is_utf8: bool,
    /// Creation order, if the object tracks it.
    pub creation_order: Option<u32>,
    /// The type of the elements.
    pub datatype: Datatype,
    /// The committed datatype, if the type is one.
    pub committed: Option<Addr>,
    /// The shape.
    pub dataspace: Dataspace,
    /// The elements; for a null dataspace nothing.
    pub data: bytes::Bytes,
}

/// Flag of a record in dense storage: the attribute stands in the heap of shared messages.
const SHARED: u8 = 2;

/// All attributes of the object with this header, sorted by the bytes of their names. One that cannot be understood
/// spoils no other.
pub fn list(scope: Scope<'_>, header: &Header) -> Step<Vec<Result<Arc<Found>, Error>>> {
    let messages = header.messages.iter().filter(|m| m.kind == Attribute::KIND);
    let mut found = Vec::with_capacity(messages.clone().count());
    for message in messages {
        let order = message.creation_order.map(u32::from);
        found.push(settle(decode(scope, message).and_then(|a| finish(scope, a, order)))?);
    }
    if let Some((heap, index)) = dense(scope, header)? {
        let heap = FractalHeap::open(scope, heap)?;
        let records = btree::records::<AttributeName>(scope, index, ())?;
        let tracked = header.attribute_order().0;
        found.extend(scope.view.each(&records, |record| settle(from_heap(scope, &heap, record, tracked)))?);
    }
    found.sort_by(|a, b| key(a).cmp(key(b)));
    Ok(found)
}

fn key(found: &Result<Arc<Found>, Error>) -> &[u8] {
    found.as_ref().map_or(&[], |f| &f.name)
}

/// An error of one attribute is a value; only what is missing stops the job.
fn settle(result: Step<Found>) -> Step<Result<Arc<Found>, Error>> {
    match result {
        Ok(found) => Ok(Ok(Arc::new(found))),
        Err(Stop::Error(error)) => Ok(Err(error)),
        Err(missing) => Err(missing),
    }
}

/// The attribute called `name`, if the object with this header has it. Costs a search, not a listing.
pub fn find(scope: Scope<'_>, header: &Header, name: &[u8]) -> Step<Option<Found>> {
    for message in header.messages.iter().filter(|m| m.kind == Attribute::KIND) {
        let attribute: Attribute = decode(scope, message)?;
        if attribute.name() == name {
            return finish(scope, attribute, message.creation_order.map(u32::from)).map(Some);
        }
    }
    let Some((heap, index)) = dense(scope, header)? else { return Ok(None) };
    let heap = FractalHeap::open(scope, heap)?;
    let (hash, tracked) = (lookup3(name), header.attribute_order().0);
    for record in btree::find::<AttributeName>(scope, index, (), |record| record.hash.cmp(&hash))? {
        let found = from_heap(scope, &heap, &record, tracked)?;
        if found.name == name {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Heap and index of names, if attributes are in dense storage.
fn dense(scope: Scope<'_>, header: &Header) -> Step<Option<(Addr, Addr)>> {
    let Some(info) = header.message::<AttributeInfo>(scope)? else { return Ok(None) };
    Ok(info.fractal_heap.zip(info.name_index))
}

fn from_heap(scope: Scope<'_>, heap: &FractalHeap, record: &AttributeName, tracked: bool) -> Step<Found> {
    let (data, addr) = if record.flags & SHARED != 0 {
        heap::shared_message(scope, Attribute::KIND, &record.heap_id)?
    } else {
        heap.object(scope, &record.heap_id)?
    };
    finish(scope, decode_body(scope, &data, addr)?, tracked.then_some(record.order))
}

fn finish(scope: Scope<'_>, attribute: Attribute, creation_order: Option<u32>) -> Step<Found> {
    let length = attribute.name().len();
    let mut name = attribute.stored_name;
    name.truncate(length);
    let place = || Place::Attribute(String::from_utf8_lossy(&name).into_owned());
    let committed = match &attribute.datatype {
        Embedded::Shared(shared) => match shared.place {
            SharedPlace::Committed { header, .. } => Some(header),
            SharedPlace::Heap(_) => None,
        },
        Embedded::Here(_) => None,
    };
    let datatype: Datatype = match attribute.datatype {
        Embedded::Here(datatype) => datatype,
        Embedded::Shared(shared) => resolve(scope, &shared).map_err(|e| e.at(place))?,
    };
    let datatype = super::datatype::in_file(datatype, scope.view.sizes());
    let dataspace: Dataspace = match attribute.dataspace {
        Embedded::Here(dataspace) => dataspace,
        Embedded::Shared(shared) => resolve(scope, &shared).map_err(|e| e.at(place))?,
    };
    let size = dataspace.element_count().and_then(|n| n.checked_mul(datatype.size.into()));
    let size = size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size <= attribute.data.len());
    let Some(size) = size else {
        let what = format!("the value has {} bytes, its shape and type want more", attribute.data.len());
        return Err(Error::corrupt(what).at(place()).into());
    };
    let data = attribute.data.slice(..size);
    Ok(Found { is_utf8: attribute.character_set == 1, name, creation_order, datatype, committed, dataspace, data })
}
