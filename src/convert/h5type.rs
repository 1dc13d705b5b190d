//! `H5Type`: the Rust types that elements are read as.

use super::decoder::Decoder;
use super::encoder::Encoder;
use super::notation::short;
use super::number::Conversion;
use crate::error::{Error, Result};
use crate::format::message::datatype::{Class, Datatype};

/// A Rust type that elements of a file can be read as, and that values are written from.
///
/// | Rust | elements it reads | stored as |
/// |---|---|---|
/// | `i8` to `i64`, `u8` to `u64`, `isize`, `usize`, `f32`, `f64` | integers, floats, enumerations, bit fields | itself |
/// | `half::f16`, `half::bf16` (feature `half`) | the same | itself |
/// | `bool` | h5py's enumeration of `FALSE` and `TRUE`; integers and bit fields that are 0 or 1 | the enumeration |
/// | `num_complex::Complex` (feature `num-complex`) | complex numbers; compounds of two numbers `r`, `i` | the compound |
/// | `String` | strings, fixed or variable, of any padding | a string of variable length |
/// | `[T; N]` | arrays of that shape; `[u8; N]` opaque values and strings of `N` bytes | an array |
/// | `Vec<T>` | sequences; arrays of one dimension; `Vec<u8>` opaque values and the bytes of strings | a sequence |
/// | `Option<T>` | what `T` reads; null references, sequences that are nowhere, null dataspaces are `None` | as `T` |
/// | [`Reference`](crate::Reference) | references, old and new | an object reference |
/// | [`DateTime64`](crate::DateTime64) | h5py's opaque `datetime64` and `timedelta64` | such an opaque value |
/// | a struct with `#[derive(H5Type)]` | compounds, by the names of their fields | a compound |
/// | a tuple of up to 8 | compounds of as many members, in their order | a compound of members `0`, `1`, ... |
/// | an enum with `#[derive(H5Type)]` | enumerations, by the names of their values | an enumeration |
///
/// Numbers are read and written where nothing is lost; [`Conversion`] says what else may be done. Anything else is an error of kind
/// `WrongType` that names both types.
pub trait H5Type: Clone + Send + Sync + 'static {
    /// The datatype that values are stored as.
    fn type_descriptor() -> Datatype;

    /// The way from elements of `stored` to values.
    ///
    /// Errors are `WrongType` if there is none.
    fn decoder(stored: &Datatype, conversion: Conversion) -> Result<Decoder<Self>>;

    /// The way from values to elements of `stored`.
    ///
    /// Errors are `WrongType` if there is none.
    fn encoder(stored: &Datatype, conversion: Conversion) -> Result<Encoder<Self>>;

    /// The bytes of values in memory, where these have no gaps.
    #[doc(hidden)]
    fn bytes(_values: &[Self]) -> Option<&[u8]> {
        None
    }

    /// The bytes of values in memory, where any bytes are a value.
    #[doc(hidden)]
    fn bytes_mut(_values: &mut [Self]) -> Option<&mut [u8]> {
        None
    }

    /// Values to read into, where any bytes are a value.
    #[doc(hidden)]
    fn room_for(_count: usize) -> Option<Vec<Self>> {
        None
    }

    /// Bytes as values, for the one type that bytes are.
    #[doc(hidden)]
    fn of_bytes(_bytes: &[u8]) -> Option<Vec<Self>> {
        None
    }

    /// The value that stands for a dataspace without elements.
    #[doc(hidden)]
    fn absent() -> Option<Self> {
        None
    }
}

/// The error of elements of `stored` that are wanted as a `T`.
pub fn mismatch<T: H5Type>(stored: &Datatype) -> Error {
    Error::wrong_type(format!("elements are {}, not {}", short(stored), short(&T::type_descriptor())))
}

/// `None` where there is nothing: a null reference, a sequence that is nowhere, a null dataspace.
impl<T: H5Type> H5Type for Option<T> {
    fn type_descriptor() -> Datatype {
        T::type_descriptor()
    }

    fn decoder(stored: &Datatype, conversion: Conversion) -> Result<Decoder<Self>> {
        let inner = T::decoder(stored, conversion)?;
        // In both classes an element of zeros is one that says nothing.
        let may_be_null = matches!(stored.class, Class::Reference { .. } | Class::VariableLength { .. });
        Decoder::new(stored, move |element, heaps| {
            let is_null = may_be_null && element.iter().all(|&byte| byte == 0);
            if is_null { Ok(None) } else { inner.decode(element, heaps).map(Some) }
        })
    }

    fn encoder(stored: &Datatype, conversion: Conversion) -> Result<Encoder<Self>> {
        let inner = T::encoder(stored, conversion)?;
        let may_be_null = matches!(stored.class, Class::Reference { .. } | Class::VariableLength { .. });
        let own = stored.clone();
        Encoder::new(stored, move |value: &Self, element, heap| match value {
            Some(value) => inner.encode(value, element, heap),
            None if may_be_null => Ok(()),
            None => Err(Error::wrong_type(format!("elements are {}, none of which stands for nothing", short(&own)))),
        })
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}
