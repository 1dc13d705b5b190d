//! Names of other files in a file, and the policy about them. A path is followed only into the folder of the file that
//! names it, or under a root that the caller allowed; symbolic links are resolved before that is decided.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{FileSource, SharedSource};
use crate::error::{Error, ErrorKind, Result};

/// What another file is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// An external link leads there.
    ExternalLink,
    /// It holds raw data of a dataset.
    RawData,
    /// It holds a source of a virtual dataset.
    VirtualSource,
}

/// Finds files by the names that stand in a file.
pub trait Resolve: Send + Sync + fmt::Debug {
    /// The file called `name`, and how its own names are to be resolved.
    ///
    /// Errors are `NotFound`, and `Denied` where the policy forbids it; both name the path.
    fn resolve(&self, name: &str, purpose: Purpose) -> Result<(SharedSource, Arc<dyn Resolve>)>;
}

/// Follows no name at all; for files in memory.
#[derive(Debug)]
pub struct NoFiles;

impl Resolve for NoFiles {
    fn resolve(&self, name: &str, _: Purpose) -> Result<(SharedSource, Arc<dyn Resolve>)> {
        Err(Error::denied(format!("the file refers to {name:?}, and a file that was not opened by path has no folder")))
    }
}

/// Follows names into the folder of the file and under allowed roots.
#[derive(Clone, Debug)]
pub struct Roots {
    folder: PathBuf,
    allowed: Vec<PathBuf>,
    prefixes: [Vec<PathBuf>; 3],
}

impl Roots {
    /// The policy for the file at `path`.
    pub fn of_file(path: &Path) -> Roots {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf();
        Roots { folder, allowed: Vec::new(), prefixes: Default::default() }
    }

    /// Allows files under `root` too.
    #[must_use]
    pub fn allow(mut self, root: impl Into<PathBuf>) -> Self {
        self.allowed.push(root.into());
        self
    }

    /// Looks for files of one purpose under `prefix` first; `${ORIGIN}` stands for the folder of the file.
    #[must_use]
    pub fn prefix(mut self, purpose: Purpose, prefix: &str) -> Self {
        let path = match prefix.strip_prefix("${ORIGIN}") {
            Some(rest) => self.folder.join(rest.trim_start_matches('/')),
            None => PathBuf::from(prefix),
        };
        self.prefixes[index(purpose)].push(path);
        self
    }

    /// Allows files under the prefixes of one purpose too.
    #[must_use]
    pub fn allow_prefix(mut self, purpose: Purpose) -> Self {
        self.allowed.extend(self.prefixes[index(purpose)].iter().cloned());
        self
    }

    /// Where a file called `name` may be, in the order in which to look.
    fn candidates(&self, name: &str, purpose: Purpose) -> Vec<PathBuf> {
        let path = Path::new(name);
        let mut all: Vec<PathBuf> =
            self.prefixes[index(purpose)].iter().map(|prefix| prefix.join(relative(path))).collect();
        all.push(self.folder.join(path));
        // A file that moved together with the ones it names is found by their bare names, as libhdf5 does.
        if let (true, Some(bare)) = (path.is_absolute(), path.file_name()) {
            all.push(self.folder.join(bare));
        }
        all
    }

    fn is_allowed(&self, real: &Path) -> bool {
        let inside = |root: &PathBuf| root.canonicalize().is_ok_and(|root| real.starts_with(root));
        inside(&self.folder) || self.allowed.iter().any(inside)
    }
}

fn index(purpose: Purpose) -> usize {
    match purpose {
        Purpose::ExternalLink => 0,
        Purpose::RawData => 1,
        Purpose::VirtualSource => 2,
    }
}

fn relative(path: &Path) -> PathBuf {
    path.components()
        .filter(|c| matches!(c, std::path::Component::Normal(_) | std::path::Component::ParentDir))
        .collect()
}

impl Resolve for Roots {
    fn resolve(&self, name: &str, purpose: Purpose) -> Result<(SharedSource, Arc<dyn Resolve>)> {
        let mut denied = None;
        for candidate in self.candidates(name, purpose) {
            let Ok(real) = candidate.canonicalize() else { continue };
            if !self.is_allowed(&real) {
                denied.get_or_insert(real);
                continue;
            }
            let source = FileSource::open(&real).map_err(|e| e.at(crate::Place::File(name.into())))?;
            let folder = real.parent().unwrap_or(&self.folder).to_path_buf();
            let mut allowed = self.allowed.clone();
            allowed.push(self.folder.clone());
            return Ok((Arc::new(source), Arc::new(Roots { folder, allowed, prefixes: self.prefixes.clone() })));
        }
        Err(match denied {
            Some(real) => Error::denied(format!(
                "the file refers to {name:?}, which leads to {} outside its folder (allow it with OpenOptions::allow_root or --allow-root)",
                real.display()
            )),
            None if Path::new(name).is_absolute() || name.split('/').any(|part| part == "..") => Error::new(
                ErrorKind::NotFound,
                format!("the file refers to {name:?}, which is not there, or not under an allowed root"),
            ),
            None => Error::not_found(format!("the file refers to {name:?}, which is not there")),
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leaves_the_folder_is_denied_unless_its_root_is_allowed() {
        let top = std::env::temp_dir().join(format!("hdfive-roots-{}", std::process::id()));
        let inner = top.join("inner");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(top.join("outer.raw"), b"outer").unwrap();
        std::fs::write(inner.join("near.raw"), b"near").unwrap();
        let _ = std::os::unix::fs::symlink("../outer.raw", inner.join("sly.raw"));
        let roots = Roots::of_file(&inner.join("x.h5"));
        let kind = |roots: &Roots, name: &str| roots.resolve(name, Purpose::RawData).map(|_| ()).map_err(|e| e.kind());
        assert_eq!(kind(&roots, "near.raw"), Ok(()));
        assert_eq!(kind(&roots, "../outer.raw"), Err(ErrorKind::Denied));
        assert_eq!(kind(&roots, "sly.raw"), Err(ErrorKind::Denied));
        assert_eq!(kind(&roots, "/etc/hostname"), Err(ErrorKind::Denied));
        assert_eq!(kind(&roots, "none.raw"), Err(ErrorKind::NotFound));
        assert_eq!(kind(&roots.clone().allow(&top), "sly.raw"), Ok(()));
        assert_eq!(kind(&roots.prefix(Purpose::RawData, "${ORIGIN}"), "near.raw"), Ok(()));
        std::fs::remove_dir_all(&top).unwrap();
    }
}
