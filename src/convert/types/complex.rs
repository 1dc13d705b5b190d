//! Complex numbers: HDF5's own class, and the compounds of two floats that were there before it.

use num_complex::Complex;

use super::compound::{complex_parts, compound, part};
use crate::convert::decoder::Decoder;
use crate::convert::encoder::Encoder;
use crate::convert::h5type::{H5Type, mismatch};
use crate::convert::number::Conversion;
use crate::error::Result;
use crate::format::message::datatype::Datatype;

impl<T: H5Type + bytemuck::Pod> H5Type for Complex<T> {
    fn type_descriptor() -> Datatype {
        compound(&[("r", T::type_descriptor()), ("i", T::type_descriptor())])
    }

    fn decoder(stored: &Datatype, conversion: Conversion) -> Result<Decoder<Self>> {
        let (base, [re, im]) = complex_parts(stored).ok_or_else(|| mismatch::<Self>(stored))?;
        let (one, all) = (T::decoder(base, conversion)?, T::decoder(base, conversion)?);
        let size = one.size();
        let decoder = Decoder::new(stored, move |element, heaps| {
            let part = |start: usize| one.decode(element.get(start..).unwrap_or_default(), heaps);
            Ok(Complex::new(part(re)?, part(im)?))
        })?;
        if (re, im) != (0, size) || decoder.size() != 2 * size {
            return Ok(decoder);
        }
        let is_alike = all.is_alike();
        Ok(decoder.with_bulk(is_alike, Self::room_for, move |stored, values: &mut [Self]| {
            all.decode_many(stored, bytemuck::cast_slice_mut(values))
        }))
    }

    fn encoder(stored: &Datatype, conversion: Conversion) -> Result<Encoder<Self>> {
        let (base, [re, im]) = complex_parts(stored).ok_or_else(|| mismatch::<Self>(stored))?;
        let (one, all) = (T::encoder(base, conversion)?, T::encoder(base, conversion)?);
        let size = one.size();
        let encoder = Encoder::new(stored, move |value: &Self, element, heap| {
            one.encode(&value.re, part(element, re, size)?, heap)?;
            one.encode(&value.im, part(element, im, size)?, heap)
        })?;
        if (re, im) != (0, size) || encoder.size() != 2 * size {
            return Ok(encoder);
        }
        let alike = all.is_alike().then_some(Self::bytes as fn(&[Self]) -> Option<&[u8]>);
        let bulk = move |values: &[Self], elements: &mut [u8]| all.encode_many(bytemuck::cast_slice(values), elements);
        Ok(encoder.with_bulk(alike, bulk))
    }

    fn bytes(values: &[Self]) -> Option<&[u8]> {
        Some(bytemuck::cast_slice(values))
    }

    fn bytes_mut(values: &mut [Self]) -> Option<&mut [u8]> {
        Some(bytemuck::cast_slice_mut(values))
    }

    fn room_for(count: usize) -> Option<Vec<Self>> {
        Some(vec![bytemuck::Zeroable::zeroed(); count])
    }
}
