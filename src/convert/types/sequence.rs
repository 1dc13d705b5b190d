//! Arrays, sequences, and bytes that mean nothing to HDF5.

use super::compound::{array, part};
use crate::convert::decoder::Decoder;
use crate::convert::encoder::{Encoder, HeapSink};
use crate::convert::h5type::{H5Type, mismatch};
use crate::convert::notation::short;
use crate::convert::number::Conversion;
use crate::error::{Error, Result};
use crate::format::message::datatype::{Class, Datatype};

/// The element of an array type whose first dimension has been taken off, and the size of that dimension.
fn peeled(stored: &Datatype) -> Option<(u32, std::borrow::Cow<'_, Datatype>)> {
    let Class::Array { shape, base, .. } = &stored.class else { return None };
    let (first, rest) = shape.split_first()?;
    Some((
        *first,
        match rest {
            [] => std::borrow::Cow::Borrowed(base),
            rest => std::borrow::Cow::Owned(array(rest, (**base).clone())),
        },
    ))
}

/// Whether elements are bytes to us: opaque values, strings of fixed size.
fn is_bytes(stored: &Datatype) -> bool {
    matches!(stored.class, Class::Opaque { .. } | Class::String(_))
}

impl<T: H5Type, const N: usize> H5Type for [T; N] {
    fn type_descriptor() -> Datatype {
        array(&[u32::try_from(N).unwrap_or(u32::MAX)], T::type_descriptor())
    }

    fn decoder(stored: &Datatype, conversion: Conversion) -> Result<Decoder<Self>> {
        let whole = |values: Vec<T>| {
            let count = values.len();
            values.try_into().map_err(|_| Error::corrupt(format!("{count} elements stand for an array of {N}")))
        };
        if is_bytes(stored) && T::of_bytes(&[]).is_some() && usize::try_from(stored.size) == Ok(N) {
            return Decoder::new(stored, move |element, _| whole(T::of_bytes(element).unwrap_or_default()));
        }
        let (count, base) = peeled(stored).ok_or_else(|| mismatch::<Self>(stored))?;
        if usize::try_from(count) != Ok(N) {
            return Err(mismatch::<Self>(stored));
        }
        let (one, all) = (T::decoder(&base, conversion)?, T::decoder(&base, conversion)?);
        let size = one.size().checked_mul(N).ok_or_else(|| Error::limit("an array is larger than memory"))?;
        let room: Option<[T; N]> = if one.has_bulk() { T::room_for(N).and_then(|r| r.try_into().ok()) } else { None };
        let decoder = Decoder::new(stored, move |element, heaps| {
            let element = element.get(..size).ok_or_else(|| Error::corrupt("an array is cut short"))?;
            let Some(mut values) = room.clone() else { return whole(one.decode_all(element, heaps)?) };
            one.decode_many(element, &mut values)?;
            Ok(values)
        })?;
        if !all.has_bulk() || size != decoder.size() {
            return Ok(decoder);
        }
        let is_alike = all.is_alike();
        Ok(decoder.with_bulk(is_alike, Self::room_for, move |stored, values: &mut [Self]| {
            all.decode_many(stored, values.as_flattened_mut())
        }))
    }

    fn encoder(stored: &Datatype, conversion: Conversion) -> Result<Encoder<Self>> {
        if is_bytes(stored) && T::of_bytes(&[]).is_some() && usize::try_from(stored.size) == Ok(N) {
            return Encoder::new(stored, |value: &Self, element, _| {
                element.copy_from_slice(T::bytes(value).unwrap_or_default());
                Ok(())
            });
        }
        let (count, base) = peeled(stored).ok_or_else(|| mismatch::<Self>(stored))?;
        if usize::try_from(count) != Ok(N) {
            return Err(mismatch::<Self>(stored));
        }
        let (one, all) = (T::encoder(&base, conversion)?, T::encoder(&base, conversion)?);
        let size = one.size();
        let encoder = Encoder::new(stored, move |values: &Self, element, heap| {
            values
                .iter()
                .zip((0..).step_by(size))
                .try_for_each(|(value, start)| one.encode(value, part(element, start, size)?, heap))
        })?;
        if !all.has_bulk() || Some(encoder.size()) != size.checked_mul(N) {
            return Ok(encoder);
        }
        let alike = all.is_alike().then_some(Self::bytes as fn(&[Self]) -> Option<&[u8]>);
        let bulk = move |values: &[Self], elements: &mut [u8]| all.encode_many(values.as_flattened(), elements);
        Ok(encoder.with_bulk(alike, bulk))
    }

