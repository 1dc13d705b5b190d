//! `Value`: elements whose type is known only when the program runs.

use std::fmt;

use super::h5type::H5Type;
use super::heaps::Heaps;
use super::notation::{is_bool, quoted, text};
use super::number::{self, Conversion, Layout};
use super::reference::Reference;
use super::string::trim;
use super::time::{DateTime64, TimeType};
use super::types::{complex_parts, whole_member};
use crate::error::{Error, Result};
use crate::format::message::datatype::{Class, Datatype, Text};

/// An element, or an array of elements, of any datatype.
///
/// `Display` shows it on one line, arrays in brackets; arrays of more than 1,000 elements lose their middle, as NumPy
/// has it. Floats are as NumPy's `repr` has doubles: `11.0`, `1e+300`, `nan`; complex numbers `1-2.5j`. `{:#}` gives each row
/// and each compound of an array a line.
///
/// With the feature `serde` it can be serialised: numbers, texts, lists, and compounds as maps; floats that are not finite
/// are texts where the format is one for people, as JSON is: `"NaN"`, `"Infinity"`, `"-Infinity"`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Nothing: a null dataspace.
    Empty,
    /// A truth value.
    Bool(bool),
    /// An integer, or a bit field.
    Integer(i128),
    /// A float of at most 4 bytes.
    Single(f32),
    /// A larger float.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
    /// A string.
    String(String),
    /// Bytes without a meaning: opaque values, strings that are not UTF-8, numbers beyond 16 bytes.
    Bytes(Vec<u8>),
    /// A value of an enumeration, by its name.
    Name(String),
    /// A time.
    Time(DateTime64),
    /// A reference.
    Reference(Reference),
    /// Members with their names, in the order of the datatype.
    Compound(Vec<(String, Value)>),
    /// Elements of an array or a sequence.
    Array(ValueArray),
}

/// An array of values, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueArray {
    /// Elements per dimension.
    pub shape: Vec<u64>,
    /// The elements; as many as the shape has.
    pub elements: Vec<Value>,
}

impl Value {
    /// The value of the compound's member called `name`.
    pub fn member(&self, name: &str) -> Option<&Value> {
        let Value::Compound(members) = self else { return None };
        members.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// It as a number, where it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "the nearest is what is asked for")]
            Value::Integer(number) => Some(*number as f64),
            Value::Single(number) => Some(f64::from(*number)),
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// It as an integer, where it is one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        let Value::Integer(number) = self else { return None };
        i64::try_from(*number).ok()
    }

    /// It as text, where it is a string or the name of an enumeration's value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) | Value::Name(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of stored arrays: a value for a scalar shape, otherwise an array of that shape.
    pub(crate) fn array(stored: &[u8], datatype: &Datatype, shape: &[u64], heaps: &Heaps<'_>) -> Result<Value> {
        let size = usize::try_from(datatype.size).ok().filter(|size| *size > 0);
        let size = size.ok_or_else(|| Error::corrupt("an element has 0 bytes"))?;
        heaps.pay(stored.len() / size * size_of::<Value>())?;
        let mut values = stored.chunks_exact(size).map(|element| Value::element(element, datatype, heaps));
        if shape.is_empty() {
            return values.next().unwrap_or(Ok(Value::Empty));
        }
        // To grow step by step would take half as much again.
        let mut elements = Vec::new();
        let none = |_| Error::limit(format!("no memory for {} values; a part can be selected", stored.len() / size));
        elements.try_reserve_exact(stored.len() / size).map_err(none)?;
        for value in values {
            elements.push(value?);
        }
        Ok(Value::Array(ValueArray { shape: shape.to_vec(), elements }))
    }

