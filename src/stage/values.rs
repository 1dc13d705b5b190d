//! An array of values in memory, of any element type: what goes into a staged array and comes out of it.

use std::borrow::Cow;
use std::fmt;

use crate::convert::cast::cast;
use crate::convert::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::selection::{AxisTransfer, Destination, Source, copy, shape};
use crate::stage::texts::Texts;
use crate::stage::zeroed::Zeroed;

/// A row-major array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    shape: Vec<u64>,
    element: ElementType,
    values: Values,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Values {
    Bytes(Zeroed),
    Texts(Vec<String>),
}

impl Array {
    /// An array of `shape` whose elements have the given bytes. Not for text.
    ///
    /// Errors: `Invalid` if the number of bytes does not suit, `WrongType` for text.
    pub fn from_bytes(shape: &[u64], element: ElementType, bytes: Vec<u8>) -> Result<Array> {
        if element == ElementType::Text {
            return Err(Error::wrong_type("bytes cannot be text; give texts"));
        }
        expect_count(shape, bytes.len() as u64, element.size())?;
        Ok(Array { shape: shape.to_vec(), element, values: Values::Bytes(bytes.into()) })
    }

    /// An array of Rust values.
    ///
    /// ```
    /// # use hdfive::stage::Array;
    /// let array = Array::new(&[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(array.values::<i32>()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), hdfive::Error>(())
    /// ```
    ///
    /// Errors: `Invalid` if the number of values does not suit the shape.
    pub fn new<T: Element>(shape: &[u64], values: &[T]) -> Result<Array> {
        Array::from_bytes(shape, T::TYPE, T::bytes(values))
    }

    /// One value, which broadcasts to any shape.
    pub fn scalar<T: Element>(value: T) -> Array {
        Array { shape: vec![], element: T::TYPE, values: Values::Bytes(T::bytes(&[value]).into()) }
    }

    /// An array of texts.
    ///
    /// Errors: `Invalid` if their number does not suit the shape.
    pub fn from_texts(shape: &[u64], texts: Vec<String>) -> Result<Array> {
        expect_count(shape, texts.len() as u64, 1)?;
        Ok(Array { shape: shape.to_vec(), element: ElementType::Text, values: Values::Texts(texts) })
    }

    /// Its shape.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The type of its elements.
    pub fn element(&self) -> &ElementType {
        &self.element
    }

    /// The bytes of its elements; none for text.
    pub fn bytes(&self) -> &[u8] {
        match &self.values {
            Values::Bytes(bytes) => bytes,
            Values::Texts(_) => &[],
        }
    }

    /// Its texts; none for other types.
    pub fn texts(&self) -> &[String] {
        match &self.values {
            Values::Bytes(_) => &[],
            Values::Texts(texts) => texts,
        }
    }

    /// Its elements as Rust values.
    ///
    /// Errors: `WrongType` if they are of another type; cast first.
    pub fn values<T: Element>(&self) -> Result<Vec<T>> {
        if self.element != T::TYPE {
            return Err(Error::wrong_type(format!("elements are {}, wanted {}", self.element, T::TYPE)));
        }
        T::values(self.bytes())
    }

    /// The same values as elements of another type.
    ///
    /// Errors: `WrongType` where no cast is known.
    pub fn cast(&self, element: &ElementType) -> Result<Array> {
        if self.element == *element {
            return Ok(self.clone());
        }
        let bytes = cast(self.bytes(), &self.element, element)?;
        Ok(Array { shape: self.shape.clone(), element: element.clone(), values: Values::Bytes(bytes.into()) })
    }

    /// The bytes for a buffer of `element`.
    pub(crate) fn buffer(&self, element: &ElementType, texts: &Texts) -> Result<Cow<'_, [u8]>> {
        Ok(match &self.values {
            Values::Texts(own) if *element == ElementType::Text => {
                Cow::Owned(texts.numbers(own.iter().map(String::as_str)))
            }
            Values::Bytes(bytes) if self.element == *element => Cow::Borrowed(bytes),
            Values::Texts(_) | Values::Bytes(_) => Cow::Owned(cast(self.bytes(), &self.element, element)?),
        })
    }

    /// The bytes for a buffer of its own element type.
    pub(crate) fn into_buffer(self, texts: &Texts) -> Zeroed {
        match self.values {
            Values::Bytes(bytes) => bytes,
            Values::Texts(own) => texts.numbers(own.iter().map(String::as_str)).into(),
        }
    }

    /// The array that a buffer holds.
    pub(crate) fn from_buffer(shape: &[u64], element: &ElementType, bytes: Zeroed, texts: &Texts) -> Array {
        let values = match element {
            ElementType::Text => Values::Texts(texts.texts(&bytes).iter().map(|text| text.to_string()).collect()),
            _ => Values::Bytes(bytes),
        };
        Array { shape: shape.to_vec(), element: element.clone(), values }
    }
}

