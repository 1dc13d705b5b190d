//! Pipelines of filters as a person writes them: `shuffle, deflate=6`.

use std::fmt;
use std::str::FromStr;

use super::filters::{Blosc, BloscShuffle, Wanted};
use crate::error::{Error, Result};
use crate::format::message::filter_pipeline::FilterDescription;

/// Filters in the order in which they encode.
///
/// | written | filter |
/// |---|---|
/// | `none` | no filter |
/// | `shuffle`, `fletcher32`, `nbit`, `lzf`, `lz4`, `bitshuffle` | these |
/// | `deflate`, `deflate=9` (or `gzip`) | deflate, at a level of 0 to 9; 4 without one |
/// | `szip`, `szip=ec:16` | szip, coding differences (`nn`) or not (`ec`), in blocks of so many pixels; `nn:32` without |
/// | `scale-offset=3` | scale-offset, with so many decimal places of floats, or bits of integers (0: as many as are needed) |
/// | `zstd`, `zstd=3` | Zstandard at a level; 3 without one |
/// | `bzip2`, `bzip2=9` | bzip2, with blocks of so many times 100 kB; 9 without |
/// | `blosc=zstd:5:bits` | Blosc: compressor (`blosclz`, `lz4`, `lz4hc`, `snappy`, `zlib`, `zstd`), level, shuffle (`none`, `bytes`, `bits`); `lz4:5:bytes` without |
/// | `32015=3:0` | any filter by its id, with the parameters that stand in the file |
///
/// ```
/// use hdfive::create::Filters;
///
/// let filters: Filters = "shuffle, deflate=6".parse().unwrap();
/// assert_eq!(filters.to_string(), "shuffle,deflate=6");
/// assert!("shuffle, deflat".parse::<Filters>().is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    pub(super) wanted: Vec<Wanted>,
    written: Vec<String>,
}

impl Filters {
    /// No filter.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// The filters of a dataset, for another chunk shape: those whose parameters depend on it are described anew.
    pub(crate) fn stored(filters: &[FilterDescription]) -> Filters {
        let wanted: Vec<Wanted> = filters.iter().map(Wanted::stored).collect();
        let written = filters.iter().map(|filter| filter.id.to_string()).collect();
        Filters { wanted, written }
    }
}

impl FromStr for Filters {
    type Err = Error;

    /// Errors are `Invalid`, for what is no filter or not one of its parameters.
    fn from_str(text: &str) -> Result<Filters> {
        let mut filters = Filters::default();
        if text.trim() == "none" {
            return Ok(filters);
        }
        for one in text.split(',').map(str::trim) {
            filters.wanted.push(filter(one)?);
            filters.written.push(one.to_owned());
        }
        Ok(filters)
    }
}

impl fmt::Display for Filters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.written.is_empty() { "none" } else { "" })?;
        f.write_str(&self.written.join(","))
    }
}

fn filter(text: &str) -> Result<Wanted> {
    let (name, given) = text.split_once('=').map_or((text, ""), |(name, given)| (name.trim(), given.trim()));
    let parts: Vec<&str> = if given.is_empty() { Vec::new() } else { given.split(':').map(str::trim).collect() };
    let wrong = || Error::invalid(format!("{text:?} is no filter with its parameters"));
    let number = |range: std::ops::RangeInclusive<u32>, usual: u32| match parts[..] {
        [] => Ok(usual),
        [one] => one.parse().ok().filter(|n| range.contains(n)).ok_or_else(wrong),
        _ => Err(wrong()),
    };
    let bare = |wanted: Wanted| if parts.is_empty() { Ok(wanted) } else { Err(wrong()) };
    match name {
        "shuffle" => bare(Wanted::Shuffle),
        "fletcher32" => bare(Wanted::fletcher32()),
        "nbit" => bare(Wanted::Nbit),
        "lzf" => bare(Wanted::Lzf),
        "lz4" => bare(Wanted::given(32004, &[0])),
        "bitshuffle" => bare(Wanted::Bitshuffle),
        "deflate" | "gzip" => Ok(Wanted::given(1, &[number(0..=9, 4)?])),
        "zstd" => Ok(Wanted::given(32015, &[number(1..=22, 3)?])),
        "bzip2" => Ok(Wanted::given(307, &[number(1..=9, 9)?])),
        "scale-offset" => {
            let factor = match parts[..] {
                [one] => one.parse().map_err(|_| wrong())?,
                _ => return Err(wrong()),
            };
            Ok(Wanted::ScaleOffset { factor })
        }
        "szip" => {
            let (coding, pixels) = match parts[..] {
                [] => ("nn", 32),
                [coding] => (coding, 32),
                [coding, pixels] => (coding, pixels.parse().map_err(|_| wrong())?),
                _ => return Err(wrong()),
            };
            let nearest_neighbour = match coding {
                "nn" => true,
                "ec" => false,
                _ => return Err(wrong()),
            };
            Ok(Wanted::Szip { nearest_neighbour, pixels_per_block: pixels })
        }
        "blosc" => blosc(&parts).ok_or_else(wrong),
        id => {
            let id: u16 = id.parse().map_err(|_| wrong())?;
            let values = parts.iter().map(|part| part.parse::<u32>()).collect::<std::result::Result<Vec<_>, _>>();
            Ok(Wanted::given(id, &values.map_err(|_| wrong())?))
        }
    }
}

fn blosc(parts: &[&str]) -> Option<Wanted> {
    let (compressor, level, shuffle) = match *parts {
        [] => ("lz4", "5", "bytes"),
        [compressor] => (compressor, "5", "bytes"),
        [compressor, level] => (compressor, level, "bytes"),
        [compressor, level, shuffle] => (compressor, level, shuffle),
        _ => return None,
    };
    let compressor = match compressor {
        "blosclz" => Blosc::BloscLz,
        "lz4" => Blosc::Lz4,
        "lz4hc" => Blosc::Lz4Hc,
        "snappy" => Blosc::Snappy,
        "zlib" => Blosc::Zlib,
        "zstd" => Blosc::Zstd,
        _ => return None,
    };
    let shuffle = match shuffle {
        "none" => BloscShuffle::None,
        "bytes" => BloscShuffle::Bytes,
        "bits" => BloscShuffle::Bits,
        _ => return None,
    };
    let level = level.parse().ok().filter(|level| *level <= 9)?;
    Some(Wanted::Blosc { id: 32001, compressor: compressor as u32, level, shuffle: shuffle as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_wanted() {
        let wanted = |text: &str| text.parse::<Filters>().unwrap().wanted;
        assert_eq!(wanted("none"), []);
        assert_eq!(wanted("shuffle,gzip"), [Wanted::Shuffle, Wanted::given(1, &[4])]);
        assert_eq!(wanted("scale-offset=-2 , fletcher32"), [Wanted::ScaleOffset { factor: -2 }, Wanted::fletcher32()]);
        assert_eq!(wanted("szip=ec:8"), [Wanted::Szip { nearest_neighbour: false, pixels_per_block: 8 }]);
        assert_eq!(wanted("32015=7"), [Wanted::given(32015, &[7])]);
        let zstd = Wanted::Blosc { id: 32001, compressor: 5, level: 9, shuffle: 2 };
        assert_eq!(wanted("blosc=zstd:9:bits"), [zstd]);
        for text in
            ["", "deflate=10", "deflate=1:2", "lzf=1", "blosc=lz5", "szip=xx", "scale-offset", "99999", "32015=x"]
        {
            assert!(text.parse::<Filters>().is_err(), "{text}");
        }
    }
}