    /// The value of one element.
    ///
    /// Errors are those of heaps; every datatype has values.
    pub fn element(stored: &[u8], datatype: &Datatype, heaps: &Heaps<'_>) -> Result<Value> {
        match &datatype.class {
            Class::FixedPoint(_) | Class::BitField(_) | Class::FloatingPoint(_) => Ok(number(stored, datatype)),
            Class::Time { .. } => Ok(Value::Bytes(stored.to_vec())),
            Class::String(layout) => {
                let text = trim(stored, *layout);
                heaps.pay(text.len())?;
                Ok(string(text))
            }
            Class::VariableLength { text: Some(_), .. } => {
                let text = heaps.sequence(stored, 1)?.unwrap_or_default();
                Ok(string(trim(&text, Text { padding: 0, character_set: 1 })))
            }
            Class::VariableLength { text: None, base } => {
                let size = usize::try_from(base.size).unwrap_or(usize::MAX);
                let bytes = heaps.sequence(stored, size)?.unwrap_or_default();
                let count = u64::try_from(bytes.len() / size.max(1)).unwrap_or(u64::MAX);
                Value::array(&bytes, base, &[count], heaps)
            }
            Class::Opaque { .. } => match TimeType::of(datatype) {
                Some(time) => time.value(stored).map(Value::Time),
                None => Ok(Value::Bytes(stored.to_vec())),
            },
            Class::Reference { .. } => {
                Reference::decoder(datatype, Conversion::Lossless)?.decode(stored, heaps).map(Value::Reference)
            }
            Class::Enumeration(names) => Ok(match names.iter().find(|(_, value)| *value == stored) {
                Some((name, _)) if is_bool(&names.names) => Value::Bool(name == b"TRUE"),
                Some((name, _)) => Value::Name(text(name)),
                None => number(stored, &names.base),
            }),
            Class::Array { shape, base, .. } => {
                let shape: Vec<u64> = shape.iter().map(|&n| n.into()).collect();
                Value::array(stored, base, &shape, heaps)
            }
            Class::Compound(_) | Class::Complex { .. } => compound(stored, datatype, heaps),
        }
    }
}

fn string(bytes: &[u8]) -> Value {
    std::str::from_utf8(bytes).map_or_else(|_| Value::Bytes(bytes.to_vec()), |text| Value::String(text.to_owned()))
}

fn number(stored: &[u8], datatype: &Datatype) -> Value {
    let layout = Layout::of(datatype).filter(|layout| layout.size == stored.len());
    let found = layout.and_then(|layout| match datatype.class {
        Class::FloatingPoint(_) if datatype.size <= 4 => as_number(stored, &layout).map(Value::Single),
        Class::FloatingPoint(_) => as_number(stored, &layout).map(Value::Float),
        _ => number::text(stored, &layout).parse().ok().map(Value::Integer),
    });
    found.unwrap_or_else(|| Value::Bytes(stored.to_vec()))
}

/// The nearest `T`.
fn as_number<T: H5Type>(stored: &[u8], layout: &Layout) -> Option<T> {
    let (mut number, to) = (T::room_for(1)?, Layout::of(&T::type_descriptor())?);
    let bytes = T::bytes_mut(&mut number)?;
    number::convert(stored.get(..layout.size)?, layout, bytes, &to, Conversion::Saturating).ok()?;
    number.pop()
}

fn compound(stored: &[u8], datatype: &Datatype, heaps: &Heaps<'_>) -> Result<Value> {
    let part = |start: usize, datatype: &Datatype| {
        let end = usize::try_from(datatype.size).ok().and_then(|size| start.checked_add(size));
        let part = end.and_then(|end| stored.get(start..end));
        part.ok_or_else(|| Error::corrupt("a member leaves its compound"))
    };
    if let Some((base, [re, im])) = complex_parts(datatype) {
        let number = |start| Ok::<_, Error>(number(part(start, base)?, base).as_f64());
        if let (Some(re), Some(im)) = (number(re)?, number(im)?) {
            return Ok(Value::Complex(re, im));
        }
    }
    let Class::Compound(members) = &datatype.class else { return Ok(Value::Bytes(stored.to_vec())) };
    let names: usize = members.iter().map(|member| member.name.len()).sum();
    heaps.pay(members.len() * size_of::<(String, Value)>() + names)?;
    let mut values = Vec::with_capacity(members.len());
    for member in members {
        let whole = whole_member(member);
        let start = usize::try_from(member.byte_offset).unwrap_or(usize::MAX);
        values.push((text(&member.name), Value::element(part(start, &whole)?, &whole, heaps)?));
    }
    Ok(Value::Compound(values))
}

