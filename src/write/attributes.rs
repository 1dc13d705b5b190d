//! The attributes of an object: their messages, and dense storage.

use bytes::Bytes;

use super::btree_v2;
use super::compatibility::Compatibility;
use super::fractal_heap::{self, Parameters as HeapParameters};
use super::header::MAX_MESSAGE;
use super::object::Object;
use crate::error::{Error, Result};
use crate::format::btree_v2::{AttributeCreationOrder, AttributeName};
use crate::format::message::attribute::{Attribute, Embedded};
use crate::format::message::attribute_info::AttributeInfo;
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::Datatype;
use crate::wire::place::Place;
use crate::wire::{Addr, Sizes, Structure, lookup3};

/// The encoded message of an attribute: its name, and whether that is UTF-8 rather than ASCII; the bytes of its elements.
///
/// Errors are `Unsupported` for what the level cannot hold.
pub(crate) fn message(
    level: Compatibility,
    (name, is_utf8): (&[u8], bool),
    datatype: Embedded<Datatype>,
    dataspace: &Dataspace,
    data: Bytes,
) -> Result<Bytes> {
    let version = match (level, &datatype) {
        (Compatibility::Earliest, Embedded::Here(_)) => 1,
        (Compatibility::Earliest, Embedded::Shared(_)) => 2,
        _ => 3,
    };
    let (stored_name, character_set) = (Bytes::from([name, &[0]].concat()), u8::from(is_utf8));
    let dataspace = Embedded::Here(level.dataspace(dataspace)?);
    let message = Attribute { version, stored_name, character_set, datatype, dataspace, data, extra: None };
    let encoded = message.encode(Addr(0), Sizes::EIGHT, ())?;
    if level == Compatibility::Earliest && encoded.len() > MAX_MESSAGE {
        return Err(Error::unsupported(format!("{} bytes cannot be written for Earliest", encoded.len())));
    }
    Ok(encoded.into())
}

/// Where the attributes are; dense storage has its addresses when it is placed.
pub(super) fn info(object: &Object, dense: bool) -> AttributeInfo {
    let next = object.attributes.iter().map(|attribute| attribute.order.saturating_add(1)).max().unwrap_or(0);
    let dense = dense.then_some(Addr(0));
    AttributeInfo {
        max_creation_index: object.attribute_order.map(|_| next),
        fractal_heap: dense,
        name_index: dense,
        creation_order_index: object.attribute_order.filter(|indexed| *indexed).map(|_| dense),
    }
}

/// Places the attributes in dense storage, and notes where.
pub(super) fn place(space: &mut dyn Place, object: &Object, info: &mut AttributeInfo) -> Result<()> {
    let encoded: Vec<Bytes> = object.attributes.iter().map(|attribute| attribute.message.clone()).collect();
    let heap = fractal_heap::build(space, HeapParameters::ATTRIBUTES, &encoded)?;
    let ids = heap.ids.iter().map(|id| <[u8; 8]>::try_from(id.as_slice()));
    let ids = ids.collect::<std::result::Result<Vec<_>, _>>().map_err(|_| Error::invalid("ids of eight bytes"))?;
    let mut all: Vec<(u32, &[u8], [u8; 8], u32)> = Vec::with_capacity(ids.len());
    for (attribute, id) in object.attributes.iter().zip(ids) {
        let name = &attribute.name[..];
        all.push((lookup3(name), name, id, attribute.order.into()));
    }
    // Names of one hash stand in the order of the names.
    all.sort_unstable();
    let named = |(hash, _, heap_id, order): &(u32, &[u8], [u8; 8], u32)| AttributeName {
        heap_id: *heap_id,
        flags: 0,
        order: *order,
        hash: *hash,
    };
    let parameters = btree_v2::Parameters::OBJECTS;
    info.fractal_heap = Some(heap.addr);
    info.name_index = Some(btree_v2::build(space, parameters, all.iter().map(named).collect(), ())?);
    if let Some(index) = &mut info.creation_order_index {
        all.sort_unstable_by_key(|(.., order)| *order);
        let numbered = |(_, _, heap_id, order): &(u32, &[u8], [u8; 8], u32)| AttributeCreationOrder {
            heap_id: *heap_id,
            flags: 0,
            order: *order,
        };
        *index = Some(btree_v2::build(space, parameters, all.iter().map(numbered).collect(), ())?);
    }
    Ok(())
}
