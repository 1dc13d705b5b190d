//! Remote files by name, and the names of others in them: those in the same folder of the same server are followed.

use std::sync::Arc;

use super::address::quoted;
use super::{HttpOptions, HttpSource, hub};
use crate::error::{Error, Result};
use crate::storage::{Purpose, Resolve, SharedSource};

/// Opens the file called `name`: a URL, or a name on a hub.
pub(crate) fn open(name: &str, options: &HttpOptions) -> Result<(SharedSource, Arc<dyn Resolve>)> {
    if !name.starts_with(hub::SCHEME) {
        return open_at(name, options, |source| source);
    }
    let url = hub::url(name, options.endpoint.as_deref())?;
    open_at(&url, &hub::options(options), HttpSource::by_content)
}

fn open_at(
    url: &str,
    options: &HttpOptions,
    identified: fn(HttpSource) -> HttpSource,
) -> Result<(SharedSource, Arc<dyn Resolve>)> {
    let source = identified(HttpSource::open(url, options.clone())?);
    let folder = url.split(['?', '#']).next().and_then(|url| url.rsplit_once('/')).map_or(url, |(folder, _)| folder);
    let folder = Folder { url: folder.to_owned(), options: options.clone(), identified };
    Ok((Arc::new(source), Arc::new(folder)))
}

/// Whether `name` is one that [`open`] takes, not a path.
pub(crate) fn is_url(name: &str) -> bool {
    ["http://", "https://", hub::SCHEME].iter().any(|scheme| name.starts_with(scheme))
}

/// Follows names into the folder of a remote file, and to those below it.
#[derive(Clone, Debug)]
struct Folder {
    url: String,
    options: HttpOptions,
    /// How sources come to their identity.
    identified: fn(HttpSource) -> HttpSource,
}

impl Resolve for Folder {
    fn resolve(&self, name: &str, _: Purpose) -> Result<(SharedSource, Arc<dyn Resolve>)> {
        // A file that moved together with the ones it names is found by their bare names, as among local files.
        let below = if name.starts_with('/') { name.rsplit('/').next().unwrap_or_default() } else { name };
        if below.is_empty() || below.contains(['\\', ':']) || below.split('/').any(|part| part == "..") {
            return Err(Error::denied(format!("the file refers to {name:?}, which is not in its folder")));
        }
        open_at(&format!("{}/{}", self.url, quoted(below)), &self.options, self.identified)
            .map_err(|e| e.at(crate::Place::File(name.to_owned())))
    }
}
