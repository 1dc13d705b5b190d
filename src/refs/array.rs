//! One dataset as a Zarr array: its metadata, and where its chunks lie.

use std::collections::HashMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde_json::{Value as Json, json};

use super::attributes::{number, of as attributes_of};
use super::codecs::codecs;
use super::dtype::{Dtype, dtype};
use super::references::{Blocked, Options, Reference, References, Zarr, key};
use crate::convert::{Heaps, Value};
use crate::format::message::datatype::{Class, Datatype};
use crate::format::message::fill_value::Fill;
use crate::format::message::filter_pipeline::FilterDescription;
use crate::handle::{Dataset, File};
use crate::manifest::{Chunks, Manifest};
use crate::selection::shape;
use crate::wire::{Addr, ByteRange};

/// How the name of a scale begins that is a dimension of netCDF and no variable.
const NO_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";
/// Bytes of the chunks that data in one piece are cut into, about.
const PIECE: u64 = 8 << 20;

/// Why something cannot be expressed.
type Why<T> = Result<T, String>;

/// Exports one dataset.
pub(super) struct Exporter<'a> {
    pub(super) file: &'a File,
    pub(super) options: &'a Options,
    /// The paths of all objects, by the addresses of their headers.
    pub(super) paths: &'a HashMap<Addr, String>,
    pub(super) path: &'a str,
    pub(super) out: &'a mut References,
}

/// What an array is, before its chunks are known.
struct Array {
    shape: Vec<u64>,
    chunk: Vec<u64>,
    dtype: Dtype,
    filters: Vec<Json>,
    fill: Json,
}

fn say(error: crate::Error) -> String {
    format!("{error:#}")
}