/// Elements from which on the middle of an array is left out, and how many stay at either end of a dimension then.
const ELIDED_FROM: u64 = 1000;
const EDGE: u64 = 3;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Empty => f.write_str("empty"),
            Value::Bool(truth) => write!(f, "{truth}"),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Single(number) => f.write_str(&float(*number)),
            Value::Float(number) => f.write_str(&float(*number)),
            Value::Complex(re, im) => {
                let [real, imaginary] = [re, im].map(|part| float(*part));
                if re.to_bits() != 0 {
                    let plus = if imaginary.starts_with('-') { "" } else { "+" };
                    write!(f, "{}{plus}", real.trim_end_matches(".0"))?;
                }
                write!(f, "{}j", imaginary.trim_end_matches(".0"))
            }
            Value::String(text) => f.write_str(&quoted(text)),
            Value::Bytes(bytes) => write!(f, "b\"{}\"", bytes.escape_ascii()),
            Value::Name(name) => f.write_str(name),
            Value::Time(time) => write!(f, "{time}"),
            Value::Reference(reference) => write!(f, "{reference}"),
            Value::Compound(members) => {
                f.write_str("{")?;
                for (number, (name, value)) in members.iter().enumerate() {
                    let comma = if number > 0 { ", " } else { "" };
                    write!(f, "{comma}{name}: {value}")?;
                }
                f.write_str("}")
            }
            Value::Array(array) => {
                // Of no elements there can be many rows.
                let most = array.shape.iter().copied().max().unwrap_or(0).max(array.elements.len() as u64);
                let edge = if most > ELIDED_FROM { EDGE } else { u64::MAX };
                row(f, array, 0, 0, edge)
            }
        }
    }
}

/// As NumPy's `repr` has doubles: the fewest digits that give the number back, with a point or an exponent.
fn float<T: Copy + Into<f64> + fmt::Debug + fmt::LowerExp>(number: T) -> String {
    let size: f64 = number.into().abs();
    if size.is_nan() {
        return "nan".to_owned();
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if size != 0.0 && !(1e-4..1e16).contains(&size) => {
            let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
            format!("{digits}e{sign}{exponent:0>2}")
        }
        _ => format!("{number:?}"),
    }
}

/// What stands in the dimensions from `axis` on, from element `start`.
fn row(f: &mut fmt::Formatter<'_>, array: &ValueArray, axis: usize, start: u64, edge: u64) -> fmt::Result {
    let Some(&count) = array.shape.get(axis) else {
        let element = usize::try_from(start).ok().and_then(|start| array.elements.get(start));
        return element.map_or(Ok(()), |element| write!(f, "{element}"));
    };
    let step = array.shape[axis + 1..].iter().product::<u64>();
    let last = axis + 1 == array.shape.len();
    let one_line = last && !matches!(array.elements.first(), Some(Value::Compound(_)));
    let one_line = one_line || !f.alternate();
    let gap = if one_line { ", ".to_owned() } else { format!(",\n{}", " ".repeat(axis + 1)) };
    f.write_str("[")?;
    let mut at = 0;
    while at < count {
        if at > 0 {
            f.write_str(&gap)?;
        }
        if at == edge && count > edge.saturating_mul(2) {
            f.write_str("...")?;
            at = count - edge;
            continue;
        }
        row(f, array, axis + 1, start + at * step, edge)?;
        at += 1;
    }
    f.write_str("]")
}

#[cfg(feature = "serde")]
mod serialise {
    use serde::ser::{Serialize, SerializeMap, Serializer};

    use super::{Value, ValueArray};

