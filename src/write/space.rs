//! The space of a file that is being written: blocks are placed one after the other.

use crate::error::{Error, Result};
use crate::storage::ByteSink;
use crate::wire::place::Place;
use crate::wire::{Addr, Sizes};

/// Small blocks are written together when they are this many bytes.
const TOGETHER: usize = 1 << 20;
/// Data of less than this many bytes are few.
const FEW: usize = 4 << 10;

/// How libhdf5 finds space when it changes a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileSpaceStrategy {
    /// From free space, then from blocks for metadata and for small data.
    #[default]
    FsmAggr,
    /// In pages of this many bytes (512 to 1 GiB), each of metadata or of data; what is larger than a page begins with one.
    /// Whole pages are read and kept then, which is fast where each request costs much. Only from `V110` on.
    Page(u64),
    /// From blocks for metadata and for small data. Only from `V110` on.
    Aggr,
    /// At the end of the file. Only from `V110` on.
    None,
}

/// A file that grows at its end.
#[derive(Debug)]
pub struct Space {
    sink: Box<dyn ByteSink>,
    /// Position in the sink of address 0.
    base: u64,
    next: u64,
    pages: Option<Pages>,
    waiting: Vec<(Addr, Vec<u8>)>,
    waiting_bytes: usize,
    /// Whether data of datasets wait too, which may be read or written again.
    data_wait: bool,
}

/// A file in pages: what is left of the last page of metadata, and of data.
#[derive(Debug)]
struct Pages {
    size: u64,
    metadata: std::ops::Range<u64>,
    data: std::ops::Range<u64>,
}

impl Space {
    /// Space from address 0 on, which stands at position `base` of the sink; in pages of a size, if there is one.
    pub fn new(sink: Box<dyn ByteSink>, base: u64, page_size: Option<u64>) -> Space {
        let pages = page_size.map(|size| Pages { size, metadata: 0..0, data: 0..0 });
        Space { sink, base, next: 0, pages, waiting: Vec::new(), waiting_bytes: 0, data_wait: false }
    }

    /// Takes `size` bytes that nothing else has, for elements of a dataset.
    ///
    /// Errors are `Limit` if addresses cannot reach them.
    pub fn reserve_data(&mut self, size: u64) -> Result<Addr> {
        self.take(size, |pages| &mut pages.data)
    }

    fn take(&mut self, size: u64, room: impl FnOnce(&mut Pages) -> &mut std::ops::Range<u64>) -> Result<Addr> {
        let Some(pages) = &mut self.pages else {
            let addr = Addr(self.next);
            self.next = self.next.checked_add(size).ok_or_else(too_large)?;
            return Ok(addr);
        };
        let page = pages.size;
        let start = self.next.checked_next_multiple_of(page).ok_or_else(too_large)?;
        if size >= page {
            let end = start.checked_add(size).and_then(|end| end.checked_next_multiple_of(page));
            self.next = end.ok_or_else(too_large)?;
            return Ok(Addr(start));
        }
        let room = room(pages);
        if room.end - room.start < size {
            *room = start..start.checked_add(page).ok_or_else(too_large)?;
            self.next = room.end;
        }
        room.start += size;
        Ok(Addr(room.start - size))
    }

    /// The end of everything that was reserved.
    pub fn end(&self) -> Addr {
        Addr(self.next)
    }

    /// Writes bytes of data where space was reserved for them.
    pub fn write(&mut self, addr: Addr, bytes: &[u8]) -> Result<()> {
        self.flush_data()?;
        self.sink.write_at(self.position(addr)?, bytes)
    }

    /// Writes data for the first time; few of them wait for others.
    pub fn write_first(&mut self, addr: Addr, bytes: &[u8]) -> Result<()> {
        if bytes.len() >= FEW {
            return self.write(addr, bytes);
        }
        self.data_wait = true;
        self.put(addr, bytes.to_vec())
    }

    /// Reads back data that were written.
    pub fn read(&mut self, addr: Addr, bytes: &mut [u8]) -> Result<()> {
        self.flush_data()?;
        self.sink.read_at(self.position(addr)?, bytes)
    }

    /// Writes bytes before address 0: the user block.
    ///
    /// Errors are `Invalid` if it has fewer.
    pub fn write_before(&mut self, bytes: &[u8]) -> Result<()> {
        if u64::try_from(bytes.len()).is_ok_and(|size| size <= self.base) {
            return self.sink.write_at(0, bytes);
        }
        Err(Error::invalid(format!("{} bytes for a user block of {}", bytes.len(), self.base)))
    }

    fn flush_data(&mut self) -> Result<()> {
        if self.data_wait { self.flush() } else { Ok(()) }
    }

    /// Writes what waits, and nothing of it twice.
    fn flush(&mut self) -> Result<()> {
        (self.waiting_bytes, self.data_wait) = (0, false);
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|(addr, _)| *addr);
        let mut together: (Addr, Vec<u8>) = (Addr(0), Vec::new());
        for (addr, bytes) in waiting {
            if together.0.plus(together.1.len() as u64)? == addr {
                together.1.extend_from_slice(&bytes);
                continue;
            }
            let (addr, bytes) = std::mem::replace(&mut together, (addr, bytes));
            self.sink.write_at(self.position(addr)?, &bytes)?;
        }
        self.sink.write_at(self.position(together.0)?, &together.1)
    }

    /// Writes what waits: from now on it is a file.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.sink.set_len(self.base.checked_add(self.next).ok_or_else(too_large)?)?;
        self.sink.finish()
    }

    fn position(&self, addr: Addr) -> Result<u64> {
        self.base.checked_add(addr.0).ok_or_else(too_large)
    }
}

fn too_large() -> Error {
    Error::limit("the file is larger than 64 bits can count")
}

impl Place for Space {
    fn sizes(&self) -> Sizes {
        Sizes::EIGHT
    }

    fn reserve(&mut self, size: u64) -> Result<Addr> {
        self.take(size, |pages| &mut pages.metadata)
    }

    fn put(&mut self, addr: Addr, bytes: Vec<u8>) -> Result<()> {
        self.waiting_bytes += bytes.len();
        self.waiting.push((addr, bytes));
        if self.waiting_bytes > TOGETHER { self.flush() } else { Ok(()) }
    }
}
