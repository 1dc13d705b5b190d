//! How an object becomes a header with all that belongs to it: what that is, its size, its place, its messages.

use super::chunk_index::Indexed;
use super::compatibility::Compatibility;
use super::header::{HeaderBuilder, MAX_MESSAGE, SHARED};
use super::object::{Body, Context, Dataset, Group, NumberedAttribute, Object, Storage, shared};
use super::{attributes, links, symbol_table};
use crate::error::{Error, Result};
use crate::format::message::HeaderMessageBody;
use crate::format::message::attribute::Attribute;
use crate::format::message::attribute_info::AttributeInfo;
use crate::format::message::comment::Comment;
use crate::format::message::data_layout::{DataLayout, Layout};
use crate::format::message::datatype::Datatype;
use crate::format::message::group_info::GroupInfo;
use crate::format::message::link_info::LinkInfo;
use crate::format::message::modification_time::ModificationTime;
use crate::format::message::reference_count::ReferenceCount;
use crate::format::message::symbol_table::SymbolTable;
use crate::wire::place::Place;
use crate::wire::{Addr, Sizes, Structure};

/// Links and attributes in compact storage at most, where there is dense storage.
const MAX_COMPACT: usize = 8;

/// Where what belongs to an object was placed.
#[derive(Debug, Default)]
pub struct Placed {
    links: Option<LinkInfo>,
    symbol_table: Option<SymbolTable>,
    layout: Option<DataLayout>,
    attributes: Option<AttributeInfo>,
}

impl Object {
    fn dense_attributes(&self, level: Compatibility) -> bool {
        if level == Compatibility::Earliest {
            return false;
        }
        if self.attributes.len() > MAX_COMPACT {
            return true;
        }
        self.attributes.iter().any(|attribute| attribute.message.len() > MAX_MESSAGE)
    }

    /// What the object would have placed, as far as its header's size depends on it.
    pub fn measure(&self, level: Compatibility) -> Result<Placed> {
        let mut placed = Placed::default();
        match &self.body {
            Body::Group(group) if level == Compatibility::Earliest => {
                if group.order.is_some() || self.attribute_order.is_some() {
                    return Err(Error::unsupported("creation order cannot be tracked for Earliest"));
                }
                placed.symbol_table = Some(SymbolTable { btree: None, local_heap: None });
            }
            Body::Group(group) => placed.links = Some(group.link_info()),
            Body::Dataset(dataset) => placed.layout = Some(dataset.layout(level)?),
            Body::NamedType(_) => {}
        }
        if level > Compatibility::Earliest && (!self.attributes.is_empty() || self.attribute_order.is_some()) {
            placed.attributes = Some(attributes::info(self, self.dense_attributes(level)));
        }
        Ok(placed)
    }

    /// Places what belongs to the object besides its header.
    pub fn place(&self, space: &mut dyn Place, cx: &Context) -> Result<Placed> {
        let mut placed = self.measure(cx.level)?;
        if let (Body::Group(group), Some(info)) = (&self.body, &mut placed.links)
            && info.fractal_heap.is_some()
        {
            links::place(space, group, info, cx)?;
        }
        if let (Body::Group(group), Some(table)) = (&self.body, &mut placed.symbol_table) {
            *table = symbol_table::build(space, &links::members(group, cx)?)?;
        }
        if let (Body::Dataset(dataset), Some(layout)) = (&self.body, &mut placed.layout)
            && let (Layout::Chunked(chunked), Storage::Chunked(_, chunks)) = (&mut layout.layout, &dataset.storage)
        {
            let indexed = Indexed {
                chunks,
                max_shape: &dataset.dataspace.max_shape(),
                element_size: dataset.datatype.size,
                filtered: dataset.filters.is_some(),
            };
            indexed.build(space, chunked)?;
        }
        if let Some(info) = &mut placed.attributes
            && info.fractal_heap.is_some()
        {
            attributes::place(space, self, info)?;
        }
        Ok(placed)
    }