impl Exporter<'_> {
    pub(super) fn dataset(&mut self, dataset: &Dataset) -> Why<()> {
        let is_bare = || -> crate::Result<bool> {
            Ok(dataset.is_scale()? && dataset.scale_name()?.is_some_and(|name| name.starts_with(NO_VARIABLE)))
        };
        if is_bare().map_err(say)? {
            return Ok(());
        }
        if dataset.is_null() {
            return Err("a null dataspace, which Zarr does not know".to_owned());
        }
        if matches!(dataset.datatype().class, Class::VariableLength { text: Some(_), .. }) {
            return self.texts(dataset);
        }
        let dtype = dtype(dataset.datatype())?;
        match &*dataset.manifest().map_err(say)? {
            Manifest::Inline(bytes) => self.one_piece(dataset, dtype, Some(Reference::Inline(bytes.clone()))),
            Manifest::Segments { files, .. } if !files.is_empty() => Err("its elements lie in other files".to_owned()),
            Manifest::Segments { segments, .. } => match &segments[..] {
                [] => self.one_piece(dataset, dtype, None),
                [whole] => self.contiguous(dataset, dtype, whole.addr),
                _ => Err("its elements lie in several pieces".to_owned()),
            },
            Manifest::Chunks(chunks) => self.chunked(dataset, dtype, chunks),
            Manifest::Virtual(_) => Err("a virtual dataset: its elements are those of others".to_owned()),
        }
    }

    /// Where a place in the file is, counted from its first byte.
    fn offset(&self, addr: Addr) -> Why<u64> {
        let base = self.file.heaps().container().loaded.base();
        addr.plus(base).map(|position| position.0).map_err(say)
    }

    fn one_piece(&mut self, dataset: &Dataset, dtype: Dtype, data: Option<Reference>) -> Why<()> {
        let chunk: Vec<u64> = dataset.shape().iter().map(|size| (*size).max(1)).collect();
        let array = self.array(dataset, dtype, chunk, &[], data.is_none())?;
        if let Some(data) = data.filter(|_| !dataset.is_empty()) {
            self.put(&array, &vec![0; dataset.shape().len()], data);
        }
        self.describe(dataset, array)
    }

    /// Data in one piece are cut along their first dimension, into as many rows as divide it.
    fn contiguous(&mut self, dataset: &Dataset, dtype: Dtype, addr: Addr) -> Why<()> {
        let size = u64::from(dataset.datatype().size);
        let own = dataset.shape();
        let Some((rows, rest)) = own.split_first().filter(|(rows, _)| **rows > 0) else {
            let range = Reference::Range { offset: self.offset(addr)?, size: size * dataset.len() };
            return self.one_piece(dataset, dtype, Some(range));
        };
        let row = shape::count(rest).map_err(say)?.saturating_mul(size).max(1);
        let wanted = (PIECE / row).clamp(1, *rows);
        let step = (1..=wanted).rev().find(|step| rows % step == 0).unwrap_or(1);
        // A prime number of rows has no good divisor: then it is one piece, unless that is much.
        let step = if step * row < PIECE / 16 && rows * row <= 16 * PIECE { *rows } else { step };
        let chunk: Vec<u64> = [step].into_iter().chain(rest.iter().map(|size| (*size).max(1))).collect();
        let array = self.array(dataset, dtype, chunk, &[], false)?;
        if !dataset.is_empty() {
            let offset = self.offset(addr)?;
            for number in 0..rows / step {
                let mut index = vec![0; own.len()];
                index[0] = number;
                let range = Reference::Range { offset: offset + number * step * row, size: step * row };
                let range = self.short(dataset, range)?;
                self.put(&array, &index, range);
            }
        }
        self.describe(dataset, array)
    }

    fn chunked(&mut self, dataset: &Dataset, dtype: Dtype, chunks: &Chunks) -> Why<()> {
        let stored = dataset.filter_pipeline().map_err(say)?;
        let mut filters: Vec<FilterDescription> = stored.map(|pipeline| pipeline.filters).unwrap_or_default();
        let grid = chunks.grid();
        let is_cut =
            |number: u64| grid.coordinates(number).is_some_and(|at| grid.block(&at).count != grid.chunk_shape());
        if dataset.partial_chunks_unfiltered() && !filters.is_empty() && chunks.iter().any(|c| is_cut(c.number)) {
            return Err("chunks at its edges are stored without filters, and others with them".to_owned());
        }
        // One pipeline is all that an array has.
        let mask = chunks.iter().next().map_or(0, |chunk| chunk.filter_mask);
        if chunks.iter().any(|chunk| chunk.filter_mask != mask) {
            return Err("some of its chunks are stored without filters that others have".to_owned());
        }
        let mut place = 0;
        filters.retain(|_| {
            place += 1;
            mask & (1u32.checked_shl(place - 1).unwrap_or(0)) == 0
        });
        let missing = chunks.len() as u64 != grid.len();
        let array = self.array(dataset, dtype, grid.chunk_shape().to_vec(), &filters, missing)?;
        for chunk in chunks.iter() {
            let index = grid.coordinates(chunk.number).ok_or("a chunk outside of the shape")?;
            let range = Reference::Range { offset: self.offset(chunk.addr)?, size: chunk.size };
            let range = self.short(dataset, range)?;
            self.put(&array, &index, range);
        }
        self.describe(dataset, array)
    }

    /// A range, or its bytes if these are few.
    fn short(&self, dataset: &Dataset, range: Reference) -> Why<Reference> {
        let Reference::Range { offset, size } = range else { return Ok(range) };
        if size >= self.options.inline {
            return Ok(range);
        }
        let base = self.file.heaps().container().loaded.base();
        let mut bytes = Vec::new();
        dataset.read_stored(ByteRange::new(Addr(offset - base), size), &mut bytes).map_err(say)?;
        Ok(Reference::Inline(bytes.into()))
    }

    /// Texts of variable length, as they are: version 2 has a codec for them.
    fn texts(&mut self, dataset: &Dataset) -> Why<()> {
        if self.options.zarr == Zarr::V3 {
            return Err("texts of variable length, which lie elsewhere in the file".to_owned());
        }
        let claimed = dataset.len().saturating_mul(dataset.datatype().size.into());
        let limit = self.options.texts;
        let too_many =
            || format!("texts of variable length of more than {limit} bytes, which lie elsewhere in the file");
        if claimed > limit {
            return Err(too_many());
        }
        let texts = dataset.read::<String>().map_err(say)?;
        let mut bytes = Vec::new();
        let number = |size: usize| u32::try_from(size).map(u32::to_le_bytes).map_err(|_| too_many());
        bytes.extend(number(texts.len())?);
        for text in &texts {
            bytes.extend(number(text.len())?);
            bytes.extend_from_slice(text.as_bytes());
            if bytes.len() as u64 > limit {
                return Err(too_many());
            }
        }
        let own = dataset.shape();
        let dtype = Dtype { v2: json!("|O"), v3: None, endian: None, inner: Vec::new(), attributes: Vec::new() };
        let chunk = own.iter().map(|size| (*size).max(1)).collect();
        let filters = vec![json!({"id": "vlen-utf8"})];
        let array = Array { shape: own.to_vec(), chunk, dtype, filters, fill: json!("") };
        if !texts.is_empty() {
            self.put(&array, &vec![0; own.len()], Reference::Inline(bytes.into()));
        }
        self.describe(dataset, array)
    }

    fn array(
        &mut self,
        dataset: &Dataset,
        dtype: Dtype,
        mut chunk: Vec<u64>,
        filters: &[FilterDescription],
        missing: bool,
    ) -> Why<Array> {
        let (options, datatype) = (self.options, dataset.datatype());
        if options.zarr == Zarr::V3 && dtype.v3.is_none() {
            return Err(format!("elements that are {}, which version 3 of Zarr does not know", dtype.v2));
        }
        let filters = codecs(filters, datatype.size, options)?;
        let shape: Vec<u64> = dataset.shape().iter().chain(&dtype.inner).copied().collect();
        chunk.extend(&dtype.inner);
        let fill = self.fill(dataset, &dtype, missing)?;
        Ok(Array { shape, chunk, dtype, filters, fill })
    }

    /// The fill value of the metadata. What version 2 calls so readers take for missing values: there it is only that of
    /// `_FillValue`, or null.
    fn fill(&mut self, dataset: &Dataset, dtype: &Dtype, missing: bool) -> Why<Json> {
        let is_v2 = self.options.zarr == Zarr::V2;
        let stored = dataset.fill_value().map_err(say)?;
        let bytes = match stored.map(|fill| fill.value) {
            Some(Fill::User(bytes)) => bytes,
            _ => Bytes::from(vec![0; usize::try_from(dataset.datatype().size).unwrap_or(0)]),
        };
        if is_v2 && let Some(attribute) = dataset.own("_FillValue").map_err(say)? {
            if missing && *attribute.bytes() != bytes {
                let why = "what is not stored of it reads as its _FillValue, and has another fill value";
                self.out.notes.push(Blocked { path: format!("/{}", self.path), why: why.to_owned() });
            }
            return element(attribute.datatype(), attribute.bytes(), dtype, &self.file.heaps());
        }
        if !is_v2 {
            return element(dataset.datatype(), &bytes, dtype, &self.file.heaps());
        }
        if !missing {
            return Ok(Json::Null);
        }
        if self.options.exact_fill {
            let why = "readers have to be told not to take its fill value for a missing value (mask_and_scale=False)";
            self.out.notes.push(Blocked { path: format!("/{}", self.path), why: why.to_owned() });
            return element(dataset.datatype(), &bytes, dtype, &self.file.heaps());
        }
        if bytes.iter().any(|byte| *byte != 0) {
            let why = "what is not stored of it is its fill value, which the references do not say";
            self.out.notes.push(Blocked { path: format!("/{}", self.path), why: why.to_owned() });
        }
        Ok(Json::Null)
    }

    fn put(&mut self, array: &Array, index: &[u64], reference: Reference) {
        let index: Vec<String> =
            index.iter().copied().chain(array.dtype.inner.iter().map(|_| 0)).map(|n| n.to_string()).collect();
        let name = match (self.options.zarr, &index[..]) {
            (Zarr::V2, []) => "0".to_owned(),
            (Zarr::V2, index) => index.join("."),
            (Zarr::V3, []) => "c".to_owned(),
            (Zarr::V3, index) => format!("c/{}", index.join("/")),
        };
        self.out.keys.insert(key(self.path, &name), reference);
    }

    fn describe(&mut self, dataset: &Dataset, array: Array) -> Why<()> {
        let mut attributes = attributes_of(&dataset.attributes(), self.path, self.out);
        for (name, value) in &array.dtype.attributes {
            attributes.entry(*name).or_insert(value.clone());
        }
        let names = self.dimensions(dataset, &array)?;
        let Array { shape, chunk, dtype, filters, fill } = array;
        if self.options.zarr == Zarr::V2 {
            attributes.remove("_FillValue");
            attributes.insert("_ARRAY_DIMENSIONS".to_owned(), json!(names));
            let filters = if filters.is_empty() { Json::Null } else { Json::Array(filters) };
            let document = json!({
                "zarr_format": 2, "shape": shape, "chunks": chunk, "dtype": dtype.v2, "compressor": null,
                "filters": filters, "fill_value": fill, "order": "C", "dimension_separator": ".",
            });
            self.out.keys.insert(key(self.path, ".zarray"), Reference::Document(document));
            self.out.keys.insert(key(self.path, ".zattrs"), Reference::Document(attributes.into()));
            return Ok(());
        }
        let bytes = match dtype.endian {
            Some(endian) => json!({"name": "bytes", "configuration": {"endian": endian}}),
            None => json!({"name": "bytes"}),
        };
        let codecs: Vec<Json> = [bytes].into_iter().chain(filters).collect();
        let document = json!({
            "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": dtype.v3,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": fill, "codecs": codecs, "attributes": attributes, "dimension_names": names,
        });
        self.out.keys.insert(key(self.path, "zarr.json"), Reference::Document(document));
        Ok(())
    }

    /// What the dimensions are called: by their scales; those without one by their sizes, as each has one name in a group.
    fn dimensions(&mut self, dataset: &Dataset, array: &Array) -> Why<Vec<String>> {
        let (parent, own_name) = self.path.rsplit_once('/').unwrap_or(("", self.path));
        let scales: Vec<Option<String>> = if dataset.is_scale().map_err(say)? && dataset.shape().len() == 1 {
            vec![Some(own_name.to_owned())]
        } else {
            let dims = dataset.dims().map_err(say)?;
            let name = |scale: &Dataset| {
                let path = self.paths.get(&scale.address()).map_or("", String::as_str);
                path.strip_prefix(parent).map_or(path, |rest| rest.trim_start_matches('/')).to_owned()
            };
            dims.iter().map(|dimension| dimension.scales.first().map(name)).collect()
        };
        let mut phony = HashMap::new();
        let all = array.shape.iter().enumerate().map(|(axis, size)| {
            scales.get(axis).cloned().flatten().unwrap_or_else(|| {
                let seen: &mut u32 = phony.entry(*size).or_default();
                *seen += 1;
                let which = if *seen > 1 { format!("_{seen}") } else { String::new() };
                format!("phony_dim_{size}{which}")
            })
        });
        Ok(all.collect())
    }
}

