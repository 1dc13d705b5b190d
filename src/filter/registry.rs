//! Which filters there are, and who makes what: from a filter description to a filter that decodes.
//!
//! The table lists the filters that the HDF Group has registered. A user adds decoders of their own to a
//! [`Registry`] value; nothing is global.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{ChunkInfo, Filter, SharedFilter};
use super::{bitshuffle, blosc, blosc2, deflate, fletcher32, lz4, lzf, nbit, quantise, scale_offset, shuffle, szip};
use crate::error::{Error, Result};
use crate::format::message::filter_pipeline::FilterDescription;

/// A registered filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The registered id.
    pub id: u16,
    /// The usual name, as `h5 ls -l` prints it.
    pub name: &'static str,
    /// Who makes it.
    pub maker: &'static str,
    /// What can be done with it here.
    pub support: Support,
}

/// What can be done with a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Decoded and encoded.
    Full,
    /// Decoded only.
    Decode,
    /// Left out of this build: the Cargo feature that has it.
    Feature(&'static str),
    /// Neither, unless the user registers a decoder.
    No,
}

type Configure = fn(&FilterDescription, ChunkInfo) -> Result<SharedFilter>;
type UserConfigure = Arc<dyn Fn(&FilterDescription, ChunkInfo) -> Result<SharedFilter> + Send + Sync>;

const HDF: &str = "the HDF Group";

const fn known(id: u16, name: &'static str, maker: &'static str, support: Support) -> Known {
    Known { id, name, maker, support }
}

/// A filter that is behind a feature.
const fn behind(feature: &'static str, there: bool) -> Support {
    if there { Support::Full } else { Support::Feature(feature) }
}

/// A filter behind a feature that is only decoded.
const fn decoded_behind(feature: &'static str, there: bool) -> Support {
    if there { Support::Decode } else { Support::Feature(feature) }
}

/// Every filter that has a name here, by id.
pub const KNOWN: &[Known] = &[
    known(1, "deflate", HDF, Support::Full),
    known(2, "shuffle", HDF, Support::Full),
    known(3, "fletcher32", HDF, Support::Full),
    known(4, "szip", HDF, Support::Full),
    known(5, "nbit", HDF, Support::Full),
    known(6, "scaleoffset", HDF, Support::Full),
    known(305, "lzo", "PyTables", decoded_behind("lzo", cfg!(feature = "lzo"))),
    known(307, "bzip2", "PyTables", behind("bzip2", cfg!(feature = "bzip2"))),
    known(32000, "lzf", "h5py", Support::Full),
    known(32001, "blosc", "the Blosc developers", Support::Full),
    known(32002, "mafisc", "the University of Hamburg", Support::No),
    known(32003, "snappy", "Lucas Villa Real", behind("snappy", cfg!(feature = "snappy"))),
    known(32004, "lz4", "the HDF Group and Dectris", Support::Full),
    known(32005, "apax", "Samplify Systems", Support::No),
    known(32006, "cbf", "Dectris and the imgCIF developers", Support::No),
    known(32007, "jpeg-xr", "Dectris", Support::No),
    known(32008, "bitshuffle", "Kiyoshi Masui", Support::Full),
    known(32009, "spdp", "Texas State University", Support::No),
    known(32010, "lpc-rice", "Frans van den Bergh", Support::No),
    known(32011, "ccsds-123", "the ESA and the UAB", Support::No),
    known(32012, "jpeg-ls", "Dectris and ETH Zurich", Support::No),
    known(32013, "zfp", "the Lawrence Livermore National Laboratory", behind("zfp", cfg!(feature = "zfp"))),
    known(32014, "fpzip", "the Lawrence Livermore National Laboratory", Support::No),
    known(32015, "zstd", "the aparamon project", behind("zstd", cfg!(feature = "zstd"))),
    known(32016, "b3d", "the European Molecular Biology Laboratory", Support::No),
    known(32017, "sz", "the Argonne National Laboratory", Support::No),
    known(32018, "fcidecomp", "EUMETSAT", decoded_behind("fcidecomp", cfg!(feature = "fcidecomp"))),
    known(32019, "jpeg", "Mark Rivers", decoded_behind("jpeg", cfg!(feature = "jpeg"))),
    known(32020, "vbz", "Oxford Nanopore Technologies", decoded_behind("vbz", cfg!(feature = "vbz"))),
    known(32021, "fapec", "DAPCOM Data Services", Support::No),
    known(32022, "bitgroom", "the netCDF Operators", Support::Full),
    known(32023, "granular-bitround", "the netCDF Operators", Support::Full),
    known(32024, "sz3", "the Argonne National Laboratory", Support::No),
    known(32025, "delta-rice", "the Nab collaboration", Support::No),
    known(32026, "blosc2", "the Blosc developers", Support::Full),
    known(32027, "flac", "the IceCube and CMB-S4 collaborations", Support::No),
    known(32028, "sperr", "the National Center for Atmospheric Research", Support::No),
    known(32029, "terse", "Senik Matinyan", Support::No),
    known(32030, "ffmpeg", "Cai Lab", Support::No),
    known(32031, "jpeg2000", "the HDF Group", Support::No),
    known(32032, "bitround", "the netCDF Operators", Support::Full),
    known(32033, "htj2k", "the European Synchrotron Radiation Facility", Support::No),
];