    impl Serialize for Value {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            match self {
                Value::Empty => to.serialize_none(),
                Value::Bool(truth) => to.serialize_bool(*truth),
                Value::Integer(number) => match (i64::try_from(*number), u64::try_from(*number)) {
                    (Ok(number), _) => to.serialize_i64(number),
                    (_, Ok(number)) => to.serialize_u64(number),
                    (Err(_), Err(_)) => to.serialize_i128(*number),
                },
                Value::Single(number) if number.is_finite() || !to.is_human_readable() => to.serialize_f32(*number),
                Value::Single(number) => float(f64::from(*number), to),
                Value::Float(number) => float(*number, to),
                Value::Complex(re, im) => to.collect_seq([Value::Float(*re), Value::Float(*im)]),
                Value::String(text) | Value::Name(text) => to.serialize_str(text),
                Value::Bytes(bytes) => to.serialize_bytes(bytes),
                Value::Time(time) => to.collect_str(time),
                Value::Reference(reference) => to.collect_str(reference),
                Value::Compound(members) => {
                    let mut map = to.serialize_map(Some(members.len()))?;
                    members.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                    map.end()
                }
                Value::Array(array) => array.serialize(to),
            }
        }
    }

    /// JSON has no numbers that are not finite: they are the texts `NaN`, `Infinity` and `-Infinity` there.
    fn float<S: Serializer>(number: f64, to: S) -> Result<S::Ok, S::Error> {
        match number {
            _ if number.is_finite() || !to.is_human_readable() => to.serialize_f64(number),
            f64::INFINITY => to.serialize_str("Infinity"),
            f64::NEG_INFINITY => to.serialize_str("-Infinity"),
            _ => to.serialize_str("NaN"),
        }
    }

    /// Lists in lists, one level a dimension; none if there are no elements.
    impl Serialize for ValueArray {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            Row { shape: &self.shape, elements: &self.elements }.serialize(to)
        }
    }

    struct Row<'a> {
        shape: &'a [u64],
        elements: &'a [Value],
    }

    impl Serialize for Row<'_> {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            let Some((count, shape)) = self.shape.split_first().filter(|(_, rest)| !rest.is_empty()) else {
                return to.collect_seq(self.elements);
            };
            let count = if self.elements.is_empty() { 0 } else { usize::try_from(*count).unwrap_or(0) };
            let step = self.elements.len().checked_div(count).unwrap_or(0);
            to.collect_seq((0..count).map(|i| Row { shape, elements: &self.elements[i * step..(i + 1) * step] }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(shape: &[u64]) -> Value {
        let elements = (0..shape.iter().product::<u64>()).map(|n| Value::Integer(n.into())).collect();
        Value::Array(ValueArray { shape: shape.to_vec(), elements })
    }

    #[test]
    fn arrays_are_elided_as_numpy_does() {
        assert_eq!(counted(&[2, 3]).to_string(), "[[0, 1, 2], [3, 4, 5]]");
        assert_eq!(format!("{:#}", counted(&[2, 1, 2])), "[[[0, 1]],\n [[2, 3]]]");
        assert_eq!(counted(&[1001]).to_string(), "[0, 1, 2, ..., 998, 999, 1000]");
        let rows = "[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], ..., [1988, 1989, 1990, 1991]";
        assert!(counted(&[500, 4]).to_string().starts_with(&format!("[{rows}")));
        assert_eq!(counted(&[2, 0]).to_string(), "[[], []]");
    }

    /// What NumPy 2.4 says.
    #[test]
    fn floats_are_shown_as_numpy_does() {
        let double = |number: f64| Value::Float(number).to_string();
        assert_eq!([1e300, 1e-5, -1.5e-7, 1e16].map(double), ["1e+300", "1e-05", "-1.5e-07", "1e+16"]);
        assert_eq!([123_456_789.0, 9_999_999_999_999_998.0].map(double), ["123456789.0", "9999999999999998.0"]);
        assert_eq!([1e-4, -0.0, 11.0, 0.1].map(double), ["0.0001", "-0.0", "11.0", "0.1"]);
        assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(double), ["nan", "inf", "-inf"]);
        let single = |number: f32| Value::Single(number).to_string();
        // The nearest number to 0.0001 is smaller.
        assert_eq!([1e30, 1e-4, 1.1e-4, 0.1].map(single), ["1e+30", "1e-04", "0.00011", "0.1"]);
        let complex = |re, im| Value::Complex(re, im).to_string();
        assert_eq!([complex(1.0, 2.0), complex(-0.5, -1e300)], ["1+2j", "-0.5-1e+300j"]);
        assert_eq!([complex(f64::NAN, f64::INFINITY), complex(0.0, -0.0)], ["nan+infj", "-0j"]);
    }

    #[test]
    fn members_are_shown_by_name() {
        let value = Value::Compound(vec![
            ("x".into(), Value::Single(0.1)),
            ("z".into(), Value::Complex(1.5, -2.0)),
            ("s".into(), Value::String("a\n".into())),
            ("b".into(), Value::Bytes(vec![0, 65])),
        ]);
        assert_eq!(value.to_string(), r#"{x: 0.1, z: 1.5-2j, s: "a\n", b: b"\x00A"}"#);
        assert_eq!(value.member("x").and_then(Value::as_f64), Some(f64::from(0.1f32)));
    }
}
