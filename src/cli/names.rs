//! What references lead to, by path rather than by address.

use std::cell::OnceCell;

use hdfive::File;
use hdfive::convert::Value;
use hdfive::format::message::datatype::{Class, Datatype};
use hdfive::inspect::Tree;

/// The tree of a file, which is walked when the first reference is to be shown.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    file: &'a File,
    tree: OnceCell<Option<Tree>>,
}

impl<'a> Names<'a> {
    pub(crate) fn of(file: &'a File) -> Self {
        Names { file, tree: OnceCell::new() }
    }

    /// The tree, for elements of a datatype that has references; `None` for others, and where no tree can be had.
    pub(crate) fn tree(&self, datatype: &Datatype) -> Option<&Tree> {
        if !refers(datatype) {
            return None;
        }
        self.tree.get_or_init(|| Tree::walk(self.file).ok()).as_ref()
    }

    /// The same value, in which references are named.
    pub(crate) fn name(&self, mut value: Value, datatype: &Datatype) -> Value {
        if let Some(tree) = self.tree(datatype) {
            tree.name_references(&mut value);
        }
        value
    }
}

fn refers(datatype: &Datatype) -> bool {
    match &datatype.class {
        Class::Reference { .. } => true,
        Class::VariableLength { base, .. } | Class::Array { base, .. } => refers(base),
        Class::Compound(members) => members.iter().any(|member| refers(&member.datatype)),
        _ => false,
    }
}
