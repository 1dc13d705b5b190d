//! For tests: encodes again whatever is decoded, and keeps what came out otherwise than it was.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::wire::{Addr, Sizes, Structure};

/// Sees every structure that is decoded of the files that are opened with it.
#[derive(Debug, Default)]
pub struct Witness {
    seen: Mutex<BTreeMap<&'static str, u64>>,
    mismatches: Mutex<Vec<Mismatch>>,
}

/// A structure that is not written as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The structure's name in the specification.
    pub structure: &'static str,
    /// Where it stands.
    pub addr: Addr,
    /// What is wrong.
    pub what: String,
}

impl Witness {
    /// How many structures of each name were seen.
    pub fn seen(&self) -> BTreeMap<&'static str, u64> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is not written as it was read.
    pub fn mismatches(&self) -> Vec<Mismatch> {
        self.mismatches.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Encodes `value`, which was decoded from `bytes`.
    pub(crate) fn see<S: Structure>(&self, value: &S, bytes: &[u8], addr: Addr, sizes: Sizes, cx: S::Context) {
        self.compare(S::NAME, value.encode(addr, sizes, cx), bytes, addr);
    }

    /// Compares what encoding gave with the bytes.
    pub(crate) fn compare(
        &self,
        structure: &'static str,
        encoded: crate::error::Result<Vec<u8>>,
        bytes: &[u8],
        addr: Addr,
    ) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner).entry(structure).or_default() += 1;
        let what = match encoded {
            Ok(encoded) if encoded == bytes => return,
            Ok(encoded) => {
                let at = encoded.iter().zip(bytes).position(|(a, b)| a != b).unwrap_or(encoded.len().min(bytes.len()));
                let near = |bytes: &[u8]| {
                    let near: String = bytes.iter().skip(at).take(16).map(|b| format!("{b:02x}")).collect();
                    format!("{near} ({} bytes)", bytes.len())
                };
                format!("at {at:#x} is {}, is written as {}", near(bytes), near(&encoded))
            }
            Err(error) => format!("cannot be written: {error}"),
        };
        self.mismatches.lock().unwrap_or_else(PoisonError::into_inner).push(Mismatch { structure, addr, what });
    }
}
