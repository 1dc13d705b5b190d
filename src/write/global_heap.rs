//! Global heaps: collections of what has no fixed size. Specification III.E.

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::format::global_heap::{Collection, Filling, GlobalHeapId, Object};
use crate::wire::Addr;
use crate::wire::place::Place;

/// Bytes of a collection at least, as libhdf5 has them.
const LEAST: usize = 4096;
/// Bytes of a collection at most, unless one object is larger: readers load whole collections.
const USUAL: usize = 64 << 10;

/// The global heap of a file that is being written.
#[derive(Debug, Default)]
pub struct GlobalHeap {
    open: Option<Open>,
    /// Bytes that objects which are expected will take.
    expected: usize,
}

/// A collection with space left.
#[derive(Debug)]
struct Open {
    addr: Addr,
    filling: Filling,
}

impl GlobalHeap {
    /// Objects will be stored that take so many bytes with their headers: collections are made as large as they need.
    pub fn expect(&mut self, taken: usize) {
        self.expected = self.expected.saturating_add(taken);
    }

    /// Stores objects, and gives the id of each.
    pub fn store(&mut self, space: &mut dyn Place, objects: &[Bytes]) -> Result<Vec<GlobalHeapId>> {
        self.expect(objects.iter().map(|data| Object::taken(data.len(), space.sizes())).sum());
        objects.iter().map(|data| self.store_one(space, data)).collect()
    }

    /// Stores an object that was expected, and gives its id.
    pub fn store_one(&mut self, space: &mut dyn Place, data: &[u8]) -> Result<GlobalHeapId> {
        let expected = self.expected;
        self.expected = expected.saturating_sub(Object::taken(data.len(), space.sizes()));
        if let Some(Open { addr, filling }) = &mut self.open
            && let Some(index) = filling.push(data)
        {
            return Ok(GlobalHeapId { collection: Some(*addr), index: index.into() });
        }
        self.close(space)?;
        let room = Object::taken(data.len(), space.sizes()).max(expected.min(USUAL));
        let Open { addr, filling } = self.open.insert(Open::new(space, room)?);
        let index = filling.push(data).ok_or_else(|| Error::invalid("a new collection is too small"))?;
        Ok(GlobalHeapId { collection: Some(*addr), index: index.into() })
    }

    /// Puts the collection that has space left, if there is one, where it belongs.
    pub fn close(&mut self, space: &mut dyn Place) -> Result<()> {
        let Some(Open { addr, filling }) = self.open.take() else { return Ok(()) };
        space.put(addr, filling.finish()?)
    }
}

impl Open {
    fn new(space: &mut dyn Place, room: usize) -> Result<Open> {
        let size = (Collection::header_size(space.sizes()) + room).max(LEAST).next_multiple_of(8);
        Ok(Open { addr: space.reserve(size as u64)?, filling: Filling::new(size, space.sizes())? })
    }
}
