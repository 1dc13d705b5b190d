//! `h5 check`: whether a file is sound.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use hdfive::inspect::policy::{Outside, ReferenceKind};
use hdfive::inspect::{self, Policy, Report, Surveyor};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::{Failure, Missing, Opening, say};

/// Read everything in files, and say what is wrong with them.
#[derive(clap::Args, Debug)]
#[command(after_help = "Every structure is decoded, every checksum verified, every chunk read, and no two things may
share bytes. The exit code is 1 if something is wrong.

Examples:
  h5 check weather.h5
  h5 check --json *.h5             one line of JSON for each file
  h5 check --policy upload.h5      what it refers to outside itself, and what it claims")]
pub(crate) struct Check {
    /// The files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Print a line of JSON for each file.
    #[arg(long)]
    json: bool,
    /// Say what the files refer to outside themselves and what they claim, instead of reading their data.
    #[arg(long)]
    policy: bool,
    #[command(flatten)]
    opening: Opening,
}

impl Check {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let mut out = std::io::stdout().lock();
        let mut sound = true;
        for file in &self.files {
            if self.policy {
                sound &= self.policy(&mut out, file)?;
                continue;
            }
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

    /// Prints the policy of a file; whether it could be looked at.
    fn policy(&self, out: &mut impl Write, name: &str) -> Result<bool, Failure> {
        let options = self.opening.options_where(Missing::Fill);
        let policy = self.opening.open(&options, name).and_then(|file| inspect::policy(&file));
        match &policy {
            Ok(policy) if self.json => writeln!(out, "{}", policy_line(name, policy))?,
            Ok(policy) => print_policy(out, name, policy)?,
            Err(error) if self.json => {
                let error = json!({"kind": format!("{:?}", error.kind()), "desc": error.to_string()});
                writeln!(out, "{}", json!({"file": name, "error": error}))?;
            }
            Err(error) => say(out, format_args!("{name}: cannot be read: {error:#}"))?,
        }
        Ok(policy.is_ok())
    }

    fn check(&self, name: &str) -> hdfive::Result<Report> {
        let surveyor = Arc::new(Surveyor::default());
        let options = self.opening.options_where(Missing::Fill).observer(Arc::clone(&surveyor) as _);
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
pub(crate) fn bar() -> ProgressBar {
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
        Err(error) => return Ok(say(out, format_args!("{file}: cannot be read: {error:#}"))?),
    };
    for problem in &report.problems {
        say(out, format_args!("{file}: {problem:#}"))?;
    }
    for unchecked in &report.unchecked {
        say(out, format_args!("{file}: not checked: {unchecked:#}"))?;
    }
    for missing in &report.missing {
        say(out, format_args!("{file}: a source is missing: {missing:#}"))?;
    }
    let verdict = match report.problems.len() {
        0 if !report.unchecked.is_empty() => "sound as far as it was checked".to_owned(),
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
            "missing": texts(&report.missing),
        }),
        Err(error) => json!({
            "file": file,
            "sound": false,
            "problems": [{"kind": format!("{:?}", error.kind()), "desc": error.to_string()}],
        }),
    }
}

/// How a file refers to something outside itself, in words.
fn words(kind: ReferenceKind) -> &'static str {
    match kind {
        ReferenceKind::ExternalLink => "external link",
        ReferenceKind::RawData => "raw data",
        ReferenceKind::VirtualSource => "virtual source",
        ReferenceKind::UserLink => "user-defined link",
        ReferenceKind::Driver => "driver",
    }
}

fn print_policy(out: &mut impl Write, file: &str, policy: &Policy) -> Result<(), Failure> {
    for Outside { kind, from, to } in &policy.outside {
        say(out, format_args!("{file}: {} {from} -> {to}", words(*kind)))?;
    }
    for unknown in &policy.unknown {
        say(out, format_args!("{file}: not known: {unknown:#}"))?;
    }
    writeln!(
        out,
        "{file}: refers to {} things outside; {} objects, {} deep; claims {} bytes, stores {}; largest chunk {} bytes",
        policy.outside.len(),
        policy.objects,
        policy.deepest,
        policy.logical,
        policy.stored,
        policy.largest_chunk
    )?;
    if let Some((path, logical, stored)) = &policy.largest {
        say(out, format_args!("{file}: largest is {path}, claims {logical} bytes, stores {stored}"))?;
    }
    Ok(())
}

fn policy_line(file: &str, policy: &Policy) -> serde_json::Value {
    // Numbers beyond 64 bits are as good as the largest of these.
    let number = |n: u128| u64::try_from(n).unwrap_or(u64::MAX);
    let outside: Vec<_> = (policy.outside.iter())
        .map(|Outside { kind, from, to }| json!({"kind": words(*kind), "from": from, "to": to}))
        .collect();
    let unknown: Vec<_> =
        (policy.unknown.iter()).map(|e| json!({"kind": format!("{:?}", e.kind()), "desc": e.to_string()})).collect();
    let largest = (policy.largest.as_ref())
        .map(|(path, logical, stored)| json!({"path": path, "logical": number(*logical), "stored": stored}));
    json!({
        "file": file,
        "outside": outside,
        "objects": policy.objects,
        "deepest": policy.deepest,
        "logical": number(policy.logical),
        "stored": policy.stored,
        "largest": largest,
        "largest_chunk": number(policy.largest_chunk),
        "unknown": unknown,
    })
}
