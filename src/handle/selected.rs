//! Selections of a dataset: what is wanted of it, read in one go.

use super::dataset::Dataset;
use super::stored::{self, Stored, reading_methods};
use crate::convert::{Conversion, H5Type, Heaps, Value};
use crate::error::{Error, Result};
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::Datatype;
use crate::object::Container;
use crate::plan::ReadPlan;
use crate::selection::{Selected, Selection};

/// Bytes of elements that are read at once where one follows the other.
const AT_ONCE: u64 = 32 << 20;

/// A part of a dataset, and how its numbers are converted. Nothing is read before it is asked for.
///
/// ```
/// use hdfive::s;
///
/// # fn main() -> hdfive::Result<()> {
/// let file = hdfive::File::open("testdata/readme/weather.h5")?;
/// let temperature = file.dataset("/surface/temperature")?;
/// let first = temperature.select(s![0, .., ..]);
/// assert_eq!(first.shape()?, [11, 16]);
/// let values: Vec<f32> = first.read()?;
/// assert_eq!(values.len(), 11 * 16);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct DatasetSelection {
    dataset: Dataset,
    /// What is selected, or why it cannot be.
    selected: Result<Selected>,
    conversion: Conversion,
    threads: usize,
}

impl Dataset {
    /// What `selection` selects of it: [`s!`](crate::s), a [`Block`](crate::selection::Block), a [`Selection`].
    /// Whether it fits shows when it is read: `OutOfBounds` and `Invalid` say how it does not.
    ///
    /// Only the chunks that it meets are fetched and decoded; result shapes are those of NumPy, several lists select
    /// their product.
    #[must_use]
    pub fn select(&self, selection: impl Into<Selection>) -> DatasetSelection {
        let selected = selection.into().resolve(self.shape());
        DatasetSelection { dataset: self.clone(), selected, conversion: Conversion::Lossless, threads: usize::MAX }
    }

    /// All of it, with numbers that are lost converted as `conversion` says.
    #[must_use]
    pub fn conversion(&self, conversion: Conversion) -> DatasetSelection {
        self.select(..).conversion(conversion)
    }

    /// [`select`](Self::select), then [`read_array`](DatasetSelection::read_array).
    #[cfg(feature = "ndarray")]
    pub fn read_slice<T: H5Type, D: ndarray::Dimension>(
        &self,
        selection: impl Into<Selection>,
    ) -> Result<ndarray::Array<T, D>> {
        self.select(selection).read_array()
    }

    /// [`read_slice`](Self::read_slice) of rank 1.
    #[cfg(feature = "ndarray")]
    pub fn read_slice_1d<T: H5Type>(&self, selection: impl Into<Selection>) -> Result<ndarray::Array1<T>> {
        self.select(selection).read_array()
    }

    /// [`read_slice`](Self::read_slice) of rank 2.
    #[cfg(feature = "ndarray")]
    pub fn read_slice_2d<T: H5Type>(&self, selection: impl Into<Selection>) -> Result<ndarray::Array2<T>> {
        self.select(selection).read_array()
    }
}

impl DatasetSelection {
    /// Numbers that the wanted type cannot hold are converted as `conversion` says.
    #[must_use]
    pub fn conversion(mut self, conversion: Conversion) -> Self {
        self.conversion = conversion;
        self
    }

    /// At most `threads` threads read and decode at the same time; 1 and 0 mean the calling one alone. Without this as many
    /// do as the current pool of the crate `rayon` has: `pool.install(|| selection.read::<f32>())` uses another pool.
    /// The result does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// What it comes to for the dataset's shape.
    ///
    /// Errors are `OutOfBounds` and `Invalid`, if it does not fit.
    pub fn selected(&self) -> Result<Selected> {
        self.selected.clone().map_err(|e| self.at(e))
    }

    /// Itself in parts of at most `bytes` as stored (one element at least), in row-major order: for more data than memory
    /// holds. Parts have all dimensions of the dataset, and none of a null dataspace; where that is possible without more
    /// memory, a chunk is not met by two of them.
    ///
    /// ```
    /// # fn main() -> hdfive::Result<()> {
    /// let file = hdfive::File::open("testdata/readme/weather.h5")?;
    /// let southern = file.dataset("/surface/temperature")?.select(hdfive::s![.., 6.., ..]);
    /// let mut warmest = f32::MIN;
    /// for part in southern.parts(16 << 20)? {
    ///     warmest = part.read::<f32>()?.into_iter().fold(warmest, f32::max);
    /// }
    /// # assert!(warmest > 280.0);
    /// # Ok(()) }
    /// ```
    ///
    /// Errors are those of [`selected`](Self::selected).
    pub fn parts(&self, bytes: u64) -> Result<impl Iterator<Item = DatasetSelection> + use<>> {
        let own = self.clone();
        let most = bytes / u64::from(self.dataset.datatype().size.max(1));
        let parts = (!self.dataset.is_null()).then_some(self.selected()?.parts(most, self.dataset.chunk_shape()));
        Ok(parts.into_iter().flatten().map(move |part| DatasetSelection { selected: Ok(part), ..own.clone() }))
    }

