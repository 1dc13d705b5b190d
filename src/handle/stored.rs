//! Reading into Rust types, the same way for datasets, selections and attributes.

use crate::convert::{Conversion, Decoder, H5Type, Heaps, Value};
use crate::error::{Error, Result};
use crate::format::message::dataspace::{Dataspace, Kind};
use crate::format::message::datatype::Datatype;
use crate::memory;
use crate::object::Container;
use crate::selection::shape;

/// Stored elements, somewhere.
pub(super) trait Stored {
    /// What the elements are.
    fn datatype(&self) -> &Datatype;

    /// Their dataspace, or that of the dataset of which they are a part.
    fn dataspace(&self) -> &Dataspace;

    /// Elements per dimension; `None` for a null dataspace.
    fn shape(&self) -> Result<Option<Vec<u64>>> {
        let space = self.dataspace();
        Ok((space.kind != Kind::Null).then(|| space.shape.clone()))
    }

    /// The file they lie in.
    fn container(&self) -> &Container;

    /// Reads all elements as stored, row-major, into memory of their size.
    fn bytes_into(&self, into: &mut [u8]) -> Result<()>;
}

/// Bytes that a machine may not have.
const LARGE: usize = 16 << 20;
/// Bytes that are converted at once.
const AT_ONCE: usize = 16 << 10;

/// How many elements there are, if values of so many bytes of each may be given out.
fn allowed(from: &impl Stored, size: usize) -> Result<usize> {
    let elements = from.shape()?.map_or(Ok(0), |shape| shape::count(&shape))?;
    let limit = from.container().loaded.limits().result;
    let wanted = u128::from(elements) * size as u128;
    if wanted > limit.into() {
        let what = "elements are beyond Limits::result";
        return Err(Error::limit(format!(
            "{wanted} bytes of {elements} {what}, which is {limit}; a part can be selected"
        )));
    }
    let none = || Error::limit(format!("no memory for {wanted} bytes of {elements} elements; a part can be selected"));
    let bytes = usize::try_from(wanted).map_err(|_| none())?;
    // Ask first where it is much: an allocation that fails ends the process.
    if bytes > LARGE {
        Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| none())?;
    }
    usize::try_from(elements).map_err(|_| none())
}

/// All elements as stored.
pub(super) fn bytes(from: &impl Stored) -> Result<Vec<u8>> {
    let size = usize::try_from(from.datatype().size).map_err(|_| Error::limit("an element is larger than memory"))?;
    let mut bytes = memory::zeroed(allowed(from, size)? * size);
    from.bytes_into(&mut bytes)?;
    Ok(bytes)
}

/// All elements as values.
pub(super) fn read<T: H5Type>(from: &impl Stored, conversion: Conversion) -> Result<Vec<T>> {
    let decoder = T::decoder(from.datatype(), conversion)?;
    let count = allowed(from, size_of::<T>().max(decoder.size()))?;
    if decoder.has_bulk()
        && let Some(mut values) = T::room_for(count)
    {
        decode_into(from, &decoder, &mut values)?;
        return Ok(values);
    }
    decoder.decode_all(&bytes(from)?, &Heaps::new(from.container()))
}

/// Reads all elements into `values`, which must be as many.
pub(super) fn read_into<T: H5Type>(from: &impl Stored, conversion: Conversion, values: &mut [T]) -> Result<()> {
    let count = from.shape()?.map_or(Ok(0), |shape| shape::count(&shape))?;
    if u64::try_from(values.len()) != Ok(count) {
        return Err(Error::invalid(format!("room for {} values, there are {count}", values.len())));
    }
    decode_into(from, &T::decoder(from.datatype(), conversion)?, values)
}

fn decode_into<T: H5Type>(from: &impl Stored, decoder: &Decoder<T>, values: &mut [T]) -> Result<()> {
    let heaps = Heaps::new(from.container());
    let (count, size) = (values.len(), decoder.size());
    if decoder.is_alike()
        && let Some(memory) = T::bytes_mut(values)
    {
        return from.bytes_into(memory);
    }
    if size > size_of::<T>() || T::bytes_mut(values).is_none() {
        return decoder.decode_into(&bytes(from)?, values, &heaps);
    }
    // Stored elements are read to the end of the memory, and converted from its beginning on: an element is gone
    // before a value takes its place.
    let tail = count * (size_of::<T>() - size);
    from.bytes_into(&mut memory(values)[tail..])?;
    let step = (AT_ONCE / size).max(1);
    let mut part = Vec::with_capacity(step.min(count) * size);
    for start in (0..count).step_by(step) {
        let end = (start + step).min(count);
        part.clear();
        part.extend_from_slice(&memory(values)[tail + start * size..tail + end * size]);
        decoder.decode_into(&part, &mut values[start..end], &heaps)?;
    }
    Ok(())
}

fn memory<T: H5Type>(values: &mut [T]) -> &mut [u8] {
    T::bytes_mut(values).unwrap_or_default()
}

