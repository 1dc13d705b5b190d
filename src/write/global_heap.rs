//! Global heaps: collections of what has no fixed size. Specification III.E.

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::format::global_heap::{Collection, GlobalHeapId, Object};
use crate::wire::place::{Place, place_at};
use crate::wire::{Addr, Sizes};

/// Bytes of a collection at least, as libhdf5 has them.
const LEAST: usize = 4096;
/// Bytes of a collection at most, unless one object is larger: readers load whole collections.
const USUAL: usize = 64 << 10;
/// Objects in a collection at most: an index has 16 bits, and 0 is free space.
const MOST: usize = 65_535;

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
    size: usize,
    used: usize,
    objects: Vec<Object>,
}

impl GlobalHeap {
    /// Objects of these sizes will be stored: collections are made as large as they need.
    pub fn expect(&mut self, sizes: impl IntoIterator<Item = usize>, widths: Sizes) {
        self.expected += sizes.into_iter().map(|size| taken(size, widths)).sum::<usize>();
    }

    /// Stores objects, and gives the id of each.
    pub fn store(&mut self, space: &mut dyn Place, objects: &[Bytes]) -> Result<Vec<GlobalHeapId>> {
        self.expect(objects.iter().map(Bytes::len), space.sizes());
        objects.iter().map(|data| self.store_one(space, data.clone())).collect()
    }

    /// Stores an object that was expected, and gives its id.
    pub fn store_one(&mut self, space: &mut dyn Place, data: Bytes) -> Result<GlobalHeapId> {
        let size = taken(data.len(), space.sizes());
        let fits = self.open.as_ref().is_some_and(|o| o.used + size <= o.size && o.objects.len() < MOST);
        if !fits {
            self.close(space)?;
            self.open = Some(Open::new(space, size.max(self.expected.min(USUAL)))?);
        }
        self.expected = self.expected.saturating_sub(size);
        let open = self.open.as_mut().ok_or_else(|| Error::invalid("no collection is open"))?;
        let index = u16::try_from(open.objects.len() + 1).map_err(|_| Error::limit("a collection is full"))?;
        open.objects.push(Object::new(index, 0, data));
        open.used += size;
        Ok(GlobalHeapId { collection: Some(open.addr), index: index.into() })
    }

    /// Puts the collection that has space left, if there is one, where it belongs.
    pub fn close(&mut self, space: &mut dyn Place) -> Result<()> {
        let Some(Open { addr, size, used, mut objects }) = self.open.take() else { return Ok(()) };
        if size - used >= Object::header_size(space.sizes()) {
            objects.push(Object::free(size - used, space.sizes()));
        }
        place_at(space, addr, &Collection::new(size as u64, objects), ())
    }
}

impl Open {
    fn new(space: &mut dyn Place, room: usize) -> Result<Open> {
        let used = Collection::header_size(space.sizes());
        let size = (used + room).max(LEAST).next_multiple_of(8);
        Ok(Open { addr: space.reserve(size as u64)?, size, used, objects: Vec::new() })
    }
}

/// Bytes that an object takes with its header.
fn taken(size: usize, sizes: Sizes) -> usize {
    Object::header_size(sizes) + size.next_multiple_of(8)
}
