//! `h5 diff`: what differs between two files.

use std::io::Write;
use std::process::ExitCode;

use hdfive::inspect::{self, Comparison};

use crate::{Failure, Opening, say};

/// Compare two files: objects, links, types, shapes, attributes, values.
#[derive(clap::Args, Debug)]
#[command(after_help = "Only what differs is printed. The exit code is that of diff: 0 if nothing does, 1 if something
does, 2 if a file could not be read. NaN equals NaN.

Examples:
  h5 diff before.h5 after.h5
  h5 diff --atol 1e-6 --rtol 1e-5 before.h5 after.h5
  h5 diff --ignore history --ignore date before.h5 after.h5")]
pub(crate) struct Diff {
    /// The first file.
    first: String,
    /// The second file.
    second: String,
    /// Numbers that differ by no more than this are equal.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    atol: f64,
    /// Numbers that differ by no more than this times the second are equal.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    rtol: f64,
    /// Leave out attributes of this name.
    #[arg(long, value_name = "ATTRIBUTE")]
    ignore: Vec<String>,
    #[command(flatten)]
    opening: Opening,
}

impl Diff {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let (mut differing, mut gone) = (false, None);
        let compared = self.compare(&mut |difference| {
            differing = true;
            let written = say(&mut out, format_args!("{}: {}", difference.path, difference.what));
            gone = gone.take().or(written.err());
        });
        out.flush()?;
        match (compared, gone) {
            (_, Some(error)) => Err(error.into()),
            (Err(error), None) => {
                say(&mut std::io::stderr(), format_args!("h5: {error}"))?;
                Ok(ExitCode::from(2))
            }
            (Ok(()), None) => Ok(if differing { ExitCode::FAILURE } else { ExitCode::SUCCESS }),
        }
    }

    fn compare(&self, differs: &mut dyn FnMut(inspect::Difference)) -> hdfive::Result<()> {
        let options = self.opening.options();
        let [first, second] = [self.opening.open(&options, &self.first)?, self.opening.open(&options, &self.second)?];
        let ignored_attributes = self.ignore.iter().cloned().collect();
        let by = Comparison { absolute: self.atol, relative: self.rtol, ignored_attributes };
        inspect::diff(&first, &second, &by, differs)
    }
}
