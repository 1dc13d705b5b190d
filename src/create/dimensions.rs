//! Dimension scales: datasets that say what the coordinates along a dimension are, as HDF5's "high-level" library, h5py
//! and netCDF-4 have them.
//!
//! | attribute | of | says |
//! |---|---|---|
//! | `CLASS`, `NAME` | the scale | that it is one, and what it is called |
//! | `DIMENSION_LIST` | the dataset | for each dimension, its scales |
//! | `REFERENCE_LIST` | the scale | which dimensions of which datasets it is for |
//! | `DIMENSION_LABELS` | the dataset | what its dimensions are called |
//!
//! ```
//! use hdfive::{File, FileBuilder};
//!
//! # fn main() -> hdfive::Result<()> {
//! let file = FileBuilder::new().create_in_memory()?;
//! let time = file.new_dataset_builder().with_data([0.0, 6.0, 12.0]).create("time")?;
//! time.make_scale("time")?;
//! let rain = file.new_dataset::<f32>().shape([3, 5]).create("rain")?;
//! rain.attach_scale(0, &time)?;
//! rain.label(1, "station")?;
//! let file = File::from_bytes(file.close_in_memory()?)?;
//! let dimensions = file.dataset("rain")?.dims()?;
//! assert_eq!(dimensions[0].scales[0].read::<f64>()?, [0.0, 6.0, 12.0]);
//! assert_eq!(dimensions[1].label, "station");
//! # Ok(()) }
//! ```

use std::collections::BTreeMap;

use super::dataset::NewDataset;
use super::shared::{Scales, Shared};
use crate::convert::types::compound;
use crate::convert::{H5Type, Reference};
use crate::error::{Error, Result};
use crate::format::message::datatype::{Class, Datatype, Text};
use crate::write::ObjectId;

impl NewDataset {
    /// Makes it a dimension scale that is called `name`, which may be empty.
    pub fn make_scale(&self, name: &str) -> Result<()> {
        self.attr_as("CLASS", "DIMENSION_SCALE", &ended_text("DIMENSION_SCALE"))?;
        self.attr_as("NAME", name, &ended_text(name))
    }

    /// Attaches a scale to one of its dimensions. A dimension may have several.
    ///
    /// Errors are `OutOfBounds` if it has fewer dimensions, and `Invalid` for a scale of another file.
    pub fn attach_scale(&self, dimension: usize, scale: &NewDataset) -> Result<()> {
        if !std::sync::Arc::ptr_eq(&self.shared, &scale.shared) {
            return Err(Error::invalid("the scale is in another file"));
        }
        let rank = self.rank_with(dimension)?;
        self.shared.scales(|scales| {
            let own = scales.of_dataset.entry(self.id).or_insert_with(|| vec![Vec::new(); rank]);
            if !own[dimension].contains(&scale.id) {
                own[dimension].push(scale.id);
            }
        });
        Ok(())
    }

    /// Says what one of its dimensions is called.
    ///
    /// Errors are `OutOfBounds` if it has fewer dimensions.
    pub fn label(&self, dimension: usize, label: &str) -> Result<()> {
        let rank = self.rank_with(dimension)?;
        self.shared.scales(|scales| {
            let own = scales.labels.entry(self.id).or_insert_with(|| vec![String::new(); rank]);
            label.clone_into(&mut own[dimension]);
        });
        Ok(())
    }

    /// How many dimensions it has, if this is one of them.
    fn rank_with(&self, dimension: usize) -> Result<usize> {
        let rank = self.shape()?.len();
        if dimension >= rank {
            return Err(Error::out_of_bounds(format!("dimension {dimension} of {rank}")));
        }
        Ok(rank)
    }
}

/// Writes the attributes that list scales, each as a whole.
pub(super) fn finish(shared: &Shared) -> Result<()> {
    let Scales { of_dataset, labels } = shared.scales(std::mem::take);
    let reference = |id: ObjectId| shared.with(|draft| draft.promise(id)).map(Reference::to);
    let mut uses: BTreeMap<ObjectId, Vec<(Reference, i32)>> = BTreeMap::new();
    for (dataset, dimensions) in of_dataset {
        let own = reference(dataset)?;
        let mut list = Vec::with_capacity(dimensions.len());
        for (scales, number) in dimensions.into_iter().zip(0..) {
            scales.iter().for_each(|scale| uses.entry(*scale).or_default().push((own.clone(), number)));
            list.push(scales.into_iter().map(reference).collect::<Result<Vec<Reference>>>()?);
        }
        put(shared, dataset, "DIMENSION_LIST", &list, &Vec::<Reference>::type_descriptor())?;
    }
    let used = compound(&[("dataset", Reference::type_descriptor()), ("dimension", i32::type_descriptor())]);
    for (scale, uses) in uses {
        put(shared, scale, "REFERENCE_LIST", &uses, &used)?;
    }
    for (dataset, labels) in labels {
        put(shared, dataset, "DIMENSION_LABELS", &labels, &String::type_descriptor())?;
    }
    Ok(())
}

fn put<T: H5Type>(shared: &Shared, id: ObjectId, name: &str, values: &[T], datatype: &Datatype) -> Result<()> {
    let dataspace = super::dataspace(vec![values.len() as u64], None)?;
    let message = shared.attribute(name, &dataspace, values, datatype)?;
    shared.with(|draft| draft.put_attribute(id, bytes::Bytes::copy_from_slice(name.as_bytes()), message))
}

/// The datatype of a text that a NUL ends, as libhdf5 has it here.
fn ended_text(text: &str) -> Datatype {
    let size = u32::try_from(text.len() + 1).unwrap_or(u32::MAX);
    let character_set = u8::from(!text.is_ascii());
    Datatype { version: 1, size, class: Class::String(Text { padding: 0, character_set }), unused_bits: 0 }
}
