//! Filters as they are asked for, and as they stand in a dataset once its type and chunk shape are known.

use crate::convert::notation::short;
use crate::error::{Error, Result};
use crate::format::message::datatype::{ByteOrder, Class, Datatype};
use crate::format::message::filter_pipeline::FilterDescription;

/// Chunks for which the filter fails, or gains nothing, are stored without it.
const OPTIONAL: u16 = 1;

/// A filter that somebody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Its parameters stand in the dataset as they are given.
    Given {
        id: u16,
        flags: u16,
        values: Vec<u32>,
    },
    Shuffle,
    Szip {
        nearest_neighbour: bool,
        pixels_per_block: u32,
    },
    Nbit,
    /// Digits after the point, or bits (0: as many as are needed) for integers.
    ScaleOffset {
        factor: i32,
    },
    Lzf,
    Bitshuffle,
    Blosc {
        id: u16,
        compressor: u32,
        level: u32,
        shuffle: u32,
    },
}

/// The compressors of Blosc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blosc {
    /// Its own.
    BloscLz = 0,
    /// LZ4.
    Lz4 = 1,
    /// LZ4, more thorough.
    Lz4Hc = 2,
    /// Snappy.
    Snappy = 3,
    /// Zlib.
    Zlib = 4,
    /// Zstandard.
    Zstd = 5,
}

/// How Blosc orders bytes before it compresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BloscShuffle {
    /// As they are.
    None = 0,
    /// By bytes.
    Bytes = 1,
    /// By bits.
    Bits = 2,
}

impl Wanted {
    pub(super) fn given(id: u16, values: &[u32]) -> Wanted {
        Wanted::Given { id, flags: OPTIONAL, values: values.to_vec() }
    }

    pub(super) fn fletcher32() -> Wanted {
        Wanted::Given { id: 3, flags: 0, values: Vec::new() }
    }

    /// What somebody wanted who made a filter of these parameters.
    pub(super) fn stored(filter: &FilterDescription) -> Wanted {
        let given = || Wanted::Given { id: filter.id, flags: filter.flags, values: filter.client_data.clone() };
        match (filter.id, &filter.client_data[..]) {
            (2, _) => Wanted::Shuffle,
            (4, [options, pixels, ..]) => {
                Wanted::Szip { nearest_neighbour: options & 32 != 0, pixels_per_block: *pixels }
            }
            (5, _) => Wanted::Nbit,
            (6, [_, factor, ..]) => Wanted::ScaleOffset { factor: i32::from_ne_bytes(factor.to_ne_bytes()) },
            (32000, _) => Wanted::Lzf,
            (32001, [_, _, _, _, level, shuffle, compressor, ..]) => {
                Wanted::Blosc { id: 32001, compressor: *compressor, level: *level, shuffle: *shuffle }
            }
            _ => given(),
        }
    }

    /// The filter with its parameters, for chunks of so many elements.
    ///
    /// Errors are `Unsupported` for elements that the filter is not for.
    pub(super) fn describe(
        &self,
        datatype: &Datatype,
        elements: u64,
        fill: Option<&[u8]>,
    ) -> Result<FilterDescription> {
        let size = datatype.size;
        let count = || u32::try_from(elements).map_err(|_| Error::invalid("a chunk of 4,294,967,296 elements or more"));
        let (id, flags, client_data) = match self {
            Wanted::Given { id, flags, values } => (*id, *flags, values.clone()),
            Wanted::Shuffle => (2, OPTIONAL, vec![size]),
            Wanted::Szip { nearest_neighbour, pixels_per_block } => {
                (4, OPTIONAL, szip(datatype, count()?, *nearest_neighbour, *pixels_per_block)?)
            }
            Wanted::Nbit => (5, OPTIONAL, nbit(datatype, count()?)?),
            Wanted::ScaleOffset { factor } => (6, OPTIONAL, scale_offset(datatype, count()?, *factor, fill)?),
            Wanted::Lzf => {
                let bytes = elements.checked_mul(size.into()).and_then(|bytes| u32::try_from(bytes).ok());
                // Version of the filter and of the library, as h5py writes them.
                (32000, OPTIONAL, vec![4, 0x105, bytes.unwrap_or(0)])
            }
            Wanted::Bitshuffle => (32008, OPTIONAL, vec![0, 5, size, 0, 2]),
            Wanted::Blosc { id, compressor, level, shuffle } => {
                let bytes = elements.checked_mul(size.into()).and_then(|bytes| u32::try_from(bytes).ok());
                let element = if size <= 255 { size } else { 1 };
                (*id, OPTIONAL, vec![2, 2, element, bytes.unwrap_or(0), *level, *shuffle, *compressor])
            }
        };
        Ok(FilterDescription { id, stored_name: Vec::new(), flags, client_data, padding: Vec::new() })
    }
}

