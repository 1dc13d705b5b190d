//! `h5 attrs`: the attributes of an object.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use hdfive::Attribute;
use hdfive::inspect::notation::{short, text};

use crate::dump::{attributes, line_of_json};
use crate::names::Names;
use crate::{Failure, Opening, say};

/// Print the attributes of an object.
#[derive(clap::Args, Debug)]
#[command(after_help = "Where the output is no terminal it is JSON, unless --text is given.

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
    #[arg(long, conflicts_with = "text")]
    json: bool,
    /// Print text, wherever it goes.
    #[arg(long)]
    text: bool,
    #[command(flatten)]
    opening: Opening,
}

impl Attrs {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let file = self.opening.open(&self.opening.options(), &self.file)?;
        let object = file.object(&self.path)?;
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let names = Names::of(&file);
        let json = self.json || !(self.text || std::io::stdout().is_terminal());
        match &self.name {
            Some(name) => print(&mut out, &object.attribute(name)?, &names, json)?,
            None if json => writeln!(out, "{}", line_of_json(&attributes(&object, &names)?)?)?,
            None => {
                for attribute in object.attributes()? {
                    let attribute = attribute?;
                    let (name, datatype) = (text(attribute.name_bytes()), attribute.datatype());
                    let value = names.name(attribute.read_value()?, datatype);
                    say(&mut out, format_args!("{name} = {value}  ({} {:?})", short(datatype), attribute.shape()))?;
                }
            }
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints the value of one attribute.
pub(crate) fn print(out: &mut impl Write, attribute: &Attribute, names: &Names<'_>, json: bool) -> Result<(), Failure> {
    let value = names.name(attribute.read_value()?, attribute.datatype());
    match json {
        true => writeln!(out, "{}", line_of_json(&value)?)?,
        // The lines of an array are ours.
        false => {
            for line in format!("{value:#}").lines() {
                say(out, format_args!("{line}"))?;
            }
        }
    }
    Ok(())
}
