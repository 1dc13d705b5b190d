//! Where the elements of a new dataset go: the header, one piece, chunks.

use std::sync::{Arc, Mutex, PoisonError};

use super::chunks::ChunkWriter;
use super::shared::Unfinished;
use super::site::Site;
use crate::error::{Error, Result};
use crate::format::message::data_layout::Chunked;
use crate::selection::{Selected, Source, shape};
use crate::wire::Addr;
use crate::write::Storage;

/// Bytes that are filled, or changed where they stand, at once.
const AT_ONCE: usize = 4 << 20;

/// A writer, until the file is closed.
#[derive(Clone, Debug)]
pub(super) struct Slot(Arc<Mutex<Option<Writer>>>);

impl Slot {
    pub(super) fn new(writer: Writer) -> Slot {
        Slot(Arc::new(Mutex::new(Some(writer))))
    }

    /// Does something with the writer, which nobody else has meanwhile; the lock is not held.
    ///
    /// Errors are `Conflict` if the file is closed.
    pub(super) fn with<R>(&self, job: impl FnOnce(&mut Writer) -> Result<R>) -> Result<R> {
        let slot = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writer = slot().take().ok_or_else(|| Error::conflict("the file is closed already"))?;
        let result = job(&mut writer);
        *slot() = Some(writer);
        result
    }
}

impl Unfinished for Slot {
    fn finish(&self, site: &Site) -> Result<(Storage, Vec<u64>)> {
        let writer = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        writer.ok_or_else(|| Error::conflict("a dataset is being written in another thread"))?.finish(site)
    }
}

/// A dataset that is being written.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(super) shape: Vec<u64>,
    /// How far it may grow; `None` without limit.
    pub(super) max_shape: Vec<Option<u64>>,
    pub(super) element_size: usize,
    /// One element that stands for what is not written; zeros if absent.
    pub(super) fill: Option<Vec<u8>>,
    /// Whether elements that nobody writes are stored too.
    pub(super) is_early: bool,
    pub(super) data: Data,
}

/// Where elements go.
#[derive(Debug)]
pub(super) enum Data {
    /// To the header.
    Compact(Vec<u8>),
    /// To one piece, which has a place once something is written.
    Contiguous(Option<Addr>),
    /// To chunks.
    Chunked(Box<Chunked>, Box<ChunkWriter>),
    /// Nowhere: they lie elsewhere, or there are none.
    Elsewhere(Storage),
}

impl Writer {
    /// Bytes of all elements.
    fn bytes(&self) -> Result<u64> {
        let size = u64::try_from(self.element_size).unwrap_or(u64::MAX);
        let bytes = shape::count(&self.shape)?.checked_mul(size);
        bytes.ok_or_else(|| Error::limit("the elements are more bytes than 64 bits can count"))
    }

    /// Writes the elements in `values`, which lie as the selection's result does.
    pub(crate) fn write(&mut self, site: &Site, selected: &Selected, values: &[u8]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let size = self.element_size;
        match &mut self.data {
            Data::Compact(bytes) => put(selected, values, bytes, size),
            Data::Contiguous(_) => self.write_contiguous(site, selected, values),
            Data::Chunked(_, chunks) => chunks.write(site, selected, values),
            Data::Elsewhere(_) => Err(Error::invalid("the elements of this dataset are not written here")),
        }
    }

    fn write_contiguous(&mut self, site: &Site, selected: &Selected, values: &[u8]) -> Result<()> {
        let size = self.element_size;
        let is_first = matches!(self.data, Data::Contiguous(None));
        let start = self.allocated(site, values.len())?;
        let is_whole = selected.as_block().is_some() && u64::try_from(values.len()) == Ok(self.bytes()?);
        if is_first && is_whole {
            return site.with(|draft| draft.space.write_first(start, values));
        }
        if let Some(block) = selected.as_block() {
            let mut rest = values;
            return site.with(|draft| {
                for run in block.runs(&self.shape)? {
                    let (now, after) = rest.split_at(shape::in_memory(run.count)?.saturating_mul(size).min(rest.len()));
                    draft.space.write(start.plus(run.start.saturating_mul(size as u64))?, now)?;
                    rest = after;
                }
                Ok(())
            });
        }
        // Anything else is changed a piece at a time.
        let selection = crate::read::tiles(&self.shape, size, AT_ONCE)?.select(selected)?;
        for (touched, i) in selection.iter().zip(0..) {
            let block = touched.block();
            let first = shape::number(&self.shape, &block.start).ok_or_else(|| Error::invalid("outside the shape"))?;
            let addr = start.plus(first.saturating_mul(size as u64))?;
            let mut tile = vec![0; shape::in_memory(shape::count(selection.grid().chunk_shape())?)? * size];
            let there = shape::in_memory(shape::count(&block.count)?)? * size;
            site.read(addr, &mut tile[..there])?;
            let source = Source { bytes: values, shape: selected.aligned_shape() };
            super::chunks::gather(&selection, i, source, &mut tile, size)?;
            site.with(|draft| draft.space.write(addr, &tile[..there]))?;
        }
        Ok(())
    }

