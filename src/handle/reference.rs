//! Following references.

use super::attribute::Attribute;
use super::file::File;
use super::group::Object;
use super::selected::DatasetSelection;
use crate::convert::Reference;
use crate::convert::reference::Part;
use crate::error::{Error, Result};
use crate::format::encoded_selection::{EncodedSelection, Selection as Encoded};
use crate::index::virtual_layout::{elements, regular};
use crate::selection::{Index, Selection, shape};
use crate::storage::Purpose;

/// Elements of a region that is neither a block nor a list of points; they are listed one by one.
const MOST_LISTED: u64 = 1 << 24;

impl Reference {
    /// The object that it points at, or at a part of which.
    ///
    /// `file` is the file in which the reference stands. References hold addresses, not names: `path` of the object says
    /// `object at 0x578`. Errors are `NotFound` if it points at nothing, and those of opening objects, and files where
    /// it points into another.
    pub fn follow(&self, file: &File) -> Result<Object> {
        let Some(address) = self.address() else { return Err(Error::not_found("the reference points at nothing")) };
        let path = format!("object at {address}");
        match self.file_name() {
            None => file.root()?.object_at(address, &path),
            Some(other) => file.other(other, Purpose::ExternalLink)?.root()?.object_at(address, &path),
        }
    }

    /// The region of a dataset that it points at; all of a dataset, if it points at that as a whole. Shapes are as in
    /// h5py: a regular region has the dataset's rank, points and irregular regions are a list.
    ///
    /// Errors are `WrongType` if it points at something else, and those of [`follow`](Self::follow).
    pub fn region(&self, file: &File) -> Result<DatasetSelection> {
        let dataset = match self.follow(file)? {
            Object::Dataset(dataset) => dataset,
            Object::Group(_) | Object::NamedType(_) => {
                return Err(Error::wrong_type(format!("{self} is no region of a dataset")));
            }
        };
        match self.part() {
            Part::Whole => Ok(dataset.select(..)),
            Part::Region(region) => Ok(dataset.select(selection(region, dataset.shape())?)),
            Part::Attribute(_) => Err(Error::wrong_type(format!("{self} is no region of a dataset"))),
        }
    }

    /// The attribute that it points at.
    ///
    /// Errors are `WrongType` if it points at something else, and those of [`follow`](Self::follow).
    pub fn attribute(&self, file: &File) -> Result<Attribute> {
        let Part::Attribute(name) = self.part() else {
            return Err(Error::wrong_type(format!("{self} is no attribute")));
        };
        match self.follow(file)? {
            Object::Group(group) => group.attribute(name),
            Object::Dataset(dataset) => dataset.attribute(name),
            Object::NamedType(datatype) => datatype.attribute(name),
        }
    }
}

/// A stored selection as one of a dataset of `shape`.
fn selection(stored: &EncodedSelection, shape: &[u64]) -> Result<Selection> {
    let selected = elements(stored, shape, None)?;
    if let Encoded::Regular(axes) = &regular(stored).selection {
        let index = |axis: &crate::format::encoded_selection::RegularDimension| {
            let (start, stride) = (axis.start, axis.stride);
            Some(Index::Blocks { start, stride, count: axis.count?, block: axis.block? })
        };
        if let Some(indices) = axes.iter().map(index).collect() {
            return Ok(Selection::Indices(indices));
        }
    }
    if let Encoded::All = stored.selection {
        return Ok(Selection::all());
    }
    if selected.count() > MOST_LISTED {
        return Err(Error::limit(format!("an irregular region of {} elements", selected.count())));
    }
    let mut points = Vec::new();
    for run in selected.runs(shape)? {
        for number in run.start..run.start + run.count {
            let point = shape::coordinates(shape, number).unwrap_or_default();
            points.push(point.iter().map(|&at| i64::try_from(at).unwrap_or(i64::MAX)).collect());
        }
    }
    Ok(Selection::Points(points))
}
