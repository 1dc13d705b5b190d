//! Which versions of the structures are written: the lowest that can hold an object, up to what a file may have.

use crate::convert::types::whole_member;
use crate::error::{Error, Result};
use crate::filter::Known;
use crate::format::message::dataspace::{Dataspace, Kind};
use crate::format::message::datatype::{Class, Datatype, Member, OldArray, OldDimensions, ReferenceKind};
use crate::format::message::fill_value::{Fill, FillValue};
use crate::format::message::filter_pipeline::{FilterDescription, FilterPipeline};

/// The oldest libhdf5 that reads what is written.
///
/// An object that a level cannot hold is an error when it is created, never something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compatibility {
    /// All of them: superblock 0, groups with symbol tables, chunks in version 1 B-trees. No external links, no attributes
    /// of more than 64 KiB, no creation order.
    Earliest,
    /// 1.8: groups and attributes in dense storage, creation order, external links.
    #[default]
    V18,
    /// 1.10: the newer chunk indexes, virtual datasets.
    V110,
    /// 1.12 and 1.14: revised references.
    V114,
    /// 2.0: complex numbers, chunks of 4 GiB and more.
    V200,
}

impl Compatibility {
    /// What is written as version 2 where this level allows it, as version 1 otherwise.
    fn second(self) -> u8 {
        if self >= Compatibility::V18 { 2 } else { 1 }
    }

    /// `datatype` in the version that this level writes.
    ///
    /// Errors are `Unsupported`, for what it cannot hold.
    pub fn datatype(self, datatype: &Datatype) -> Result<Datatype> {
        let wanted = least_version(datatype);
        let (version, most) = match self {
            Compatibility::Earliest => (1, 2),
            Compatibility::V18 | Compatibility::V110 => (3, 3),
            Compatibility::V114 => (3, 4),
            Compatibility::V200 => (3, 5),
        };
        if wanted > most {
            let what = crate::convert::notation::short(datatype);
            return Err(Error::unsupported(format!("{what} cannot be written for {self:?}")));
        }
        Ok(with_version(datatype, version.max(wanted)))
    }

    /// `dataspace` in the version that this level writes.
    pub fn dataspace(self, dataspace: &Dataspace) -> Result<Dataspace> {
        let version = self.second();
        if version == 1 && dataspace.kind == Kind::Null {
            // libhdf5 writes version 2 for these at every level, and always has.
            return Ok(Dataspace { version: 2, old: None, ..dataspace.clone() });
        }
        Ok(Dataspace { version, old: None, ..dataspace.clone() })
    }

    /// The fill value message of a new dataset; 3 as libhdf5 1.8 has it.
    pub fn fill_value(self, value: Fill, allocation_time: u8, write_time: u8) -> FillValue {
        let version = self.second() + 1;
        FillValue { version, allocation_time, write_time, value, unused_bits: 0, stated: None }
    }

    /// `filters` in the version that this level writes.
    pub fn filter_pipeline(self, filters: &[FilterDescription]) -> FilterPipeline {
        let version = self.second();
        let filter = |f: &FilterDescription| {
            // Filters below 256 have no name in version 2. Elsewhere one has to be there: where libhdf5 copies a message it
            // adds the name that it knows, and has no room for it.
            let mut stored_name = match f.name() {
                _ if version == 2 && f.id < 256 => Vec::new(),
                name if name.is_empty() => Known::find(f.id).map_or(Vec::new(), |known| known.name.as_bytes().to_vec()),
                name => name.into_bytes(),
            };
            if !stored_name.is_empty() {
                stored_name.push(0);
                stored_name.resize(stored_name.len().next_multiple_of(if version == 1 { 8 } else { 1 }), 0);
            }
            FilterDescription { stored_name, padding: Vec::new(), ..f.clone() }
        };
        FilterPipeline { version, reserved: Vec::new(), filters: filters.iter().map(filter).collect() }
    }
}

/// The lowest version that can hold a datatype.
fn least_version(datatype: &Datatype) -> u8 {
    match &datatype.class {
        Class::Complex { .. } => 5,
        Class::Reference {
            kind: ReferenceKind::Object2 | ReferenceKind::Region2 | ReferenceKind::Attribute, ..
        } => 4,
        Class::FloatingPoint(float) if float.bits.order == crate::format::message::datatype::ByteOrder::Vax => 3,
        Class::Array { base, .. } => least_version(base).max(2),
        Class::VariableLength { base, .. } => least_version(base),
        Class::Enumeration(enumeration) => least_version(&enumeration.base),
        Class::Compound(members) => members.iter().map(|m| least_version(&whole_member(m))).max().unwrap_or(1),
        _ => 1,
    }
}

/// A datatype, and all that it is made of, in this version.
fn with_version(datatype: &Datatype, version: u8) -> Datatype {
    let inner = |base: &Datatype| Box::new(with_version(base, version));
    let class = match &datatype.class {
        Class::Compound(members) => Class::Compound(members.iter().map(|m| member(m, version)).collect()),
        Class::Enumeration(e) => {
            let mut e = e.clone();
            (e.base, e.name_padding) = (inner(&e.base), Vec::new());
            Class::Enumeration(e)
        }
        Class::VariableLength { text, base } => Class::VariableLength { text: *text, base: inner(base) },
        Class::Array { shape, base, .. } => {
            let permutation = || (0..).take(shape.len()).collect();
            let old = (version < 3).then(|| Box::new(OldArray { permutation: permutation(), reserved: Vec::new() }));
            Class::Array { shape: shape.clone(), old, base: inner(base) }
        }
        Class::Complex { form, base } => Class::Complex { form: *form, base: inner(base) },
        other => other.clone(),
    };
    Datatype { version, class, ..*datatype }
}

fn member(stored: &Member, version: u8) -> Member {
    let none = OldDimensions { rank: 0, permutation: 0, shape: [0; 4], reserved: [Vec::new(), Vec::new()] };
    Member {
        name: stored.name.clone(),
        name_padding: Vec::new(),
        byte_offset: stored.byte_offset,
        dimensions: (version == 1).then(|| Box::new(none)),
        datatype: with_version(&whole_member(stored), version),
    }
}
