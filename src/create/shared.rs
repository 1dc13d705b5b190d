//! What all handles of a new file share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::site::Site;
use crate::convert::encoder::{HeapSink, Measure};
use crate::convert::{Conversion, H5Type};
use crate::error::Result;
use crate::filter::Registry;
use crate::format::global_heap::GlobalHeapId;
use crate::format::message::attribute::Embedded;
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::Datatype;
use crate::write::{self, Body, Compatibility, Draft, ObjectId, Storage};

/// What all handles of a new file share.
pub(super) struct Shared {
    pub(super) site: Site,
    /// Whether links and attributes are numbered as they are created.
    pub(super) track_order: bool,
    datasets: Mutex<Vec<(ObjectId, Arc<dyn Unfinished>)>>,
    scales: Mutex<Scales>,
}

/// The compatibility level; what waits to be written would fill pages.
impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("level", &self.site.level).finish_non_exhaustive()
    }
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
    fn finish(&self, site: &Site) -> Result<(Storage, Vec<u64>)>;
}

impl Shared {
    pub(super) fn new(draft: Draft, registry: Registry, track_order: bool) -> Shared {
        let site = Site::new(draft, registry);
        Shared { site, track_order, datasets: Mutex::default(), scales: Mutex::default() }
    }

    /// The oldest libhdf5 that has to read the file.
    pub(super) fn level(&self) -> Compatibility {
        self.site.level
    }

    /// Does something with the file. `Conflict` if it is closed.
    pub(super) fn with<R>(&self, job: impl FnOnce(&mut Draft) -> Result<R>) -> Result<R> {
        self.site.with(job)
    }

    /// Does something with the scales.
    pub(super) fn scales<R>(&self, job: impl FnOnce(&mut Scales) -> R) -> R {
        job(&mut self.scales.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a dataset, whose elements a writer gathers until the file is closed.
    pub(super) fn add_dataset(&self, object: write::Object, writer: Arc<dyn Unfinished>) -> Result<ObjectId> {
        let id = self.with(|draft| Ok(draft.add(object)))?;
        self.datasets.lock().unwrap_or_else(PoisonError::into_inner).push((id, writer));
        Ok(id)
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
        if !measure.stores {
            return Ok(elements);
        }
        let mut elements = elements.into_owned();
        self.with(|draft| {
            draft.heap.expect(measure.taken);
            encoder.encode_each(values, &mut elements, &mut Heap { draft })
        })?;
        Ok(elements.into())
    }

    /// The message of an attribute with these values, as a `datatype`.
    pub(super) fn attribute<T: H5Type>(
        &self,
        name: &str,
        dataspace: &Dataspace,
        values: &[T],
        datatype: &Datatype,
    ) -> Result<Bytes> {
        let datatype = self.level().datatype(datatype)?;
        let data = self.encode(values, &datatype, Conversion::Lossless)?.into_owned();
        let (name, is_utf8) = (name.as_bytes(), !name.is_ascii());
        write::attribute(self.level(), (name, is_utf8), Embedded::Here(datatype), dataspace, data.into())
    }

    /// Writes what is not written yet, and makes it a file.
    pub(super) fn close(&self) -> Result<()> {
        let datasets = std::mem::take(&mut *self.datasets.lock().unwrap_or_else(PoisonError::into_inner));
        for (id, writer) in datasets {
            let (storage, shape) = writer.finish(&self.site)?;
            self.with(|draft| {
                if let Body::Dataset(dataset) = &mut draft.object_mut(id).body {
                    dataset.storage = storage;
                    dataset.dataspace.shape = shape;
                }
                Ok(())
            })?;
        }
        self.site.close()
    }
}

/// The global heap of a new file.
struct Heap<'a> {
    draft: &'a mut Draft,
}

impl HeapSink for Heap<'_> {
    fn store(&mut self, bytes: &[u8]) -> Result<[u8; 12]> {
        self.draft.heap.store_one(&mut self.draft.space, bytes).map(GlobalHeapId::wide)
    }
}
