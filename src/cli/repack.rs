//! `h5 repack`: writes a file anew.

use std::io::Write;
use std::process::ExitCode;

use clap::ValueEnum;
use hdfive::OpenOptions;
use hdfive::create::Filters;
use hdfive::repack::Repack as Repacking;
use hdfive::write::{Compatibility, FileSpaceStrategy};

use crate::{Failure, Opening};

/// Write a file anew: the same content, as another version of HDF5 stores it.
///
/// What was deleted leaves no gaps. Chunks are copied as they are stored, unless filters, chunks or a layout are asked for;
/// datasets that these are not for stay as they are. The new file appears when all of it is written.
/// What it cannot hold is left out, and said on stderr, a line each; the exit code is 1 then.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  h5 repack old.h5 new.h5\n  h5 repack --compat earliest new.h5 for_everybody.h5
  h5 repack --filters shuffle,zstd=3 old.h5 small.h5
  h5 repack --chunks 1x721x1440 --only /surface old.h5 by_day.h5

Filters: none, shuffle, deflate=0..9, fletcher32, szip=nn|ec:PIXELS, nbit, scale-offset=DIGITS, lzf, lz4, zstd=LEVEL,
bzip2=1..9, bitshuffle, blosc=COMPRESSOR:LEVEL:none|bytes|bits, or ID=VALUE:VALUE:..., with commas between them.")]
pub(crate) struct Repack {
    /// The oldest libhdf5 that has to read the new file.
    #[arg(long, value_name = "LEVEL", default_value = "v18")]
    compat: Level,
    /// Bytes before the HDF5 file begins: 0, 512, 1024, 2048, ...
    #[arg(long, value_name = "BYTES", default_value = "0")]
    user_block: u64,
    /// Filters that elements go through instead of their own.
    #[arg(long, value_name = "FILTER,...")]
    filters: Option<Filters>,
    /// Shape of chunks, for datasets of its rank (`100x200`), or `auto`.
    #[arg(long, value_name = "SHAPE", conflicts_with = "contiguous")]
    chunks: Option<Chunks>,
    /// Store datasets that cannot grow in one piece, without filters.
    #[arg(long, conflicts_with = "filters")]
    contiguous: bool,
    /// A dataset, or a group of them, that filters, chunks and layout are for; all without. May be said several times.
    #[arg(long, value_name = "PATH")]
    only: Vec<String>,
    /// Bytes of a page, in which metadata and data lie apart, for reading from afar. For `v110` and later.
    #[arg(long, value_name = "BYTES")]
    page: Option<u64>,
    #[command(flatten)]
    opening: Opening,
    /// The file.
    #[arg(value_name = "IN")]
    from: String,
    /// The new file; one that is there is replaced.
    #[arg(value_name = "OUT")]
    to: String,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Level {
    /// All of them.
    Earliest,
    /// 1.8.
    V18,
    /// 1.10.
    V110,
    /// 1.12 and 1.14.
    V114,
    /// 2.0.
    V200,
}

/// A chunk shape, or any that suits.
#[derive(Clone, Debug)]
struct Chunks(Option<Vec<u64>>);

impl std::str::FromStr for Chunks {
    type Err = String;

    fn from_str(text: &str) -> Result<Chunks, String> {
        if text == "auto" {
            return Ok(Chunks(None));
        }
        let sizes: Result<Vec<u64>, _> = text.split('x').map(str::parse).collect();
        match sizes {
            Ok(sizes) if !sizes.contains(&0) => Ok(Chunks(Some(sizes))),
            _ => Err("neither sizes with an x between them nor auto".to_owned()),
        }
    }
}

impl Repack {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let level = match self.compat {
            Level::Earliest => Compatibility::Earliest,
            Level::V18 => Compatibility::V18,
            Level::V110 => Compatibility::V110,
            Level::V114 => Compatibility::V114,
            Level::V200 => Compatibility::V200,
        };
        let options: OpenOptions = self.opening.options();
        let file = self.opening.open(&options, &self.from)?;
        let mut repacking = Repacking::new().compatibility(level).user_block(self.user_block).only(self.only);
        if let Some(size) = self.page {
            repacking = repacking.file_space(FileSpaceStrategy::Page(size));
        }
        if let Some(filters) = self.filters {
            repacking = repacking.filters(filters);
        }
        repacking = match self.chunks {
            Some(Chunks(Some(shape))) => repacking.chunk(shape),
            Some(Chunks(None)) => repacking.chunked(),
            None if self.contiguous => repacking.contiguous(),
            None => repacking,
        };
        let bar = crate::check::bar();
        let left_out = repacking.write_watched(&file, &self.to, &mut |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        })?;
        bar.finish_and_clear();
        for left_out in &left_out {
            writeln!(std::io::stderr(), "{left_out}")?;
        }
        Ok(if left_out.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
