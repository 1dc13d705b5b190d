//! What `#[h5(..)]` says.

use syn::{Attribute, LitStr, Result};

/// The name in `#[h5(rename = "name")]`, if there is one.
pub(crate) fn rename(attributes: &[Attribute]) -> Result<Option<String>> {
    let mut name = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("h5")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("rename") {
                return Err(meta.error("only `rename` is known here"));
            }
            name = Some(meta.value()?.parse::<LitStr>()?.value());
            Ok(())
        })?;
    }
    Ok(name)
}
