//! netCDF-4's view of a file: dimensions with names, variables, coordinate variables, values that are missing.
//! The netCDF-4 File Format Specification.
//!
//! ```text
//! netCDF                     HDF5
//! group                      group
//! dimension                  dimension scale; one without a variable says so in its NAME
//! variable                   dataset; DIMENSION_LIST says which scales its dimensions are
//! coordinate variable        dimension scale that is a variable
//! user-defined type          committed datatype
//! ```

use std::collections::HashSet;

use crate::convert::H5Type;
use crate::error::Result;
use crate::handle::{Attribute, Dataset, Group, LinkTarget, Object};
use crate::wire::Addr;

/// How the NAME of a scale begins that is a dimension and no variable.
const NO_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";
/// What stands before the name of a variable that is called like a dimension that it is no coordinate of.
const NOT_COORDINATE: &str = "_nc4_non_coord_";
/// Attributes that are netCDF's own bookkeeping.
const HIDDEN: [&str; 8] = [
    "CLASS",
    "NAME",
    "DIMENSION_LIST",
    "DIMENSION_LABELS",
    "REFERENCE_LIST",
    "_Netcdf4Dimid",
    "_Netcdf4Coordinates",
    "_nc3_strict",
];

/// A group with what netCDF sees in it.
#[derive(Clone, Debug)]
pub struct NetcdfGroup {
    /// Its path; `/` for the root.
    pub path: String,
    /// The dimensions that are defined in it, in the order of their ids, then of their names.
    pub dimensions: Vec<NetcdfDimension>,
    /// Its variables, sorted by name.
    pub variables: Vec<Variable>,
    /// The groups in it, sorted by name.
    pub groups: Vec<NetcdfGroup>,
}

/// A dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetcdfDimension {
    /// What it is called.
    pub name: String,
    /// Its size.
    pub size: u64,
    /// Whether it may grow without end.
    pub is_unlimited: bool,
    /// The scale's identity, for finding it.
    address: Addr,
    id: Option<i64>,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// What it is called.
    pub name: String,
    /// Where its values are.
    pub dataset: Dataset,
    /// The names of its dimensions. One without a scale is called `phony_dim_` and its place, as in netCDF-C.
    pub dimensions: Vec<String>,
    /// Whether its values are the coordinates along the dimension of its name.
    pub is_coordinate: bool,
}

impl NetcdfGroup {
    /// What netCDF sees in `group` and the groups below it.
    ///
    /// Errors are those of opening objects and reading their attributes.
    pub fn of(group: &Group) -> Result<NetcdfGroup> {
        Self::below(group, &[], &mut HashSet::from([group.address()]))
    }

    /// `seen` are the groups that were reached: those that contain each other have no end.
    fn below(group: &Group, outer: &[NetcdfDimension], seen: &mut HashSet<Addr>) -> Result<NetcdfGroup> {
        let (mut datasets, mut groups) = (Vec::new(), Vec::new());
        for link in group.links()?.iter().filter(|link| matches!(link.target, LinkTarget::Hard(_))) {
            match group.object(&link.name())? {
                Object::Dataset(dataset) => datasets.push((link.name(), dataset)),
                Object::Group(inner) if seen.insert(inner.address()) => groups.push(inner),
                Object::Group(_) | Object::NamedType(_) => {}
            }
        }
        let mut dimensions = Vec::new();
        for (name, dataset) in &datasets {
            dimensions.extend(dimension(name, dataset)?);
        }
        dimensions.sort_by_key(|dimension| dimension.id.unwrap_or(i64::MAX));
        let known = [&dimensions[..], outer].concat();
        let mut variables = Vec::new();
        for (name, dataset) in datasets {
            variables.extend(variable(name, dataset, &known)?);
        }
        let groups = groups.iter().map(|inner| Self::below(inner, &known, seen)).collect::<Result<_>>()?;
        Ok(NetcdfGroup { path: group.path().to_owned(), dimensions, variables, groups })
    }

    /// The variable called `name` in this group.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }
}

/// The dimension that a scale is.
fn dimension(name: &str, dataset: &Dataset) -> Result<Option<NetcdfDimension>> {
    if !dataset.is_scale()? {
        return Ok(None);
    }
    let id = dataset.own("_Netcdf4Dimid")?.map(|id| id.read_scalar()).transpose()?;
    Ok(Some(NetcdfDimension {
        name: name.to_owned(),
        size: dataset.shape().first().copied().unwrap_or(0),
        is_unlimited: dataset.max_shape().first().is_some_and(Option::is_none),
        address: dataset.address(),
        id,
    }))
}

fn variable(name: String, dataset: Dataset, known: &[NetcdfDimension]) -> Result<Option<Variable>> {
    let is_scale = dataset.is_scale()?;
    if is_scale && dataset.scale_name()?.is_some_and(|name| name.starts_with(NO_VARIABLE)) {
        return Ok(None);
    }
    let name_of = |axis: usize, address: Option<Addr>| {
        let found = known.iter().find(|dimension| Some(dimension.address) == address);
        found.map_or_else(|| format!("phony_dim_{axis}"), |dimension| dimension.name.clone())
    };
    let ids: Option<Vec<i64>> = dataset.own("_Netcdf4Coordinates")?.map(|ids| ids.read()).transpose()?;
    let dimensions = match ids {
        Some(ids) => {
            let of = |(axis, id): (usize, &i64)| {
                let found = known.iter().find(|dimension| dimension.id == Some(*id));
                found.map_or_else(|| format!("phony_dim_{axis}"), |dimension| dimension.name.clone())
            };
            ids.iter().enumerate().map(of).collect()
        }
        None if is_scale => vec![name_of(0, Some(dataset.address()))],
        None => {
            let scales = dataset.dims()?;
            let address = |scales: &[Dataset]| scales.first().map(Dataset::address);
            scales.iter().enumerate().map(|(axis, d)| name_of(axis, address(&d.scales))).collect()
        }
    };
    let name = name.strip_prefix(NOT_COORDINATE).unwrap_or(&name).to_owned();
    Ok(Some(Variable { name, dataset, dimensions, is_coordinate: is_scale }))
}

impl Variable {
    /// The value that stands for what is missing: that of `_FillValue`, if the variable has this attribute.
    pub fn fill_value<T: H5Type>(&self) -> Result<Option<T>> {
        self.dataset.own("_FillValue")?.map(|value| value.read_scalar()).transpose()
    }

    /// Its values, row-major; `None` where they are missing.
    pub fn read<T: H5Type + PartialEq>(&self) -> Result<Vec<Option<T>>> {
        let values: Vec<T> = self.dataset.read()?;
        let Some(missing) = self.fill_value::<T>()? else { return Ok(values.into_iter().map(Some).collect()) };
        let not_a_number = !is_itself(&missing);
        let is_missing = |value: &T| *value == missing || not_a_number && !is_itself(value);
        Ok(values.into_iter().map(|value| (!is_missing(&value)).then_some(value)).collect())
    }

    /// Its attributes without those of netCDF's own bookkeeping, sorted by name.
    pub fn attributes(&self) -> Result<Vec<Attribute>> {
        let shown = |attribute: &Attribute| !HIDDEN.contains(&attribute.name().as_str());
        let all = self.dataset.attributes()?.into_iter().collect::<Result<Vec<Attribute>>>()?;
        Ok(all.into_iter().filter(shown).collect())
    }
}

/// Whether a value equals itself: what is not a number does not.
#[expect(clippy::eq_op, reason = "that is the question")]
fn is_itself<T: PartialEq>(value: &T) -> bool {
    value == value
}
