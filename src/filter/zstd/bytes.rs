//! The bytes of a frame, taken in order.

use super::bits::number;
use crate::error::Result;
use crate::filter::{ends_early, size};

/// No block gives more bytes.
pub(super) const LARGEST_BLOCK: usize = 128 << 10;

/// The input, taken in order.
pub(super) struct Bytes<'a> {
    pub(super) input: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let bytes = self.input.get(self.at..).and_then(|rest| rest.get(..len)).ok_or_else(ends_early)?;
        self.at += len;
        Ok(bytes)
    }

    /// A number of up to four bytes.
    pub(super) fn number(&mut self, len: usize) -> Result<usize> {
        Ok(size(number(self.take(len)?)))
    }
}
