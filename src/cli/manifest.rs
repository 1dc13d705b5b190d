//! `h5 manifest`: references for readers of Zarr.

use std::io::Write;
use std::process::ExitCode;

use clap::ValueEnum;
use hdfive::refs::{Codecs, Options, References, Zarr};

use crate::{Failure, Opening, say};

/// Print where the chunks of a file lie, so that readers of Zarr read it without HDF5: kerchunk's JSON.
///
/// What cannot be expressed is left out, and said on stderr with the reason, a line each; the exit code is 1 then.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  h5 manifest weather.h5 > weather.json
  h5 manifest --url s3://bucket/weather.h5 --zarr v3 weather.h5 > weather.json

In Python: xarray.open_dataset(\"weather.json\", engine=\"kerchunk\"), or fsspec's file system \"reference\".")]
pub(crate) struct Manifest {
    /// Where readers will find the file; without it, its path here.
    #[arg(long)]
    url: Option<String>,
    /// The version of Zarr whose metadata are printed.
    #[arg(long, default_value = "v2")]
    zarr: Version,
    /// The codecs that readers have.
    #[arg(long, default_value = "strict")]
    codecs: Have,
    /// Chunks of less than this many stored bytes stand in the references themselves.
    #[arg(long, value_name = "BYTES", default_value_t = 500)]
    inline: u64,
    /// What is not stored has the dataset's fill value, also where readers take that for a missing value.
    #[arg(long)]
    exact_fill: bool,
    #[command(flatten)]
    opening: Opening,
    /// The file.
    file: String,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Version {
    V2,
    V3,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Have {
    /// Those of numcodecs.
    Strict,
    /// Those of imagecodecs too.
    Imagecodecs,
}

impl Manifest {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let file = self.opening.open(&self.opening.options(), &self.file)?;
        let zarr = match self.zarr {
            Version::V2 => Zarr::V2,
            Version::V3 => Zarr::V3,
        };
        let codecs = match self.codecs {
            Have::Strict => Codecs::Strict,
            Have::Imagecodecs => Codecs::Imagecodecs,
        };
        let url = match self.url {
            Some(url) => url,
            None => std::path::absolute(&self.file)?.display().to_string(),
        };
        let options = Options { zarr, codecs, inline: self.inline, exact_fill: self.exact_fill, ..Options::default() };
        let references = References::of(&file, &url, &options)?;
        let mut err = std::io::stderr();
        for note in &references.notes {
            say(&mut err, format_args!("note: {note}"))?;
        }
        for blocked in &references.blocked {
            say(&mut err, format_args!("left out: {blocked}"))?;
        }
        writeln!(std::io::stdout().lock(), "{}", references.to_kerchunk())?;
        Ok(if references.blocked.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
