//! Committed datatypes.

use super::attribute::object_methods;
use super::core::Node;
use crate::error::Result;
use crate::format::message::datatype::Datatype;
use crate::object::datatype::in_file;

/// A committed datatype: a datatype with a name of its own.
#[derive(Clone)]
pub struct NamedType {
    pub(super) node: Node,
}

/// `NamedType("/station" in "weather.h5")`.
impl std::fmt::Debug for NamedType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NamedType").field(&self.node).finish()
    }
}

object_methods!(NamedType);

impl NamedType {
    /// The datatype.
    pub fn datatype(&self) -> Result<Datatype> {
        self.node.run(|scope| Ok(in_file(self.node.header.expect(scope)?, scope.view.sizes())))
    }
}
