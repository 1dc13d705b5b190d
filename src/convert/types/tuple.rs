//! Tuples: the members of a compound in their order.

use super::compound::{Fields, FieldsToStore, compound};
use crate::convert::decoder::Decoder;
use crate::convert::encoder::Encoder;
use crate::convert::h5type::H5Type;
use crate::convert::number::Conversion;
use crate::error::Result;
use crate::format::message::datatype::Datatype;

/// A tuple is stored as a compound of members `0`, `1` and so on. It reads compounds of as many members, whatever these
/// are called.
macro_rules! tuple {
    ($($name:literal $field:ident: $type:ident),+) => {
        impl<$($type: H5Type),+> H5Type for ($($type,)+) {
            fn type_descriptor() -> Datatype {
                compound(&[$(($name, $type::type_descriptor())),+])
            }

            fn decoder(stored: &Datatype, conversion: Conversion) -> Result<Decoder<Self>> {
                let fields = Fields::of::<Self>(stored, conversion)?;
                let mut members = fields.in_order::<Self>(&[$($name),+])?.into_iter();
                $(let $field = fields.next::<$type>(&mut members)?;)+
                Decoder::new(stored, move |element, heaps| Ok(($($field.decode(element, heaps)?,)+)))
            }

            fn encoder(stored: &Datatype, conversion: Conversion) -> Result<Encoder<Self>> {
                let fields = FieldsToStore::of::<Self>(stored, conversion)?;
                let mut members = fields.in_order::<Self>(&[$($name),+])?.into_iter();
                $(let $field = fields.next::<$type>(&mut members)?;)+
                let ways = ($($field,)+);
                Encoder::new(stored, move |value: &Self, element, heap| {
                    #[expect(non_snake_case, reason = "a way is named after the type that it is for")]
                    let (($($field,)+), ($($type,)+)) = (value, &ways);
                    $($type.encode($field, element, heap)?;)+
                    Ok(())
                })
            }
        }
    };
}

tuple!("0" a: A);
tuple!("0" a: A, "1" b: B);
tuple!("0" a: A, "1" b: B, "2" c: C);
tuple!("0" a: A, "1" b: B, "2" c: C, "3" d: D);
tuple!("0" a: A, "1" b: B, "2" c: C, "3" d: D, "4" e: E);
tuple!("0" a: A, "1" b: B, "2" c: C, "3" d: D, "4" e: E, "5" f: F);
tuple!("0" a: A, "1" b: B, "2" c: C, "3" d: D, "4" e: E, "5" f: F, "6" g: G);
tuple!("0" a: A, "1" b: B, "2" c: C, "3" d: D, "4" e: E, "5" f: F, "6" g: G, "7" h: H);