fn not_for(filter: &str, datatype: &Datatype) -> Error {
    Error::unsupported(format!("the filter {filter} is not for elements of {}", short(datatype)))
}

/// Order, precision and offset of the bits of a number.
fn bits(datatype: &Datatype) -> Option<(ByteOrder, u16, u16)> {
    match &datatype.class {
        Class::FixedPoint(number) => Some((number.bits.order, number.bits.precision, number.bits.offset)),
        Class::FloatingPoint(number) => Some((number.bits.order, number.bits.precision, number.bits.offset)),
        Class::BitField(bits) => Some((bits.order, bits.precision, bits.offset)),
        _ => None,
    }
}

/// Specification of szip's values: options, pixels per block, bits per pixel, pixels per scan line.
fn szip(datatype: &Datatype, count: u32, nearest_neighbour: bool, pixels_per_block: u32) -> Result<Vec<u32>> {
    let (order, precision, _) = bits(datatype).unwrap_or((ByteOrder::LittleEndian, 0, 0));
    let size = datatype.size;
    if !matches!(size, 1 | 2 | 4 | 8) || !matches!(pixels_per_block, 2..=32) || pixels_per_block % 2 == 1 {
        return Err(not_for(&format!("szip with {pixels_per_block} pixels per block"), datatype));
    }
    if count < pixels_per_block {
        return Err(Error::invalid(format!("szip blocks of {pixels_per_block} pixels, chunks of {count}")));
    }
    let whole = if precision == 0 { 8 * size } else { u32::from(precision) };
    // libaec takes 1 to 24, 32 and 64 bits.
    let bits_per_pixel = if whole > 24 { 8 * size } else { whole };
    let (chip, raw, lsb, msb, entropy, neighbour) = (1, 128, 8, 16, 4, 32);
    let order = if order == ByteOrder::BigEndian { msb } else { lsb };
    let options = chip | raw | order | if nearest_neighbour { neighbour } else { entropy };
    let blocks = (count / pixels_per_block).min(128);
    Ok(vec![options, pixels_per_block, bits_per_pixel, blocks * pixels_per_block])
}

/// How many values there are, whether nothing can be gained, how many elements; and the type.
fn nbit(datatype: &Datatype, count: u32) -> Result<Vec<u32>> {
    let (order, precision, offset) = bits(datatype).ok_or_else(|| not_for("n-bit", datatype))?;
    let order = u32::from(order == ByteOrder::BigEndian);
    let gains = offset > 0 || u32::from(precision) < 8 * datatype.size;
    Ok(vec![8, u32::from(!gains), count, 1, datatype.size, order, precision.into(), offset.into()])
}

/// Twenty values: how to scale, by how much, elements, class, size, sign, order, whether there is a fill value, which.
fn scale_offset(datatype: &Datatype, count: u32, factor: i32, fill: Option<&[u8]>) -> Result<Vec<u32>> {
    let (order, precision, _) = bits(datatype).ok_or_else(|| not_for("scale-offset", datatype))?;
    let size = datatype.size;
    let (scale, class, signed) = match &datatype.class {
        Class::FixedPoint(number) => (2, 0, number.signed),
        Class::FloatingPoint(_) if matches!(size, 4 | 8) => (0, 1, true),
        _ => return Err(not_for("scale-offset", datatype)),
    };
    if !matches!(size, 1 | 2 | 4 | 8) || u32::from(precision) != 8 * size {
        return Err(not_for("scale-offset", datatype));
    }
    let factor = u32::from_ne_bytes(factor.to_ne_bytes());
    let big = order == ByteOrder::BigEndian;
    let mut values =
        vec![scale, factor, count, class, size, u32::from(signed), u32::from(big), u32::from(fill.is_some())];
    let mut little = fill.unwrap_or_default().to_vec();
    if big {
        little.reverse();
    }
    values.extend(little.chunks(4).map(|part| part.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))));
    values.resize(20, 0);
    Ok(values)
}
