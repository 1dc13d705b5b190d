//! Filters: what a chunk goes through between memory and file. One file per filter.
//!
//! A filter is configured once per dataset, from the client data in the filter pipeline message, and is then a pure
//! function from bytes to bytes. [`Output`] is where decoded bytes go: it knows how many are expected and how many may
//! be spent, and may be the caller's own memory.

mod output;

pub use output::{Output, Scatter};

use crate::error::Result;

/// A filter, configured for one dataset. `decode` undoes it, `encode` applies it.
pub trait Filter: Send + Sync + std::fmt::Debug {
    /// The registered id.
    fn id(&self) -> u16;

    /// The usual name, as `h5 ls -l` prints it.
    fn name(&self) -> &'static str;

    /// Decodes the whole of `input` to `output`.
    ///
    /// Errors are `Corrupt` when the input is not what the filter writes, ends early, or gives more than the output's
    /// allowance. A scattered output is only given to filters whose `decodes_in_order` is true.
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()>;

    /// Whether `decode` only ever calls [`Output::write`], so that the output may be scattered.
    fn decodes_in_order(&self) -> bool {
        false
    }

    /// How large the encoded form of `plain` bytes may be. The pipeline bounds what flows between two filters with it.
    fn encoded_bound(&self, plain: usize) -> Bound;

    /// Decodes only bytes `range` of the plain data, where the format has independent blocks. `false` (the default)
    /// says that nothing was done and `decode` is to be used.
    fn decode_range(&self, _input: &[u8], _range: std::ops::Range<usize>, _output: &mut Output<'_>) -> Result<bool> {
        Ok(false)
    }

    /// Encodes `input`, appending to `output`. `false` says that the filter gives up on these bytes (they would not
    /// shrink), and is to be skipped with its bit in the filter mask set.
    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool>;
}

/// How large the stored form of a number of plain bytes may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Always exactly this many bytes.
    Exactly(usize),
    /// Some size up to this many bytes.
    AtMost(usize),
}

impl Bound {
    /// The number of bytes, exact or not.
    pub fn bytes(self) -> usize {
        match self {
            Bound::Exactly(n) | Bound::AtMost(n) => n,
        }
    }
}
