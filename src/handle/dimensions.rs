//! Dimension scales: datasets that say what stands along the dimensions of others. The HDF5 Dimension Scale
//! Specification.
//!
//! ```text
//! a dataset   DIMENSION_LIST    per dimension references to scales      DIMENSION_LABELS   per dimension a text
//! a scale     CLASS "DIMENSION_SCALE"                                   NAME               what it is called
//! ```

use std::sync::Arc;

use super::attribute::Attribute;
use super::dataset::Dataset;
use super::file::File;
use super::group::Object;
use crate::convert::Reference;
use crate::error::{Error, ErrorKind, Result};

/// A dimension of a dataset: its size, what it is called, what stands along it.
#[derive(Clone, Debug)]
pub struct Dimension {
    /// Elements along it.
    pub size: u64,
    /// Whether it may grow without end.
    pub is_unlimited: bool,
    /// What it is called; empty if nothing is said.
    pub label: String,
    /// Its scales, in the order in which they were attached.
    pub scales: Vec<Dataset>,
}

impl Dataset {
    /// Its dimensions with their labels and scales, as many as its rank.
    ///
    /// ```
    /// # fn main() -> hdfive::Result<()> {
    /// let file = hdfive::File::open("testdata/readme/weather.h5")?;
    /// let dims = file.dataset("/surface/temperature")?.dims()?;
    /// assert_eq!(dims[1].scales[0].scale_name()?.as_deref(), Some("lat"));
    /// let latitudes: Vec<f32> = dims[1].scales[0].read()?;
    /// assert_eq!(latitudes.len(), 11);
    /// # Ok(()) }
    /// ```
    ///
    /// Errors are `WrongType` where the attributes are not as the specification has them, and those of following
    /// references.
    pub fn dims(&self) -> Result<Vec<Dimension>> {
        let of = |(&size, max): (&u64, Option<u64>)| Dimension {
            size,
            is_unlimited: max.is_none(),
            label: String::new(),
            scales: Vec::new(),
        };
        let mut dimensions: Vec<Dimension> = self.shape().iter().zip(self.max_shape()).map(of).collect();
        if let Some(labels) = self.own("DIMENSION_LABELS")? {
            let labels: Vec<Option<String>> = labels.read()?;
            for (dimension, label) in dimensions.iter_mut().zip(labels) {
                dimension.label = label.unwrap_or_default();
            }
        }
        let Some(list) = self.own("DIMENSION_LIST")? else { return Ok(dimensions) };
        let file = File::new(Arc::clone(&self.node.core));
        for (dimension, references) in dimensions.iter_mut().zip(list.read::<Vec<Reference>>()?) {
            for reference in references.iter().filter(|reference| !reference.is_null()) {
                match reference.follow(&file).map_err(|e| self.at(e))? {
                    Object::Dataset(scale) => dimension.scales.push(scale),
                    Object::Group(_) | Object::NamedType(_) => {
                        return Err(
                            self.at(Error::wrong_type(format!("the scale that is the {reference} is no dataset")))
                        );
                    }
                }
            }
        }
        Ok(dimensions)
    }

    /// Whether it is a dimension scale.
    pub fn is_scale(&self) -> Result<bool> {
        Ok(self.own("CLASS")?.is_some_and(|class| class.read_scalar::<String>().is_ok_and(|c| c == "DIMENSION_SCALE")))
    }

    /// What it is called as a dimension scale, if it says so.
    pub fn scale_name(&self) -> Result<Option<String>> {
        self.own("NAME")?.map(|name| name.read_scalar()).transpose()
    }

    /// An attribute that need not be there.
    pub(crate) fn own(&self, name: &str) -> Result<Option<Attribute>> {
        match self.attribute(name) {
            Ok(attribute) => Ok(Some(attribute)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
