//! What faces print: the tree of a file, datatypes in one notation, digests that do not depend on storage.

pub mod canonical;
pub mod check;
pub mod explain;
pub mod map;
pub mod tree;
mod value;

pub use crate::convert::notation;
pub use canonical::{Canonical, Digest};
pub use check::{Report, check};
pub use explain::{Explained, explain};
pub use map::{Map, Region, Surveyor};
pub use tree::{Tree, TreeObject};

use crate::error::Result;
use crate::handle::{Attribute, File};

impl File {
    /// An attribute's value as short text: `"K"`, `[1, 2, 3]`, `empty`; long lists lose their middle.
    pub fn show(&self, attribute: &Attribute) -> Result<String> {
        let is_list = !attribute.shape().is_empty();
        value::elements(attribute.read_raw(), attribute.datatype(), is_list, self.container())
    }
}
