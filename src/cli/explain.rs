//! `h5 explain`: what the bytes of a file are.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use hdfive::inspect::notation::text;
use hdfive::inspect::{self, Explained, Map, Region, Surveyor, Tree};
use hdfive::wire::{Addr, Described, Placed};
use hdfive::{ErrorKind, File};

use crate::{Failure, Opening, say};

/// Show the structure at an address, field by field, or the map of a file.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  h5 explain weather.h5 /surface/temperature    the object header
  h5 explain weather.h5 0x320                   whatever lies there
  h5 explain weather.h5 --map                   every structure with its range, gaps and overlaps")]
pub(crate) struct Explain {
    /// The file.
    file: String,
    /// An address (0x...) or the path of an object.
    #[arg(value_name = "ADDR|PATH")]
    place: Option<String>,
    /// List every structure with its range, what belongs to nothing, and what shares bytes.
    #[arg(long, conflicts_with = "place")]
    map: bool,
    #[command(flatten)]
    opening: Opening,
}

impl Explain {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        match &self.place {
            Some(place) => {
                let addr = self.address(place)?;
                let open = |options: &hdfive::OpenOptions| self.opening.open(options, &self.file);
                print(&mut out, &inspect::explain(&self.opening.options(), open, addr)?)?;
            }
            None if self.map => self.map(&mut out)?,
            None => {
                let what = "what is to be explained? An address (0x...), the path of an object, or all with --map";
                return Err(Failure::Usage(what.to_owned()));
            }
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    fn address(&self, place: &str) -> Result<Addr, Failure> {
        if let Some(digits) = place.strip_prefix("0x") {
            let addr = u64::from_str_radix(digits, 16);
            let what = || Failure::Usage(format!("{place} is no address: 0x and up to 16 hexadecimal digits are one"));
            return addr.map(Addr).map_err(|_| what());
        }
        let file: File = self.opening.open(&self.opening.options(), &self.file)?;
        let is_number = !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_hexdigit());
        match file.object(place) {
            Ok(object) => Ok(object.address()),
            Err(error) if error.kind() == ErrorKind::NotFound && is_number => {
                Err(Failure::Said(format!("{error}; addresses begin with 0x: 0x{place}")))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn map(&self, out: &mut impl Write) -> Result<(), Failure> {
        let surveyor = Arc::new(Surveyor::default());
        let options = self.opening.options().observer(Arc::clone(&surveyor) as _);
        let file = self.opening.open(&options, &self.file)?;
        // Reading everything shows the heaps that elements lead to.
        inspect::check(&file, &surveyor, &|_, _| {})?;
        let map = Map::of(&file, &surveyor, &Tree::walk(&file)?);
        let gaps = map.gaps().into_iter().map(|range| Region { range, what: "-", owner: None });
        let mut all: Vec<Region> = map.regions.iter().cloned().chain(gaps).collect();
        all.sort_by_key(|region| region.range);
        for region in &all {
            say(out, format_args!("{}", named(region)))?;
        }
        for (one, other) in map.overlaps() {
            say(out, format_args!("share bytes: {} | {}", named(one), named(other)))?;
        }
        Ok(())
    }
}

fn named(region: &Region) -> String {
    let owner = region.owner.as_ref().map_or(String::new(), |path| format!(" of {}", text(path)));
    format!("{:#12x} {:>10}  {}{owner}", region.range.addr.0, region.range.size, region.what)
}

fn print(out: &mut impl Write, explained: &Explained) -> Result<(), Failure> {
    say(out, format_args!("{}", named(&explained.region).trim_start()))?;
    let mut structure = "";
    for Placed { structure: within, field, address, size, value } in &explained.fields {
        if *within != structure {
            structure = within;
            writeln!(out, "{structure}")?;
        }
        say(out, format_args!("{address:#12x} {size:>6}  {field}: {}", shown(value)))?;
    }
    Ok(())
}

/// Bytes of a value that are shown.
const SHOWN: usize = 32;

fn shown(value: &Described) -> String {
    match value {
        Described::Number(n) if *n < 10 => n.to_string(),
        Described::Number(n) => format!("{n} ({n:#x})"),
        Described::Undefined => "undefined".to_owned(),
        Described::Bytes(bytes) => {
            let printable = bytes.iter().filter(|b| **b != 0).all(|b| b.is_ascii_graphic() || *b == b' ');
            let head = &bytes[..bytes.len().min(SHOWN)];
            let more = if bytes.len() > SHOWN { " ..." } else { "" };
            if printable && bytes.iter().any(|b| *b != 0) {
                return format!("\"{}\"{more}", head.escape_ascii());
            }
            let hex: Vec<String> = head.iter().map(|b| format!("{b:02x}")).collect();
            format!("{}{more}", hex.join(" "))
        }
    }
}