    fn bytes(values: &[Self]) -> Option<&[u8]> {
        T::bytes(values.as_flattened())
    }

    fn bytes_mut(values: &mut [Self]) -> Option<&mut [u8]> {
        T::bytes_mut(values.as_flattened_mut())
    }

    fn room_for(count: usize) -> Option<Vec<Self>> {
        let array: [T; N] = T::room_for(N)?.try_into().ok()?;
        Some(vec![array; count])
    }
}

impl<T: H5Type> H5Type for Vec<T> {
    /// A sequence. Elements have the bytes that they have where addresses have 8.
    fn type_descriptor() -> Datatype {
        let class = Class::VariableLength { text: None, base: Box::new(T::type_descriptor()) };
        Datatype { version: 1, size: 16, class, unused_bits: 0 }
    }

    fn decoder(stored: &Datatype, conversion: Conversion) -> Result<Decoder<Self>> {
        let bytes = T::of_bytes(&[]).is_some();
        match &stored.class {
            Class::VariableLength { text: Some(_), .. } if bytes => Decoder::new(stored, |element, heaps| {
                let bytes = heaps.sequence(element, 1)?.unwrap_or_default();
                Ok(T::of_bytes(&bytes).unwrap_or_default())
            }),
            Class::VariableLength { text: None, base } => {
                let inner = T::decoder(base, conversion)?;
                Decoder::new(stored, move |element, heaps| {
                    let bytes = heaps.sequence(element, inner.size())?.unwrap_or_default();
                    inner.decode_all(&bytes, heaps)
                })
            }
            Class::Array { .. } => {
                let (_, base) = peeled(stored).ok_or_else(|| mismatch::<Self>(stored))?;
                let inner = T::decoder(&base, conversion)?;
                Decoder::new(stored, move |element, heaps| inner.decode_all(element, heaps))
            }
            Class::Opaque { .. } | Class::String(_) if bytes => {
                Decoder::new(stored, |element, _| Ok(T::of_bytes(element).unwrap_or_default()))
            }
            _ => Err(mismatch::<Self>(stored)),
        }
    }

    fn encoder(stored: &Datatype, conversion: Conversion) -> Result<Encoder<Self>> {
        let bytes = T::of_bytes(&[]).is_some();
        match &stored.class {
            Class::VariableLength { text: Some(_), .. } if bytes => {
                Encoder::new(stored, |value: &Self, element, heap| {
                    sequence(value.len(), T::bytes(value).unwrap_or_default(), element, heap)
                })
            }
            Class::VariableLength { text: None, base } => {
                let inner = T::encoder(base, conversion)?;
                Encoder::new(stored, move |value: &Self, element, heap| {
                    let stored = inner.encode_all(value, heap)?;
                    sequence(value.len(), &stored, element, heap)
                })
            }
            Class::Array { .. } => {
                let (count, base) = peeled(stored).ok_or_else(|| mismatch::<Self>(stored))?;
                let inner = T::encoder(&base, conversion)?;
                Encoder::new(stored, move |value: &Self, element, heap| {
                    if usize::try_from(count) != Ok(value.len()) {
                        let what = format!("{} values for arrays of {count}", value.len());
                        return Err(Error::wrong_type(what));
                    }
                    element.copy_from_slice(&inner.encode_all(value, heap)?);
                    Ok(())
                })
            }
            Class::Opaque { .. } | Class::String(_) if bytes => {
                let own = stored.clone();
                Encoder::new(stored, move |value: &Self, element, _| {
                    let value = T::bytes(value).unwrap_or_default();
                    let room = element.get_mut(..value.len());
                    let too_long =
                        || Error::wrong_type(format!("{} bytes do not fit into {}", value.len(), short(&own)));
                    room.ok_or_else(too_long)?.copy_from_slice(value);
                    Ok(())
                })
            }
            _ => Err(mismatch::<Self>(stored)),
        }
    }
}

/// Stores a sequence of `count` elements, and writes down in its own element where. An empty one is stored nowhere.
pub(super) fn sequence(count: usize, bytes: &[u8], element: &mut [u8], heap: &mut dyn HeapSink) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let length = u32::try_from(count).map_err(|_| Error::limit("a sequence of more than 4,294,967,295 elements"))?;
    part(element, 0, 4)?.copy_from_slice(&length.to_le_bytes());
    part(element, 4, 12)?.copy_from_slice(&heap.store(bytes)?);
    Ok(())
}
