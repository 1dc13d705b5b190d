//! `h5 ls`: what is in a file, as a tree.

use std::collections::HashMap;
use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use hdfive::inspect::notation::{self, visible};
use hdfive::inspect::{Tree, TreeObject};
use hdfive::{Dataset, File, LinkTarget, Object};

use crate::names::Names;
use crate::{Failure, Opening};

/// List what is in a file, as a tree.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  h5 ls weather.h5                 groups, datasets with type and shape
  h5 ls -l weather.h5 /surface     with chunks, filters and sizes, below /surface
  h5 ls -a weather.h5              with attributes
  h5 ls weather.h5 --depth 1       the root group alone")]
pub(crate) struct Ls {
    /// The file.
    file: String,
    /// Where to begin.
    #[arg(default_value = "/")]
    path: String,
    /// Show chunks, filters, sizes and how well the data are compressed.
    #[arg(short, long)]
    long: bool,
    /// Show attributes with their values.
    #[arg(short, long)]
    attributes: bool,
    /// Go down at most so many levels.
    #[arg(short, long, value_name = "LEVELS")]
    depth: Option<usize>,
    #[command(flatten)]
    opening: Opening,
}

const GROUP: Style = AnsiColor::Blue.on_default().bold();
const TYPE: Style = AnsiColor::Green.on_default();
const FAINT: Style = Style::new().dimmed();
const ERROR: Style = AnsiColor::Red.on_default();

impl Ls {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let file = self.opening.open(&self.opening.options(), &self.file)?;
        for warning in file.warnings() {
            writeln!(std::io::stderr(), "h5: warning: {}: {warning}", self.file)?;
        }
        let out = std::io::BufWriter::new(anstream::AutoStream::auto(std::io::stdout()).lock());
        let names = Names::of(&file);
        let mut listing = Listing { options: self, file: &file, names, out, by_path: HashMap::new(), failed: false };
        match file.object(&self.path)? {
            Object::Group(group) => listing.tree(group)?,
            other => {
                let found =
                    TreeObject { path: self.path.clone().into_bytes(), object: Ok(other), links: Ok(Vec::new()) };
                listing.object(&found, &text(&found.path), "", "")?;
            }
        }
        listing.out.flush()?;
        Ok(if listing.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// A listing being printed.
struct Listing<'a, W> {
    options: &'a Ls,
    file: &'a File,
    names: Names<'a>,
    out: W,
    by_path: HashMap<Vec<u8>, usize>,
    failed: bool,
}

impl<W: Write> Listing<'_, W> {
    fn tree(&mut self, group: hdfive::Group) -> Result<(), Failure> {
        let tree = Tree::below(group)?;
        self.by_path = tree.objects.iter().enumerate().map(|(i, object)| (object.path.clone(), i)).collect();
        let Some(top) = tree.objects.first() else { return Ok(()) };
        self.object(top, &text(&top.path), "", "")?;
        self.children(&tree, top, "", 0)
    }

    /// The links of a group, each with what is below it.
    fn children(&mut self, tree: &Tree, parent: &TreeObject, indent: &str, level: usize) -> Result<(), Failure> {
        if self.options.depth.is_some_and(|depth| level >= depth) {
            return Ok(());
        }
        let links = match &parent.links {
            Ok(links) => links,
            Err(error) => {
                self.failed = true;
                return Ok(writeln!(self.out, "{indent}└── {ERROR}error: {}{ERROR:#}", said(error))?);
            }
        };
        for (i, link) in links.iter().enumerate() {
            let last = i + 1 == links.len();
            let branch = format!("{indent}{}", if last { "└── " } else { "├── " });
            let below = format!("{indent}{}", if last { "    " } else { "│   " });
            let name = text(&link.name);
            let path = [parent.path.strip_suffix(b"/").unwrap_or(&parent.path), b"/", &link.name].concat();
            match (&link.target, self.by_path.get(&path)) {
                (LinkTarget::Hard(_), Some(&place)) => {
                    let found = &tree.objects[place];
                    self.object(found, &name, &branch, &below)?;
                    self.children(tree, found, &below, level + 1)?;
                }
                (LinkTarget::Hard(addr), None) => {
                    let other = tree.path(*addr).map_or_else(|| addr.to_string(), text);
                    writeln!(self.out, "{branch}{name} {FAINT}= {other}{FAINT:#}")?;
                }
                (LinkTarget::Soft(target), _) => {
                    writeln!(self.out, "{branch}{name} {FAINT}-> {}{FAINT:#}", text(target))?;
                }
                (LinkTarget::External { file, path }, _) => {
                    writeln!(self.out, "{branch}{name} {FAINT}-> {} in {}{FAINT:#}", text(path), text(file))?;
                }
                (LinkTarget::User { class, .. }, _) => {
                    writeln!(self.out, "{branch}{name} {FAINT}link of class {class}{FAINT:#}")?;
                }
            }
        }
        Ok(())
    }

