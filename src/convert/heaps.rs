//! Elements of variable length: they lie in the file's global heaps, and the element says where.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::string::Sequence;
use crate::error::{Error, Result};
use crate::object::Container;

/// Where elements of variable length lie, for one read; and how many bytes of them it may still give out. A small file
/// can name one large sequence in all of its elements.
#[derive(Debug)]
pub struct Heaps<'a> {
    container: &'a Container,
    left: AtomicU64,
}

impl<'a> Heaps<'a> {
    /// The heaps of a file, for one read within [`Limits::result`](crate::Limits::result).
    pub fn new(container: &'a Container) -> Self {
        Heaps { container, left: AtomicU64::new(container.loaded.limits().result) }
    }

    /// The file.
    pub(crate) fn container(&self) -> &'a Container {
        self.container
    }

    /// The bytes of a sequence's elements, which have `size` bytes each; `None` for a sequence that is nowhere.
    pub(crate) fn sequence(&self, element: &[u8], size: usize) -> Result<Option<Bytes>> {
        let sequence = Sequence::decode(element, self.container)?;
        let bytes = sequence.bytes(size, self.container)?;
        self.pay(bytes.as_ref().map_or(0, Bytes::len))?;
        Ok(bytes)
    }

    /// Pays for so many bytes of a result.
    pub(crate) fn pay(&self, bytes: usize) -> Result<()> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let paid = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        paid.map(|_| ()).map_err(|_| Error::limit("the values are beyond Limits::result; a part can be selected"))
    }
}