/// The filter that this crate has for `id`.
fn built_in(id: u16) -> Option<Configure> {
    Some(match id {
        1 => |d, _| shared(deflate::Deflate::new(&d.client_data)),
        2 => |d, _| Ok(Arc::new(shuffle::Shuffle::new(&d.client_data)?)),
        3 => |_, _| shared(fletcher32::Fletcher32),
        4 => |d, _| Ok(Arc::new(szip::Szip::new(&d.client_data)?)),
        5 => |d, chunk| Ok(Arc::new(nbit::NBit::new(&d.client_data, chunk)?)),
        6 => |d, chunk| Ok(Arc::new(scale_offset::ScaleOffset::new(&d.client_data, chunk)?)),
        #[cfg(feature = "lzo")]
        305 => |_, _| shared(super::lzo::Lzo),
        #[cfg(feature = "bzip2")]
        307 => |d, _| shared(super::bzip2::Bzip2::new(&d.client_data)),
        32000 => |_, _| shared(lzf::Lzf),
        32001 => |d, _| shared(blosc::Blosc::new(&d.client_data)),
        #[cfg(feature = "snappy")]
        32003 => |_, _| shared(super::snappy::Snappy),
        32004 => |d, _| shared(lz4::Lz4::new(&d.client_data)),
        32008 => |d, _| Ok(Arc::new(bitshuffle::Bitshuffle::new(&d.client_data)?)),
        #[cfg(feature = "zfp")]
        32013 => |d, chunk| Ok(Arc::new(super::zfp::Zfp::new(&d.client_data, chunk)?)),
        #[cfg(feature = "zstd")]
        32015 => |d, _| shared(super::zstd::Zstd::new(&d.client_data)),
        #[cfg(feature = "fcidecomp")]
        32018 => |_, _| shared(super::fcidecomp::FciDecomp),
        #[cfg(feature = "jpeg")]
        32019 => |_, _| shared(super::jpeg::Jpeg),
        #[cfg(feature = "vbz")]
        32020 => |d, chunk| Ok(Arc::new(super::vbz::Vbz::new(&d.client_data, chunk)?)),
        32022 | 32023 => |_, _| shared(quantise::Quantiser::unchanged()),
        32026 => |d, _| shared(blosc2::Blosc2::new(&d.client_data)),
        32032 => |d, _| shared(quantise::Quantiser::bit_round(&d.client_data)),
        _ => return None,
    })
}

fn shared(filter: impl Filter + 'static) -> Result<SharedFilter> {
    Ok(Arc::new(filter))
}

impl Known {
    /// The entry of `id`.
    pub fn find(id: u16) -> Option<&'static Known> {
        KNOWN.binary_search_by_key(&id, |known| known.id).ok().map(|at| &KNOWN[at])
    }
}

/// The filters of this crate and those that the user added. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
/// use hdfive::filter::{Bound, Filter, Output, Registry};
///
/// #[derive(Debug)]
/// struct Inverted;
///
/// impl Filter for Inverted {
///     fn decode(&self, input: &[u8], output: &mut Output<'_>) -> hdfive::Result<()> {
///         output.write(&input.iter().map(|byte| !byte).collect::<Vec<u8>>())
///     }
///     fn encoded_bound(&self, plain: usize) -> Bound {
///         Bound::Exactly(plain)
///     }
///     fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> hdfive::Result<bool> {
///         output.extend(input.iter().map(|byte| !byte));
///         Ok(true)
///     }
/// }
///
/// let registry = Registry::default().with(40_000, |_, _| Ok(Arc::new(Inverted)));
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    users: Arc<BTreeMap<u16, UserConfigure>>,
}

impl Registry {
    /// The same registry, where `configure` makes the filter `id` from its description. It goes before a filter of
    /// this crate that has the same id.
    #[must_use]
    pub fn with<F>(mut self, id: u16, configure: F) -> Self
    where
        F: Fn(&FilterDescription, ChunkInfo) -> Result<SharedFilter> + Send + Sync + 'static,
    {
        Arc::make_mut(&mut self.users).insert(id, Arc::new(configure));
        self
    }

    /// Makes the filter that `description` describes.
    ///
    /// `Unsupported` if there is none, with its name and who makes it; `Corrupt` if its client data make no sense.
    pub fn configure(&self, description: &FilterDescription, chunk: ChunkInfo) -> Result<SharedFilter> {
        if let Some(configure) = self.users.get(&description.id) {
            return configure(description, chunk);
        }
        match built_in(description.id) {
            Some(configure) => configure(description, chunk),
            None => Err(Error::unsupported(missing(description))),
        }
    }

    /// Whether chunks that went through the filter `id` can be decoded.
    pub fn decodes(&self, id: u16) -> bool {
        self.users.contains_key(&id) || built_in(id).is_some()
    }
}