    /// One object: its line, and its attributes if they are wanted.
    fn object(&mut self, found: &TreeObject, name: &str, branch: &str, below: &str) -> Result<(), Failure> {
        let object = match &found.object {
            Ok(object) => object,
            Err(error) => {
                self.failed = true;
                return Ok(writeln!(self.out, "{branch}{name} {ERROR}error: {}{ERROR:#}", said(error))?);
            }
        };
        write!(self.out, "{branch}")?;
        match object {
            Object::Group(_) => {
                let slash = if name.ends_with('/') { "" } else { "/" };
                write!(self.out, "{GROUP}{name}{slash}{GROUP:#}")?;
            }
            Object::Dataset(dataset) => self.dataset(dataset, name)?,
            Object::NamedType(named) => {
                let datatype = visible(&notation::short(&named.datatype()?));
                write!(self.out, "{name}  {TYPE}type {datatype}{TYPE:#}")?;
            }
        }
        writeln!(self.out)?;
        if self.options.attributes { self.attributes(object, below) } else { Ok(()) }
    }

    fn dataset(&mut self, dataset: &Dataset, name: &str) -> Result<(), Failure> {
        if !self.options.long {
            let shape = dataset.shape_text();
            let datatype = visible(&notation::short(dataset.datatype()));
            return Ok(write!(self.out, "{name}  {TYPE}{datatype}{TYPE:#} {shape}")?);
        }
        write!(self.out, "{name}  {TYPE}{dataset}{TYPE:#}")?;
        let plain = dataset.len().saturating_mul(dataset.datatype().size.into());
        match dataset.stored_size() {
            Ok(stored) => {
                write!(self.out, "  {FAINT}{} stored", bytes(stored))?;
                if stored != plain {
                    write!(self.out, " of {}", bytes(plain))?;
                }
                if stored > 0 && stored < plain {
                    write!(self.out, ", {} x smaller", ratio(plain, stored))?;
                }
                write!(self.out, "{FAINT:#}")?;
            }
            Err(error) => {
                self.failed = true;
                write!(self.out, "  {ERROR}error: {}{ERROR:#}", said(&error))?;
            }
        }
        Ok(())
    }

    fn attributes(&mut self, object: &Object, indent: &str) -> Result<(), Failure> {
        for attribute in object.attributes()? {
            let shown = attribute.and_then(|a| {
                let value = match self.names.tree(a.datatype()) {
                    Some(tree) => tree.show(self.file, &a),
                    None => self.file.show(&a),
                };
                Ok((text(a.name_bytes()), visible(&value?.to_string())))
            });
            match shown {
                Ok((name, value)) => writeln!(self.out, "{indent}{FAINT}@{FAINT:#}{name} = {value}")?,
                Err(error) => {
                    self.failed = true;
                    writeln!(self.out, "{indent}{ERROR}@ error: {}{ERROR:#}", said(&error))?;
                }
            }
        }
        Ok(())
    }
}

fn said(error: &hdfive::Error) -> String {
    visible(&format!("{error:#}"))
}

/// A name as people read it.
fn text(bytes: &[u8]) -> String {
    visible(&notation::text(bytes))
}

/// A size as people read it, in powers of 1024.
pub(crate) fn bytes(size: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if size < 1024 {
        return format!("{size} B");
    }
    let unit = usize::try_from(size.ilog2() / 10).unwrap_or(1).clamp(1, UNITS.len());
    format!("{} {}", ratio(size, 1 << (10 * unit)), UNITS[unit - 1])
}

/// A quotient with one digit after the point.
pub(crate) fn ratio(a: u64, b: u64) -> String {
    let tenths = (u128::from(a) * 10 + u128::from(b) / 2) / u128::from(b.max(1));
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_at_a_glance() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(ratio(7, 2), "3.5");
    }
}
