//! What is said about a new dataset besides its type and shape, and what it comes to: a layout, filters, a fill value.

use bytes::Bytes;

use super::chunks::{ChunkWriter, Implicit, Rules};
use super::external::External;
use super::filters::Wanted;
use super::pipeline::Filters;
use super::site::Site;
use super::virtual_layout::Mapped;
use super::writer::{Data, Writer};
use crate::convert::Conversion;
use crate::error::{Error, Result};
use crate::filter::{ChunkInfo, Pipeline};
use crate::format::message::data_layout::{ChunkIndex, Chunked, DO_NOT_FILTER_PARTIAL_CHUNKS};
use crate::format::message::dataspace::{Dataspace, Kind};
use crate::format::message::datatype::Datatype;
use crate::format::message::fill_value::Fill;
use crate::format::message::filter_pipeline::{FilterDescription, FilterPipeline};
use crate::selection::{Grid, shape};
use crate::wire::Sizes;
use crate::write::{self, Compatibility, Storage};

/// When space for elements is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocTime {
    /// At once: all of it is in the file, written or not. Unfiltered chunks of a dataset that cannot grow without limit
    /// need no index then, from `V110` on.
    Early = 1,
    /// When the first element is written.
    Late = 2,
    /// For each chunk when one of its elements is written.
    Incr = 3,
}

/// When fill values are written to the space that is allocated for elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FillTime {
    /// If the user set one.
    #[default]
    IfSet = 2,
    /// Always.
    Alloc = 0,
    /// Never: what is not written has any value. This library has zeros there.
    Never = 1,
}

/// What is said about a dataset besides its type and shape.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(super) is_null: bool,
    /// An empty one: without limit along the first dimension.
    pub(super) max_shape: Option<Vec<Option<u64>>>,
    pub(super) conversion: Conversion,
    pub(super) layout: Layout,
    pub(super) filters: Vec<Wanted>,
    pub(super) partial_unfiltered: bool,
    /// An encoder of the fill value for the datatype.
    pub(super) fill: Option<FillValue>,
    /// Without one it is what is usual for the layout.
    pub(super) alloc_time: Option<AllocTime>,
    pub(super) fill_time: FillTime,
    pub(super) external: Vec<External>,
    pub(super) mappings: Vec<Mapped>,
    /// A committed datatype is of another file.
    pub(super) is_elsewhere: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Contiguous, unless something asks for chunks.
    #[default]
    Usual,
    Compact,
    Contiguous,
    Chunks(Option<Vec<u64>>),
}

pub(super) struct FillValue(pub(super) Box<Encode>);
pub(super) type Encode = dyn Fn(&Datatype) -> Result<Vec<u8>> + Send + Sync;

impl std::fmt::Debug for FillValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FillValue")
    }
}

/// Elements of a chunk, and bytes of one, at most, before `V200`.
const MOST_ELEMENTS: u64 = u32::MAX as u64;

impl Settings {
    /// Those of a dataset that is copied: how far it may grow, how it is stored, one element that stands for what is not
    /// written, and when that is.
    pub(crate) fn of_copy(
        max_shape: Vec<Option<u64>>,
        layout: Layout,
        filters: &Filters,
        fill: Option<Vec<u8>>,
        fill_time: FillTime,
    ) -> Settings {
        Settings {
            max_shape: Some(max_shape),
            layout,
            filters: filters.wanted.clone(),
            fill: fill.map(|fill| FillValue(Box::new(move |_| Ok(fill.clone())))),
            fill_time,
            ..Settings::default()
        }
    }

