//! The links of groups: messages, dense storage, symbol tables.

use bytes::Bytes;

use super::fractal_heap::{self, Parameters as HeapParameters};
use super::object::{Context, Group, Target};
use super::{btree_v2, symbol_table};
use crate::error::{Error, Result};
use crate::format::btree_v2::{LinkCreationOrder, LinkName};
use crate::format::message::link::{Link, LinkEncoding, LinkTarget};
use crate::format::message::link_info::LinkInfo;
use crate::wire::place::Place;
use crate::wire::{Addr, Structure, lookup3};

/// The links as messages.
pub(super) fn messages(group: &Group, cx: &Context) -> Result<Vec<Link>> {
    let mut all = Vec::with_capacity(group.links.len());
    for link in &group.links {
        let target = match &link.target {
            Target::Hard(id) => LinkTarget::Hard(cx.addr(*id)?),
            Target::Soft(path) => LinkTarget::Soft(path.clone()),
            Target::External(data) => LinkTarget::External(data.clone()),
            Target::User { class, data } => LinkTarget::User { class: *class, data: data.clone() },
        };
        let name_width = match link.name.len() {
            0..=0xff => 0,
            0x100..=0xffff => 1,
            _ => 2,
        };
        all.push(Link {
            creation_order: group.order.map(|_| link.order),
            character_set: link.utf8.then_some(1),
            name: link.name.clone(),
            target,
            encoding: LinkEncoding { name_width, hard_type: false },
        });
    }
    Ok(all)
}

/// Places the links in dense storage, and notes where.
pub(super) fn place(space: &mut dyn Place, group: &Group, info: &mut LinkInfo, cx: &Context) -> Result<()> {
    let (sizes, links) = (space.sizes(), messages(group, cx)?);
    let encoded = links.iter().map(|link| link.encode(Addr(0), sizes, ()).map(Bytes::from));
    let heap = fractal_heap::build(space, HeapParameters::LINKS, &encoded.collect::<Result<Vec<_>>>()?)?;
    let ids = heap.ids.iter().map(|id| <[u8; 7]>::try_from(id.as_slice()));
    let ids = ids.collect::<std::result::Result<Vec<_>, _>>().map_err(|_| Error::invalid("ids of seven bytes"))?;
    let hashed = links.iter().zip(&ids).map(|(link, id)| (lookup3(&link.name), &link.name, *id));
    let mut hashed: Vec<_> = hashed.collect();
    // Names of one hash stand in the order of the names.
    hashed.sort_unstable();
    let records = hashed.into_iter().map(|(hash, _, heap_id)| LinkName { hash, heap_id }).collect();
    let parameters = btree_v2::Parameters::OBJECTS;
    info.fractal_heap = Some(heap.addr);
    info.name_index = Some(btree_v2::build(space, parameters, records, ())?);
    if let Some(index) = &mut info.creation_order_index {
        let record =
            |(link, id): (&super::object::Link, &[u8; 7])| LinkCreationOrder { order: link.order, heap_id: *id };
        let mut records: Vec<LinkCreationOrder> = group.links.iter().zip(&ids).map(record).collect();
        records.sort_unstable_by_key(|record| record.order);
        *index = Some(btree_v2::build(space, parameters, records, ())?);
    }
    Ok(())
}

/// The links as members of an old-style group, sorted.
pub(super) fn members(group: &Group, cx: &Context) -> Result<Vec<symbol_table::Member>> {
    let mut members = Vec::with_capacity(group.links.len());
    for link in &group.links {
        let target = match &link.target {
            Target::Hard(id) => symbol_table::Target::Hard(cx.addr(*id)?),
            Target::Soft(path) => symbol_table::Target::Soft(path.clone()),
            Target::External(_) | Target::User { .. } => {
                let name = String::from_utf8_lossy(&link.name);
                return Err(Error::unsupported(format!(
                    "link {name:?} leads out of the file, which Earliest cannot say"
                )));
            }
        };
        members.push(symbol_table::Member { name: link.name.clone(), target });
    }
    members.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(members)
}
