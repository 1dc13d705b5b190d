//! Work on several threads, where the feature `rayon` is on; one after the other where it is not.

use crate::error::Result;

/// How many threads there are.
#[cfg(feature = "rayon")]
pub(crate) fn threads() -> usize {
    rayon::current_num_threads()
}

/// How many threads there are.
#[cfg(not(feature = "rayon"))]
pub(crate) fn threads() -> usize {
    1
}

/// Does `write` for every part, in parallel if there are several.
#[cfg(feature = "rayon")]
pub(crate) fn each<P: Send>(mut parts: Vec<P>, write: impl Fn(P) -> Result<()> + Sync + Send) -> Result<()> {
    use rayon::prelude::*;
    match parts.pop() {
        Some(only) if parts.is_empty() => write(only),
        last => parts.into_par_iter().chain(last).try_for_each(write),
    }
}

/// Does `write` for every part.
#[cfg(not(feature = "rayon"))]
pub(crate) fn each<P>(parts: Vec<P>, write: impl Fn(P) -> Result<()>) -> Result<()> {
    parts.into_iter().try_for_each(write)
}

/// Computes `of` for every item, in order, in parallel where there are threads.
#[cfg(feature = "rayon")]
pub(crate) fn map_all<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> Result<R> + Sync + Send) -> Result<Vec<R>> {
    use rayon::prelude::*;
    items.par_iter().map(of).collect()
}

/// Computes `of` for every item, in order.
#[cfg(not(feature = "rayon"))]
pub(crate) fn map_all<T, R>(items: &[T], of: impl Fn(&T) -> Result<R>) -> Result<Vec<R>> {
    items.iter().map(of).collect()
}
