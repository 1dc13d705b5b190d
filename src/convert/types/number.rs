//! Integers and floats.

use crate::convert::decoder::Decoder;
use crate::convert::encoder::Encoder;
use crate::convert::h5type::{H5Type, mismatch};
use crate::convert::heaps::Heaps;
use crate::convert::number::{self, Conversion, Layout, NATIVE, float, integer};
use crate::error::{Error, Result};
use crate::format::message::datatype::Datatype;
use crate::memory;

/// The way to a number `T`, whose bytes in memory are those of `T::type_descriptor()`.
fn decoder<T: H5Type + bytemuck::Pod>(stored: &Datatype, conversion: Conversion) -> Result<Decoder<T>> {
    let (from, to) = Layout::of(stored).zip(Layout::of(&T::type_descriptor())).ok_or_else(|| mismatch::<T>(stored))?;
    let is_alike = from == to;
    let own = stored.clone();
    let lost = move |bytes: &[u8], at| number::lost(bytes, at, &own, &from, &T::type_descriptor());
    let own = lost.clone();
    let one = move |element: &[u8], _: &Heaps<'_>| {
        let element = element.get(..from.size).ok_or_else(|| Error::corrupt("an element is cut short"))?;
        if is_alike {
            return Ok(bytemuck::pod_read_unaligned(element));
        }
        let mut value = [T::zeroed()];
        number::convert(element, &from, bytemuck::cast_slice_mut(&mut value), &to, conversion)
            .map_err(|at| lost(element, at))?;
        Ok(value[0])
    };
    let bulk = move |stored: &[u8], values: &mut [T]| {
        number::convert(stored, &from, bytemuck::cast_slice_mut(values), &to, conversion).map_err(|at| own(stored, at))
    };
    Ok(Decoder::new(stored, one)?.with_bulk(is_alike, T::room_for, bulk))
}

/// The way from a number `T`.
fn encoder<T: H5Type + bytemuck::Pod>(stored: &Datatype, conversion: Conversion) -> Result<Encoder<T>> {
    let (from, to) = Layout::of(&T::type_descriptor()).zip(Layout::of(stored)).ok_or_else(|| mismatch::<T>(stored))?;
    let alike = (from == to).then_some(T::bytes as fn(&[T]) -> Option<&[u8]>);
    let own = stored.clone();
    let bulk = move |values: &[T], elements: &mut [u8]| {
        let bytes = bytemuck::cast_slice(values);
        let lost = |at| number::lost(bytes, at, &T::type_descriptor(), &from, &own);
        number::convert(bytes, &from, elements, &to, conversion).map_err(lost)
    };
    let one = bulk.clone();
    let encoder = Encoder::new(stored, move |value, element, _| one(std::slice::from_ref(value), element))?;
    Ok(encoder.with_bulk(alike, bulk))
}

macro_rules! numbers {
    ($($rust:ty: $descriptor:expr $(, $of_bytes:expr)?;)*) => { $(
        impl H5Type for $rust {
            fn type_descriptor() -> Datatype {
                $descriptor
            }

            fn decoder(stored: &Datatype, conversion: Conversion) -> Result<Decoder<Self>> {
                decoder(stored, conversion)
            }

            fn encoder(stored: &Datatype, conversion: Conversion) -> Result<Encoder<Self>> {
                encoder(stored, conversion)
            }

            fn bytes(values: &[Self]) -> Option<&[u8]> {
                Some(bytemuck::cast_slice(values))
            }

            fn bytes_mut(values: &mut [Self]) -> Option<&mut [u8]> {
                Some(bytemuck::cast_slice_mut(values))
            }

            fn room_for(count: usize) -> Option<Vec<Self>> {
                Some(memory::zeroed(count))
            }

            $(fn of_bytes(bytes: &[u8]) -> Option<Vec<Self>> {
                $of_bytes(bytes)
            })?
        }
    )* };
}
numbers! {
    i8: integer(1, NATIVE, true);
    i16: integer(2, NATIVE, true);
    i32: integer(4, NATIVE, true);
    i64: integer(8, NATIVE, true);
    isize: integer(POINTER, NATIVE, true);
    u8: integer(1, NATIVE, false), |bytes: &[u8]| Some(bytes.to_vec());
    u16: integer(2, NATIVE, false);
    u32: integer(4, NATIVE, false);
    u64: integer(8, NATIVE, false);
    usize: integer(POINTER, NATIVE, false);
    f32: float(4, NATIVE, 8, 23);
    f64: float(8, NATIVE, 11, 52);
}
#[cfg(feature = "half")]
numbers! {
    half::f16: float(2, NATIVE, 5, 10);
    half::bf16: float(2, NATIVE, 8, 7);
}

/// Bytes of `usize`.
const POINTER: u32 = if cfg!(target_pointer_width = "64") { 8 } else { 4 };