    pub(crate) fn dataset(
        self,
        site: &Site,
        datatype: &Datatype,
        committed: Option<write::ObjectId>,
        shape: Vec<u64>,
    ) -> Result<(write::Dataset, Writer)> {
        let level = site.level;
        shape::check_rank(&shape)?;
        let max_shape = match &self.max_shape {
            None => None,
            Some(max) if max.is_empty() && !shape.is_empty() => {
                Some(shape.iter().enumerate().map(|(axis, size)| (axis > 0).then_some(*size)).collect())
            }
            Some(max) => Some(max.clone()),
        };
        let dataspace =
            if self.is_null { super::null_dataspace() } else { super::dataspace(shape.clone(), max_shape)? };
        let limits = dataspace.max_shape();
        let element_size = usize::try_from(datatype.size).map_err(|_| Error::limit("an element beyond memory"))?;
        let fill = self.fill.as_ref().map(|fill| (fill.0)(datatype)).transpose()?;
        let (data, filters) = self.data(site, datatype, &dataspace, fill.clone())?;
        let usual = match &data {
            Data::Compact(_) => AllocTime::Early,
            Data::Contiguous(_) | Data::Elsewhere(_) if self.mappings.is_empty() => AllocTime::Late,
            _ => AllocTime::Incr,
        };
        let alloc_time = self.alloc_time.unwrap_or(usual);
        if matches!(data, Data::Compact(_)) && alloc_time != AllocTime::Early {
            return Err(Error::invalid("elements in the header are allocated early"));
        }
        let external = match &self.external[..] {
            [] => None,
            pieces => {
                let bytes = shape::count(&shape)?.checked_mul(datatype.size.into());
                let bytes = bytes.ok_or_else(|| Error::limit("the elements are more than 64 bits can count"))?;
                Some(super::external::store(site, pieces, bytes)?)
            }
        };
        let value = fill.clone().map_or(Fill::Default, |fill| Fill::User(Bytes::from(fill)));
        let dataset = write::Dataset {
            datatype: datatype.clone(),
            committed,
            dataspace: level.dataspace(&dataspace)?,
            fill: level.fill_value(value, alloc_time as u8, self.fill_time as u8),
            filters,
            external,
            // Where the elements are is known when all are written.
            storage: Storage::Contiguous(None, 0),
        };
        let is_early = alloc_time == AllocTime::Early;
        let fill = fill.filter(|_| self.fill_time != FillTime::Never);
        Ok((dataset, Writer { shape, max_shape: limits, element_size, fill, is_early, data }))
    }

    /// Where elements go, and through which filters.
    fn data(
        &self,
        site: &Site,
        datatype: &Datatype,
        dataspace: &Dataspace,
        fill: Option<Vec<u8>>,
    ) -> Result<(Data, Option<FilterPipeline>)> {
        let element_size = usize::try_from(datatype.size).unwrap_or(usize::MAX);
        let bytes = || {
            let bytes = shape::in_memory(shape::count(&dataspace.shape)?)?.checked_mul(element_size);
            bytes.ok_or_else(|| Error::limit("the elements are larger than memory"))
        };
        if !self.mappings.is_empty() || !self.external.is_empty() {
            return Ok((self.elsewhere(site, dataspace, datatype)?, None));
        }
        let may_grow = dataspace.max_shape().iter().zip(&dataspace.shape).any(|(max, size)| *max != Some(*size));
        let wants_chunks = may_grow || !self.filters.is_empty() || self.partial_unfiltered;
        let chunk = match &self.layout {
            Layout::Usual if !wants_chunks => None,
            Layout::Compact | Layout::Contiguous if wants_chunks => {
                return Err(Error::invalid("only a dataset in chunks can grow or have filters"));
            }
            Layout::Compact => {
                let bytes = bytes()?;
                if bytes + 64 > write::MAX_MESSAGE {
                    return Err(Error::invalid(format!("{bytes} bytes do not fit into a header")));
                }
                let mut data = vec![0; bytes];
                crate::read::fill(&mut data, fill.as_deref());
                return Ok((Data::Compact(data), None));
            }
            Layout::Contiguous => None,
            Layout::Usual | Layout::Chunks(None) => {
                Some(crate::plan::advise::chunk_shape(&dataspace.shape, &dataspace.max_shape(), datatype.size))
            }
            Layout::Chunks(Some(chunk)) => Some(chunk.clone()),
        };
        match chunk {
            _ if dataspace.kind == Kind::Null => Ok((Data::Elsewhere(Storage::Contiguous(None, 0)), None)),
            None => Ok((Data::Contiguous(None), None)),
            Some(_) if dataspace.kind == Kind::Scalar => Err(Error::invalid("a scalar has no chunks")),
            Some(chunk) => self.chunks(site, datatype, dataspace, &chunk, fill),
        }
    }