/// The one element.
pub(super) fn read_scalar<T: H5Type>(from: &impl Stored, conversion: Conversion) -> Result<T> {
    let Some(shape) = from.shape()? else {
        let nothing = || Error::invalid("the dataspace is null, there is no value");
        T::decoder(from.datatype(), conversion)?;
        return T::absent().ok_or_else(nothing);
    };
    if shape::count(&shape)? != 1 {
        return Err(Error::invalid(format!("one value is wanted, there are those of shape {shape:?}")));
    }
    let value = read(from, conversion)?.pop();
    value.ok_or_else(|| Error::corrupt("the one element is not there"))
}

/// All elements as an array.
#[cfg(feature = "ndarray")]
pub(super) fn read_array<T: H5Type, D: ndarray::Dimension>(
    from: &impl Stored,
    conversion: Conversion,
) -> Result<ndarray::Array<T, D>> {
    let shape = from.shape()?.ok_or_else(|| Error::invalid("the dataspace is null, it has no dimensions"))?;
    if D::NDIM.is_some_and(|rank| rank != shape.len()) {
        let wanted = D::NDIM.unwrap_or(0);
        return Err(Error::invalid(format!("an array of rank {wanted} is wanted, the shape is {shape:?}")));
    }
    let sizes = shape.iter().map(|&size| shape::in_memory(size)).collect::<Result<Vec<usize>>>()?;
    let wrong = |error: ndarray::ShapeError| Error::limit(format!("shape {shape:?}: {error}"));
    let array = ndarray::ArrayD::from_shape_vec(sizes, read(from, conversion)?).map_err(wrong)?;
    array.into_dimensionality().map_err(wrong)
}

/// All elements as one value.
pub(super) fn read_value(from: &impl Stored) -> Result<Value> {
    let Some(shape) = from.shape()? else { return Ok(Value::Empty) };
    let size = usize::try_from(from.datatype().size).unwrap_or(usize::MAX);
    allowed(from, size.max(size_of::<Value>()))?;
    Value::array(&bytes(from)?, from.datatype(), &shape, &Heaps::new(from.container()))
}

/// The methods that read into Rust types, on each of the handles that have elements.
macro_rules! reading_methods {
    ($handle:ident, $what:literal, |$own:ident| $conversion:expr) => {
        impl $handle {
            #[doc = concat!("All elements of the ", $what, " as values of `T`, row-major; [`H5Type`] says what can be read as what.")]
            ///
            /// Errors are `WrongType`, which names both types, `Limit` if the values are more bytes than
            /// [`Limits::result`](crate::Limits::result) allows, and what reading can give.
            pub fn read<T: H5Type>(&self) -> Result<Vec<T>> {
                let $own = self;
                stored::read(self, $conversion).map_err(|e| self.at(e))
            }

            #[doc = concat!("Reads all elements of the ", $what, ", row-major, into `values`, which has as many.")]
            /// Where stored elements are alike, and for numbers that are not larger than those wanted, no other memory
            /// holds them on the way.
            ///
            /// Errors are `Invalid` for another number of values, and those of [`read`](Self::read).
            pub fn read_into<T: H5Type>(&self, values: &mut [T]) -> Result<()> {
                let $own = self;
                stored::read_into(self, $conversion, values).map_err(|e| self.at(e))
            }

            #[doc = concat!("The one element of the ", $what, ", whatever its rank.")]
            /// A null dataspace (h5py's `Empty`) is `None` where an `Option` is wanted.
            ///
            /// Errors are `Invalid` unless there is one element, and those of [`read`](Self::read).
            pub fn read_scalar<T: H5Type>(&self) -> Result<T> {
                let $own = self;
                stored::read_scalar(self, $conversion).map_err(|e| self.at(e))
            }

            #[doc = concat!("All elements of the ", $what, " as an array of its shape.")]
            ///
            /// Errors are `Invalid` if its rank is not that of `D`, and those of [`read`](Self::read).
            #[cfg(feature = "ndarray")]
            pub fn read_array<T: H5Type, D: ndarray::Dimension>(&self) -> Result<ndarray::Array<T, D>> {
                let $own = self;
                stored::read_array(self, $conversion).map_err(|e| self.at(e))
            }

            /// The elements, of whatever type they are: one value for a scalar, an array otherwise.
            pub fn read_value(&self) -> Result<Value> {
                stored::read_value(self).map_err(|e| self.at(e))
            }

            /// [`read_array`](Self::read_array) of rank 1.
            #[cfg(feature = "ndarray")]
            pub fn read_1d<T: H5Type>(&self) -> Result<ndarray::Array1<T>> {
                self.read_array()
            }

            /// [`read_array`](Self::read_array) of rank 2.
            #[cfg(feature = "ndarray")]
            pub fn read_2d<T: H5Type>(&self) -> Result<ndarray::Array2<T>> {
                self.read_array()
            }

            /// [`read_array`](Self::read_array) of any rank.
            #[cfg(feature = "ndarray")]
            pub fn read_dyn<T: H5Type>(&self) -> Result<ndarray::ArrayD<T>> {
                self.read_array()
            }

            /// [`read`](Self::read), by the name that `hdf5-metno` has for it.
            pub fn read_raw<T: H5Type>(&self) -> Result<Vec<T>> {
                self.read()
            }
        }
    };
}
pub(super) use reading_methods;
