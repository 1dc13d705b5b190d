//! What all handles of a file share.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::options::OpenOptions;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::object::links;
use crate::object::path::{self, Found};
use crate::object::{Container, Header, Scope, Step};
use crate::storage::{Purpose, Resolve, SharedSource, Stop};
use crate::wire::Addr;

/// An open file.
pub(crate) struct Core {
    pub(crate) container: Container,
    pub(crate) name: String,
    pub(crate) options: OpenOptions,
    pub(crate) resolve: Arc<dyn Resolve>,
    /// Files that this one refers to, by the name in it.
    others: Mutex<HashMap<(String, Purpose), Arc<Core>>>,
    /// How many files led here.
    depth: u32,
}

/// The file's name: what is known of it would fill pages.
impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.name)
    }
}

impl Core {
    pub(crate) fn open(
        source: SharedSource,
        name: String,
        resolve: Arc<dyn Resolve>,
        options: OpenOptions,
    ) -> Result<Arc<Core>> {
        Self::open_at(source, name, resolve, options, 0)
    }

    fn open_at(
        source: SharedSource,
        name: String,
        resolve: Arc<dyn Resolve>,
        options: OpenOptions,
        depth: u32,
    ) -> Result<Arc<Core>> {
        let container = Container::open(source, options.opening()).map_err(|e| e.at(Place::File(name.clone())))?;
        Ok(Arc::new(Core { container, name, options, resolve, others: Mutex::default(), depth }))
    }

    /// Runs a job; errors name the file.
    pub(crate) fn run<T>(&self, job: impl Fn(Scope<'_>) -> Step<T>) -> Result<T> {
        self.container.run(job).map_err(|e| e.at(Place::File(self.name.clone())))
    }

    /// Another file that this one names. It stays open as long as this one.
    pub(crate) fn other(&self, name: &str, purpose: Purpose) -> Result<Arc<Core>> {
        let key = (name.to_owned(), purpose);
        if let Some(core) = self.others.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(core));
        }
        if self.depth >= self.container.loaded.limits().depth {
            return Err(Error::limit("files refer to files too often (a cycle?)").at(Place::File(self.name.clone())));
        }
        let located = self.resolve.resolve(name, purpose).map_err(|e| e.at(Place::File(self.name.clone())));
        let (source, resolve) = located?;
        let options = self.options.clone().unobserved();
        let core = Core::open_at(source, name.to_owned(), resolve, options, self.depth + 1)?;
        self.others.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&core));
        Ok(core)
    }

    /// The object to which `path` leads from the group at `start`, whose own path is `from`, in whatever file it is.
    pub(crate) fn follow(self: &Arc<Core>, start: Addr, from: &str, path: &[u8]) -> Result<(Arc<Core>, Addr)> {
        let not_found = |core: &Core, missing: &str| {
            let error = Error::not_found(format!("there is no {missing:?}"));
            let path = below(from, &String::from_utf8_lossy(path));
            // Where its last name is missing, the path says it again.
            let said = path.trim_end_matches('/').strip_suffix(missing).filter(|p| p.is_empty() || p.ends_with('/'));
            let error = match said.unwrap_or(&path) {
                "" | "/" => error,
                group => error.at(Place::Object(group.trim_end_matches('/').to_owned())),
            };
            error.at(Place::File(core.name.clone()))
        };
        let mut core = Arc::clone(self);
        let (mut at, mut rest) = (start, path.to_vec());
        loop {
            match core.run(|scope| path::follow(scope, at, &rest))? {
                Found::Object(addr) => return Ok((core, addr)),
                Found::Nothing { name } => return Err(not_found(&core, &name)),
                Found::External { file, path } => {
                    core = core.other(&file, Purpose::ExternalLink)?;
                    (at, rest) = (core.container.root, path);
                }
            }
        }
    }

    /// The headers at `addrs`, each or why it cannot be had; all of them are asked for at once.
    pub(crate) fn headers(&self, addrs: &[Addr]) -> Result<Vec<Result<Header>>> {
        self.run(|scope| {
            scope.view.each(addrs, |addr| match Header::load(scope, *addr) {
                Ok(header) => Ok(Ok(header)),
                Err(Stop::Error(error)) => Ok(Err(error)),
                Err(missing) => Err(missing),
            })
        })
    }

    /// Loads what leads to the links of those of `headers` that are of groups, all of it at once. What is wrong with a group is
    /// said when it is listed.
    pub(crate) fn load_links(&self, headers: &[Result<Header>]) -> Result<()> {
        self.run(|scope| {
            let load = |header: &Result<Header>| match header.as_ref().map(|header| links::list(scope, header)) {
                Ok(Err(Stop::Missing(ranges))) => Err(Stop::Missing(ranges)),
                Ok(Ok(_) | Err(Stop::Error(_))) | Err(_) => Ok(()),
            };
            scope.view.each(headers, load).map(|_| ())
        })
    }

    /// The header at `addr`. Errors name neither object nor file yet.
    pub(crate) fn header(&self, addr: Addr) -> Result<Header> {
        self.container.run(|scope| Header::load(scope, addr))
    }
}

