//! Attributes as Zarr has them: JSON.

use serde_json::{Map, Value as Json};

use super::references::{Blocked, References};
use crate::convert::Value;
use crate::error::Result;
use crate::handle::Attribute;

/// Attributes that are HDF5's and netCDF's own bookkeeping.
const HIDDEN: [&str; 8] = [
    "REFERENCE_LIST",
    "CLASS",
    "DIMENSION_LIST",
    "NAME",
    "_Netcdf4Dimid",
    "_Netcdf4Coordinates",
    "_nc3_strict",
    "_NCProperties",
];

/// The attributes of the object at `path`; those that cannot be read are blocked.
pub(super) fn of(found: &Result<Vec<Result<Attribute>>>, path: &str, out: &mut References) -> Map<String, Json> {
    let mut all = Map::new();
    let mut block = |why: String| out.blocked.push(Blocked { path: format!("/{path}"), why });
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            block(format!("its attributes: {error:#}"));
            return all;
        }
    };
    for attribute in found {
        let value = attribute.as_ref().map_err(Clone::clone).and_then(|own| Ok((own.name(), own.read_value()?)));
        match value {
            Ok((name, _)) if HIDDEN.contains(&name.as_str()) => {}
            Ok((name, value)) => drop(all.insert(name, json(&value))),
            Err(error) => block(format!("an attribute: {error:#}")),
        }
    }
    all
}

/// A value: a single one for an array of one, and "" for nothing.
fn json(value: &Value) -> Json {
    match serde_json::to_value(value).unwrap_or(Json::Null) {
        Json::Null => Json::String(String::new()),
        Json::Array(mut list) if list.len() == 1 => list.pop().unwrap_or(Json::Null),
        json => json,
    }
}

/// A number, as text where JSON has none.
pub(super) fn number(number: f64) -> Json {
    serde_json::to_value(Value::Float(number)).unwrap_or(Json::Null)
}