    /// Where the elements stand. Before less than all of them is written for the first time, they are fill values.
    fn allocated(&mut self, site: &Site, writes: usize) -> Result<Addr> {
        let (bytes, fill) = (self.bytes()?, self.fill.as_deref());
        let Data::Contiguous(place) = &mut self.data else { return Err(Error::invalid("not in one piece")) };
        if let Some(addr) = *place {
            return Ok(addr);
        }
        let addr = site.with(|draft| draft.space.reserve_data(bytes))?;
        if u64::try_from(writes) != Ok(bytes) {
            let size = self.element_size.max(1);
            let mut piece = vec![0; (AT_ONCE / size).max(1) * size];
            crate::read::fill(&mut piece, fill);
            let mut done = 0;
            while done < bytes {
                let part = usize::try_from(bytes - done).unwrap_or(usize::MAX).min(piece.len());
                site.with(|draft| draft.space.write(addr.plus(done)?, &piece[..part]))?;
                done += part as u64;
            }
        }
        *place = Some(addr);
        Ok(addr)
    }

    /// Rows of a chunk: what is written in whole multiples of it waits for nothing.
    pub(crate) fn rows_of_chunks(&self) -> u64 {
        match &self.data {
            Data::Chunked(_, chunks) => chunks.grid().chunk_shape().first().copied().unwrap_or(1),
            _ => 1,
        }
    }

    /// Stores a chunk that went through the filters already.
    pub(super) fn write_chunk_raw(&mut self, site: &Site, index: &[u64], mask: u32, data: &[u8]) -> Result<()> {
        match &mut self.data {
            Data::Chunked(_, chunks) => chunks.write_raw(site, index, mask, data),
            _ => Err(Error::invalid("the dataset has no chunks")),
        }
    }

    /// Gives the dataset another shape.
    pub(super) fn resize(&mut self, site: &Site, shape: &[u64]) -> Result<()> {
        let fits = shape.len() == self.shape.len()
            && shape.iter().zip(&self.max_shape).all(|(size, max)| max.is_none_or(|max| *size <= max));
        if !fits {
            return Err(Error::out_of_bounds(format!("shape {shape:?} is beyond {:?}", self.max_shape)));
        }
        match &mut self.data {
            Data::Chunked(_, chunks) => chunks.resize(site, shape)?,
            _ if shape == self.shape => {}
            _ => return Err(Error::invalid("only a dataset in chunks can be resized")),
        }
        self.shape = shape.to_vec();
        Ok(())
    }

    /// Writes what waits; gives how the elements are stored, and the shape.
    pub(crate) fn finish(mut self, site: &Site) -> Result<(Storage, Vec<u64>)> {
        let bytes = self.bytes()?;
        if self.is_early && bytes > 0 && matches!(self.data, Data::Contiguous(None)) {
            self.allocated(site, 0)?;
        }
        let storage = match self.data {
            Data::Compact(data) => Storage::Compact(data.into()),
            Data::Contiguous(addr) => Storage::Contiguous(addr, bytes),
            Data::Chunked(layout, chunks) => {
                let mut layout = *layout;
                let (shape, chunk, implicit) = (&self.shape, chunks.grid().chunk_shape(), chunks.is_implicit());
                layout.index = crate::write::chunk_index(site.level, shape, &self.max_shape, chunk, implicit);
                Storage::Chunked(layout, chunks.finish(site)?)
            }
            Data::Elsewhere(storage) => storage,
        };
        Ok((storage, self.shape))
    }
}

/// Copies values to where a selection says, in an array of the selection's shape.
fn put(selected: &Selected, values: &[u8], into: &mut [u8], size: usize) -> Result<()> {
    let selection = crate::read::tiles(selected.shape(), 1, usize::MAX)?.select(selected)?;
    let source = Source { bytes: values, shape: selected.aligned_shape() };
    super::chunks::gather(&selection, 0, source, into, size).map(drop)
}
