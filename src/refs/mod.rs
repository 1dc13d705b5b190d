//! Where the chunks of a file lie, in other people's formats: Zarr's metadata with references to ranges of the file, as
//! kerchunk's JSON. Readers of Zarr read the file through them without any HDF5.
//!
//! ```
//! use hdfive::refs::{Options, References};
//!
//! # fn main() -> hdfive::Result<()> {
//! let file = hdfive::File::open("testdata/readme/weather.h5")?;
//! let options = Options { inline: 100, ..Options::default() };
//! let references = References::of(&file, "s3://bucket/weather.h5", &options)?;
//! assert!(references.blocked.is_empty());
//! let json = references.to_kerchunk();
//! assert!(json.contains(r#""surface/temperature/0.0.0":["s3://bucket/weather.h5","#));
//! # Ok(()) }
//! ```

mod array;
mod attributes;
mod codecs;
mod dtype;
mod references;

use std::collections::{BTreeMap, HashMap};

use serde_json::json;

use crate::error::{Error, Result};
use crate::handle::{File, Object};
use crate::inspect::{Tree, TreeObject};
use crate::wire::Addr;
use array::Exporter;
use references::key;
pub use references::{Blocked, Codecs, Options, Reference, References, Zarr};

impl References {
    /// The references to `file`, which readers find at `url`.
    ///
    /// Errors are those of the root group, and `Unsupported` for a file of several pieces; datasets that cannot be read or
    /// expressed are in [`blocked`](Self::blocked).
    pub fn of(file: &File, url: &str, options: &Options) -> Result<References> {
        let heaps = file.heaps();
        let loaded = &heaps.container().loaded;
        if loaded.source().stretch(0)? != (0..loaded.len()) {
            return Err(Error::unsupported("references to a file of several pieces"));
        }
        let (keys, blocked) = (BTreeMap::new(), Vec::new());
        let mut references = References { url: url.to_owned(), keys, blocked, notes: Vec::new() };
        let tree = Tree::walk(file)?;
        let path = |found: &TreeObject| String::from_utf8_lossy(&found.path).trim_matches('/').to_owned();
        let paths: HashMap<Addr, String> = tree
            .objects
            .iter()
            .filter_map(|found| Some((found.object.as_ref().ok()?.address(), path(found))))
            .collect();
        for found in &tree.objects {
            let path = path(found);
            let done = match &found.object {
                Ok(Object::Group(group)) => {
                    references.group(&path, &group.attributes(), options);
                    Ok(())
                }
                Ok(Object::Dataset(dataset)) => {
                    let mut exporter = Exporter { file, options, paths: &paths, path: &path, out: &mut references };
                    exporter.dataset(dataset)
                }
                Ok(Object::NamedType(_)) => Ok(()),
                Err(error) => Err(format!("{error:#}")),
            };
            if let Err(why) = done {
                let below = format!("{path}/");
                references.keys.retain(|key, _| !key.starts_with(&below));
                references.blocked.push(Blocked { path: format!("/{path}"), why });
            }
        }
        Ok(references)
    }

    fn group(&mut self, path: &str, attributes: &Result<Vec<Result<crate::Attribute>>>, options: &Options) {
        let attributes = attributes::of(attributes, path, self);
        match options.zarr {
            Zarr::V2 => {
                self.keys.insert(key(path, ".zgroup"), Reference::Document(json!({"zarr_format": 2})));
                self.keys.insert(key(path, ".zattrs"), Reference::Document(attributes.into()));
            }
            Zarr::V3 => {
                let document = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
                self.keys.insert(key(path, "zarr.json"), Reference::Document(document));
            }
        }
    }
}
