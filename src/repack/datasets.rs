//! Datasets written anew: chunks are copied as they are stored where their elements mean the same in the new file.

use bytes::Bytes;

use super::Copier;
use super::elements::{points, widened};
use crate::create::{AllocTime, FillTime};
use crate::error::{Error, Result};
use crate::filter::{ChunkInfo, Pipeline, Scratch};
use crate::format::message::data_layout::{Chunked, DO_NOT_FILTER_PARTIAL_CHUNKS};
use crate::format::message::datatype::Datatype;
use crate::format::message::external_files::{ExternalFiles, Slot};
use crate::format::message::fill_value::{Fill, FillValue};
use crate::format::virtual_mapping::{Mapping, Name, VirtualMapping};
use crate::handle::{Dataset, ExternalSegment};
use crate::manifest::{ChunkPlace, Chunks, ChunksBuilder, Manifest};
use crate::selection::{Grid, shape};
use crate::wire::{Addr, ByteRange, Sizes, Structure};
use crate::write::{self, Compatibility, Storage};

/// Bytes that are copied at once.
const AT_ONCE: u64 = 8 << 20;

impl Copier<'_> {
    pub(super) fn dataset(&mut self, dataset: &Dataset, path: &[u8]) -> Result<write::Dataset> {
        if let Some(restored) = self.restored(dataset, path)? {
            return Ok(restored);
        }
        let level = self.site.level;
        let stored = dataset.datatype();
        let wide = widened(stored, self.file.heaps().container().loaded.sizes());
        let filters = dataset.filter_pipeline()?.map(|pipeline| level.filter_pipeline(&pipeline.filters));
        let committed = self.committed(dataset.committed_datatype()?)?;
        let external = self.external(&dataset.external()?)?;
        let fill = self.fill(dataset, stored, &wide)?;
        let storage = match &*dataset.manifest()? {
            Manifest::Inline(data) => Storage::Compact(self.elements(data, stored, &wide)?.into()),
            Manifest::Segments { segments, files } => {
                let size = dataset.len().checked_mul(wide.size.into());
                let size = size.ok_or_else(|| Error::limit("the elements are more bytes than 64 bits can count"))?;
                let addr = match &segments[..] {
                    [whole] if files.is_empty() => {
                        Some(self.contiguous(dataset, whole.addr, whole.size, stored, &wide)?)
                    }
                    _ => None,
                };
                Storage::Contiguous(addr, size)
            }
            Manifest::Chunks(chunks) => self.chunked(dataset, chunks, stored, &wide)?,
            Manifest::Virtual(_) => self.mappings(dataset)?,
        };
        Ok(write::Dataset {
            datatype: level.datatype(&wide)?,
            committed,
            dataspace: level.dataspace(&dataset.stored_dataspace()?)?,
            fill,
            filters,
            external,
            storage,
        })
    }

    fn fill(&mut self, dataset: &Dataset, stored: &Datatype, wide: &Datatype) -> Result<FillValue> {
        let level = self.site.level;
        let Some(fill) = dataset.fill_value()? else {
            let allocation = match &*dataset.manifest()? {
                Manifest::Inline(_) => AllocTime::Early,
                Manifest::Segments { .. } => AllocTime::Late,
                Manifest::Chunks(_) | Manifest::Virtual(_) => AllocTime::Incr,
            };
            return Ok(level.fill_value(Fill::Default, allocation as u8, FillTime::IfSet as u8));
        };
        let value = match fill.value {
            Fill::User(value) => Fill::User(self.elements(&value, stored, wide)?.into()),
            other => other,
        };
        Ok(level.fill_value(value, fill.allocation_time, fill.write_time))
    }

    fn external(&mut self, segments: &[ExternalSegment]) -> Result<Option<ExternalFiles>> {
        if segments.is_empty() {
            return Ok(None);
        }
        let names: Vec<Vec<u8>> = segments.iter().map(|s| self.names.file(s.file.as_bytes())).collect();
        let (heap, positions) = write::local_heap(&mut self.site.draft()?.space, &names)?;
        let slot = |(segment, name): (&ExternalSegment, u64)| Slot { name, offset: segment.offset, size: segment.size };
        let slots: Vec<Slot> = segments.iter().zip(positions).map(slot).collect();
        let allocated = u16::try_from(slots.len()).map_err(|_| Error::unsupported("over 65,535 external files"))?;
        Ok(Some(ExternalFiles { reserved: Vec::new(), allocated, heap, slots }))
    }

    fn contiguous(
        &mut self,
        dataset: &Dataset,
        from: Addr,
        size: u64,
        stored: &Datatype,
        wide: &Datatype,
    ) -> Result<Addr> {
        if points(stored) {
            let data = self.elements(&dataset.read_bytes()?, stored, wide)?;
            let addr = self.site.draft()?.space.reserve_data(data.len() as u64)?;
            self.site.draft()?.space.write(addr, &data)?;
            return Ok(addr);
        }
        let addr = self.site.draft()?.space.reserve_data(size)?;
        let mut buffer = Vec::new();
        let mut done = 0;
        while done < size {
            let part = AT_ONCE.min(size - done);
            dataset.read_stored(ByteRange::new(from.plus(done)?, part), &mut buffer)?;
            self.site.draft()?.space.write(addr.plus(done)?, &buffer)?;
            self.progress.advance(part);
            done += part;
        }
        Ok(addr)
    }

    fn chunked(&mut self, dataset: &Dataset, chunks: &Chunks, stored: &Datatype, wide: &Datatype) -> Result<Storage> {
        let (level, grid) = (self.site.level, chunks.grid());
        let partial_raw = dataset.partial_chunks_unfiltered();
        let keeps_partial = level >= Compatibility::V110;
        let pipeline = dataset.filter_pipeline()?;
        let element = usize::try_from(wide.size).map_err(|_| Error::limit("an element is larger than memory"))?;
        let limit = self.file.heaps().container().loaded.limits().chunk;
        let bytes = usize::try_from(shape::count(grid.chunk_shape())?).ok().and_then(|n| n.checked_mul(element));
        let bytes = bytes.filter(|bytes| u64::try_from(*bytes).is_ok_and(|bytes| bytes <= limit));
        let bytes = bytes.ok_or_else(|| Error::limit(format!("a chunk is beyond the limit of {limit} bytes")))?;
        let encoder = match &pipeline {
            Some(message) => {
                let info = ChunkInfo { bytes, element_size: element };
                Some(Pipeline::new(message, info, &self.file.heaps().container().registry)?)
            }
            None => None,
        };
        let mut placed = ChunksBuilder::new(grid.clone());
        let (mut buffer, mut scratch) = (Vec::new(), Scratch::default());
        for chunk in chunks.iter() {
            self.progress.advance(chunk.size);
            let partial = is_partial(grid, chunk.number)?;
            let raw_here = partial && partial_raw;
            if points(stored) || (raw_here && !keeps_partial) {
                let plain = self.whole_chunk(dataset, grid, chunk.number, stored, wide, bytes)?;
                let (data, filter_mask) = match &encoder {
                    Some(encoder) if !(raw_here && keeps_partial) => encoder.encode(&plain, &mut scratch)?,
                    _ => (&plain[..], 0),
                };
                let addr = self.site.draft()?.space.reserve_data(data.len() as u64)?;
                self.site.draft()?.space.write(addr, data)?;
                placed.push(ChunkPlace { number: chunk.number, addr, size: data.len() as u64, filter_mask });
                continue;
            }
            dataset.read_stored(ByteRange::new(chunk.addr, chunk.size), &mut buffer)?;
            let addr = self.site.draft()?.space.reserve_data(chunk.size)?;
            self.site.draft()?.space.write(addr, &buffer)?;
            placed.push(ChunkPlace { addr, ..chunk });
        }
        let mut dimensions = grid.chunk_shape().to_vec();
        dimensions.push(wide.size.into());
        let index = write::chunk_index(level, dataset.shape(), &dataset.max_shape(), grid.chunk_shape(), false);
        let flags = if partial_raw && keeps_partial { DO_NOT_FILTER_PARTIAL_CHUNKS } else { 0 };
        let widest = dimensions.iter().copied().max().unwrap_or(1);
        let dimension_width = Sizes::of_numbers_up_to(widest);
        let layout = Chunked { dimensions, flags, dimension_width, index, address: None };
        Ok(Storage::Chunked(layout, placed.finish()?))
    }

    /// A chunk's elements in the new file, with fill value beyond the edges of the dataset.
    fn whole_chunk(
        &mut self,
        dataset: &Dataset,
        grid: &Grid,
        number: u64,
        stored: &Datatype,
        wide: &Datatype,
        bytes: usize,
    ) -> Result<Vec<u8>> {
        let coordinates = grid.coordinates(number).ok_or_else(|| Error::corrupt("a chunk outside of the shape"))?;
        let block = grid.block(&coordinates);
        let inside = dataset.select(&block).read_bytes()?;
        let inside = self.elements(&inside, stored, wide)?;
        if block.count == grid.chunk_shape() {
            return Ok(inside);
        }
        let element = usize::try_from(wide.size).map_err(|_| Error::limit("an element is larger than memory"))?;
        let mut whole = vec![0; bytes];
        // Rows of the block, one after the other, to their places in the chunk.
        let row = block.count.last().copied().unwrap_or(1);
        let mut at = vec![0; block.count.len()];
        let row_bytes = usize::try_from(row).unwrap_or(usize::MAX).saturating_mul(element).max(1);
        for part in inside.chunks_exact(row_bytes) {
            let place = shape::number(grid.chunk_shape(), &at).and_then(|n| usize::try_from(n).ok());
            let place = place.and_then(|n| n.checked_mul(element)).ok_or_else(|| Error::limit("more than memory"))?;
            whole[place..place + part.len()].copy_from_slice(part);
            for axis in (0..at.len().saturating_sub(1)).rev() {
                at[axis] += 1;
                if at[axis] < block.count[axis] {
                    break;
                }
                at[axis] = 0;
            }
        }
        Ok(whole)
    }

    fn mappings(&mut self, dataset: &Dataset) -> Result<Storage> {
        let stored = dataset.virtual_mappings()?;
        if stored.is_empty() {
            return Ok(Storage::Virtual(None, 0));
        }
        let mapping = |m: crate::index::virtual_layout::StoredMapping| Mapping {
            file: Name::Text(self.names.numbered(&m.file)),
            dataset: Name::Text(m.dataset.into_bytes()),
            source: m.source,
            target: m.target,
        };
        let block = VirtualMapping { version: 0, mappings: stored.into_iter().map(mapping).collect() };
        let data = Bytes::from(block.encode(Addr(0), Sizes::EIGHT, ())?);
        let ids = self.store(&[data])?;
        let id = ids.first().ok_or_else(|| Error::invalid("no mapping was stored"))?;
        Ok(Storage::Virtual(id.collection, id.index))
    }
}

fn is_partial(grid: &Grid, number: u64) -> Result<bool> {
    let coordinates = grid.coordinates(number).ok_or_else(|| Error::corrupt("a chunk outside of the shape"))?;
    Ok(grid.block(&coordinates).count != grid.chunk_shape())
}
