//! Filters as the codecs of Zarr that undo them.

use serde_json::{Value as Json, json};

use super::references::{Codecs, Options, Zarr};
use crate::format::message::filter_pipeline::FilterDescription;

/// The codecs that undo filters, in the order in which these encode.
///
/// Errors say which filter has none.
pub(super) fn codecs(filters: &[FilterDescription], element_size: u32, options: &Options) -> Result<Vec<Json>, String> {
    filters.iter().map(|filter| codec(filter, element_size, options)).collect()
}

fn codec(filter: &FilterDescription, element_size: u32, options: &Options) -> Result<Json, String> {
    let value = |place: usize| filter.client_data.get(place).copied().unwrap_or(0);
    let widely = options.codecs == Codecs::Imagecodecs && options.zarr == Zarr::V2;
    let none = || {
        let name =
            crate::filter::Known::find(filter.id).map_or_else(|| filter.id.to_string(), |known| known.name.to_owned());
        format!("the filter {name}, for which there is no codec; h5 repack --filters shuffle,zstd=3 gives it others")
    };
    let (id, configuration) = match filter.id {
        1 => ("zlib", json!({"level": value(0)})),
        2 => {
            let size = if value(0) == 0 { element_size } else { value(0) };
            ("shuffle", json!({"elementsize": size}))
        }
        3 => ("fletcher32", json!({})),
        307 => ("bz2", json!({"level": value(0)})),
        32015 => ("zstd", json!({"level": value(0)})),
        32001 => {
            let name = match value(6) {
                0 => "blosclz",
                1 => "lz4",
                2 => "lz4hc",
                4 => "zlib",
                5 => "zstd",
                _ => return Err(none()),
            };
            ("blosc", json!({"cname": name, "clevel": value(4), "shuffle": value(5), "blocksize": 0}))
        }
        4 if widely => {
            let (mask, pixels) = (value(0), value(1));
            let more = json!({"options_mask": mask, "pixels_per_block": pixels, "bits_per_pixel": value(2),
                              "pixels_per_scanline": value(3), "header": true});
            ("imagecodecs_szip", more)
        }
        32000 if widely => ("imagecodecs_lzf", json!({"header": false})),
        32004 if widely => ("imagecodecs_lz4h5", json!({})),
        32008 if widely && value(4) == 0 => ("imagecodecs_bitshuffle", json!({"itemsize": value(2)})),
        _ => return Err(none()),
    };
    Ok(match options.zarr {
        Zarr::V2 => {
            let mut codec = json!({"id": id});
            if let (Some(codec), Json::Object(configuration)) = (codec.as_object_mut(), configuration) {
                codec.extend(configuration);
            }
            codec
        }
        Zarr::V3 => json!({"name": format!("numcodecs.{id}"), "configuration": configuration}),
    })
}