fn expect_count(shape: &[u64], found: u64, size: usize) -> Result<()> {
    shape::check_rank(shape)?;
    match shape::count(shape)?.checked_mul(size as u64) {
        Some(expected) if expected == found => Ok(()),
        _ => Err(Error::invalid(format!("{found} values or bytes for shape {shape:?}"))),
    }
}

/// A shape as Python prints a tuple.
pub(crate) struct Tuple<'a>(pub(crate) &'a [u64]);

impl fmt::Display for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.0 {
            return write!(f, "({one},)");
        }
        f.write_str("(")?;
        for (n, size) in self.0.iter().enumerate() {
            write!(f, "{}{size}", if n > 0 { ", " } else { "" })?;
        }
        f.write_str(")")
    }
}

/// The shape of a value in the rank of `wanted`, to which it broadcasts: where it is 1, one element stands for all.
///
/// Errors: `Invalid` if it does not broadcast.
pub(crate) fn broadcast(value: &[u64], wanted: &[u64]) -> Result<Vec<u64>> {
    let error = || Error::invalid(format!("a value of shape {value:?} for a selection of shape {wanted:?}"));
    let missing = wanted.len().checked_sub(value.len()).ok_or_else(error)?;
    if value.iter().zip(&wanted[missing..]).any(|(own, size)| own != size && *own != 1) {
        return Err(error());
    }
    let mut shape = vec![1; wanted.len()];
    shape[missing..].copy_from_slice(value);
    Ok(shape)
}

/// A value of `shape`, as [`broadcast`] gives it, spread to the shape `wanted`.
pub(crate) fn spread(bytes: &[u8], shape: &[u64], wanted: &[u64], size: usize) -> Result<Vec<u8>> {
    let axis = |(&count, &own): (&u64, &u64)| AxisTransfer {
        source_start: 0,
        destination_start: 0,
        count,
        source_stride: i64::from(own != 1),
        destination_stride: 1,
    };
    let axes: Vec<AxisTransfer> = wanted.iter().zip(shape).map(axis).collect();
    let mut spread = vec![0; bytes_of(wanted, size)?];
    copy(&axes, Source { bytes, shape }, Destination { bytes: &mut spread, shape: wanted }, size)?;
    Ok(spread)
}

/// How many bytes an array in memory takes.
pub(crate) fn bytes_of(shape: &[u64], size: usize) -> Result<usize> {
    let bytes = shape::count(shape)?.checked_mul(size as u64);
    shape::in_memory(bytes.ok_or_else(|| Error::limit(format!("shape {shape:?} does not fit memory")))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn broadcasting_follows_numpy_without_extra_dimensions() {
        assert_eq!(broadcast(&[], &[3, 5]).unwrap(), [1, 1]);
        assert_eq!(broadcast(&[5], &[3, 5]).unwrap(), [1, 5]);
        assert_eq!(broadcast(&[3, 1], &[3, 5]).unwrap(), [3, 1]);
        for value in [&[3][..], &[1, 3, 5], &[0]] {
            assert_eq!(broadcast(value, &[3, 5]).unwrap_err().kind(), ErrorKind::Invalid);
        }
    }

    #[test]
    fn arrays_have_as_many_values_as_their_shape() {
        assert_eq!(Array::new(&[2, 3], &[1u8; 5]).unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(Array::from_texts(&[2], vec![]).unwrap_err().kind(), ErrorKind::Invalid);
        let array = Array::new(&[3], &[1i16, -2, 3]).unwrap();
        assert_eq!(array.values::<i32>().unwrap_err().kind(), ErrorKind::WrongType);
        assert_eq!(array.cast(&i32::TYPE).unwrap().values::<i32>().unwrap(), [1, -2, 3]);
    }
}
