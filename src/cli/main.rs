//! The command `h5`: looks into HDF5 files.

mod attrs;
mod bench_filters;
mod check;
mod diff;
mod digest;
mod document;
mod dump;
mod elements;
mod explain;
mod filters;
mod ls;
mod manifest;
mod names;
mod npy;
mod repack;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use hdfive::{Driver, MissingSources, OpenOptions};

/// Looks into HDF5 files.
#[derive(Parser, Debug)]
#[command(name = "h5", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Ls(ls::Ls),
    Dump(dump::Dump),
    Attrs(attrs::Attrs),
    Digest(digest::Digest),
    Check(check::Check),
    Diff(diff::Diff),
    Explain(explain::Explain),
    Filters(filters::Filters),
    BenchFilters(bench_filters::BenchFilters),
    Repack(repack::Repack),
    Manifest(manifest::Manifest),
    /// Print completions for a shell.
    #[command(after_help = "Example:\n  h5 completions bash > ~/.local/share/bash-completion/completions/h5")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    #[command(after_help = "Example:\n  h5 man > h5.1")]
    Man,
}

/// How files are opened, for every command that opens some.
#[derive(clap::Args, Debug)]
struct Opening {
    /// The file lies in several pieces, and FILE is the name that was given to this driver.
    #[arg(long, value_name = "DRIVER")]
    driver: Option<Pieces>,
    /// Follow external links, raw data and virtual sources under this folder too.
    #[arg(long, value_name = "DIR")]
    allow_root: Vec<PathBuf>,
    /// Look for other files where HDF5_EXT_PREFIX, HDF5_EXTFILE_PREFIX and HDF5_VDS_PREFIX say.
    #[arg(long)]
    environment: bool,
    /// Open a file that is cut short, and read what is there.
    #[arg(long)]
    salvage: bool,
    /// What sources of virtual datasets that are not there are: an error, or fill value, as libhdf5 has it. Unless this is
    /// said, they are fill value for check and digest, and an error for all others.
    #[arg(long, value_name = "WHAT")]
    missing_sources: Option<Missing>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Missing {
    Error,
    Fill,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Pieces {
    Family,
    Split,
    Multi,
}

impl Opening {
    fn options(&self) -> OpenOptions {
        self.options_where(Missing::Error)
    }

    /// The options, where sources that are not there are `missing` unless something else is said.
    fn options_where(&self, missing: Missing) -> OpenOptions {
        let options = OpenOptions::new().salvage(self.salvage).environment(self.environment);
        let options = options.missing_sources(match self.missing_sources.unwrap_or(missing) {
            Missing::Error => MissingSources::Error,
            Missing::Fill => MissingSources::Fill,
        });
        self.allow_root.iter().fold(options, |options, root| options.allow_root(root))
    }

    fn open(&self, options: &OpenOptions, file: &str) -> hdfive::Result<hdfive::File> {
        match self.driver {
            None => options.open_named(file),
            Some(Pieces::Family) => options.open_pieces(Driver::Family, file),
            Some(Pieces::Split) => options.open_pieces(Driver::Split, file),
            Some(Pieces::Multi) => options.open_pieces(Driver::Multi, file),
        }
    }
}

/// What can end a command early.
enum Failure {
    /// Something to be said on one line.
    Said(String),
    /// The command line makes no sense.
    Usage(String),
    /// The reader of our output has gone, which is its right.
    Gone,
}

impl From<hdfive::Error> for Failure {
    fn from(error: hdfive::Error) -> Self {
        Failure::Said(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::Gone,
            _ => Failure::Said(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        match error.is_io() {
            true => std::io::Error::from(error).into(),
            false => Failure::Said(error.to_string()),
        }
    }
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Ls(ls) => ls.run(),
        Command::Dump(dump) => dump.run(),
        Command::Attrs(attrs) => attrs.run(),
        Command::Digest(digest) => digest.run(),
        Command::Diff(diff) => diff.run(),
        Command::Check(check) => check.run(),
        Command::Explain(explain) => explain.run(),
        Command::Filters(filters) => filters.run(),
        Command::BenchFilters(bench) => bench.run(),
        Command::Repack(repack) => repack.run(),
        Command::Manifest(manifest) => manifest.run(),
        Command::Completions { shell } => completions(shell),
        Command::Man => man(),
    };
    let (message, code) = match result {
        Ok(code) => return code,
        Err(Failure::Gone) => return ExitCode::SUCCESS,
        Err(Failure::Said(message)) => (message, ExitCode::FAILURE),
        Err(Failure::Usage(message)) => (message, ExitCode::from(2)),
    };
    let _ = say(&mut std::io::stderr(), format_args!("h5: {message}"));
    code
}

/// Prints a line for people: whatever a file calls things, it is one line and commands no terminal.
fn say(out: &mut impl Write, line: std::fmt::Arguments<'_>) -> std::io::Result<()> {
    writeln!(out, "{}", hdfive::inspect::notation::visible(&line.to_string()))
}

fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    // It panics where it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "h5", &mut script);
    let mut out = std::io::stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn man() -> Result<ExitCode, Failure> {
    let mut out = std::io::stdout().lock();
    clap_mangen::Man::new(Cli::command()).render(&mut out)?;
    Ok(ExitCode::SUCCESS)
}
