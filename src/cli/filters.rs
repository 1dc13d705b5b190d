//! `h5 filters`: which filters there are, and what can be done with them.

use std::io::Write;
use std::process::ExitCode;

use hdfive::filter::{KNOWN, Known, Support};

use crate::Failure;

/// List filters: ids, names, what this build can do with them, and who makes them.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  h5 filters             every registered filter
  h5 filters 32001       one of them
  h5 filters gzip lz4    some, by name")]
pub(crate) struct Filters {
    /// Only filters with these ids or names.
    #[arg(value_name = "ID OR NAME")]
    wanted: Vec<String>,
}

impl Filters {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        for wanted in &self.wanted {
            if !KNOWN.iter().any(|known| is(known, wanted)) {
                return Err(Failure::Said(format!("no filter is registered as {wanted}")));
            }
        }
        let shown = |known: &&Known| self.wanted.is_empty() || self.wanted.iter().any(|wanted| is(known, wanted));
        let mut columns = Columns::new(["id", "name", "here", "made by"], &[0]);
        for known in KNOWN.iter().filter(shown) {
            let here = match known.support {
                Support::Full => "decodes, encodes".to_owned(),
                Support::Decode => "decodes".to_owned(),
                Support::Feature(feature) => format!("with feature {feature}"),
                Support::No => "-".to_owned(),
            };
            columns.row([known.id.to_string(), known.name.to_owned(), here, known.maker.to_owned()]);
        }
        let mut out = std::io::stdout().lock();
        out.write_all(columns.text().as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Other names that filters go by.
const ALIASES: &[(&str, &str)] = &[("gzip", "deflate"), ("zlib", "deflate"), ("zstandard", "zstd")];

/// Whether a filter is meant: by its id, or by a name, in which neither case nor hyphens matter.
fn is(known: &Known, wanted: &str) -> bool {
    let plain = |name: &str| name.replace(['-', '_', ' '], "").to_ascii_lowercase();
    let name = plain(wanted);
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, known)| (*known).to_owned());
    plain(known.name) == name || wanted.parse() == Ok(known.id)
}

/// A table for a terminal: a head, and rows below it.
pub(crate) struct Columns<const N: usize> {
    rows: Vec<[String; N]>,
    right: &'static [usize],
}

impl<const N: usize> Columns<N> {
    /// An empty table. The columns `right` hold numbers, and end where their head ends.
    pub(crate) fn new(head: [&str; N], right: &'static [usize]) -> Self {
        Columns { rows: vec![head.map(str::to_owned)], right }
    }

    pub(crate) fn row(&mut self, row: [String; N]) {
        self.rows.push(row);
    }

    /// The table, a line a row.
    pub(crate) fn text(&self) -> String {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; N] = std::array::from_fn(width);
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
                if self.right.contains(&column) { format!("{cell:>width$}") } else { format!("{cell:width$}") }
            });
            text += cells.collect::<Vec<_>>().join("  ").trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_and_words_begin_at_the_same_place() {
        let mut columns = Columns::new(["id", "name"], &[0]);
        columns.row(["1".to_owned(), "deflate".to_owned()]);
        columns.row(["32000".to_owned(), "é".to_owned()]);
        assert_eq!(columns.text(), "   id  name\n    1  deflate\n32000  é\n");
    }
}
