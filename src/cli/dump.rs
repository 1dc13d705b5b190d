//! `h5 dump`: the values of a dataset, or of a part of it.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use hdfive::convert::{Value, ValueArray};
use hdfive::inspect::notation::{self, text};
use hdfive::selection::{Index, Selection};
use hdfive::{Attribute, Dataset, ErrorKind, File, Object};
use serde::Serialize;

use crate::names::Names;
use crate::{Failure, Opening, attrs, npy, say};

/// Print the values of a dataset, of a part of it, or of an attribute.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "PART is written as in NumPy: h5 dump FILE 'PATH[0, 10:20, ::-1, [4, 0, 4], ...]'. More than 1,000
elements lose their middle, unless --all is given. Where the output is no terminal it is JSON,
unless --text or --all is given.

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
    /// Write the elements to a file that NumPy loads.
    #[arg(long, value_name = "OUT")]
    npy: Option<String>,
    #[command(flatten)]
    opening: Opening,
}

/// Elements from which on the middle is left out, and how many stay at either end of a dimension.
const MANY: u64 = 1000;
const EDGE: u64 = 3;

impl Dump {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let file = self.opening.open(&self.opening.options(), &self.file)?;
        let names = Names::of(&file);
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        match Wanted::find(&file, &self.place)? {
            Wanted::Attribute(attribute) => self.attribute(&mut out, &attribute, &names)?,
            Wanted::Part(path, dataset, part) => self.dataset(&mut out, path, dataset, part, &names)?,
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
        match self.csv {
            true => csv(out, &names.name(attribute.read_value()?, attribute.datatype())),
            false => attrs::print(out, attribute, names, self.is_json()),
        }
    }

    fn dataset(
        &self,
        out: &mut impl Write,
        path: &str,
        dataset: Dataset,
        part: Selection,
        names: &Names<'_>,
    ) -> Result<(), Failure> {
        let read =
            |part: Selection| Ok::<_, Failure>(names.name(dataset.select(part).read_value()?, dataset.datatype()));
        if let Some(npy) = &self.npy {
            return npy::write(npy, &dataset, part);
        }
        if self.csv {
            return csv(out, &read(part)?);
        }
        if self.is_json() {
            let value = read(part.clone())?;
            let shape = if dataset.is_null() { None } else { Some(dataset.select(part).shape()?) };
            let datatype = notation::short(dataset.datatype());
            let attributes = attributes(&Object::Dataset(dataset.clone()), names)?;
            return Ok(writeln!(out, "{}", line_of_json(&Document { path, datatype, shape, attributes, value })?)?);
        }
        say(out, format_args!("{dataset}"))?;
        for attribute in dataset.attributes()? {
            let attribute = attribute?;
            let value = names.name(attribute.read_value()?, attribute.datatype());
            say(out, format_args!("@{} = {value}", text(attribute.name_bytes())))?;
        }
        let whole = part == Selection::all() && !dataset.is_null();
        if self.all {
            rows(out, &read(part)?, None)?;
        } else if whole && dataset.len() > MANY {
            // What is not shown is not read.
            let edges = dataset.shape().iter().map(|&size| edges(size)).collect();
            rows(out, &read(Selection::Indices(edges))?, Some(dataset.shape()))?;
        } else {
            write!(out, "{:#}", read(part)?)?;
        }
        Ok(writeln!(out)?)
    }
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

/// The first and last elements of a dimension, or all of a short one.
fn edges(size: u64) -> Index {
    let end = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    match size > 2 * EDGE {
        true => Index::List((0..EDGE).chain(size - EDGE..size).map(end).collect()),
        false => Index::ALL,
    }
}

/// Prints an array, a line for each row. Of dimensions that are longer in `full` than what is there, the middle is missing.
fn rows(out: &mut impl Write, value: &Value, full: Option<&[u64]>) -> Result<(), Failure> {
    match value {
        Value::Array(array) => row(out, array, full, 0, &mut array.elements.iter()),
        value => Ok(write!(out, "{value}")?),
    }
}

fn row<'v>(
    out: &mut impl Write,
    array: &ValueArray,
    full: Option<&[u64]>,
    axis: usize,
    elements: &mut impl Iterator<Item = &'v Value>,
) -> Result<(), Failure> {
    let Some(&count) = array.shape.get(axis) else {
        return elements.next().map_or(Ok(()), |element| Ok(write!(out, "{element}")?));
    };
    let cut = full.and_then(|full| full.get(axis)).is_some_and(|&size| size > count);
    let gap = if axis + 1 == array.shape.len() { ", ".to_owned() } else { format!(",\n{}", " ".repeat(axis + 1)) };
    write!(out, "[")?;
    for at in 0..count {
        if at > 0 {
            write!(out, "{gap}")?;
        }
        if cut && at == EDGE {
            write!(out, "...{gap}")?;
        }
        row(out, array, full, axis + 1, elements)?;
    }
    Ok(write!(out, "]")?)
}

/// What `--json` says of a dataset.
#[derive(Serialize)]
struct Document<'a> {
    path: &'a str,
    #[serde(rename = "type")]
    datatype: String,
    shape: Option<Vec<u64>>,
    attributes: BTreeMap<String, Value>,
    value: Value,
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
    serde_json::to_string(value).map_err(|error| Failure::Said(error.to_string()))
}

fn csv(out: &mut impl Write, value: &Value) -> Result<(), Failure> {
    let single;
    let array = match value {
        Value::Array(array) => array,
        value => {
            single = ValueArray { shape: vec![1], elements: vec![value.clone()] };
            &single
        }
    };
    if let Some(Value::Compound(members)) = array.elements.first() {
        line(out, members.iter().map(|(name, _)| name.clone()))?;
        for element in &array.elements {
            let Value::Compound(members) = element else { continue };
            line(out, members.iter().map(|(_, value)| cell(value)))?;
        }
        return Ok(());
    }
    let columns = if array.shape.len() > 1 { array.shape.last().copied().unwrap_or(1) } else { 1 };
    let columns = usize::try_from(columns).unwrap_or(usize::MAX).max(1);
    array.elements.chunks(columns).try_for_each(|row| line(out, row.iter().map(cell)))
}

/// What stands in a field: texts as they are, everything else as it is shown.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Empty => String::new(),
        value => value.to_string(),
    }
}

fn line(out: &mut impl Write, cells: impl Iterator<Item = String>) -> Result<(), Failure> {
    for (number, cell) in cells.enumerate() {
        let comma = if number > 0 { "," } else { "" };
        if cell.contains([',', '"', '\n', '\r']) {
            write!(out, "{comma}\"{}\"", cell.replace('"', "\"\""))?;
        } else {
            write!(out, "{comma}{cell}")?;
        }
    }
    Ok(writeln!(out)?)
}