    /// Elements that lie in other datasets or files.
    fn elsewhere(&self, site: &Site, dataspace: &Dataspace, datatype: &Datatype) -> Result<Data> {
        let is_plain = matches!(self.layout, Layout::Usual) && self.filters.is_empty() && !self.partial_unfiltered;
        if !is_plain || (!self.mappings.is_empty() && !self.external.is_empty()) {
            return Err(Error::invalid("elements that lie elsewhere are in no chunks here, and have no filters"));
        }
        if !self.mappings.is_empty() {
            return super::virtual_layout::store(site, &self.mappings, &dataspace.shape).map(Data::Elsewhere);
        }
        if dataspace.max_shape().iter().zip(&dataspace.shape).any(|(max, size)| *max != Some(*size)) {
            return Err(Error::invalid("a dataset in external files cannot grow"));
        }
        let bytes = shape::count(&dataspace.shape)?.checked_mul(datatype.size.into());
        let bytes = bytes.ok_or_else(|| Error::limit("the elements are more than 64 bits can count"))?;
        Ok(Data::Elsewhere(Storage::Contiguous(None, bytes)))
    }

    fn chunks(
        &self,
        site: &Site,
        datatype: &Datatype,
        dataspace: &Dataspace,
        chunk: &[u64],
        fill: Option<Vec<u8>>,
    ) -> Result<(Data, Option<FilterPipeline>)> {
        let (level, limits) = (site.level, dataspace.max_shape());
        let elements = checked(chunk, &dataspace.shape, &limits, datatype.size, level)?;
        if self.partial_unfiltered && level < Compatibility::V110 {
            return Err(Error::unsupported(format!("unfiltered partial chunks cannot be written for {level:?}")));
        }
        let stands_for_nothing = vec![0; usize::try_from(datatype.size).unwrap_or(0)];
        let fill_value = Some(fill.as_deref().unwrap_or(&stands_for_nothing));
        let described = |filter: &Wanted| filter.describe(datatype, elements, fill_value);
        let described: Vec<FilterDescription> = self.filters.iter().map(described).collect::<Result<_>>()?;
        let message = (!described.is_empty()).then(|| level.filter_pipeline(&described));
        let element_size = usize::try_from(datatype.size).unwrap_or(usize::MAX);
        let bytes = shape::in_memory(elements)?.saturating_mul(element_size);
        let pipeline = match &message {
            Some(message) => {
                let pipeline = Pipeline::new(message, ChunkInfo { bytes, element_size }, &site.registry)?;
                pipeline.check()?;
                Some(pipeline)
            }
            None => None,
        };
        let may_grow = limits.iter().zip(&dataspace.shape).map(|(max, size)| *max != Some(*size)).collect();
        let grid = Grid::new(&dataspace.shape, chunk)?;
        let is_early = self.alloc_time == Some(AllocTime::Early);
        let index = write::chunk_index(level, &dataspace.shape, &limits, chunk, is_early && pipeline.is_none());
        let implicit = match index {
            ChunkIndex::Implicit => Some(Implicit::new(site, &grid, &limits, bytes)?),
            _ => None,
        };
        let fill = fill.filter(|_| self.fill_time != FillTime::Never);
        let rules = Rules { partial_unfiltered: self.partial_unfiltered, may_grow, is_early, implicit };
        let writer = ChunkWriter::new(grid, element_size, fill, pipeline, rules)?;
        let dimensions: Vec<u64> = chunk.iter().copied().chain([u64::from(datatype.size)]).collect();
        let dimension_width = Sizes::of_numbers_up_to(dimensions.iter().copied().max().unwrap_or(1));
        let flags = if self.partial_unfiltered { DO_NOT_FILTER_PARTIAL_CHUNKS } else { 0 };
        let layout = Chunked { dimensions, flags, dimension_width, index, address: None };
        Ok((Data::Chunked(Box::new(layout), Box::new(writer)), message))
    }
}

/// Elements of a chunk, if this can be one.
fn checked(
    chunk: &[u64],
    shape: &[u64],
    limits: &[Option<u64>],
    element_size: u32,
    level: Compatibility,
) -> Result<u64> {
    if chunk.len() != shape.len() || chunk.contains(&0) {
        return Err(Error::invalid(format!("chunks of shape {chunk:?} in an array of shape {shape:?}")));
    }
    if let Some(axis) = (0..chunk.len()).find(|&axis| limits[axis].is_some_and(|max| chunk[axis] > max)) {
        let what = format!("chunks are larger along dimension {axis} than the array can be: {chunk:?}");
        return Err(Error::invalid(what));
    }
    let elements = shape::count(chunk)?;
    let bytes = elements.checked_mul(element_size.into());
    if level < Compatibility::V200 && (elements > MOST_ELEMENTS || bytes.is_none_or(|bytes| bytes > MOST_ELEMENTS)) {
        return Err(Error::invalid(format!("chunks of shape {chunk:?} have 4 GiB or more, which is only for V200")));
    }
    Ok(elements)
}
