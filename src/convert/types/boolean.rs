//! Truth values: h5py keeps them as an enumeration of `FALSE` and `TRUE`, PyTables as bit fields, others as integers.

use crate::convert::decoder::Decoder;
use crate::convert::encoder::Encoder;
use crate::convert::h5type::{H5Type, mismatch};
use crate::convert::notation::{is_bool, short};
use crate::convert::number::{Conversion, Layout, NATIVE, integer, text};
use crate::error::{Error, Result};
use crate::format::message::datatype::{Class, Datatype, Enumeration};

impl H5Type for bool {
    fn type_descriptor() -> Datatype {
        let names = Enumeration {
            base: Box::new(integer(1, NATIVE, true)),
            names: vec![b"FALSE".to_vec(), b"TRUE".to_vec()],
            name_padding: Vec::new(),
            values: vec![0, 1],
        };
        Datatype { version: 1, size: 1, class: Class::Enumeration(Box::new(names)), unused_bits: 0 }
    }

    fn decoder(stored: &Datatype, conversion: Conversion) -> Result<Decoder<Self>> {
        let (layout, [no, yes]) = stored_as(stored)?;
        let others_are_true = !matches!(stored.class, Class::Enumeration(_)) && conversion != Conversion::Lossless;
        let own = stored.clone();
        let truth = move |element: &[u8]| {
            if element == no {
                Ok(false)
            } else if element == yes || others_are_true {
                Ok(true)
            } else {
                let what =
                    format!("elements are {}, and {} is not exactly one of bool", short(&own), text(element, &layout));
                Err(Error::wrong_type(what))
            }
        };
        let (one, size) = (truth.clone(), layout.size);
        let bulk = move |stored: &[u8], values: &mut [bool]| {
            let pairs = values.iter_mut().zip(stored.chunks_exact(size));
            pairs.into_iter().try_for_each(|(value, element)| truth(element).map(|truth| *value = truth))
        };
        Ok(Decoder::new(stored, move |element, _| one(element))?.with_bulk(false, bool::room_for, bulk))
    }

    fn encoder(stored: &Datatype, _: Conversion) -> Result<Encoder<Self>> {
        let (layout, [no, yes]) = stored_as(stored)?;
        let bulk = move |values: &[bool], elements: &mut [u8]| {
            for (value, element) in values.iter().zip(elements.chunks_exact_mut(layout.size)) {
                element.copy_from_slice(if *value { &yes } else { &no });
            }
            Ok(())
        };
        let one = bulk.clone();
        let encoder = Encoder::new(stored, move |value, element, _| one(std::slice::from_ref(value), element))?;
        Ok(encoder.with_bulk(None, bulk))
    }

    fn room_for(count: usize) -> Option<Vec<Self>> {
        Some(vec![false; count])
    }
}

/// How truth values are stored: the numbers, and those that stand for `false` and `true`.
fn stored_as(stored: &Datatype) -> Result<(Layout, [Vec<u8>; 2])> {
    let layout = Layout::of(stored).ok_or_else(|| mismatch::<bool>(stored))?;
    let pair = match &stored.class {
        Class::Enumeration(names) if is_bool(&names.names) => values(names),
        Class::FixedPoint(_) | Class::BitField(_) => [layout.small(0), layout.small(1)],
        _ => return Err(mismatch::<bool>(stored)),
    };
    Ok((layout, pair))
}

/// The stored values of `FALSE` and `TRUE`.
fn values(names: &Enumeration) -> [Vec<u8>; 2] {
    let of = |wanted: &[u8]| names.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.to_vec());
    [b"FALSE".as_slice(), b"TRUE"].map(|name| of(name).unwrap_or_default())
}
