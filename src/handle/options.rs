//! How a file is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::core::Core;
use super::file::File;
use super::file_set;
use crate::error::{Error, Place, Result};
use crate::filter::Registry;
use crate::limits::Limits;
use crate::object::container::Opening;
#[cfg(feature = "http")]
use crate::storage::http::{self, HttpOptions};
use crate::storage::pieces::Pieces;
use crate::storage::{FileSource, NoFiles, Observer, Purpose, Resolve, Roots, SharedSource};

/// How a file is opened. Each method takes and gives the options, so that they read as a sentence.
///
/// ```no_run
/// # fn main() -> hdfive::Result<()> {
/// let file = hdfive::OpenOptions::new().salvage(true).allow_root("/data").open("weather.h5")?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    limits: Limits,
    salvage: bool,
    roots: Vec<PathBuf>,
    prefixes: Vec<(Purpose, String)>,
    environment: bool,
    missing_sources: MissingSources,
    registry: Registry,
    observer: Option<Arc<dyn Observer>>,
    #[cfg(feature = "http")]
    http: HttpOptions,
}

/// What to do about a source of a virtual dataset that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingSources {
    /// It is an error of kind `NotFound` that names the source.
    #[default]
    Error,
    /// Its elements are the fill value, as in libhdf5.
    Fill,
}

/// How a file of several pieces is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Members of one size, numbered by a `%d` in the name.
    Family,
    /// Metadata in `NAME-m.h5`, raw data in `NAME-r.h5`.
    Split,
    /// One member for each kind of data.
    Multi,
}

/// Environment variables that libhdf5 knows, and what they are for.
const VARIABLES: [(&str, Purpose); 3] = [
    ("HDF5_EXT_PREFIX", Purpose::ExternalLink),
    ("HDF5_EXTFILE_PREFIX", Purpose::RawData),
    ("HDF5_VDS_PREFIX", Purpose::VirtualSource),
];

impl OpenOptions {
    /// The usual options: files in the folder of the opened one may be followed, and nothing else.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bounds on what reading may cost.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Opens a file that is cut short, and reads what is there. [`File::warnings`] says how much that is.
    #[must_use]
    pub fn salvage(mut self, salvage: bool) -> Self {
        self.salvage = salvage;
        self
    }

    /// Allows external links, external raw data and virtual sources under `root`.
    #[must_use]
    pub fn allow_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// Looks for files of one purpose under `prefix` first, and allows them there. `${ORIGIN}` stands for the folder
    /// of the file that names them.
    #[must_use]
    pub fn prefix(mut self, purpose: Purpose, prefix: impl Into<String>) -> Self {
        self.prefixes.push((purpose, prefix.into()));
        self
    }

    /// Takes prefixes from the variables `HDF5_EXT_PREFIX`, `HDF5_EXTFILE_PREFIX` and `HDF5_VDS_PREFIX`.
    #[must_use]
    pub fn environment(mut self, environment: bool) -> Self {
        self.environment = environment;
        self
    }

    /// What to do about sources of virtual datasets that are not there.
    #[must_use]
    pub fn missing_sources(mut self, missing_sources: MissingSources) -> Self {
        self.missing_sources = missing_sources;
        self
    }

    /// Decoders of filters that this library does not have.
    #[must_use]
    pub fn filters(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Lets `observer` see whatever is decoded of the file, but not of others that it refers to.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// How files behind URLs are read.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn http(mut self, http: HttpOptions) -> Self {
        self.http = http;
        self
    }

    /// The options for a file that the opened one refers to.
    pub(super) fn unobserved(mut self) -> Self {
        self.observer = None;
        self
    }

    /// Opens the file at `path`.
    ///
    /// Errors are `NotFound`, `Io`, `NotHdf5`, `Corrupt`, `Unsupported`; all name the file.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File> {
        let path = path.as_ref();
        let named = |e: Error| e.at(Place::File(path.display().to_string()));
        let source = FileSource::open(path).map_err(named)?;
        self.open_in(Arc::new(source), path)
    }

    /// Opens the file at `url`: `http://`, `https://`, or a name on a hub,
    /// `hf://[datasets/]OWNER/NAME[@REVISION]/PATH`, read by ranges. Names of other files in it are followed into the folder
    /// that it is in.
    ///
    /// On a hub the token is that of `HF_TOKEN` or `HUGGING_FACE_HUB_TOKEN`, if the options have none.
    ///
    /// Errors are those of [`HttpSource::open`](http::HttpSource::open) and of a file; all name the URL, without its query.
    #[cfg(feature = "http")]
    pub fn open_url(&self, url: &str) -> Result<File> {
        let name = http::shown(url);
        let (source, resolve) = http::open(url, &self.http).map_err(|e| e.at(Place::File(name.clone())))?;
        self.open_core(source, name, resolve)
    }

    /// Opens what `name` is: a URL, if it looks like one, or else a path.
    #[cfg(feature = "http")]
    pub fn open_named(&self, name: &str) -> Result<File> {
        if http::is_url(name) { self.open_url(name) } else { self.open(name) }
    }

    /// Opens a file that lies in several: `name` is that which was given to the driver when the file was made.
    pub fn open_pieces(&self, driver: Driver, name: impl AsRef<Path>) -> Result<File> {
        let path = name.as_ref();
        let named = |e: Error| e.at(Place::File(path.display().to_string()));
        let pieces = match driver {
            Driver::Family => file_set::family(path),
            Driver::Split => file_set::split(path),
            Driver::Multi => file_set::multi(path),
        };
        let source = pieces.and_then(Pieces::new).map_err(named)?;
        self.open_in(Arc::new(source), path)
    }

    /// Opens the file that `source` is. Names of other files in it are not followed.
    pub fn open_source(&self, source: SharedSource, name: &str) -> Result<File> {
        self.open_core(source, name.to_owned(), Arc::new(NoFiles))
    }

    fn open_in(&self, source: SharedSource, path: &Path) -> Result<File> {
        self.open_core(source, path.display().to_string(), Arc::new(self.policy(path)))
    }

    fn open_core(&self, source: SharedSource, name: String, resolve: Arc<dyn Resolve>) -> Result<File> {
        Ok(File::new(Core::open(source, name, resolve, self.clone())?))
    }

    fn policy(&self, path: &Path) -> Roots {
        let mut roots = Roots::of_file(path);
        for root in &self.roots {
            roots = roots.allow(root);
        }
        for (purpose, prefix) in &self.prefixes {
            roots = roots.prefix(*purpose, prefix).allow_prefix(*purpose);
        }
        for (variable, purpose) in VARIABLES.iter().filter(|_| self.environment) {
            for prefix in std::env::var(variable).iter().flat_map(|value| value.split(':')) {
                roots = roots.prefix(*purpose, prefix).allow_prefix(*purpose);
            }
        }
        roots
    }

    pub(super) fn opening(&self) -> Opening {
        Opening {
            limits: self.limits,
            salvage: self.salvage,
            registry: self.registry.clone(),
            observer: self.observer.clone(),
        }
    }

    pub(super) fn fills_missing_sources(&self) -> bool {
        self.missing_sources == MissingSources::Fill
    }
}
