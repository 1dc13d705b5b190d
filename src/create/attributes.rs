//! Attributes of new objects: the same methods for groups, datasets and committed datatypes.

/// Adds the methods of everything that has attributes.
macro_rules! attribute_methods {
    ($object:ty) => {
        impl $object {
            /// Gives it the attribute `name`; one of this name is replaced.
            ///
            /// ```
            /// # fn main() -> hdfive::Result<()> {
            /// let file = hdfive::FileBuilder::new().create_in_memory()?;
            /// file.attr("title", "Weather")?;
            /// file.attr("corners", [[0.0, 1.0], [2.0, 3.0]])?;
            /// # Ok(()) }
            /// ```
            /// Errors are `Unsupported` for what the file's compatibility level cannot hold, such as more than 64 KiB at
            /// the earliest.
            pub fn attr<V: Values>(&self, name: &str, values: V) -> Result<()> {
                let dataspace = $crate::create::dataspace(values.shape(), None)?;
                self.put_attribute(name, self.shared.attribute(name, &dataspace, &values.elements())?)
            }

            /// Gives it an attribute of `T`s without any: h5py's `Empty`.
            pub fn attr_empty<T: H5Type>(&self, name: &str) -> Result<()> {
                let dataspace = $crate::create::null_dataspace();
                self.put_attribute(name, self.shared.attribute::<T>(name, &dataspace, &[])?)
            }

            fn put_attribute(&self, name: &str, message: $crate::format::message::attribute::Attribute) -> Result<()> {
                if name.is_empty() || name.contains('\0') {
                    return Err(Error::invalid(format!("{name:?} is no name of an attribute")));
                }
                self.shared.with(|draft| draft.put_attribute(self.id, message))
            }

            /// Gives it a comment.
            pub fn comment(&self, text: &str) -> Result<()> {
                self.shared.with(|draft| {
                    draft.object_mut(self.id).comment = Some(text.to_owned());
                    Ok(())
                })
            }
        }
    };
}
pub(super) use attribute_methods;
