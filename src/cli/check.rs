//! `h5 check`: whether a file is sound.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use hdfive::MissingSources;
use hdfive::inspect::{self, Report, Surveyor};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::{Failure, Opening};

/// Read everything in files, and say what is wrong with them.
#[derive(clap::Args, Debug)]
#[command(after_help = "Every structure is decoded, every checksum verified, every chunk read, and no two things may
share bytes. The exit code is 1 if something is wrong.

Examples:
  h5 check weather.h5
  h5 check --json *.h5             one line of JSON for each file")]
pub(crate) struct Check {
    /// The files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Print a line of JSON for each file.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    opening: Opening,
}

impl Check {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let mut out = std::io::stdout().lock();
        let mut sound = true;
        for file in &self.files {
            let report = self.check(file);
            sound &= report.as_ref().is_ok_and(Report::is_sound);
            if self.json {
                writeln!(out, "{}", line(file, &report))?;
            } else {
                print(&mut out, file, &report)?;
            }
        }
        Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn check(&self, name: &str) -> hdfive::Result<Report> {
        let surveyor = Arc::new(Surveyor::default());
        let options = self.opening.options().missing_sources(MissingSources::Fill).observer(Arc::clone(&surveyor) as _);
        let file = self.opening.open(&options, name)?;
        let bar = bar();
        let report = inspect::check(&file, &surveyor, &|done, total| {
            bar.set_length(total);
            bar.set_position(done);
        });
        bar.finish_and_clear();
        report
    }
}

/// A bar on a terminal, nothing elsewhere.
fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.with_style(
        ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
            .expect("because the template is right"),
    )
}

fn print(out: &mut impl Write, file: &str, report: &hdfive::Result<Report>) -> Result<(), Failure> {
    let report = match report {
        Ok(report) => report,
        Err(error) => return Ok(writeln!(out, "{file}: cannot be read: {error}")?),
    };
    for problem in &report.problems {
        writeln!(out, "{file}: {problem}")?;
    }
    for unchecked in &report.unchecked {
        writeln!(out, "{file}: not checked: {unchecked}")?;
    }
    let verdict = match report.problems.len() {
        0 => "sound".to_owned(),
        1 => "1 problem".to_owned(),
        n => format!("{n} problems"),
    };
    writeln!(
        out,
        "{file}: {verdict}; {} objects, {} attributes, {} bytes of elements read, {} bytes of the file belong to nothing",
        report.objects, report.attributes, report.bytes, report.unaccounted
    )?;
    Ok(())
}

fn line(file: &str, report: &hdfive::Result<Report>) -> serde_json::Value {
    let texts = |errors: &[hdfive::Error]| -> Vec<serde_json::Value> {
        errors.iter().map(|e| json!({"kind": format!("{:?}", e.kind()), "desc": e.to_string()})).collect()
    };
    match report {
        Ok(report) => json!({
            "file": file,
            "sound": report.is_sound(),
            "objects": report.objects,
            "attributes": report.attributes,
            "bytes": report.bytes,
            "unaccounted": report.unaccounted,
            "problems": texts(&report.problems),
            "unchecked": texts(&report.unchecked),
        }),
        Err(error) => json!({
            "file": file,
            "sound": false,
            "problems": [{"kind": format!("{:?}", error.kind()), "desc": error.to_string()}],
        }),
    }
}
