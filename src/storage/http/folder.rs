//! Remote files by name, and the names of others in them: those in the same folder of the same server are followed.

use std::sync::Arc;

use super::address::quoted;
use super::{HttpOptions, HttpSource};
use crate::error::{Error, Result};
use crate::storage::{Purpose, Resolve, SharedSource};

/// Opens the file at `url`.
pub(crate) fn open(url: &str, options: &HttpOptions) -> Result<(SharedSource, Arc<dyn Resolve>)> {
    let source = HttpSource::open(url, options.clone())?;
    let folder = url.split(['?', '#']).next().and_then(|url| url.rsplit_once('/')).map_or(url, |(folder, _)| folder);
    Ok((Arc::new(source), Arc::new(Folder { url: folder.to_owned(), options: options.clone() })))
}

/// Whether `name` is one that [`open`] takes, not a path.
pub(crate) fn is_url(name: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| name.starts_with(scheme))
}

/// Follows names into the folder of a remote file, and to those below it.
#[derive(Clone, Debug)]
struct Folder {
    url: String,
    options: HttpOptions,
}

impl Resolve for Folder {
    fn resolve(&self, name: &str, _: Purpose) -> Result<(SharedSource, Arc<dyn Resolve>)> {
        // A file that moved together with the ones it names is found by their bare names, as among local files.
        let below = if name.starts_with('/') { name.rsplit('/').next().unwrap_or_default() } else { name };
        if below.is_empty() || below.contains(['\\', ':']) || below.split('/').any(|part| part == "..") {
            return Err(Error::denied(format!("the file refers to {name:?}, which is not in its folder")));
        }
        open(&format!("{}/{}", self.url, quoted(below)), &self.options)
            .map_err(|e| e.at(crate::Place::File(name.to_owned())))
    }
}
