//! Datasets of a new file.

use std::sync::Arc;

use super::attributes::attribute_methods;
use super::shared::Shared;
use super::site::Site;
use super::values::Values;
use super::writer::{Slot, Writer};
use crate::convert::{Conversion, H5Type, Reference};
use crate::error::{Error, Place, Result};
use crate::format::message::datatype::Datatype;
use crate::selection::{Index, Selected, Selection};
use crate::write::ObjectId;

/// A dataset of a file that is being written.
///
/// Chunks that are written as a whole are encoded at once, on all cores; those written in part wait in memory until they
/// are full, or the file is closed.
pub struct NewDataset {
    pub(super) shared: Arc<Shared>,
    pub(super) id: ObjectId,
    pub(super) path: String,
    pub(super) datatype: Datatype,
    pub(super) conversion: Conversion,
    pub(super) slot: Slot,
}

/// `NewDataset("/rain", i16)`: what waits in memory is left out.
impl std::fmt::Debug for NewDataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NewDataset").field(&self.path).field(&format_args!("{}", self.datatype)).finish()
    }
}

impl NewDataset {
    /// Its path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The type of its elements.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// Its shape.
    ///
    /// Errors are `Conflict` if the file is closed.
    pub fn shape(&self) -> Result<Vec<u64>> {
        self.with(|writer, _| Ok(writer.shape.clone()))
    }

    /// With numbers that the datatype cannot hold exactly converted so; by default they are an error.
    #[must_use]
    pub fn conversion(mut self, conversion: Conversion) -> NewDataset {
        self.conversion = conversion;
        self
    }

    /// Writes all elements.
    ///
    /// Errors are `Invalid` if `values` have another shape, `WrongType` if they cannot be its elements, and `Io`.
    pub fn write<V: Values>(&mut self, values: V) -> Result<()> {
        let shape = self.shape()?;
        self.write_selected(values, |_| Ok(Selected::all(&shape)))
    }

    /// Writes the elements that are selected, with values of the shape that reading them would have, or as many in a row.
    ///
    /// ```
    /// # fn main() -> hdfive::Result<()> {
    /// let file = hdfive::FileBuilder::new().create_in_memory()?;
    /// let mut dataset = file.new_dataset::<i32>().shape([4, 3]).create("numbers")?;
    /// dataset.write_slice([7, 8, 9], hdfive::s![2, ..])?;
    /// # Ok(()) }
    /// ```
    /// Errors are `OutOfBounds` for elements that there are not, `Invalid` if `values` are more or fewer, `WrongType`
    /// if they cannot be its elements, and `Io`.
    pub fn write_slice<V: Values>(&mut self, values: V, selection: impl Into<Selection>) -> Result<()> {
        let selection = selection.into();
        self.write_selected(values, |shape| selection.resolve(shape))
    }

    /// Lets it grow along its first dimension, and writes `values` there: as many rows as they have.
    ///
    /// Errors are `OutOfBounds` if it cannot grow so far, `Invalid` if `values` are no rows of it.
    pub fn append<V: Values>(&mut self, values: V) -> Result<()> {
        let mut shape = self.shape()?;
        let (own, given) = (&shape[..], values.shape());
        let rows = match (own, &given[..]) {
            ([_, row @ ..], [count, given @ ..]) if row == given => *count,
            ([_, row @ ..], given) if row == given => 1,
            _ => return Err(self.at(Error::invalid(format!("values of shape {given:?} are no rows of {own:?}")))),
        };
        let first = shape[0];
        shape[0] = first.checked_add(rows).ok_or_else(|| Error::limit("more rows than 64 bits can count"))?;
        self.resize(&shape)?;
        let block = Index::Blocks { start: first, stride: 1, count: 1, block: rows };
        self.write_slice(values, Selection::Indices(vec![block]))
    }

    /// Gives it another shape, within its maximum shape. What is new of it has the fill value.
    ///
    /// Errors are `OutOfBounds` for a shape beyond that, `Invalid` if it has no chunks.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        self.with(|writer, site| writer.resize(site, shape))
    }

    /// Stores the chunk at `index` (in chunks, not elements) as it is given: through the filters already, but for those
    /// whose bits `filter_mask` has.
    ///
    /// Errors are `OutOfBounds` if there is no such chunk, `Invalid` for a dataset without chunks.
    pub fn write_chunk_raw(&mut self, index: &[u64], filter_mask: u32, bytes: &[u8]) -> Result<()> {
        self.with(|writer, site| writer.write_chunk_raw(site, index, filter_mask, bytes))
    }

    /// A reference to it, for datasets and attributes of [`Reference`].
    pub fn reference(&self) -> Result<Reference> {
        self.shared.with(|draft| draft.promise(self.id)).map(Reference::to)
    }

    fn write_selected<V: Values>(&mut self, values: V, select: impl FnOnce(&[u64]) -> Result<Selected>) -> Result<()> {
        let selected = select(&self.shape()?).map_err(|e| self.at(e))?;
        let (given, elements) = (values.shape(), values.elements());
        let is_flat = given.len() == 1 && given.first() == selected.count().ok().as_ref();
        if given != selected.result_shape() && !is_flat {
            let what = format!("values of shape {given:?} for a selection of {:?}", selected.result_shape());
            return Err(self.at(Error::invalid(what)));
        }
        let bytes = self.shared.encode(&elements, &self.datatype, self.conversion).map_err(|e| self.at(e))?;
        self.with(|writer, site| writer.write(site, &selected, &bytes))
    }

    fn with<R>(&self, job: impl FnOnce(&mut Writer, &Site) -> Result<R>) -> Result<R> {
        self.slot.with(|writer| job(writer, &self.shared.site)).map_err(|e| self.at(e))
    }

    fn at(&self, error: Error) -> Error {
        error.at(Place::Object(self.path.clone()))
    }
}

attribute_methods!(NewDataset);
