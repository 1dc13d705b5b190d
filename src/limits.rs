//! The purse for hostile input: what a file may cost us, beyond what its own bytes justify.
//!
//! Vectors grow with the bytes that are there, never with a count that is claimed; what remains to be bounded is
//! work that a small file can ask for again and again (cycles, shared children, expanding filters). Each job on a
//! file starts with a full [`Purse`] and pays for what it loads.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Bounds on what reading may cost. `Limits::default()` suits files from anywhere on a machine of ordinary size,
/// [`Limits::strict`] those of strangers, [`Limits::trusting`] those that need more.
///
/// ```
/// let limits = hdfive::Limits { result: 64 << 20, ..Default::default() };
/// assert_eq!(limits.depth, 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one result that the library allocates (a caller's own buffer is the caller's business).
    pub result: u64,
    /// Bytes of one chunk, before and after its filters. Memory is taken for what a chunk's stored bytes decode to, never
    /// for what a file claims of it; this bounds chunks of which a few stored bytes stand for many.
    pub chunk: u64,
    /// How often one job may load the bytes of the whole file, on top of `job_floor`.
    pub job_factor: u64,
    /// Bytes of metadata that any job may load, however small the file.
    pub job_floor: u64,
    /// Levels of nesting: trees, datatypes, virtual datasets in virtual datasets, links to links.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { result: 64 << 30, chunk: 8 << 30, job_factor: 4, job_floor: 4 << 20, depth: 64 }
    }
}

impl Limits {
    /// For files from strangers, such as uploads to a service: a result of 256 MiB, a chunk of 64 MiB.
    ///
    /// ```
    /// let options = hdfive::OpenOptions::new().limits(hdfive::Limits::strict());
    /// # let _ = options;
    /// ```
    pub fn strict() -> Self {
        Limits { result: 256 << 20, chunk: 64 << 20, job_factor: 4, job_floor: 1 << 20, depth: 32 }
    }

    /// For files that are known to be good and need more than one would expect: only the depth of nesting is bounded.
    pub fn trusting() -> Self {
        Limits { result: u64::MAX, chunk: u64::MAX, job_factor: u64::MAX, job_floor: u64::MAX, depth: 1024 }
    }

    /// A full purse for one job on a source of `len` bytes.
    pub fn purse(&self, len: u64) -> Purse {
        Purse {
            left: AtomicU64::new(len.saturating_mul(self.job_factor).saturating_add(self.job_floor)),
            depth: self.depth,
        }
    }
}

/// What one job may still spend, on however many threads it runs.
#[derive(Debug)]
pub struct Purse {
    left: AtomicU64,
    depth: u32,
}

impl Purse {
    /// Pays for `bytes` of metadata.
    pub fn pay(&self, bytes: u64) -> Result<()> {
        // Who could not pay once cannot pay less either.
        let rest = |left: u64| Some(left.saturating_sub(bytes));
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest) {
            Ok(left) if left >= bytes => Ok(()),
            _ => Err(Error::limit("the file asks for more metadata than its size can justify (a cycle?)")),
        }
    }

    /// Checks that `level` of some nesting is not too deep.
    pub fn check_depth(&self, level: u32) -> Result<()> {
        if level <= self.depth {
            return Ok(());
        }
        Err(Error::limit(format!("nesting is deeper than {} levels (a cycle?)", self.depth)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn presets_are_in_order() {
        let (strict, default, trusting) = (Limits::strict(), Limits::default(), Limits::trusting());
        for (less, more) in [(strict, default), (default, trusting)] {
            assert!(less.result < more.result && less.chunk < more.chunk && less.depth < more.depth);
            assert!(less.job_floor < more.job_floor && less.job_factor <= more.job_factor);
        }
        trusting.purse(u64::MAX).pay(u64::MAX).unwrap();
    }

    #[test]
    fn a_purse_is_spent_and_then_empty() {
        let purse = Limits { job_factor: 2, job_floor: 10, ..Limits::default() }.purse(100);
        purse.pay(210).unwrap();
        assert_eq!(purse.pay(1).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(purse.check_depth(65).unwrap_err().kind(), ErrorKind::Limit);
    }
}
