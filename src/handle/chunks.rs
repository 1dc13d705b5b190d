//! Data beyond memory: part after part, and chunks as they are stored.

use super::dataset::Dataset;
use crate::convert::H5Type;
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::selection::{Block, Grid};
use crate::wire::ByteRange;

/// Bytes of a part of a dataset without chunks.
const PART: usize = 1 << 20;

impl Dataset {
    /// Its chunks one after the other, in row-major order: which block of the dataset each is, cut at the edges, and
    /// its elements, row-major. Chunks that are not stored are fill value. A dataset without chunks comes in parts of
    /// about 1 MiB.
    ///
    /// ```
    /// # fn main() -> hdfive::Result<()> {
    /// let file = hdfive::File::open("testdata/readme/weather.h5")?;
    /// let mut warmest = f32::MIN;
    /// for chunk in file.dataset("/surface/temperature")?.chunks::<f32>()? {
    ///     let (block, values) = chunk?;
    ///     assert_eq!(block.count, [4, 11, 16]);
    ///     warmest = values.into_iter().fold(warmest, f32::max);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// Errors are those of [`read`](Self::read), each with its chunk.
    pub fn chunks<T: H5Type>(&self) -> Result<impl Iterator<Item = Result<(Block, Vec<T>)>>> {
        let grid = self.grid()?;
        let numbers = if self.is_null() { 0..0 } else { 0..grid.len() };
        let blocks = numbers.filter_map(move |number| Some(grid.block(&grid.coordinates(number)?)));
        Ok(self.parts(blocks))
    }

    /// Its rows, `count` at a time: which block of the dataset they are, and their elements, row-major. Rows go along
    /// the first dimension; a scalar is one row. No rows at a time are taken as one.
    ///
    /// Errors are those of [`read`](Self::read).
    pub fn rows<T: H5Type>(&self, count: u64) -> impl Iterator<Item = Result<(Block, Vec<T>)>> {
        let whole = Block::all(self.shape());
        let (step, rows) = (count.max(1), self.shape().first().copied().unwrap_or(1));
        let parts = if self.is_null() { 0 } else { rows.div_ceil(step) };
        self.parts((0..parts).map(move |part| {
            let mut block = whole.clone();
            if let (Some(start), Some(count)) = (block.start.first_mut(), block.count.first_mut()) {
                *start = part * step;
                *count = step.min(rows - *start);
            }
            block
        }))
    }

    fn parts<T: H5Type>(&self, blocks: impl Iterator<Item = Block>) -> impl Iterator<Item = Result<(Block, Vec<T>)>> {
        let own = self.clone();
        blocks.map(move |block| own.select(&block).read().map(|values| (block, values)))
    }

    /// The grid of its chunks, or of parts of it.
    fn grid(&self) -> Result<Grid> {
        let size = usize::try_from(self.datatype().size).unwrap_or(usize::MAX);
        let grid = match self.chunk_shape() {
            Some(chunk) if chunk.len() != self.shape().len() => {
                let what = format!("chunks of rank {} in a dataset of rank {}", chunk.len(), self.shape().len());
                Err(Error::corrupt(what))
            }
            Some(chunk) => Grid::new(self.shape(), chunk),
            None => crate::read::tiles(self.shape(), size, PART),
        };
        grid.map_err(|e| self.at(e))
    }

    /// A chunk as it is stored, without undoing its filters: which of these were skipped (bit 0 for the first), and
    /// the bytes. `index` counts chunks along each dimension.
    ///
    /// Errors are `Invalid` for a dataset without chunks, `OutOfBounds`, `NotFound` for a chunk that is not stored, and
    /// what reading can give.
    pub fn read_chunk_raw(&self, index: &[u64]) -> Result<(u32, Vec<u8>)> {
        if self.chunk_shape().is_none() {
            return Err(self.at(Error::invalid("the dataset has no chunks")));
        }
        let grid = self.grid()?;
        let number = grid
            .number(index)
            .ok_or_else(|| self.at(Error::out_of_bounds(format!("chunk {index:?} of {:?} chunks", grid.counts()))))?;
        let manifest = self.manifest_of(Some(grid.block(index)))?;
        let Manifest::Chunks(chunks) = &*manifest else {
            return Err(self.at(Error::invalid("the dataset has no chunks")));
        };
        let place = chunks.get(number);
        let place = place.ok_or_else(|| self.at(Error::not_found(format!("chunk {index:?} is not stored"))))?;
        let bytes = self.node.run(|scope| scope.view.bytes(ByteRange::new(place.addr, place.size)))?;
        Ok((place.filter_mask, bytes.to_vec()))
    }
}