    /// Its elements one after the other, row-major, of whatever type they are. Memory is taken for some MiB of them at a
    /// time; there are none of a null dataspace.
    ///
    /// Errors are those of [`selected`](Self::selected); that of an element ends them.
    pub fn values(&self) -> Result<impl Iterator<Item = Result<Value>> + use<>> {
        let dataset = self.dataset.clone();
        let size = dataset.element_size()?;
        let values = self.parts(AT_ONCE)?.flat_map(move |part| {
            let dataset = dataset.clone();
            let (stored, error) = part.read_bytes().map_or_else(|e| (Vec::new(), Some(e)), |stored| (stored, None));
            let count = stored.len() / size;
            let value = move |start: usize| {
                let element = &stored[start..start + size];
                let value = Value::element(element, dataset.datatype(), &Heaps::new(dataset.container()));
                value.map_err(|e| dataset.at(e))
            };
            (0..count).map(move |n| value(n * size)).chain(error.map(Err))
        });
        Ok(values.scan(false, |failed, value| {
            let before = std::mem::replace(failed, value.is_err());
            (!before).then_some(value)
        }))
    }

    /// Elements per dimension of the result.
    pub fn shape(&self) -> Result<Vec<u64>> {
        Ok(self.selected()?.result_shape().to_vec())
    }

    /// The plan of reading it: what would be fetched, and where it would go.
    pub fn plan(&self) -> Result<ReadPlan> {
        self.dataset.plan(self.selected()?)
    }

    /// Its elements as stored, row-major.
    pub fn read_bytes(&self) -> Result<Vec<u8>> {
        stored::bytes(self).map_err(|e| self.at(e))
    }

    /// Reads its elements as stored, row-major, into memory of their size. `Invalid` if that has another.
    pub fn read_bytes_into(&self, into: &mut [u8]) -> Result<()> {
        self.dataset.read_selected_into(&self.selected()?, self.threads, into)
    }

    fn at(&self, error: Error) -> Error {
        self.dataset.at(error)
    }
}

impl Stored for DatasetSelection {
    fn datatype(&self) -> &Datatype {
        self.dataset.datatype()
    }

    fn shape(&self) -> Result<Option<Vec<u64>>> {
        let selected = self.selected.as_ref().map_err(Error::clone)?;
        Ok((!self.dataset.is_null()).then(|| selected.result_shape().to_vec()))
    }

    fn dataspace(&self) -> &Dataspace {
        self.dataset.dataspace()
    }

    fn container(&self) -> &Container {
        &self.dataset.node.core.container
    }

    fn bytes_into(&self, into: &mut [u8]) -> Result<()> {
        self.dataset.read_selected(self.selected.as_ref().map_err(Error::clone)?, self.threads, into)
    }
}

reading_methods!(DatasetSelection, "selection", |own| own.conversion);

impl Stored for Dataset {
    fn datatype(&self) -> &Datatype {
        self.datatype()
    }

    fn dataspace(&self) -> &Dataspace {
        self.dataspace()
    }

    fn container(&self) -> &Container {
        &self.node.core.container
    }

    fn bytes_into(&self, into: &mut [u8]) -> Result<()> {
        self.read_all(into)
    }
}

reading_methods!(Dataset, "dataset", |_own| Conversion::Lossless);

impl Dataset {
    /// All elements as stored, row-major.
    ///
    /// Errors are `Limit` if they are more than [`Limits::result`](crate::Limits::result) allows, and what reading can
    /// give.
    pub fn read_bytes(&self) -> Result<Vec<u8>> {
        stored::bytes(self).map_err(|e| self.at(e))
    }

    /// Reads all elements as stored, row-major, into memory of their size. `Invalid` if that has another.
    pub fn read_bytes_into(&self, into: &mut [u8]) -> Result<()> {
        self.check_size(self.len(), into.len())?;
        self.read_all(into).map_err(|e| self.at(e))
    }

    /// Reads what is selected as stored, row-major, into memory of its size, on at most so many threads.
    pub(super) fn read_selected_into(&self, selected: &Selected, threads: usize, into: &mut [u8]) -> Result<()> {
        let elements = if self.is_null() { 0 } else { selected.count().map_err(|e| self.at(e))? };
        self.check_size(elements, into.len())?;
        self.read_selected(selected, threads, into).map_err(|e| self.at(e))
    }

    /// Whether so many elements have so many bytes as stored.
    fn check_size(&self, elements: u64, bytes: usize) -> Result<()> {
        let size = self.datatype().size;
        if elements.checked_mul(size.into()) == u64::try_from(bytes).ok() {
            return Ok(());
        }
        Err(self.at(Error::invalid(format!("{bytes} bytes for {elements} elements of {size} bytes"))))
    }
}
