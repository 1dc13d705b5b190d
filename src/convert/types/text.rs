//! Strings of every form.

use super::sequence::sequence;
use crate::convert::decoder::Decoder;
use crate::convert::encoder::Encoder;
use crate::convert::h5type::{H5Type, mismatch};
use crate::convert::notation::short;
use crate::convert::number::{Conversion, integer};
use crate::convert::string::trim;
use crate::error::{Error, Result};
use crate::format::message::datatype::{ByteOrder, Class, Datatype, Text};

fn utf8(text: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(text);
    text.map(str::to_owned).map_err(|e| Error::wrong_type(format!("a string is not UTF-8: {e}")))
}

/// The datatype of strings of so many bytes, in UTF-8, which are shorter where NULs end them.
pub fn fixed_text(bytes: u32) -> Datatype {
    let class = Class::String(Text { padding: 1, character_set: 1 });
    Datatype { version: 1, size: bytes, class, unused_bits: 0 }
}

/// A string of variable length in UTF-8. Elements have the bytes that they have where addresses have 8.
impl H5Type for String {
    fn type_descriptor() -> Datatype {
        let base = Box::new(integer(1, ByteOrder::LittleEndian, false));
        let text = Some(Text { padding: 0, character_set: 1 });
        Datatype { version: 1, size: 16, class: Class::VariableLength { text, base }, unused_bits: 0 }
    }

    fn decoder(stored: &Datatype, _: Conversion) -> Result<Decoder<Self>> {
        match stored.class {
            Class::String(text) => Decoder::new(stored, move |element, _| utf8(trim(element, text))),
            Class::VariableLength { text: Some(_), .. } => Decoder::new(stored, |element, heaps| {
                let text = heaps.sequence(element, 1)?.unwrap_or_default();
                utf8(trim(&text, Text { padding: 0, character_set: 1 }))
            }),
            _ => Err(mismatch::<String>(stored)),
        }
    }

    fn encoder(stored: &Datatype, _: Conversion) -> Result<Encoder<Self>> {
        let own = stored.clone();
        let fits = move |value: &str, text: Text, room: usize| {
            let what = if text.character_set == 0 && !value.is_ascii() {
                "is not ASCII, as they are"
            } else if value.len() > room {
                "is longer"
            } else if value.contains('\0') {
                "has a NUL in it"
            } else {
                return Ok(());
            };
            Err(Error::wrong_type(format!("elements are {}, and {value:?} {what}", short(&own))))
        };
        match stored.class {
            Class::String(text) => {
                // One that ends with NUL has to have room for it.
                let ends = usize::from(text.padding == 0);
                Encoder::new(stored, move |value: &Self, element, _| {
                    fits(value, text, element.len().saturating_sub(ends))?;
                    let (own, rest) = element.split_at_mut(value.len());
                    own.copy_from_slice(value.as_bytes());
                    rest.fill(if text.padding == 2 { b' ' } else { 0 });
                    Ok(())
                })
            }
            Class::VariableLength { text: Some(text), .. } => {
                Encoder::new(stored, move |value: &Self, element, heap| {
                    fits(value, text, usize::MAX)?;
                    sequence(value.len(), value.as_bytes(), element, heap)
                })
            }
            _ => Err(mismatch::<String>(stored)),
        }
    }
}
