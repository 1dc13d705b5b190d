//! Enums.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Fields, Ident, Result};

use crate::attributes;

/// The integer types that an enum can be represented as.
const INTEGERS: [&str; 8] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];

pub(crate) fn of_enum(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let base = representation(input)?;
    let own = &input.ident;
    let (mut names, mut variants) = (vec![], vec![]);
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(variant, "a variant with fields is no value of an enumeration"));
        }
        names.push(attributes::rename(&variant.attrs)?.unwrap_or_else(|| variant.ident.to_string()));
        variants.push(&variant.ident);
    }
    let numbers = 0..variants.len();
    Ok(quote! {
        #[automatically_derived]
        impl ::hdfive::H5Type for #own {
            fn type_descriptor() -> ::hdfive::format::message::datatype::Datatype {
                let variants = [#((#names, #own::#variants)),*];
                let values = [#(#own::#variants as #base as i128),*];
                ::hdfive::convert::types::Variants(&variants).type_descriptor::<#base>(&values)
            }

            fn decoder(
                stored: &::hdfive::format::message::datatype::Datatype,
                _: ::hdfive::Conversion,
            ) -> ::hdfive::Result<::hdfive::convert::Decoder<Self>> {
                ::hdfive::convert::types::Variants(&[#((#names, #own::#variants)),*]).decoder(stored)
            }

            fn encoder(
                stored: &::hdfive::format::message::datatype::Datatype,
                _: ::hdfive::Conversion,
            ) -> ::hdfive::Result<::hdfive::convert::Encoder<Self>> {
                let variants = [#((#names, #own::#variants)),*];
                ::hdfive::convert::types::Variants(&variants).encoder(stored, |variant| match variant {
                    #(#own::#variants => #numbers,)*
                })
            }
        }
    })
}

/// The integer type of `#[repr(..)]`, which says what is stored.
fn representation(input: &DeriveInput) -> Result<Ident> {
    let mut found = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            if let Some(name) = meta.path.get_ident().filter(|name| INTEGERS.iter().any(|integer| name == integer)) {
                found = Some(name.clone());
            }
            Ok(())
        })?;
    }
    let what = "an enum needs the type of its values, such as #[repr(u8)]";
    found.ok_or_else(|| Error::new_spanned(&input.ident, what))
}
