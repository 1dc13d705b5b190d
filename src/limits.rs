//! The purse for hostile input: what a file may cost us, beyond what its own bytes justify.
//!
//! Vectors grow with the bytes that are there, never with a count that is claimed; what remains to be bounded is
//! work that a small file can ask for again and again (cycles, shared children, expanding filters). Each job on a
//! file starts with a full [`Purse`] and pays for what it loads.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Bounds on what reading may cost. `Limits::default()` suits files from anywhere on a machine of ordinary size.
///
/// ```
/// let limits = hdfive::Limits { result: 64 << 20, ..Default::default() };
/// assert_eq!(limits.depth, 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one result that the library allocates (a caller's own buffer is the caller's business).
    pub result: u64,
    /// Bytes of one chunk, before and after its filters.
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
        let paid = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        match paid {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::limit("the file asks for more metadata than its size can justify (a cycle?)")),
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
    fn a_purse_is_spent_and_then_empty() {
        let purse = Limits { job_factor: 2, job_floor: 10, ..Limits::default() }.purse(100);
        purse.pay(210).unwrap();
        assert_eq!(purse.pay(1).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(purse.check_depth(65).unwrap_err().kind(), ErrorKind::Limit);
    }
}
