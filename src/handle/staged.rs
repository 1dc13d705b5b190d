//! Staged arrays over datasets.

use std::sync::Arc;

use super::base_slab::DatasetSlab;
use super::dataset::Dataset;
use crate::convert::element::ElementType;
use crate::convert::{Conversion, H5Type, Heaps};
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::selection::shape;
use crate::stage::{Array, Base, BaseSlab, StagedArray};

/// Bytes of bookkeeping per chunk while a staged array is made: two numbers as given, and a map of 12 bytes.
const BOOKKEEPING: u64 = 28;

impl Dataset {
    /// A staged array over this dataset, in its own chunks; one that is not chunked is one chunk. Chunks that are stored
    /// nowhere are fill. Nothing is read before it is wanted, and the file is never written.
    ///
    /// ```
    /// use hdfive::s;
    /// use hdfive::stage::Array;
    ///
    /// let file = hdfive::File::open("testdata/readme/weather.h5")?;
    /// let mut array = file.dataset("/surface/temperature")?.staged()?;
    /// let before = array.get(&s![0, 0, 0])?;
    /// array.set(&s![0, 0, ..], &Array::scalar(20.5f32))?;
    /// assert_eq!(array.get(&s![0, 0, 7])?.values::<f32>()?, [20.5]);
    /// array.resize(&[29, 11, 16])?;
    /// assert_eq!(file.dataset("/surface/temperature")?.staged()?.get(&s![0, 0, 0])?, before);
    /// # Ok::<(), hdfive::Error>(())
    /// ```
    ///
    /// Errors: those of [`DatasetSlab::new`], `Limit` if the chunks take more bookkeeping than
    /// [`Limits::result`](crate::Limits::result) allows, and what reading the index of the chunks can give.
    pub fn staged(&self) -> Result<StagedArray> {
        match self.chunk_shape() {
            Some(chunk) => self.staged_in(chunk),
            None => self.staged_in(&self.shape().iter().map(|&size| size.max(1)).collect::<Vec<_>>()),
        }
    }

    /// A staged array over this dataset, in chunks of shape `chunk`.
    ///
    /// Errors: as for [`Dataset::staged`].
    pub fn staged_in(&self, chunk: &[u64]) -> Result<StagedArray> {
        let slab = DatasetSlab::new(self, chunk).map_err(|e| self.node().at(e))?;
        let fill = self.fill_array(slab.element())?;
        // The bookkeeping comes with the shape that the file claims, whether its chunks are stored or not.
        let (chunks, limit) = (slab.grid().len(), self.node().core.container.loaded.limits().result);
        if chunks.checked_mul(BOOKKEEPING).is_none_or(|bytes| bytes > limit) {
            return Err(self.node().at(Error::limit(format!("{chunks} chunks are beyond the limit of {limit} bytes"))));
        }
        let chunks = shape::in_memory(chunks)?;
        let (mut slab_indices, mut slab_offsets) = (vec![0; chunks], vec![0; chunks]);
        let mut is_stored = |number: usize| {
            (slab_indices[number], slab_offsets[number]) = (1, number as u64 * chunk[0]);
        };
        match &*self.manifest()? {
            Manifest::Chunks(stored) if stored.grid() == slab.grid() => {
                stored.iter().try_for_each(|place| shape::in_memory(place.number).map(&mut is_stored))?;
            }
            _ => (0..chunks).for_each(is_stored),
        }
        let base = Base { slabs: vec![Arc::new(slab)], slab_indices, slab_offsets, hashes: vec![] };
        StagedArray::new(self.shape(), chunk, base, Some(&fill))
    }

    /// What stands for elements that nobody wrote, as an array of no dimensions.
    fn fill_array(&self, element: &ElementType) -> Result<Array> {
        let stored = self.fill_element()?;
        match element {
            ElementType::Text => {
                let heaps = Heaps::new(&self.node().core.container);
                let decoder = String::decoder(self.datatype(), Conversion::Lossless)?;
                let text = stored.map(|stored| decoder.decode(&stored, &heaps)).transpose()?;
                Array::from_texts(&[], vec![text.unwrap_or_default()])
            }
            _ => Array::from_bytes(&[], element.clone(), stored.map_or_else(|| element.zero(), |own| own.to_vec())),
        }
    }
}
