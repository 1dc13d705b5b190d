//! Enums: the values of an enumeration, found by their names.

use std::collections::HashMap;

use crate::convert::decoder::Decoder;
use crate::convert::encoder::Encoder;
use crate::convert::h5type::{H5Type, mismatch};
use crate::convert::notation::{short, text};
use crate::convert::number::{Conversion, Layout, convert};
use crate::error::{Error, Result};
use crate::format::message::datatype::{Class, Datatype, Enumeration};

/// The variants of a Rust enum with their names, as `#[derive(H5Type)]` lists them.
#[derive(Debug)]
pub struct Variants<'a, T>(pub &'a [(&'a str, T)]);

impl<T: H5Type> Variants<'_, T> {
    /// The datatype of the enum, whose values are `R`s.
    pub fn type_descriptor<R: H5Type>(&self, values: &[i128]) -> Datatype {
        let base = R::type_descriptor();
        let size = usize::try_from(base.size).unwrap_or(0);
        let wide = crate::convert::number::integer(16, crate::convert::number::NATIVE, true);
        let mut stored = vec![0; values.len() * size];
        if let (Some(from), Some(to)) = (Layout::of(&wide), Layout::of(&base)) {
            let values: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
            convert(&values, &from, &mut stored, &to, Conversion::Wrapping)
                .expect("because only a conversion without loss can find one");
        }
        let names = self.0.iter().map(|(name, _)| name.as_bytes().to_vec()).collect();
        let size = base.size;
        let names = Enumeration { base: Box::new(base), names, name_padding: Vec::new(), values: stored };
        Datatype { version: 1, size, class: Class::Enumeration(Box::new(names)), unused_bits: 0 }
    }

    /// The way to a stored enumeration, from the variants by their names. `number` is a variant's number among them.
    pub fn encoder(&self, stored: &Datatype, number: fn(&T) -> usize) -> Result<Encoder<T>> {
        let Class::Enumeration(names) = &stored.class else { return Err(mismatch::<T>(stored)) };
        let value = |(name, _): &(&str, T)| {
            names.iter().find(|(own, _)| *own == name.as_bytes()).map(|(_, value)| value.to_vec())
        };
        let values: Vec<Option<Vec<u8>>> = self.0.iter().map(value).collect();
        let (own, all) = (stored.clone(), self.0.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
        Encoder::new(stored, move |variant, element, _| {
            let number = number(variant);
            let value = values.get(number).and_then(Option::as_ref).ok_or_else(|| {
                let name = all.get(number).map_or("", String::as_str);
                Error::wrong_type(format!("elements are {}, and {name} is none of them", short(&own)))
            });
            element.copy_from_slice(value?);
            Ok(())
        })
    }

    /// The way from a stored enumeration to the variants of the same names.
    pub fn decoder(&self, stored: &Datatype) -> Result<Decoder<T>> {
        let Class::Enumeration(names) = &stored.class else { return Err(mismatch::<T>(stored)) };
        let mut variants: HashMap<Vec<u8>, T> = HashMap::new();
        for (name, variant) in self.0 {
            if let Some((_, value)) = names.iter().find(|(own, _)| *own == name.as_bytes()) {
                variants.insert(value.to_vec(), variant.clone());
            }
        }
        if variants.is_empty() {
            return Err(mismatch::<T>(stored));
        }
        let (own, names) = (stored.clone(), names.clone());
        Decoder::new(stored, move |element, _| {
            variants.get(element).cloned().ok_or_else(|| {
                let name = names.iter().find(|(_, value)| *value == element).map(|(name, _)| text(name));
                let value = Layout::of(&own).map(|layout| crate::convert::number::text(element, &layout));
                let value = name.or(value).unwrap_or_default();
                Error::wrong_type(format!("elements are {}, and {value} is none of the enum", short(&own)))
            })
        })
    }
}
