//! Runs jobs: what a job misses is fetched, and the job runs again. A job has no effect until it succeeds.

use super::view::{Loaded, Stop, View};
use crate::error::{Error, Result};

/// Runs `job` until it has all its bytes.
///
/// Errors are those of the job and of the source.
pub fn run<T>(loaded: &Loaded, job: impl Fn(&View<'_>) -> Result<T, Stop>) -> Result<T> {
    loop {
        match job(&loaded.view()) {
            Ok(value) => {
                loaded.settle();
                return Ok(value);
            }
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::Missing(ranges)) => {
                if !loaded.fetch(&ranges)? {
                    return Err(Error::corrupt("a job misses bytes that are there"));
                }
            }
        }
    }
}
