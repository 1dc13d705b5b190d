//! The filter pipeline message: which filters a chunk went through, in writing order. Specification IV.A.2.l.

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// The filters of a dataset, in the order in which writing applies them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterPipeline {
    /// 1, or 2 (no names for registered filters, no padding).
    pub version: u8,
    /// Nonzero reserved bytes of version 1.
    pub reserved: Vec<u8>,
    /// The filters.
    pub filters: Vec<FilterDescription>,
}

/// One filter of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterDescription {
    /// The registered id.
    pub id: u16,
    /// The name's bytes as stored, with NUL and padding; may be empty.
    pub stored_name: Vec<u8>,
    /// Bit 0: writing may skip the filter where it fails.
    pub flags: u16,
    /// Parameters.
    pub client_data: Vec<u32>,
    /// Nonzero padding of version 1.
    pub padding: Vec<u8>,
}

impl FilterDescription {
    /// The name the writer gave the filter; may be empty.
    pub fn name(&self) -> String {
        let end = self.stored_name.iter().position(|&b| b == 0).unwrap_or(self.stored_name.len());
        String::from_utf8_lossy(&self.stored_name[..end]).into_owned()
    }
}

impl Structure for FilterPipeline {
    const NAME: &'static str = "filter pipeline message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        let version = w.version(|p| p.version, 1..=2)?;
        let count = w.count("number of filters", 1, |p| p.filters.len())?;
        let reserved = if version == 1 { w.reserved(6, |p| &p.reserved)? } else { Vec::new() };
        let filters = w.each(count, |p| &p.filters, version)?;
        Ok(FilterPipeline { version, reserved, filters })
    }
}

impl Structure for FilterDescription {
    const NAME: &'static str = "filter description";
    type Context = u8; // the message's version

    fn walk(w: &mut Walk<'_, '_, Self>, version: u8) -> Result<Self> {
        let id = w.u16("filter identification value", |f| f.id)?;
        let named = version == 1 || id >= 256;
        let name_size = if named { w.count("name length", 2, |f| f.stored_name.len())? } else { 0 };
        let flags = w.u16("flags", |f| f.flags)?;
        let values = w.count("number client data values", 2, |f| f.client_data.len())?;
        let stored_name = w.bytes("name", name_size, |f| &f.stored_name)?;
        let mut client_data = Vec::new();
        for i in 0..values {
            client_data.push(w.u32("client data", |f| f.client_data[i])?);
        }
        let padded = version == 1 && values % 2 == 1;
        let padding = if padded { w.slack("padding", 4, |f| &f.padding)? } else { Vec::new() };
        Ok(FilterDescription { id, stored_name, flags, client_data, padding })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::filter_pipeline;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Any valid pipeline of either version.
    pub fn filter_pipeline() -> BoxedStrategy<FilterPipeline> {
        (1u8..=2)
            .prop_flat_map(|version| {
                vec(filter(version), 0..5).prop_map(move |filters| FilterPipeline {
                    version,
                    reserved: Vec::new(),
                    filters,
                })
            })
            .boxed()
    }

    fn filter(version: u8) -> BoxedStrategy<FilterDescription> {
        let id = prop_oneof![0u16..256, 256u16..40_000];
        (id, vec(any::<u8>(), 0..20), any::<u16>(), vec(any::<u32>(), 0..9))
            .prop_map(move |(id, name, flags, client_data)| {
                let stored_name = if version == 1 || id >= 256 { name } else { Vec::new() };
                FilterDescription { id, stored_name, flags, client_data, padding: Vec::new() }
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<FilterPipeline>(|_| filter_pipeline().prop_map(|p| (p, ())).boxed());
    }
}
