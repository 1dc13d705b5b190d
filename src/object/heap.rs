//! Heaps: the text of local heaps, the objects of global and fractal heaps, and messages that objects share.

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::Step;
use super::btree;
use super::container::Scope;
use crate::error::{Error, Place, Result};
use crate::filter::{ChunkInfo, Pipeline, Scratch};
use crate::format::btree_v2::{HugeIndirect, HugeIndirectFiltered};
use crate::format::fractal_heap::{
    DirectBlock, DirectContext, DoublingTable, Header, HeapId, IdContext, IndirectBlock, Location, Root,
};
use crate::format::global_heap::{Collection, GlobalHeapId};
use crate::format::local_heap::{self, LocalHeap};
use crate::wire::{Addr, ByteRange, Structure};

/// The data segment of a local heap: texts at positions.
pub struct Texts<'a> {
    scope: Scope<'a>,
    addr: Addr,
    segment: Bytes,
}

/// The texts in the data segment of the local heap at `addr`.
pub fn local(scope: Scope<'_>, addr: Addr) -> Step<Texts<'_>> {
    let heap: Arc<LocalHeap> = scope.view.keep(addr, ())?;
    let segment = ByteRange::new(heap.segment, heap.segment_size);
    scope.container.loaded.takes("local heap data segment", segment);
    Ok(Texts { scope, addr: heap.segment, segment: scope.view.bytes(segment)? })
}

impl Texts<'_> {
    /// The text at `position`. It is paid for each time: many may name one that is long.
    pub fn at(&self, position: u64) -> Result<Bytes> {
        let address = self.addr.0;
        let place = || Place::Field { structure: LocalHeap::NAME, field: "data segment", address };
        let text = local_heap::text(&self.segment, position).map_err(|e| e.at(place()))?;
        self.scope.view.purse().pay(u64::try_from(text.len()).unwrap_or(u64::MAX))?;
        Ok(text)
    }
}

/// The object of the global heap that `id` names; `None` where it names nothing.
pub fn global(scope: Scope<'_>, id: GlobalHeapId) -> Step<Option<Bytes>> {
    let Some(addr) = id.collection.filter(|addr| addr.0 != 0 && id.index != 0) else { return Ok(None) };
    let collection: Arc<Collection> = scope.view.keep(addr, ())?;
    let object = u16::try_from(id.index).ok().and_then(|index| collection.object(index));
    match object {
        Some(object) => Ok(Some(object.data.clone())),
        None => {
            let what = format!("the global heap collection at {addr} has no object {}", id.index);
            Err(Error::corrupt(what).into())
        }
    }
}

/// The data of a message of type `kind` in the heap of shared messages, and where they are.
pub fn shared_message(scope: Scope<'_>, kind: u16, id: &[u8]) -> Step<(Bytes, Addr)> {
    let Some(addr) = scope.container.message_heap(kind) else {
        let what = format!("a message of type {kind:#x} is shared, the file has no heap of such messages");
        return Err(Error::corrupt(what).into());
    };
    FractalHeap::open(scope, addr)?.object(scope, id)
}

/// A fractal heap.
#[derive(Debug)]
pub struct FractalHeap {
    addr: Addr,
    header: Arc<Header>,
    table: DoublingTable,
    ids: IdContext,
    /// The block that was used last, as the next object is often in it too.
    last: Mutex<Option<(Addr, Arc<DirectBlock>)>>,
}

impl FractalHeap {
    /// The heap whose header is at `addr`.
    pub fn open(scope: Scope<'_>, addr: Addr) -> Step<Self> {
        let header: Arc<Header> = scope.view.keep(addr, ())?;
        let place = || Place::Field { structure: Header::NAME, field: "table width", address: addr.0 };
        let (table, ids) = (header.table().map_err(|e| e.at(place()))?, header.id_context(scope.view.sizes())?);
        Ok(FractalHeap { addr, header, table, ids, last: Mutex::default() })
    }

    /// The object that `id` names, and where it is (or where the block is in which it is).
    pub fn object(&self, scope: Scope<'_>, id: &[u8]) -> Step<(Bytes, Addr)> {
        let (object, addr) = self.find(scope, id)?;
        // Many ids may name one large object.
        scope.view.purse().pay(u64::try_from(object.len()).unwrap_or(u64::MAX))?;
        Ok((object, addr))
    }

    fn find(&self, scope: Scope<'_>, id: &[u8]) -> Step<(Bytes, Addr)> {
        let found = HeapId::decode(id, self.addr, scope.view.sizes(), self.ids).map_err(Error::sealed)?;
        scope.container.loaded.decoded_part(&found, id, self.addr, self.ids);
        match found.location {
            Location::Managed { offset, size } => self.managed(scope, offset, size),
            Location::Tiny { data } => Ok((data.into(), self.addr)),
            Location::HugeDirect { addr, size } => {
                Ok((self.huge_object(scope, ByteRange::new(addr, size), 0, size)?, addr))
            }
            Location::HugeDirectFiltered { addr, size, filter_mask, decoded_size } => {
                Ok((self.huge_object(scope, ByteRange::new(addr, size), filter_mask, decoded_size)?, addr))
            }
            Location::HugeIndirect { id } => self.huge(scope, id),
        }
    }

