//! `#[derive(H5Type)]`, which `hdfive` hands out as `hdfive::H5Type`; its documentation is there.

mod attributes;
mod variants;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Result, parse_macro_input, parse_quote};

/// Reads a struct from compounds by the names of its fields and writes it as one, or an enum from enumerations by the names of its variants.
///
/// A compound may have more members than the struct has fields, in any order and of any types that the fields'
/// types can be read from. The type must be `Clone` too. `#[h5(rename = "name")]` before a field or a variant says what it is called in the file.
///
/// ```ignore
/// #[derive(Clone, hdfive::H5Type)]
/// struct Station {
///     id: u32,
///     #[h5(rename = "Station name")]
///     name: String,
///     position: [f64; 3],
/// }
/// ```
#[proc_macro_derive(H5Type, attributes(h5))]
pub fn derive_h5type(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    match &input.data {
        Data::Struct(data) => of_struct(input, &data.fields),
        Data::Enum(data) => variants::of_enum(input, data),
        Data::Union(_) => Err(Error::new_spanned(input, "a union has no field that one could know to be there")),
    }
}

fn of_struct(input: &DeriveInput, fields: &Fields) -> Result<TokenStream> {
    if fields.is_empty() {
        return Err(Error::new_spanned(input, "a compound has at least one member"));
    }
    let mut generics = input.generics.clone();
    for parameter in input.generics.type_params() {
        let name = &parameter.ident;
        generics.make_where_clause().predicates.push(parse_quote!(#name: ::hdfive::H5Type));
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let (own, mut names, mut members, mut locals, mut types) = (&input.ident, vec![], vec![], vec![], vec![]);
    for (number, field) in fields.iter().enumerate() {
        let member = match &field.ident {
            Some(name) => syn::Member::Named(name.clone()),
            None => syn::Member::from(number),
        };
        let usual = match &field.ident {
            Some(name) => name.to_string().trim_start_matches("r#").to_owned(),
            None => number.to_string(),
        };
        names.push(attributes::rename(&field.attrs)?.unwrap_or(usual));
        members.push(member);
        locals.push(format_ident!("field_{number}"));
        types.push(&field.ty);
    }
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::hdfive::H5Type for #own #type_generics #where_clause {
            fn type_descriptor() -> ::hdfive::format::message::datatype::Datatype {
                ::hdfive::convert::types::compound(&[
                    #((#names, <#types as ::hdfive::H5Type>::type_descriptor())),*
                ])
            }

            fn decoder(
                stored: &::hdfive::format::message::datatype::Datatype,
                conversion: ::hdfive::Conversion,
            ) -> ::hdfive::Result<::hdfive::convert::Decoder<Self>> {
                let fields = ::hdfive::convert::types::Fields::of::<Self>(stored, conversion)?;
                #(let #locals = fields.field::<#types>(#names)?;)*
                ::hdfive::convert::Decoder::new(stored, move |element, heaps| {
                    ::std::result::Result::Ok(#own { #(#members: #locals.decode(element, heaps)?),* })
                })
            }

            fn encoder(
                stored: &::hdfive::format::message::datatype::Datatype,
                conversion: ::hdfive::Conversion,
            ) -> ::hdfive::Result<::hdfive::convert::Encoder<Self>> {
                let mut fields = ::hdfive::convert::types::FieldsToStore::of::<Self>(stored, conversion)?;
                #(let #locals = fields.field::<#types>(#names)?;)*
                fields.finish()?;
                ::hdfive::convert::Encoder::new(stored, move |value: &Self, element, heap| {
                    #(#locals.encode(&value.#members, element, heap)?;)*
                    ::std::result::Result::Ok(())
                })
            }
        }
    })
}
