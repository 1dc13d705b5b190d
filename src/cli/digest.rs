//! `h5 digest`: checksums of what is in a file, however it is stored.

use std::io::Write;
use std::process::ExitCode;

use serde_json::Value;

use crate::document::Document;
use crate::{Failure, Missing, Opening, say};

/// Print checksums of the contents that do not depend on layout, chunking or compression.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  h5 digest weather.h5                   a line for each dataset and attribute
  h5 digest a.h5 b.h5                    with the files' names
  h5 digest --json weather.h5            everything in one document
  h5 digest --jsonl *.h5                 a document a line, going on after a bad file
  h5 digest --json --driver family 'f%05d.h5'")]
pub(crate) struct Digest {
    /// The files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// One JSON document on one line.
    #[arg(long, conflicts_with = "jsonl")]
    json: bool,
    /// One JSON document a line, one line a file; goes on after a bad one.
    #[arg(long)]
    jsonl: bool,
    /// Digest datasets of more than 256 MiB too.
    #[arg(long)]
    no_limit: bool,
    #[command(flatten)]
    opening: Opening,
}

impl Digest {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        if self.json && self.files.len() != 1 {
            writeln!(std::io::stderr(), "h5: --json takes one file; --jsonl takes several")?;
            return Ok(ExitCode::from(2));
        }
        let options: hdfive::OpenOptions = self.opening.options_where(Missing::Fill);
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let mut code = ExitCode::SUCCESS;
        for file in &self.files {
            let document = match self.opening.open(&options, file) {
                Ok(opened) => {
                    for warning in opened.warnings() {
                        writeln!(std::io::stderr(), "h5: warning: {file}: {warning}")?;
                    }
                    Document { file: &opened, name: file, driver: self.driver(), no_limit: self.no_limit }.value()
                }
                Err(error) => Err(error),
            };
            let document = document.unwrap_or_else(|error| {
                code = ExitCode::FAILURE;
                if !self.json && !self.jsonl {
                    let _ = writeln!(std::io::stderr(), "h5: {error}");
                }
                serde_json::json!({"oracle": 1, "file": file, "open_error": {"desc": error.to_string()}})
            });
            if self.json || self.jsonl {
                writeln!(out, "{document}")?;
            } else {
                let before = if self.files.len() > 1 { format!("{file}:") } else { String::new() };
                print(&mut out, &document, &before)?;
            }
        }
        out.flush()?;
        Ok(code)
    }

    fn driver(&self) -> Option<&'static str> {
        self.opening.driver.map(|driver| match driver {
            crate::Pieces::Family => "family",
            crate::Pieces::Split => "split",
            crate::Pieces::Multi => "multi",
        })
    }
}

/// A line for each dataset and attribute: digest, bytes, path; `before` stands before each path.
fn print(out: &mut impl Write, document: &Value, before: &str) -> std::io::Result<()> {
    let text = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
    for object in document["objects"].as_array().into_iter().flatten() {
        let path = format!("{before}{}", text(object, "path").unwrap_or_default());
        if let Some(error) = object.get("error") {
            say(out, format_args!("{:64} {:>12}  {path}: {}", "error", "", text(error, "desc").unwrap_or_default()))?;
        }
        let attributes = object["attrs"].as_array().into_iter().flatten();
        let places = attributes.map(|a| (a, format!("{path}@{}", text(a, "name").unwrap_or_default())));
        for (value, place) in std::iter::once((object, path.clone())).chain(places) {
            if let Some(digest) = text(value, "digest") {
                say(out, format_args!("{digest} {:>12}  {place}", value["nbytes"].to_string()))?;
            }
            for key in ["undigested", "data_error"] {
                if let Some(why) = value.get(key) {
                    let why = text(why, "desc").or_else(|| why.as_str().map(str::to_owned)).unwrap_or_default();
                    say(out, format_args!("{key:64} {:>12}  {place}: {why}", ""))?;
                }
            }
        }
    }
    Ok(())
}
