//! `h5 repack`: writes a file anew.

use std::io::Write;
use std::process::ExitCode;

use clap::ValueEnum;
use hdfive::OpenOptions;
use hdfive::repack::Repack as Repacking;
use hdfive::write::Compatibility;

use crate::{Failure, Opening};

/// Write a file anew: the same content, as another version of HDF5 stores it.
///
/// What was deleted leaves no gaps. Chunks are copied as they are stored. The new file appears when all of it is written.
/// What it cannot hold is left out, and said on stderr, a line each; the exit code is 1 then.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  h5 repack old.h5 new.h5\n  h5 repack --compat earliest new.h5 for_everybody.h5")]
pub(crate) struct Repack {
    /// The oldest libhdf5 that has to read the new file.
    #[arg(long, value_name = "LEVEL", default_value = "v18")]
    compat: Level,
    /// Bytes before the HDF5 file begins: 0, 512, 1024, 2048, ...
    #[arg(long, value_name = "BYTES", default_value = "0")]
    user_block: u64,
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
        let left_out = Repacking::new().compatibility(level).user_block(self.user_block).write(&file, &self.to)?;
        for left_out in &left_out {
            writeln!(std::io::stderr(), "{left_out}")?;
        }
        Ok(if left_out.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
