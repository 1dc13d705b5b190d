//! Attributes.

use std::sync::Arc;

use bytes::Bytes;

use super::core::Node;
use super::stored::{self, Stored, reading_methods};
use crate::convert::{Conversion, H5Type, Value};
use crate::error::{Place, Result};
use crate::format::message::comment::Comment;
use crate::format::message::dataspace::{Dataspace, Kind};
use crate::format::message::datatype::Datatype;
use crate::format::message::modification_time::{ModificationTime, OldModificationTime};
use crate::object::Container;
use crate::object::attributes::{self, Found};
use crate::wire::Addr;

/// An attribute of an object. Its value was read with it; attributes are small.
#[derive(Clone)]
pub struct Attribute {
    node: Node,
    found: Arc<Found>,
}

/// `Attribute("units", string, [], "/time" in "weather.h5")`: name, type, shape and object.
impl std::fmt::Debug for Attribute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, datatype) = (self.name(), self.datatype());
        f.debug_tuple("Attribute")
            .field(&name)
            .field(&format_args!("{datatype}"))
            .field(&self.shape())
            .field(&self.node)
            .finish()
    }
}

impl Attribute {
    /// The name; bytes that are not UTF-8 are replaced.
    pub fn name(&self) -> String {
        String::from_utf8_lossy(&self.found.name).into_owned()
    }

    /// The name's bytes.
    pub fn name_bytes(&self) -> &[u8] {
        &self.found.name
    }

    /// Whether the name is marked as UTF-8.
    pub fn name_is_utf8(&self) -> bool {
        self.found.is_utf8
    }

    /// Creation order, if the object tracks it.
    pub fn creation_order(&self) -> Option<u32> {
        self.found.creation_order
    }

    /// The datatype of its elements.
    pub fn datatype(&self) -> &Datatype {
        &self.found.datatype
    }

    /// Header address of the committed datatype that it has, if it has one.
    pub fn committed_datatype(&self) -> Option<Addr> {
        self.found.committed
    }

    /// Elements per dimension; empty for a scalar and for a null dataspace.
    pub fn shape(&self) -> &[u64] {
        &self.found.dataspace.shape
    }

    /// Its dataspace.
    pub fn dataspace(&self) -> &Dataspace {
        &self.found.dataspace
    }

    /// Whether it has no elements at all by its dataspace (h5py's `Empty`).
    pub fn is_null(&self) -> bool {
        self.found.dataspace.kind == Kind::Null
    }

    /// Its elements as stored, row-major.
    pub fn bytes(&self) -> &Bytes {
        &self.found.data
    }

    /// Its elements as values of `T`, with numbers that are lost converted as `conversion` says.
    pub fn read_with<T: H5Type>(&self, conversion: Conversion) -> Result<Vec<T>> {
        stored::read(self, conversion).map_err(|e| self.at(e))
    }

    pub(crate) fn at(&self, error: crate::Error) -> crate::Error {
        self.node.at(error.at(Place::Attribute(self.name())))
    }
}

impl Stored for Attribute {
    fn datatype(&self) -> &Datatype {
        self.datatype()
    }

    fn dataspace(&self) -> &Dataspace {
        self.dataspace()
    }

    fn container(&self) -> &Container {
        &self.node.core.container
    }

    fn bytes_into(&self, into: &mut [u8]) -> Result<()> {
        match self.bytes().get(..into.len()) {
            Some(bytes) => into.copy_from_slice(bytes),
            None => {
                let what = format!("{} bytes are stored, the elements want {}", self.bytes().len(), into.len());
                return Err(crate::Error::corrupt(what));
            }
        }
        Ok(())
    }
}

reading_methods!(Attribute, "attribute", |_own| Conversion::Lossless);

/// What every object has: attributes, a comment, a time.
impl Node {
    pub(crate) fn attributes(&self) -> Result<Vec<Result<Attribute>>> {
        let found = self.run(|scope| attributes::list(scope, &self.header))?;
        let attribute =
            |f: Result<Arc<Found>>| f.map(|found| Attribute { node: self.clone(), found }).map_err(|e| self.at(e));
        Ok(found.into_iter().map(attribute).collect())
    }

    pub(crate) fn attribute(&self, name: &str) -> Result<Attribute> {
        let found = self.run(|scope| attributes::find(scope, &self.header, name.as_bytes()))?;
        match found {
            Some(found) => Ok(Attribute { node: self.clone(), found: Arc::new(found) }),
            None => Err(self.at(crate::Error::not_found(format!("there is no attribute {name:?}")))),
        }
    }

    pub(crate) fn comment(&self) -> Result<Option<String>> {
        let comment = self.run(|scope| self.header.message::<Comment>(scope))?;
        Ok(comment.map(|c| crate::convert::notation::text(&c.text)))
    }

    pub(crate) fn modified(&self) -> Result<Option<i64>> {
        if let Some(time) = self.run(|scope| self.header.message::<ModificationTime>(scope))? {
            return Ok(Some(time.seconds.into()));
        }
        if let Some(time) = self.run(|scope| self.header.message::<OldModificationTime>(scope))? {
            return Ok(time.seconds());
        }
        let crate::format::object_header::Prefix::V2 { times: Some(times), .. } = self.header.prefix else {
            return Ok(None);
        };
        Ok(Some(times[1].into()))
    }
}

/// The methods that every object has, on each of the handles.
macro_rules! object_methods {
    ($handle:ty) => {
        impl $handle {
            /// The path by which it was opened.
            pub fn path(&self) -> &str {
                &self.node.path
            }

            /// Address of its object header: the object's identity within its file.
            pub fn address(&self) -> $crate::wire::Addr {
                self.node.header.addr
            }

            /// Its attributes, sorted by name. One that cannot be understood is an error in its place.
            pub fn attributes(&self) -> $crate::Result<Vec<$crate::Result<$crate::handle::Attribute>>> {
                self.node.attributes()
            }

            /// The attribute called `name`. `NotFound` if there is none.
            pub fn attribute(&self, name: &str) -> $crate::Result<$crate::handle::Attribute> {
                self.node.attribute(name)
            }

            /// The comment on it, if there is one.
            pub fn comment(&self) -> $crate::Result<Option<String>> {
                self.node.comment()
            }

            /// When it was last modified, in seconds since 1970 in universal time, if the file says so.
            pub fn modified(&self) -> $crate::Result<Option<i64>> {
                self.node.modified()
            }

            /// Whether creation order of its attributes is tracked, and whether it is indexed.
            pub fn attribute_order(&self) -> (bool, bool) {
                self.node.header.attribute_order()
            }
        }
    };
}
pub(crate) use object_methods;
