//! Which datasets of a file that is written anew are stored in another way, and in which.

use crate::create::{Filters, Layout};
use crate::error::Result;
use crate::handle::{Dataset, StorageLayout};

/// How datasets are stored, where it is not as they were.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub(super) filters: Option<Filters>,
    pub(super) layout: Option<Layout>,
    /// Paths of datasets and groups; none for all.
    pub(super) only: Vec<String>,
}

impl Rules {
    pub(super) fn are_for(&self, path: &[u8]) -> bool {
        let path = String::from_utf8_lossy(path);
        let path = path.trim_start_matches('/');
        let is_below = |own: &String| {
            path.strip_prefix(own.as_str()).is_some_and(|rest| matches!(rest.as_bytes(), [] | [b'/', ..]))
        };
        self.only.is_empty() || self.only.iter().any(|own| own.is_empty() || is_below(own))
    }

    /// Layout and filters that a dataset should have; `None` if it stays as it is.
    pub(super) fn wanted(&self, dataset: &Dataset) -> Result<Option<(Layout, Filters)>> {
        let (is_chunked, rank) = (dataset.layout() == StorageLayout::Chunked, dataset.shape().len());
        let may_grow = dataset.max_shape().iter().zip(dataset.shape()).any(|(max, size)| *max != Some(*size));
        let own_chunk = || dataset.chunk_shape().map(<[u64]>::to_vec);
        let layout = match &self.layout {
            Some(Layout::Chunks(Some(chunk))) if chunk.len() == rank => {
                let limits = dataset.max_shape();
                let cut = chunk.iter().zip(&limits).map(|(size, max)| max.map_or(*size, |max| *size.min(&max)).max(1));
                Some(Layout::Chunks(Some(cut.collect())))
            }
            Some(Layout::Chunks(None)) => Some(Layout::Chunks(None)),
            Some(Layout::Contiguous) if !may_grow => {
                let is_so = dataset.layout() == StorageLayout::Contiguous;
                return Ok((!is_so).then(|| (Layout::Contiguous, Filters::default())));
            }
            _ => None,
        };
        Ok(match (layout, &self.filters) {
            (None, None) => None,
            (Some(layout), Some(filters)) => Some((layout, filters.clone())),
            (Some(layout), None) => match dataset.filter_pipeline()? {
                Some(own) => Some((layout, Filters::stored(&own.filters))),
                None => Some((layout, Filters::default())),
            },
            (None, Some(filters)) if is_chunked => Some((Layout::Chunks(own_chunk()), filters.clone())),
            (None, Some(filters)) if !filters.is_empty() => Some((Layout::Chunks(None), filters.clone())),
            (None, Some(_)) => None,
        })
    }
}
