//! Committed datatypes.

use super::attribute::object_methods;
use super::core::Node;
use crate::error::Result;
use crate::format::message::datatype::Datatype;
use crate::object::datatype::in_file;

/// A committed datatype: a datatype with a name of its own.
#[derive(Clone, Debug)]
pub struct NamedType {
    pub(super) node: Node,
}

object_methods!(NamedType);

impl NamedType {
    /// The datatype.
    pub fn datatype(&self) -> Result<Datatype> {
        self.node.run(|scope| Ok(in_file(self.node.header.expect(scope)?, scope.view.sizes())))
    }
}
