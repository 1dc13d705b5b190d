//! Elements as text, as lines of comma-separated values and as JSON, one after the other as they are read: output of any
//! length takes no more memory than a part of it.

use std::cell::RefCell;
use std::io::Write;
use std::iter::Peekable;

use hdfive::convert::Value;
use hdfive::inspect::notation::visible;
use hdfive::{Dataset, DatasetSelection};
use serde::ser::{Error, Serialize, SerializeSeq, Serializer};

use crate::Failure;
use crate::dump::EDGE;
use crate::names::Names;

/// The elements of a selection, in which references are named.
///
/// An error of the first ones is given here, before anything is printed.
pub(crate) fn values<'n>(
    dataset: &Dataset,
    selection: &DatasetSelection,
    names: &'n Names<'_>,
) -> Result<Peekable<impl Iterator<Item = hdfive::Result<Value>> + use<'n>>, Failure> {
    let tree = names.tree(dataset.datatype());
    let named = move |mut value: Value| {
        tree.iter().for_each(|tree| tree.name_references(&mut value));
        value
    };
    let mut values = selection.values()?.map(move |value| value.map(named)).peekable();
    match values.next_if(Result::is_err) {
        Some(Err(error)) => Err(error.into()),
        Some(Ok(_)) | None => Ok(values),
    }
}

/// Prints elements of `shape`, a line for each row, and for each compound. Of dimensions that are longer in `full`, the
/// middle is missing.
pub(crate) fn rows<I: Iterator<Item = hdfive::Result<Value>>>(
    out: &mut impl Write,
    mut values: Peekable<I>,
    shape: &[u64],
    full: &[u64],
) -> Result<(), Failure> {
    if shape.contains(&0) {
        return Ok(write!(out, "[]")?);
    }
    let lines = matches!(values.peek(), Some(Ok(Value::Compound(_))));
    row(out, &mut values, [shape, full], lines, 0)
}

fn row(
    out: &mut impl Write,
    values: &mut impl Iterator<Item = hdfive::Result<Value>>,
    shapes: [&[u64]; 2],
    lines: bool,
    axis: usize,
) -> Result<(), Failure> {
    let [shape, full] = shapes;
    let Some(&count) = shape.get(axis) else {
        return values.next().map_or(Ok(()), |element| Ok(write!(out, "{}", visible(&element?.to_string()))?));
    };
    let one_line = axis + 1 == shape.len() && !lines;
    let gap = if one_line { ", ".to_owned() } else { format!(",\n{}", " ".repeat(axis + 1)) };
    write!(out, "[")?;
    for at in 0..count {
        if at > 0 {
            write!(out, "{gap}")?;
        }
        if full[axis] > count && at == EDGE {
            write!(out, "...{gap}")?;
        }
        row(out, values, shapes, lines, axis + 1)?;
    }
    Ok(write!(out, "]")?)
}

/// Elements as JSON has them: lists in lists, one level a dimension; none if there are no elements.
pub(crate) struct Lists<'a, I> {
    pub(crate) shape: &'a [u64],
    pub(crate) values: &'a RefCell<I>,
}

impl<I: Iterator<Item = hdfive::Result<Value>>> Serialize for Lists<'_, I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Some((&count, shape)) = self.shape.split_first() else {
            return match self.values.borrow_mut().next() {
                Some(Ok(value)) => value.serialize(to),
                Some(Err(error)) => Err(S::Error::custom(error)),
                None => to.serialize_none(),
            };
        };
        let mut list = to.serialize_seq(None)?;
        let count = if shape.contains(&0) { 0 } else { count };
        (0..count).try_for_each(|_| list.serialize_element(&Lists { shape, values: self.values }))?;
        list.end()
    }
}

/// Prints a line for each compound, behind their names, or for each `columns` elements.
pub(crate) fn csv<I: Iterator<Item = hdfive::Result<Value>>>(
    out: &mut impl Write,
    mut values: Peekable<I>,
    columns: u64,
) -> Result<(), Failure> {
    if let Some(Ok(Value::Compound(members))) = values.peek() {
        members.iter().enumerate().try_for_each(|(number, (name, _))| field(out, number > 0, name))?;
        writeln!(out)?;
        for element in values {
            let Value::Compound(members) = element? else { continue };
            members.iter().enumerate().try_for_each(|(number, (_, value))| cell(out, number > 0, value))?;
            writeln!(out)?;
        }
        return Ok(());
    }
    let mut column = 0;
    for element in values {
        cell(out, column > 0, &element?)?;
        column += 1;
        if column >= columns {
            writeln!(out)?;
            column = 0;
        }
    }
    Ok(())
}

/// What stands in a field: texts as they are, everything else as it is shown.
fn cell(out: &mut impl Write, follows: bool, value: &Value) -> Result<(), Failure> {
    match value {
        Value::String(text) => field(out, follows, text),
        Value::Empty => field(out, follows, ""),
        value => field(out, follows, &value.to_string()),
    }
}

fn field(out: &mut impl Write, follows: bool, text: &str) -> Result<(), Failure> {
    let comma = if follows { "," } else { "" };
    match text.contains([',', '"', '\n', '\r']) {
        true => write!(out, "{comma}\"{}\"", text.replace('"', "\"\""))?,
        false => write!(out, "{comma}{text}")?,
    }
    Ok(())
}
