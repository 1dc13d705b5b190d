//! What faces print: the tree of a file, datatypes in one notation, digests that do not depend on storage.

pub mod canonical;
pub mod check;
mod covered;
pub mod diff;
pub mod explain;
pub mod map;
pub mod policy;
pub mod tree;

pub use crate::convert::notation;
pub use canonical::{Canonical, Digest};
pub use check::{Report, check};
pub use diff::{Comparison, Difference, diff};
pub use explain::{Explained, explain};
pub use map::{Map, Region, Surveyor};
pub use policy::{Policy, policy};
pub use tree::{Tree, TreeObject};

use crate::convert::Value;
use crate::error::{Error, Result};
use crate::handle::{Attribute, File};

impl File {
    /// An attribute's value as short text: `"K"`, `[1, 2, 3]`, `empty`; long lists lose their middle. References are shown
    /// as addresses; [`Tree::show`] knows paths.
    pub fn show(&self, attribute: &Attribute) -> Result<String> {
        self.show_by(attribute, &|_| {})
    }

    /// As [`show`](Self::show), with every element that is shown changed by `change`.
    fn show_by(&self, attribute: &Attribute, change: &dyn Fn(&mut Value)) -> Result<String> {
        let (datatype, heaps) = (attribute.datatype(), self.heaps());
        let size = usize::try_from(datatype.size).unwrap_or(usize::MAX).max(1);
        let all: Vec<&[u8]> = attribute.bytes().chunks_exact(size).collect();
        let show = |element: &&[u8]| {
            let mut value = Value::element(element, datatype, &heaps)?;
            change(&mut value);
            Ok(value.to_string())
        };
        if attribute.shape().is_empty() {
            return all.first().map_or_else(|| Ok(Value::Empty.to_string()), show);
        }
        let list = |part: &[&[u8]]| Ok::<_, Error>(part.iter().map(show).collect::<Result<Vec<_>>>()?.join(", "));
        // Only what is shown is decoded: each element may stand for much.
        match all.len().checked_sub(2 * ENDS) {
            None | Some(0) => Ok(format!("[{}]", list(&all)?)),
            Some(_) => Ok(format!("[{}, ..., {}]", list(&all[..ENDS])?, list(&all[all.len() - ENDS..])?)),
        }
    }
}

/// Elements that are shown at either end before the middle is left out.
const ENDS: usize = 4;