/// An object of an open file: what groups, datasets and committed datatypes have in common. All handles of one object
/// that were cloned from one another share it; so cloning them does not touch what all threads share.
#[derive(Clone)]
pub(crate) struct Node(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) core: Arc<Core>,
    pub(crate) header: Header,
    pub(crate) path: Box<str>,
    /// How many virtual datasets led here.
    pub(crate) depth: u32,
}

/// Path and file: `"/surface" in "weather.h5"`.
impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} in {:?}", self.path, self.core)
    }
}

impl std::ops::Deref for Node {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Node {
    pub(crate) fn open(core: Arc<Core>, addr: Addr, path: &str) -> Result<Node> {
        let header = core.header(addr);
        Self::of(core, header, path)
    }

    /// The object with a header that was loaded.
    pub(crate) fn of(core: Arc<Core>, header: Result<Header>, path: &str) -> Result<Node> {
        Self::at_depth(core, header, path, 0)
    }

    /// As `of`, for an object to which `depth` virtual datasets led.
    pub(crate) fn at_depth(core: Arc<Core>, header: Result<Header>, path: &str, depth: u32) -> Result<Node> {
        let header = header.map_err(|e| e.at(Place::Object(path.to_owned())).at(Place::File(core.name.clone())))?;
        Ok(Node(Arc::new(Inner { core, header, path: path.into(), depth })))
    }

    /// Runs a job; errors name the object and the file.
    pub(crate) fn run<T>(&self, job: impl Fn(Scope<'_>) -> Step<T>) -> Result<T> {
        self.core.container.run(job).map_err(|e| self.at(e))
    }

    /// An error, seen from this object.
    pub(crate) fn at(&self, error: Error) -> Error {
        let is_nowhere = error.kind() == ErrorKind::Corrupt && !error.has_address();
        let error = if is_nowhere { error.at(Place::Header { address: self.header.addr.0 }) } else { error };
        let own = [Place::Object(self.path.to_string()), Place::File(self.core.name.clone())];
        // One that came through a narrower job of this object names it already.
        if error.trail().ends_with(&own) { error } else { own.into_iter().fold(error, Error::at) }
    }

    /// The error that this object is what it `is` where something else is `wanted`.
    pub(crate) fn is_not(&self, is: &str, wanted: &str) -> Error {
        let error = Error::wrong_type(format!("{:?} is {is}, not {wanted}", self.path));
        error.at(Place::File(self.core.name.clone()))
    }

    /// The path of something below this object.
    pub(crate) fn below(&self, name: &str) -> String {
        below(&self.path, name)
    }
}

/// The path of `name` below the group `group`, unless it is a whole path itself.
fn below(group: &str, name: &str) -> String {
    if name.starts_with('/') { name.to_owned() } else { format!("{}/{name}", group.trim_end_matches('/')) }
}

/// What `job` makes of each item, on all cores where there are several.
#[cfg(feature = "rayon")]
pub(crate) fn each_in_parallel<I: Send, T: Send>(items: Vec<I>, job: impl Fn(I) -> T + Sync + Send) -> Vec<T> {
    use rayon::prelude::*;
    items.into_par_iter().with_min_len(8).map(job).collect()
}

/// What `job` makes of each item.
#[cfg(not(feature = "rayon"))]
pub(crate) fn each_in_parallel<I, T>(items: Vec<I>, job: impl Fn(I) -> T) -> Vec<T> {
    items.into_iter().map(job).collect()
}