/// An element as the JSON of a fill value.
fn element(datatype: &Datatype, bytes: &[u8], dtype: &Dtype, heaps: &Heaps<'_>) -> Why<Json> {
    let kind = dtype.v2.as_str().map_or("", |name| name.get(1..2).unwrap_or(""));
    let base = match &datatype.class {
        Class::Array { base, .. } => return element(base, bytes, dtype, heaps),
        Class::Enumeration(names) if kind != "b" => &names.base,
        _ => datatype,
    };
    let size = usize::try_from(base.size).unwrap_or(0);
    let bytes = bytes.get(..size).ok_or("a fill value that is cut short")?;
    Ok(match kind {
        // Structures: readers cannot take a value of theirs.
        "" => Json::Null,
        "b" => json!(bytes.iter().any(|byte| *byte != 0)),
        "S" | "V" => Json::String(BASE64_STANDARD.encode(bytes)),
        "M" | "m" => json!(0),
        "c" => {
            let parts = Value::element(bytes, base, heaps).map_err(say)?;
            let Value::Complex(re, im) = parts else { return Ok(Json::Null) };
            json!([number(re), number(im)])
        }
        _ => match Value::element(bytes, base, heaps).map_err(say)? {
            Value::Integer(n) => i64::try_from(n).map_or_else(|_| json!(u64::try_from(n).unwrap_or(0)), |n| json!(n)),
            Value::Single(n) => number(n.into()),
            Value::Float(n) => number(n),
            _ => Json::Null,
        },
    })
}
