//! What all handles of a new file share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::convert::encoder::{HeapSink, Measure};
use crate::convert::{Conversion, H5Type};
use crate::error::{Error, Result};
use crate::filter::Registry;
use crate::format::message::attribute::Embedded;
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::Datatype;
use crate::manifest::ChunkPlace;
use crate::wire::{Addr, Sizes, Structure};
use crate::write::{self, Body, Compatibility, Draft, ObjectId, Storage};

/// A file that is being written.
///
/// The lock is held while bytes are put somewhere, never while others work for it: a thread that waits for it waits for
/// a write.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) level: Compatibility,
    pub(super) registry: Registry,
    /// Whether links and attributes are numbered as they are created.
    pub(super) track_order: bool,
    state: Mutex<State>,
    scales: Mutex<Scales>,
}

#[derive(Debug)]
struct State {
    /// `None` once the file is closed.
    draft: Option<Draft>,
    datasets: Vec<(ObjectId, Arc<dyn Unfinished>)>,
}

/// Which scales belong to which dimensions: written when the file is closed, as each list is in one attribute.
#[derive(Debug, Default)]
pub(super) struct Scales {
    /// For each dataset the scales of each of its dimensions.
    pub(super) of_dataset: BTreeMap<ObjectId, Vec<Vec<ObjectId>>>,
    /// For each dataset what its dimensions are called.
    pub(super) labels: BTreeMap<ObjectId, Vec<String>>,
}

/// What writes the elements of a dataset until the file is closed.
pub(super) trait Unfinished: Send + Sync + std::fmt::Debug {
    /// Writes what waits; gives how the elements are stored, and the shape.
    fn finish(&self, shared: &Shared) -> Result<(Storage, Vec<u64>)>;
}

fn closed() -> Error {
    Error::conflict("the file is closed already")
}

impl Shared {
    pub(super) fn new(draft: Draft, registry: Registry, track_order: bool) -> Shared {
        let level = draft.level;
        let state = Mutex::new(State { draft: Some(draft), datasets: Vec::new() });
        Shared { level, registry, track_order, state, scales: Mutex::default() }
    }

    /// Does something with the file. `Conflict` if it is closed.
    pub(super) fn with<R>(&self, job: impl FnOnce(&mut Draft) -> Result<R>) -> Result<R> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        job(state.draft.as_mut().ok_or_else(closed)?)
    }

    /// Does something with the scales.
    pub(super) fn scales<R>(&self, job: impl FnOnce(&mut Scales) -> R) -> R {
        job(&mut self.scales.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a dataset, whose elements a writer gathers until the file is closed.
    pub(super) fn add_dataset(&self, object: write::Object, writer: Arc<dyn Unfinished>) -> Result<ObjectId> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let id = state.draft.as_mut().ok_or_else(closed)?.add(object);
        state.datasets.push((id, writer));
        Ok(id)
    }

    /// Puts stored chunks one behind the other.
    pub(super) fn place(&self, chunks: &[(u64, &[u8], u32)]) -> Result<Vec<ChunkPlace>> {
        if chunks.is_empty() {
            return Ok(Vec::new());
        }
        self.with(|draft| put(&mut draft.space, chunks))
    }

    /// Reads back what was written.
    pub(super) fn read(&self, addr: Addr, bytes: &mut [u8]) -> Result<()> {
        self.with(|draft| draft.space.read(addr, bytes))
    }

    /// The elements of `values` as a `datatype`. What has no fixed size goes to the file's heap.
    pub(super) fn encode<'v, T: H5Type>(
        &self,
        values: &'v [T],
        datatype: &Datatype,
        conversion: Conversion,
    ) -> Result<std::borrow::Cow<'v, [u8]>> {
        let encoder = T::encoder(datatype, conversion)?;
        if encoder.has_bulk() {
            return encoder.encode_all(values, &mut Measure::default());
        }
        // How much the heap has to hold is known first: so its collections are as large as they need.
        let mut measure = Measure::default();
        let elements = encoder.encode_all(values, &mut measure)?;
        if measure.sizes.is_empty() {
            return Ok(elements);
        }
        self.with(|draft| {
            draft.heap.expect(measure.sizes, Sizes::EIGHT);
            encoder.encode_all(values, &mut Heap { draft })
        })
    }

    /// The message of an attribute with these values, as a `datatype`.
    pub(super) fn attribute<T: H5Type>(
        &self,
        name: &str,
        dataspace: &Dataspace,
        values: &[T],
        datatype: &Datatype,
    ) -> Result<Bytes> {
        let datatype = self.level.datatype(datatype)?;
        let data = self.encode(values, &datatype, Conversion::Lossless)?.into_owned();
        let (name, is_utf8) = (name.as_bytes(), !name.is_ascii());
        write::attribute(self.level, (name, is_utf8), Embedded::Here(datatype), dataspace, data.into())
    }

    /// Writes what is not written yet, and makes it a file.
    pub(super) fn close(&self) -> Result<()> {
        let datasets = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut state.datasets)
        };
        for (id, writer) in datasets {
            let (storage, shape) = writer.finish(self)?;
            self.with(|draft| {
                if let Body::Dataset(dataset) = &mut draft.object_mut(id).body {
                    dataset.storage = storage;
                    dataset.dataspace.shape = shape;
                }
                Ok(())
            })?;
        }
        let draft = self.state.lock().unwrap_or_else(PoisonError::into_inner).draft.take();
        draft.ok_or_else(closed)?.finish()
    }
}

/// The global heap of a new file.
struct Heap<'a> {
    draft: &'a mut Draft,
}

impl HeapSink for Heap<'_> {
    fn store(&mut self, bytes: &[u8]) -> Result<[u8; 12]> {
        let id = self.draft.heap.store_one(&mut self.draft.space, Bytes::copy_from_slice(bytes))?;
        let id = id.encode(Addr(0), Sizes::EIGHT, ())?;
        id.try_into().map_err(|_| Error::invalid("an id that has not 12 bytes"))
    }
}

/// Chunks of less than this many bytes are small.
const SMALL: usize = 64 << 10;

/// Puts stored chunks one behind the other; gives where.
fn put(space: &mut write::Space, chunks: &[(u64, &[u8], u32)]) -> Result<Vec<ChunkPlace>> {
    let mut places = Vec::with_capacity(chunks.len());
    let (mut start, mut together) = (Addr(0), Vec::new());
    for (number, data, filter_mask) in chunks {
        let (number, filter_mask, size) = (*number, *filter_mask, data.len() as u64);
        let addr = space.reserve_data(size)?;
        places.push(ChunkPlace { number, addr, size, filter_mask });
        // Small chunks that are neighbours are written together.
        if !together.is_empty() && (data.len() >= SMALL || start.plus(together.len() as u64)? != addr) {
            space.write(start, &together)?;
            together.clear();
        }
        if data.len() >= SMALL {
            space.write(addr, data)?;
            continue;
        }
        if together.is_empty() {
            start = addr;
        }
        together.extend_from_slice(data);
    }
    if !together.is_empty() {
        space.write(start, &together)?;
    }
    Ok(places)
}
