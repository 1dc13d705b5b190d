//! From what was staged to what is in the file: structures are encoded, placed, and written in an order in which a file
//! is never half there.
//!
//! Builders make a structure and all that belongs to it in one go: B-trees from sorted records, heaps from objects, chunk
//! indexes from manifests. They see no more of a file than [`Place`](crate::wire::place::Place).

mod assembly;
mod attributes;
mod btree_v1;
mod btree_v2;
mod chunk_index;
mod compatibility;
mod draft;
mod fractal_heap;
mod global_heap;
mod header;
mod links;
mod local_heap;
mod object;
mod space;
mod symbol_table;

pub(crate) use attributes::message as attribute;
pub(crate) use chunk_index::chosen as chunk_index;
pub use compatibility::Compatibility;
pub use draft::Draft;
pub(crate) use header::MAX_MESSAGE;
pub(crate) use local_heap::place_texts as local_heap;
pub(crate) use object::shared;
pub use object::{Body, Dataset, Group, Link, NumberedAttribute, Object, ObjectId, Storage, Target};
pub use space::FileSpaceStrategy;
pub(crate) use space::Space;