    /// The header, when what belongs to the object was placed there.
    pub fn header(&self, placed: &Placed, sizes: Sizes, cx: &Context) -> Result<HeaderBuilder> {
        let mut header = match cx.level {
            Compatibility::Earliest => HeaderBuilder::v1(self.links),
            _ => HeaderBuilder::v2(self.attribute_order),
        };
        match &self.body {
            Body::Group(group) => {
                if let Some(info) = &placed.links {
                    header.push(info, sizes)?;
                    header.push(&GroupInfo::default(), sizes)?;
                    if info.fractal_heap.is_none() {
                        for link in links::messages(group, cx)? {
                            header.push(&link, sizes)?;
                        }
                    }
                }
                if let Some(table) = &placed.symbol_table {
                    header.push(table, sizes)?;
                }
            }
            Body::Dataset(dataset) => dataset.messages(&mut header, placed, sizes, cx)?,
            Body::NamedType(datatype) => header.push_constant(datatype, sizes)?,
        }
        if let Some(seconds) = self.modified {
            header.push(&ModificationTime { seconds, reserved: Vec::new() }, sizes)?;
        }
        if let Some(text) = &self.comment {
            header.push(&Comment { text: text.clone().into_bytes() }, sizes)?;
        }
        if let Some(info) = &placed.attributes {
            header.push(info, sizes)?;
        }
        if placed.attributes.as_ref().is_none_or(|info| info.fractal_heap.is_none()) {
            for NumberedAttribute { order, message, .. } in &self.attributes {
                header.push_encoded(Attribute::KIND, 0, message.clone(), Some(*order))?;
            }
        }
        if cx.level != Compatibility::Earliest && self.links != 1 {
            header.push(&ReferenceCount { count: self.links }, sizes)?;
        }
        Ok(header)
    }
}

impl Group {
    /// Where the links are; dense storage has its addresses when it is placed.
    fn link_info(&self) -> LinkInfo {
        let dense = (self.links.len() > MAX_COMPACT).then_some(Addr(0));
        let next = self.links.iter().map(|link| link.order + 1).max().unwrap_or(0);
        LinkInfo {
            max_creation_index: self.order.map(|_| next),
            fractal_heap: dense,
            name_index: dense,
            creation_order_index: self.order.filter(|indexed| *indexed).map(|_| dense),
        }
    }
}

impl Dataset {
    fn layout(&self, level: Compatibility) -> Result<DataLayout> {
        let layout = match &self.storage {
            Storage::Compact(data) => Layout::Compact(data.clone()),
            Storage::Contiguous(address, size) => Layout::Contiguous { address: *address, size: Some(*size) },
            Storage::Chunked(chunked, _) => Layout::Chunked(chunked.clone().with_filters(self.filters.is_some())),
            Storage::Virtual(heap, index) => Layout::Virtual { heap: *heap, index: *index },
        };
        let newer = matches!(layout, Layout::Virtual { .. } | Layout::Chunked(_)) && level >= Compatibility::V110;
        let is_large = matches!(&layout, Layout::Chunked(chunked) if chunked.is_large());
        if is_large && level < Compatibility::V200 {
            return Err(Error::unsupported(format!("chunks of 4 GiB and more cannot be written for {level:?}")));
        }
        let version = match newer {
            true if is_large => 5,
            true => 4,
            false => 3,
        };
        if version == 3 && matches!(layout, Layout::Virtual { .. }) {
            return Err(Error::unsupported(format!("virtual datasets cannot be written for {level:?}")));
        }
        Ok(DataLayout { version, layout, old: None })
    }

    fn messages(&self, header: &mut HeaderBuilder, placed: &Placed, sizes: Sizes, cx: &Context) -> Result<()> {
        header.push(&self.dataspace, sizes)?;
        match self.committed {
            None => header.push_constant(&self.datatype, sizes)?,
            Some(id) => {
                let shared = shared(cx.addr(id)?, cx.level).encode(Addr(0), sizes, ())?;
                header.push_encoded(Datatype::KIND, SHARED | 1, shared, None)?;
            }
        }
        header.push_constant(&self.fill, sizes)?;
        // In this order: where libhdf5 copies an object it relies on knowing filters and external files before the layout.
        if let Some(filters) = &self.filters {
            header.push(filters, sizes)?;
        }
        if let Some(external) = &self.external {
            header.push(external, sizes)?;
        }
        if let Some(layout) = &placed.layout {
            header.push(layout, sizes)?;
        }
        Ok(())
    }
}
