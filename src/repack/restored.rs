//! Datasets that are stored in another way than they were: other filters, other chunks.

use super::elements::points;
use super::{Copier, Progress};
use crate::create::{FillTime, Settings, Site, Writer};
use crate::error::{ErrorKind, Result};
use crate::format::message::dataspace::Kind;
use crate::format::message::fill_value::Fill;
use crate::handle::{Dataset, StorageLayout};
use crate::manifest::Manifest;
use crate::selection::{Block, Selected, shape};
use crate::write;

/// Bytes that are read at once.
const AT_ONCE: u64 = 64 << 20;

impl Copier<'_> {
    /// The dataset stored as the rules say; `None` if they are not for it.
    pub(super) fn restored(&mut self, dataset: &Dataset, path: &[u8]) -> Result<Option<write::Dataset>> {
        let is_here =
            matches!(dataset.layout(), StorageLayout::Chunked | StorageLayout::Contiguous | StorageLayout::Compact)
                && dataset.external()?.is_empty();
        let is_array = dataset.dataspace().kind == Kind::Simple && !dataset.is_empty();
        if !self.rules.are_for(path) || !is_here || !is_array || points(dataset.datatype()) {
            return Ok(None);
        }
        let Some((layout, filters)) = self.rules.wanted(dataset)? else { return Ok(None) };
        let (fill, fill_time) = match dataset.fill_value()? {
            Some(fill) => {
                let value = if let Fill::User(value) = fill.value { Some(value.to_vec()) } else { None };
                let time = match fill.write_time {
                    0 => FillTime::Alloc,
                    1 => FillTime::Never,
                    _ => FillTime::IfSet,
                };
                (value, time)
            }
            None => (None, FillTime::IfSet),
        };
        let settings = Settings::of_copy(dataset.max_shape(), layout, &filters, fill, fill_time);
        let datatype = self.site.level.datatype(dataset.datatype())?;
        let new = settings.dataset(&self.site, &datatype, None, dataset.shape().to_vec());
        let (mut new, mut writer) = match new {
            Ok(new) => new,
            // Where a filter is not for such elements, or chunks cannot be so, it stays as it is.
            Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::Invalid) => return Ok(None),
            Err(error) => return Err(error),
        };
        new.committed = self.committed(dataset.committed_datatype()?)?;
        copy(dataset, &self.site, &mut writer, &mut self.progress)?;
        new.storage = writer.finish(&self.site)?.0;
        Ok(Some(new))
    }
}

/// Writes what is stored of a dataset.
fn copy(dataset: &Dataset, site: &Site, writer: &mut Writer, progress: &mut Progress<'_>) -> Result<()> {
    let (shape, rows_of_chunks) = (dataset.shape(), writer.rows_of_chunks());
    let mut take = |block: &Block| -> Result<()> {
        let bytes = dataset.select(block).read_bytes()?;
        writer.write(site, &Selected::block(block, shape)?, &bytes)
    };
    match &*dataset.manifest()? {
        // What nobody wrote stays so.
        Manifest::Chunks(chunks) if chunks.len() as u64 != chunks.grid().len() => {
            for chunk in chunks.iter() {
                if let Some(at) = chunks.grid().coordinates(chunk.number) {
                    take(&chunks.grid().block(&at))?;
                }
                progress.advance(chunk.size);
            }
            Ok(())
        }
        Manifest::Segments { segments, .. } if segments.is_empty() => Ok(()),
        _ => {
            let stored = dataset.stored_size()?;
            let row = shape::count(&shape[1..])?.saturating_mul(dataset.datatype().size.into()).max(1);
            // Whole chunks, old and new, as far as that is little.
            let rows = (AT_ONCE / row).max(1).next_multiple_of(rows_of_chunks);
            for start in (0..shape[0]).step_by(usize::try_from(rows).unwrap_or(usize::MAX)) {
                let mut block = Block::all(shape);
                (block.start[0], block.count[0]) = (start, rows.min(shape[0] - start));
                take(&block)?;
                progress.advance(
                    u64::try_from(u128::from(stored) * u128::from(block.count[0]) / u128::from(shape[0])).unwrap_or(0),
                );
            }
            Ok(())
        }
    }
}