    fn huge(&self, scope: Scope<'_>, id: u64) -> Step<(Bytes, Addr)> {
        let missing = || Error::corrupt(format!("the fractal heap at {} has no huge object {id}", self.addr));
        let tree = self.header.huge_tree.ok_or_else(missing)?;
        if self.header.filters.is_some() {
            let found = btree::find::<HugeIndirectFiltered>(scope, tree, (), |record| record.id.cmp(&id))?;
            let record = found.first().ok_or_else(missing)?;
            let range = ByteRange::new(record.addr, record.size);
            return Ok((self.huge_object(scope, range, record.filter_mask, record.decoded_size)?, record.addr));
        }
        let found = btree::find::<HugeIndirect>(scope, tree, (), |record| record.id.cmp(&id))?;
        let record = found.first().ok_or_else(missing)?;
        Ok((self.huge_object(scope, ByteRange::new(record.addr, record.size), 0, record.size)?, record.addr))
    }

    fn huge_object(&self, scope: Scope<'_>, range: ByteRange, mask: u32, plain: u64) -> Step<Bytes> {
        scope.container.loaded.takes("fractal heap huge object", range);
        self.decode(scope, range, mask, plain)
    }

    fn managed(&self, scope: Scope<'_>, offset: u64, size: u64) -> Step<(Bytes, Addr)> {
        let beyond = || Error::corrupt(format!("offset {offset} is not in the fractal heap at {}", self.addr));
        let (mut addr, mut context) = match self.header.root()? {
            Root::None => return Err(beyond().into()),
            Root::Direct(addr, context) => {
                let stored = self.header.filters.as_ref().map(|f| (f.root_size, f.root_mask));
                return self.object_in_block(scope, addr, context, stored, offset, size);
            }
            Root::Indirect(addr, context) => (addr, context),
        };
        let mut position = offset;
        loop {
            let block: Arc<IndirectBlock> = scope.view.keep(addr, context)?;
            self.check_owner(block.header, addr)?;
            let place = self.table.place(position).ok_or_else(beyond)?;
            let number = usize::try_from(place.row).ok().and_then(|row| row.checked_mul(self.table.width().into()));
            let child = number.and_then(|number| block.children.get(number + usize::from(place.column)));
            let child = child.ok_or_else(beyond)?;
            addr = child.addr.ok_or_else(beyond)?;
            if let Some(direct) = self.table.direct(place.row) {
                let stored = self.header.filters.as_ref().map(|_| (child.size, child.filter_mask));
                return self.object_in_block(scope, addr, direct, stored, offset, size);
            }
            let rows = self.table.rows_below(place.row).ok_or_else(beyond)?;
            context = self.table.indirect(rows).ok_or_else(beyond)?;
            position = place.position;
        }
    }

    /// An object of the direct block at `addr`; `stored` is its size and filter mask where the heap has filters.
    fn object_in_block(
        &self,
        scope: Scope<'_>,
        addr: Addr,
        context: DirectContext,
        stored: Option<(u64, u32)>,
        offset: u64,
        size: u64,
    ) -> Step<(Bytes, Addr)> {
        // Whoever finds the lock taken goes on without it.
        let last = self.last.try_lock().ok().and_then(|last| last.clone());
        let block = match last.filter(|(at, _)| *at == addr) {
            Some((_, block)) => block,
            None => self.block(scope, addr, context, stored)?,
        };
        Ok((block.object(offset, size, scope.view.sizes(), context)?, addr))
    }

    fn block(
        &self,
        scope: Scope<'_>,
        addr: Addr,
        context: DirectContext,
        stored: Option<(u64, u32)>,
    ) -> Step<Arc<DirectBlock>> {
        let sizes = scope.view.sizes();
        let block = match stored {
            None => scope.view.keep::<DirectBlock>(addr, context)?,
            Some((stored, mask)) => {
                let plain = u64::try_from(context.size).unwrap_or(u64::MAX);
                let range = ByteRange::new(addr, stored);
                scope.container.loaded.takes(DirectBlock::NAME, range);
                let bytes = self.decode(scope, range, mask, plain)?;
                let (block, used) = DirectBlock::decode_shared(&bytes, addr, sizes, context).map_err(Error::sealed)?;
                scope.container.loaded.decoded_part(&block, &bytes[..used], addr, context);
                Arc::new(block)
            }
        };
        self.check_owner(block.header, addr)?;
        if let Ok(mut last) = self.last.try_lock() {
            *last = Some((addr, Arc::clone(&block)));
        }
        Ok(block)
    }

    fn decode(&self, scope: Scope<'_>, range: ByteRange, mask: u32, plain: u64) -> Step<Bytes> {
        let Some(filters) = &self.header.filters else { return scope.view.bytes(range) };
        let limit = scope.view.limits().chunk;
        let plain = usize::try_from(plain).ok().filter(|n| u64::try_from(*n).is_ok_and(|n| n <= limit));
        let plain = plain.ok_or_else(|| Error::limit("an object of a fractal heap is beyond the limit"))?;
        let chunk = ChunkInfo { bytes: plain, element_size: 1 };
        let pipeline = Pipeline::new(&filters.pipeline, chunk, &scope.container.registry)?;
        let stored = scope.view.bytes(range)?;
        let mut bytes = Vec::new();
        pipeline.decode_whole(&stored, mask, &mut Scratch::default(), &mut bytes)?;
        Ok(bytes.into())
    }

    fn check_owner(&self, stated: Addr, block: Addr) -> Result<()> {
        if stated == self.addr {
            return Ok(());
        }
        let what =
            format!("the block at {block} belongs to the fractal heap at {stated}, not to that at {}", self.addr);
        Err(Error::corrupt(what))
    }
}
