//! Datatypes of elements, as these lie in the file.

use crate::format::message::datatype::{Class, Datatype, Member, ReferenceKind};
use crate::wire::Sizes;

/// Bytes of a revised reference besides an address.
const REFERENCE: u32 = 10;

/// A datatype with the sizes that elements have in the file. Where a sequence is of revised references, libhdf5 states the
/// size that these have in memory.
pub fn in_file(mut datatype: Datatype, sizes: Sizes) -> Datatype {
    let inner = |base: Box<Datatype>| Box::new(in_file(*base, sizes));
    datatype.class = match datatype.class {
        Class::VariableLength { text, base } => {
            let mut base = inner(base);
            if let Class::Reference { kind, .. } = base.class
                && !matches!(kind, ReferenceKind::Object1 | ReferenceKind::Region1)
            {
                base.size = REFERENCE + u32::from(sizes.offsets);
            }
            Class::VariableLength { text, base }
        }
        Class::Array { shape, old, base } => Class::Array { shape, old, base: inner(base) },
        Class::Compound(members) => {
            let settle = |member: Member| Member { datatype: in_file(member.datatype, sizes), ..member };
            Class::Compound(members.into_iter().map(settle).collect())
        }
        other => other,
    };
    datatype
}
