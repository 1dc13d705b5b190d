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
                self.attr_as(name, values, &V::Element::type_descriptor())
            }

            /// Gives it the attribute `name` with another datatype than its values have: texts of fixed size, numbers of
            /// another byte order. Numbers that this cannot hold exactly are an error.
            pub fn attr_as<V: Values>(
                &self,
                name: &str,
                values: V,
                datatype: &$crate::format::message::datatype::Datatype,
            ) -> Result<()> {
                let dataspace = $crate::create::dataspace(values.shape(), None)?;
                self.put_attribute(name, self.shared.attribute(name, &dataspace, &values.elements(), datatype)?)
            }

            /// Gives it an attribute of `T`s without any: h5py's `Empty`.
            pub fn attr_empty<T: H5Type>(&self, name: &str) -> Result<()> {
                let dataspace = $crate::create::null_dataspace();
                self.put_attribute(name, self.shared.attribute::<T>(name, &dataspace, &[], &T::type_descriptor())?)
            }

            fn put_attribute(&self, name: &str, message: bytes::Bytes) -> Result<()> {
                if name.is_empty() || name.contains('\0') {
                    return Err(Error::invalid(format!("{name:?} is no name of an attribute")));
                }
                let own_name = bytes::Bytes::copy_from_slice(name.as_bytes());
                self.shared.with(|draft| draft.put_attribute(self.id, own_name, message))
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