/// A filter's name and what matters of its client values, for people: `shuffle(4)`, `blosc(lz4, 5, bits)`. A filter
/// that is not registered has the name that the file gives it.
pub fn label(id: u16, stored_name: &str, values: &[u32]) -> String {
    let value = |at: usize| values.get(at).copied().unwrap_or(0);
    let of = |names: &[&'static str], at: usize| {
        let name = names.get(super::size(value(at)));
        name.map_or_else(|| value(at).to_string(), |name| (*name).to_owned())
    };
    const SHUFFLES: &[&str] = &["none", "bytes", "bits", "delta", "truncated"];
    const CODECS: &[&str] = &["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];
    let parameters = match id {
        1 | 2 | 307 if !values.is_empty() => value(0).to_string(),
        4 if value(0) & 32 != 0 => format!("nn, {}", value(1)),
        4 => format!("ec, {}", value(1)),
        6 => value(1).cast_signed().to_string(),
        32001 | 32026 if values.len() > 6 => format!("{}, {}, {}", of(CODECS, 6), value(4), of(SHUFFLES, 5)),
        32004 if value(0) != 0 => value(0).to_string(),
        32008 => of(&["none", "none", "lz4", "zstd"], 4),
        32015 if !values.is_empty() => value(0).cast_signed().to_string(),
        _ => String::new(),
    };
    let name = match Known::find(id) {
        Some(known) => known.name.to_owned(),
        None if stored_name.is_empty() => format!("filter {id}"),
        None => format!("{stored_name} (filter {id})"),
    };
    if parameters.is_empty() { name } else { format!("{name}({parameters})") }
}

fn missing(description: &FilterDescription) -> String {
    let id = description.id;
    let Some(known) = Known::find(id) else {
        let name = description.name();
        return if name.is_empty() {
            format!("filter {id} is not registered; a decoder can be added to the registry")
        } else {
            format!("filter {id}, {name:?} in the file, is not registered; a decoder can be added to the registry")
        };
    };
    match known.support {
        Support::Feature(feature) => {
            format!("filter {}, id {id}, is not in this build; the feature `{feature}` has it", known.name)
        }
        Support::Full | Support::Decode | Support::No => format!(
            "filter {}, id {id}, by {}, is not decoded; a decoder can be added to the registry",
            known.name, known.maker
        ),
    }
}

/// The usual name of the filter, or what the file calls it.
pub(super) fn name(description: &FilterDescription) -> Cow<'static, str> {
    match Known::find(description.id) {
        Some(known) => Cow::Borrowed(known.name),
        None if description.name().is_empty() => Cow::Owned(description.id.to_string()),
        None => Cow::Owned(description.name()),
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registry {{ users: {:?} }}", self.users.keys())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    pub(super) const CHUNK: ChunkInfo = ChunkInfo { bytes: 60, element_size: 4 };

    fn description(id: u16, name: &[u8]) -> FilterDescription {
        let (stored_name, client_data, padding) = (name.to_vec(), vec![4], Vec::new());
        FilterDescription { id, stored_name, flags: 0, client_data, padding }
    }

    #[test]
    fn the_table_is_in_order_and_says_what_is_built_in() {
        assert!(KNOWN.is_sorted_by(|a, b| a.id < b.id));
        for known in KNOWN {
            let there = matches!(known.support, Support::Full | Support::Decode);
            assert_eq!(there, Registry::default().decodes(known.id), "{}", known.name);
        }
    }

    #[test]
    fn missing_filters_are_named_with_their_makers() {
        let error = |id, name: &[u8]| Registry::default().configure(&description(id, name), CHUNK).unwrap_err();
        let sz = error(32017, b"");
        assert_eq!(sz.kind(), ErrorKind::Unsupported);
        let text = "filter sz, id 32017, by the Argonne National Laboratory, is not decoded; a decoder can be added to \
                    the registry";
        assert_eq!(sz.message(), text);
        assert!(error(40_001, b"mine\0\0").message().contains("\"mine\""));
        assert!(error(40_001, b"").message().contains("40001"));
    }

    #[test]
    fn labels_say_what_matters() {
        let with = |id, client_data: &[u32]| label(id, "own", client_data);
        assert_eq!(with(2, &[4]), "shuffle(4)");
        assert_eq!(with(1, &[6]), "deflate(6)");
        assert_eq!(with(3, &[]), "fletcher32");
        assert_eq!(with(32015, &[u32::MAX]), "zstd(-1)");
        assert_eq!(with(32001, &[2, 2, 4, 999, 5, 2, 1]), "blosc(lz4, 5, bits)");
        assert_eq!(with(40_000, &[1]), "own (filter 40000)");
        assert_eq!(label(40_000, "", &[1]), "filter 40000");
    }

    #[test]
    fn a_users_filter_goes_first() {
        let registry = Registry::default().with(40_000, |_, _| shared(lzf::Lzf)).with(1, |_, _| shared(lzf::Lzf));
        assert!(registry.clone().decodes(40_000));
        let filter = registry.configure(&description(1, b""), CHUNK).unwrap();
        assert_eq!(format!("{filter:?}"), "Lzf");
        assert!(!Registry::default().decodes(40_000));
    }
}
