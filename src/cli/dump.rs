//! `h5 dump`: the values of a dataset, or of a part of it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use hdfive::convert::Value;
use hdfive::inspect::notation::{self, text};
use hdfive::selection::{AxisSelection, Index, Selection};
use hdfive::{Attribute, Dataset, DatasetSelection, ErrorKind, File, Object};
use serde::Serialize;

use crate::elements::{self, Lists};
use crate::names::Names;
use crate::{Failure, Opening, attrs, npy, say};

/// Print the values of a dataset, of a part of it, or of an attribute.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "PART is written as in NumPy: h5 dump FILE 'PATH[0, 10:20, ::-1, [4, 0, 4], ...]'. More than 1,000
elements lose their middle, unless --all is given. Where the output is no terminal it is JSON,
unless --text or --all is given. Numbers that JSON lacks are \"NaN\", \"Infinity\" and \"-Infinity\" there.

Examples:
  h5 dump weather.h5 /surface/temperature
  h5 dump weather.h5 '/surface/temperature[0, :4, -1]'
  h5 dump weather.h5 /surface/temperature@units
  h5 dump weather.h5 /time --text | less
  h5 dump weather.h5 /stations/place --csv > stations.csv
  h5 dump weather.h5 /lat --npy lat.npy"
)]
pub(crate) struct Dump {
    /// The file.
    file: String,
    /// Path of a dataset, and which part of it; or PATH@NAME, an attribute.
    #[arg(value_name = "PATH[PART]")]
    place: String,
    /// Print every element.
    #[arg(long)]
    all: bool,
    /// Print JSON: path, type, shape, attributes and value.
    #[arg(long, conflicts_with_all = ["csv", "npy", "text"])]
    json: bool,
    /// Print text, wherever it goes.
    #[arg(long, conflicts_with_all = ["csv", "npy"])]
    text: bool,
    /// Print lines of comma-separated values: a line for each row, or for each compound.
    #[arg(long, conflicts_with = "npy")]
    csv: bool,
    /// Write the elements to a file that NumPy loads; - is the standard output.
    #[arg(long, value_name = "OUT")]
    npy: Option<String>,
    #[command(flatten)]
    opening: Opening,
}

/// Elements from which on the middle is left out, and how many stay at either end of a dimension.
const MANY: u64 = 1000;
pub(crate) const EDGE: u64 = 3;

