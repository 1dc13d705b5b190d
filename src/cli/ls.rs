//! `h5 ls`: what is in a file.

use std::process::ExitCode;

use crate::{Failure, Opening};

/// List what is in a file.
#[derive(clap::Args, Debug)]
pub(crate) struct Ls {
    /// The file.
    file: String,
    #[command(flatten)]
    opening: Opening,
}

impl Ls {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let file = self.opening.open(&self.opening.options(), &self.file)?;
        for object in hdfive::inspect::Tree::walk(&file)?.objects {
            println!("{}", String::from_utf8_lossy(&object.path));
        }
        Ok(ExitCode::SUCCESS)
    }
}
