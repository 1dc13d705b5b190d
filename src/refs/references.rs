//! References, and how they are made and written.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde_json::{Value as Json, json};

/// Which version of Zarr the metadata are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zarr {
    /// Version 2, which all readers of references know, xarray's way of netCDF among them.
    #[default]
    V2,
    /// Version 3.
    V3,
}

/// Which codecs the readers have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codecs {
    /// Those of numcodecs: zlib, shuffle, fletcher32, bz2, zstd, blosc.
    #[default]
    Strict,
    /// Those of imagecodecs too: szip, LZF, LZ4, bitshuffle. Only for version 2.
    Imagecodecs,
}

/// How references are made.
#[derive(Clone, Debug)]
pub struct Options {
    /// The version of the metadata.
    pub zarr: Zarr,
    /// The codecs that may be asked for.
    pub codecs: Codecs,
    /// Chunks of less than this many stored bytes stand in the references themselves.
    pub inline: u64,
    /// Texts of variable length stand in the references themselves, up to this many bytes a dataset.
    pub texts: u64,
    /// Elements that are not stored have the dataset's fill value, also where readers take that for a missing value.
    pub exact_fill: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { zarr: Zarr::V2, codecs: Codecs::Strict, inline: 500, texts: 1 << 20, exact_fill: false }
    }
}

/// What stands for a key of a Zarr store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// Metadata.
    Document(Json),
    /// These bytes.
    Inline(Bytes),
    /// Bytes of the file.
    Range {
        /// Position of the first, from the beginning of the file.
        offset: u64,
        /// How many.
        size: u64,
    },
}

/// Something that cannot be expressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The path of the dataset, or of the object whose attribute it is.
    pub path: String,
    /// Why.
    pub why: String,
}

/// `PATH: why`.
impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.why)
    }
}

/// A file as a Zarr store.
#[derive(Clone, Debug)]
pub struct References {
    /// Where readers find the file.
    pub url: String,
    /// What the keys of the store stand for.
    pub keys: BTreeMap<String, Reference>,
    /// What is not in the store, and why.
    pub blocked: Vec<Blocked>,
    /// What readers should know.
    pub notes: Vec<Blocked>,
}

impl References {
    /// As kerchunk's JSON, version 1.
    pub fn to_kerchunk(&self) -> String {
        let mut out = String::from("{\"version\":1,\"refs\":{");
        for (place, (key, reference)) in self.keys.iter().enumerate() {
            let value = match reference {
                Reference::Document(document) => Json::String(document.to_string()),
                Reference::Inline(bytes) => Json::String(format!("base64:{}", BASE64_STANDARD.encode(bytes))),
                Reference::Range { offset, size } => json!([self.url, offset, size]),
            };
            out.push_str(if place > 0 { "," } else { "" });
            out.push_str(&format!("{}:{value}", Json::from(key.as_str())));
        }
        out + "}}"
    }
}

/// The key of something that belongs to the object at a path.
pub(super) fn key(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}