impl Dump {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let file = self.opening.open(&self.opening.options(), &self.file)?;
        let names = Names::of(&file);
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        match Wanted::find(&file, &self.place)? {
            Wanted::Attribute(attribute) => self.attribute(&mut out, &attribute, &names)?,
            Wanted::Part(path, dataset, part) => self.dataset(&mut out, path, &dataset, part, &names)?,
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    fn is_json(&self) -> bool {
        self.json || !(self.text || self.all || std::io::stdout().is_terminal())
    }

    fn attribute(&self, out: &mut impl Write, attribute: &Attribute, names: &Names<'_>) -> Result<(), Failure> {
        if self.npy.is_some() {
            return Err(Failure::Usage("--npy takes a dataset, not an attribute".to_owned()));
        }
        if !self.csv {
            return attrs::print(out, attribute, names, self.is_json());
        }
        let values = match names.name(attribute.read_value()?, attribute.datatype()) {
            Value::Array(array) => array.elements,
            value => vec![value],
        };
        elements::csv(out, values.into_iter().map(Ok).peekable(), columns(attribute.shape()))
    }

    fn dataset(
        &self,
        out: &mut impl Write,
        path: &str,
        dataset: &Dataset,
        part: Selection,
        names: &Names<'_>,
    ) -> Result<(), Failure> {
        let selection = dataset.select(part);
        if let Some(npy) = &self.npy {
            return npy::write(npy, out, dataset, &selection);
        }
        let shape = if dataset.is_null() { None } else { Some(selection.shape()?) };
        if self.csv {
            return elements::csv(
                out,
                elements::values(dataset, &selection, names)?,
                columns(&shape.unwrap_or_default()),
            );
        }
        if self.is_json() {
            let values = RefCell::new(elements::values(dataset, &selection, names)?);
            let value = Lists { shape: shape.as_deref().unwrap_or_default(), values: &values };
            let datatype = notation::short(dataset.datatype());
            let attributes = attributes(&Object::Dataset(dataset.clone()), names)?;
            serde_json::to_writer(&mut *out, &Document { path, datatype, shape: shape.as_deref(), attributes, value })?;
            return Ok(writeln!(out)?);
        }
        say(out, format_args!("{dataset}"))?;
        for attribute in dataset.attributes()? {
            let attribute = attribute?;
            let value = names.name(attribute.read_value()?, attribute.datatype());
            say(out, format_args!("@{} = {value}", text(attribute.name_bytes())))?;
        }
        match shape {
            None => write!(out, "{}", Value::Empty)?,
            Some(full) => self.elements(out, dataset, &selection, names, &full)?,
        }
        Ok(writeln!(out)?)
    }

    /// Prints elements as text. What is not shown is not read.
    fn elements(
        &self,
        out: &mut impl Write,
        dataset: &Dataset,
        selection: &DatasetSelection,
        names: &Names<'_>,
        full: &[u64],
    ) -> Result<(), Failure> {
        let count = full.iter().fold(1u64, |n, &size| n.saturating_mul(size));
        let selected = selection.selected()?;
        let axes = selected.axes().filter(|_| !self.all && count > MANY);
        let Some(axes) = axes.map(|axes| axes.iter().map(ends).collect()) else {
            return elements::rows(out, elements::values(dataset, selection, names)?, full, full);
        };
        let shape: Vec<u64> = full.iter().map(|&size| size.min(2 * EDGE)).collect();
        let shown = dataset.select(Selection::Indices(axes));
        elements::rows(out, elements::values(dataset, &shown, names)?, &shape, full)
    }
}

/// Elements of a line of comma-separated values.
fn columns(shape: &[u64]) -> u64 {
    if shape.len() > 1 { shape[shape.len() - 1] } else { 1 }
}

/// The first and last elements of what is selected along a dimension, or all where these are few.
fn ends(axis: &AxisSelection) -> Index {
    let at = |k: u64| match axis {
        AxisSelection::Range { start, step, .. } => {
            i64::try_from(i128::from(*start) + i128::from(*step) * i128::from(k)).unwrap_or(i64::MAX)
        }
        AxisSelection::List(list) => {
            usize::try_from(k).ok().and_then(|k| i64::try_from(*list.get(k)?).ok()).unwrap_or(i64::MAX)
        }
    };
    let count = axis.count();
    Index::List((0..count.min(EDGE)).chain(count.saturating_sub(EDGE).max(EDGE)..count).map(at).collect())
}

/// What is to be printed.
enum Wanted<'a> {
    /// A part of the dataset at a path.
    Part(&'a str, Dataset, Selection),
    Attribute(Attribute),
}

impl<'a> Wanted<'a> {
    /// What `place` stands for: the path of a dataset, as names may have brackets and signs; otherwise a path with a part
    /// in brackets, or with the name of an attribute.
    fn find(file: &File, place: &'a str) -> Result<Self, Failure> {
        let missing = match file.dataset(place) {
            Ok(dataset) => return Ok(Wanted::Part(place, dataset, Selection::all())),
            Err(error) if error.kind() == ErrorKind::NotFound => error,
            Err(error) => return Err(error.into()),
        };
        if let Some((path, part)) = place.split_once('[') {
            let part =
                part.strip_suffix(']').ok_or_else(|| Failure::Usage(format!("{place:?} has no ] at its end")))?;
            let part = part.parse().map_err(|error: hdfive::Error| Failure::Usage(error.to_string()))?;
            return Ok(Wanted::Part(path, file.dataset(path)?, part));
        }
        match place.rsplit_once('@') {
            Some(("", name)) => Ok(Wanted::Attribute(file.object("/")?.attribute(name)?)),
            Some((path, name)) => Ok(Wanted::Attribute(file.object(path)?.attribute(name)?)),
            None => Err(missing.into()),
        }
    }
}

/// What `--json` says of a dataset.
#[derive(Serialize)]
struct Document<'a, V> {
    path: &'a str,
    #[serde(rename = "type")]
    datatype: String,
    shape: Option<&'a [u64]>,
    attributes: BTreeMap<String, Value>,
    value: V,
}

/// The attributes of an object by name.
pub(crate) fn attributes(object: &Object, names: &Names<'_>) -> Result<BTreeMap<String, Value>, Failure> {
    let mut values = BTreeMap::new();
    for attribute in object.attributes()? {
        let attribute = attribute?;
        let value = names.name(attribute.read_value()?, attribute.datatype());
        values.insert(text(attribute.name_bytes()), value);
    }
    Ok(values)
}

/// Anything as one line of JSON.
pub(crate) fn line_of_json(value: &impl Serialize) -> Result<String, Failure> {
    Ok(serde_json::to_string(value)?)
}
