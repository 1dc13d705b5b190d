//! `h5 attrs`: the attributes of an object.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use hdfive::inspect::notation::{short, text};

use crate::dump::{attributes, line_of_json};
use crate::{Failure, Opening};

/// Print the attributes of an object.
#[derive(clap::Args, Debug)]
#[command(after_help = "Where the output is no terminal it is JSON.

Examples:
  h5 attrs weather.h5                        of the file, which are those of its root group
  h5 attrs weather.h5 /surface/temperature
  h5 attrs weather.h5 /surface/temperature units")]
pub(crate) struct Attrs {
    /// The file.
    file: String,
    /// Path of the object.
    #[arg(default_value = "/")]
    path: String,
    /// The one attribute that is wanted: its value alone is printed.
    name: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    opening: Opening,
}

impl Attrs {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let file = self.opening.open(&self.opening.options(), &self.file)?;
        let object = file.object(&self.path)?;
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let json = self.json || !std::io::stdout().is_terminal();
        match &self.name {
            Some(name) => {
                let value = object.attribute(name)?.read_value()?;
                if json { writeln!(out, "{}", line_of_json(&value)?)? } else { writeln!(out, "{value:#}")? }
            }
            None if json => writeln!(out, "{}", line_of_json(&attributes(&object)?)?)?,
            None => {
                for attribute in object.attributes()? {
                    let attribute = attribute?;
                    let name = text(attribute.name_bytes());
                    let datatype = short(attribute.datatype());
                    writeln!(out, "{name} = {}  ({datatype} {:?})", attribute.read_value()?, attribute.shape())?;
                }
            }
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}
