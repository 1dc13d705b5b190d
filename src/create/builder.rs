//! Builders of new datasets.

use std::sync::Arc;

use bytes::Bytes;

use super::chunks::ChunkWriter;
use super::dataset::NewDataset;
use super::filters::Wanted;
use super::group::{NewGroup, NewNamedType};
use super::values::Values;
use super::writer::{Data, Slot, Writer};
use crate::convert::encoder::Measure;
use crate::convert::{Conversion, H5Type};
use crate::error::{Error, Result};
use crate::filter::{ChunkInfo, Pipeline};
use crate::format::message::data_layout::{Chunked, DO_NOT_FILTER_PARTIAL_CHUNKS};
use crate::format::message::dataspace::{Dataspace, Kind};
use crate::format::message::datatype::Datatype;
use crate::format::message::fill_value::Fill;
use crate::format::message::filter_pipeline::{FilterDescription, FilterPipeline};
use crate::selection::{Grid, shape};
use crate::wire::Sizes;
use crate::write::{self, Body, Compatibility, Storage};

/// A dataset that is about to be created: its shape, chunks, filters.
///
/// ```
/// # fn main() -> hdfive::Result<()> {
/// let file = hdfive::FileBuilder::new().create_in_memory()?;
/// let mut grid = file
///     .new_dataset::<f32>()
///     .shape([365, 721, 1440])
///     .chunk([1, 721, 1440])
///     .shuffle()
///     .deflate(4)
///     .fill_value(f32::NAN)
///     .create("surface/temperature")?;
/// grid.write_slice(vec![280.0f32; 721 * 1440], hdfive::s![0, .., ..])?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct DatasetBuilder<'g> {
    group: &'g NewGroup,
    /// `None` until there are data whose type it is.
    datatype: Option<Datatype>,
    committed: Option<write::ObjectId>,
    shape: Vec<u64>,
    data: Option<Write<'g>>,
    settings: Settings,
}

/// Writes a dataset's data once it is there.
struct Write<'g>(Box<Job<'g>>);
type Job<'g> = dyn FnOnce(&mut NewDataset) -> Result<()> + 'g;

impl std::fmt::Debug for Write<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Write")
    }
}

/// What is said about a dataset besides its type and shape.
#[derive(Debug, Default)]
struct Settings {
    is_null: bool,
    /// An empty one: without limit along the first dimension.
    max_shape: Option<Vec<Option<u64>>>,
    conversion: Conversion,
    layout: Layout,
    filters: Vec<Wanted>,
    partial_unfiltered: bool,
    /// An encoder of the fill value for the datatype.
    fill: Option<FillValue>,
    /// A committed datatype is of another file.
    is_elsewhere: bool,
}

#[derive(Debug, Default)]
enum Layout {
    /// Contiguous, unless something asks for chunks.
    #[default]
    Usual,
    Compact,
    Contiguous,
    Chunks(Option<Vec<u64>>),
}

struct FillValue(Box<Encode>);
type Encode = dyn Fn(&Datatype) -> Result<Vec<u8>> + Send + Sync;

impl std::fmt::Debug for FillValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FillValue")
    }
}

impl NewGroup {
    /// A dataset of `T`s: what is said next is its shape.
    pub fn new_dataset<T: H5Type>(&self) -> DatasetBuilder<'_> {
        DatasetBuilder::new(self, Some(T::type_descriptor()))
    }

    /// A dataset of any datatype.
    pub fn new_dataset_of(&self, datatype: Datatype) -> DatasetBuilder<'_> {
        DatasetBuilder::new(self, Some(datatype))
    }

    /// A dataset whose type and shape are those of its data: [`with_data`](DatasetBuilder::with_data) is said next.
    pub fn new_dataset_builder(&self) -> DatasetBuilder<'_> {
        DatasetBuilder::new(self, None)
    }
}

/// The compressors of Blosc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blosc {
    /// Its own.
    BloscLz = 0,
    /// LZ4.
    Lz4 = 1,
    /// LZ4, more thorough.
    Lz4Hc = 2,
    /// Snappy.
    Snappy = 3,
    /// Zlib.
    Zlib = 4,
    /// Zstandard.
    Zstd = 5,
}

/// How Blosc orders bytes before it compresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BloscShuffle {
    /// As they are.
    None = 0,
    /// By bytes.
    Bytes = 1,
    /// By bits.
    Bits = 2,
}

impl<'g> DatasetBuilder<'g> {
    pub(super) fn new(group: &'g NewGroup, datatype: Option<Datatype>) -> DatasetBuilder<'g> {
        DatasetBuilder {
            group,
            datatype,
            committed: None,
            shape: Vec::new(),
            data: None,
            settings: Settings::default(),
        }
    }

    /// Its shape; without one it is a scalar.
    #[must_use]
    pub fn shape(mut self, shape: impl AsRef<[u64]>) -> Self {
        self.shape = shape.as_ref().to_vec();
        self
    }

    /// Its data, whose shape it has; and their type, unless another one is said.
    #[must_use]
    pub fn with_data<V: Values + 'g>(mut self, values: V) -> Self {
        self.shape = values.shape();
        self.datatype.get_or_insert_with(V::Element::type_descriptor);
        self.data = Some(Write(Box::new(move |dataset: &mut NewDataset| dataset.write(values))));
        self
    }

    /// It has no elements, and no shape: h5py's `Empty`.
    #[must_use]
    pub fn empty(mut self) -> Self {
        self.settings.is_null = true;
        self
    }

    /// Its elements are of another datatype than values have: numbers are converted, texts fit into strings of fixed size.
    #[must_use]
    pub fn datatype(mut self, datatype: Datatype) -> Self {
        self.datatype = Some(datatype);
        self
    }

    /// Its elements are of a committed datatype of the same file.
    #[must_use]
    pub fn of_type(mut self, named: &NewNamedType) -> Self {
        self.settings.is_elsewhere = !Arc::ptr_eq(&named.shared, &self.group.shared);
        (self.datatype, self.committed) = (Some(named.datatype.clone()), Some(named.id));
        self
    }

    /// What becomes of numbers that the datatype cannot hold exactly; by default they are an error.
    #[must_use]
    pub fn conversion(mut self, conversion: Conversion) -> Self {
        self.settings.conversion = conversion;
        self
    }

    /// The largest shape that it can come to have; `None` along dimensions without limit. It needs chunks.
    #[must_use]
    pub fn max_shape(mut self, shape: impl AsRef<[Option<u64>]>) -> Self {
        self.settings.max_shape = Some(shape.as_ref().to_vec());
        self
    }

    /// It can grow without limit along its first dimension. It needs chunks.
    #[must_use]
    pub fn resizable(mut self) -> Self {
        self.settings.max_shape = Some(Vec::new());
        self
    }

    /// Stored in chunks of this shape.
    #[must_use]
    pub fn chunk(mut self, shape: impl AsRef<[u64]>) -> Self {
        self.settings.layout = Layout::Chunks(Some(shape.as_ref().to_vec()));
        self
    }

    /// Stored in chunks, of a shape that suits most ways of reading: about a MiB each.
    #[must_use]
    pub fn chunked(mut self) -> Self {
        self.settings.layout = Layout::Chunks(None);
        self
    }

    /// Stored in one piece, as is usual for a dataset of fixed shape without filters.
    #[must_use]
    pub fn contiguous(mut self) -> Self {
        self.settings.layout = Layout::Contiguous;
        self
    }

    /// Stored in the object's header: for less than 64 KiB.
    #[must_use]
    pub fn compact(mut self) -> Self {
        self.settings.layout = Layout::Compact;
        self
    }

    /// The value of elements that are not written; 0 by default.
    #[must_use]
    pub fn fill_value<T: H5Type>(mut self, value: T) -> Self {
        let encode = move |datatype: &Datatype| {
            let encoder = T::encoder(datatype, Conversion::Lossless)?;
            let mut heap = Measure::default();
            let bytes = encoder.encode_all(std::slice::from_ref(&value), &mut heap)?.into_owned();
            match heap.sizes[..] {
                [] => Ok(bytes),
                _ => Err(Error::unsupported("a fill value without a fixed size")),
            }
        };
        self.settings.fill = Some(FillValue(Box::new(encode)));
        self
    }

    /// Chunks that reach over the edge of the shape are stored without filters.
    ///
    /// Only from `V110` on.
    #[must_use]
    pub fn partial_chunks_unfiltered(mut self) -> Self {
        self.settings.partial_unfiltered = true;
        self
    }

    fn filter_wanted(mut self, filter: Wanted) -> Self {
        self.settings.filters.push(filter);
        self
    }

    /// Any filter, by its registered id, with the parameters that stand in the file. Chunks for which it gains
    /// nothing are stored without it. Filters work in the order in which they are asked for.
    #[must_use]
    pub fn filter(self, id: u16, client_data: &[u32]) -> Self {
        self.filter_wanted(Wanted::given(id, client_data))
    }

    /// Deflate, the filter of gzip, at a level from 0 to 9.
    #[must_use]
    pub fn deflate(self, level: u8) -> Self {
        self.filter_wanted(Wanted::given(1, &[level.into()]))
    }

    /// The bytes of elements, all first ones, then all second ones, and so on: compressors like that.
    #[must_use]
    pub fn shuffle(self) -> Self {
        self.filter_wanted(Wanted::Shuffle)
    }

    /// A checksum with each chunk.
    #[must_use]
    pub fn fletcher32(self) -> Self {
        self.filter_wanted(Wanted::fletcher32())
    }

    /// Szip, with entropy coding or (`nearest_neighbour`) coding of differences, in blocks of an even number of
    /// up to 32 pixels.
    #[must_use]
    pub fn szip(self, nearest_neighbour: bool, pixels_per_block: u8) -> Self {
        self.filter_wanted(Wanted::Szip { nearest_neighbour, pixels_per_block: pixels_per_block.into() })
    }

    /// Only the bits that numbers have.
    #[must_use]
    pub fn nbit(self) -> Self {
        self.filter_wanted(Wanted::Nbit)
    }

    /// Differences from the smallest number of a chunk. `factor` is how many decimal places of floats are kept,
    /// or how many bits integers get (0: as many as they need, without loss).
    #[must_use]
    pub fn scale_offset(self, factor: i32) -> Self {
        self.filter_wanted(Wanted::ScaleOffset { factor })
    }

    /// LZF, h5py's fast filter.
    #[must_use]
    pub fn lzf(self) -> Self {
        self.filter_wanted(Wanted::Lzf)
    }

    /// LZ4.
    #[must_use]
    pub fn lz4(self) -> Self {
        self.filter_wanted(Wanted::given(32004, &[0]))
    }

    /// Zstandard, at a level of 1 or more.
    #[must_use]
    pub fn zstd(self, level: u8) -> Self {
        self.filter_wanted(Wanted::given(32015, &[level.into()]))
    }

    /// bzip2, with blocks of 1 to 9 times 100 kB.
    #[must_use]
    pub fn bzip2(self, block_size: u8) -> Self {
        self.filter_wanted(Wanted::given(307, &[block_size.into()]))
    }

    /// Bitshuffle with LZ4.
    #[must_use]
    pub fn bitshuffle(self) -> Self {
        self.filter_wanted(Wanted::Bitshuffle)
    }

    /// Blosc at a level from 0 to 9.
    #[must_use]
    pub fn blosc(self, compressor: Blosc, level: u8, shuffle: BloscShuffle) -> Self {
        self.filter_wanted(Wanted::Blosc {
            id: 32001,
            compressor: compressor as u32,
            level: level.into(),
            shuffle: shuffle as u32,
        })
    }

    /// Creates it at `path`, with all groups on the way to it, and writes its data if there are any.
    ///
    /// Errors are `Conflict` if there is something already, `Invalid` for settings that contradict each other,
    /// `Unsupported` for what the file's compatibility level or a filter cannot hold, and those of writing.
    pub fn create(self, path: &str) -> Result<NewDataset> {
        let group = self.group;
        self.built(path).map_err(|e| group.at(e, path))
    }

    fn built(self, path: &str) -> Result<NewDataset> {
        let DatasetBuilder { group, datatype, committed, shape, data, settings } = self;
        let shared = &group.shared;
        if settings.is_elsewhere {
            return Err(Error::invalid("the datatype is committed in another file"));
        }
        let datatype = datatype.ok_or_else(|| Error::invalid("neither a datatype nor data"))?;
        let datatype = shared.level.datatype(&datatype)?;
        group.check_free(path)?;
        let conversion = settings.conversion;
        let (dataset, writer) = settings.dataset(group, &datatype, committed, shape)?;
        let object = group.object(Body::Dataset(Box::new(dataset)));
        let slot = Slot::new(writer);
        let id = shared.add_dataset(object, Arc::new(slot.clone()))?;
        group.link(path, write::Target::Hard(id))?;
        let path = group.below(path);
        let mut dataset = NewDataset { shared: Arc::clone(shared), id, path, datatype, conversion, slot };
        match data {
            Some(Write(write)) => write(&mut dataset).map(|()| dataset),
            None => Ok(dataset),
        }
    }
}

/// When space is allocated, in the numbers of the fill value message.
const EARLY: u8 = 1;
const LATE: u8 = 2;
const STEP_BY_STEP: u8 = 3;
/// Fill values are written if the user set one.
const IF_SET: u8 = 2;
/// Elements of a chunk, and bytes of one, at most.
const MOST_ELEMENTS: u64 = u32::MAX as u64;

impl Settings {
    fn dataset(
        self,
        group: &NewGroup,
        datatype: &Datatype,
        committed: Option<write::ObjectId>,
        shape: Vec<u64>,
    ) -> Result<(write::Dataset, Writer)> {
        let level = group.shared.level;
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
        let (data, filters) = self.data(group, datatype, &dataspace, fill.clone())?;
        let allocation = match &data {
            Data::Compact(_) => EARLY,
            Data::Contiguous(_) | Data::Elsewhere(_) => LATE,
            Data::Chunked(..) => STEP_BY_STEP,
        };
        let value = fill.clone().map_or(Fill::Default, |fill| Fill::User(Bytes::from(fill)));
        let dataset = write::Dataset {
            datatype: datatype.clone(),
            committed,
            dataspace: level.dataspace(&dataspace)?,
            fill: level.fill_value(value, allocation, IF_SET),
            filters,
            external: None,
            // Where the elements are is known when all are written.
            storage: Storage::Contiguous(None, 0),
        };
        Ok((dataset, Writer { shape, max_shape: limits, element_size, fill, data }))
    }

    /// Where elements go, and through which filters.
    fn data(
        &self,
        group: &NewGroup,
        datatype: &Datatype,
        dataspace: &Dataspace,
        fill: Option<Vec<u8>>,
    ) -> Result<(Data, Option<FilterPipeline>)> {
        let element_size = usize::try_from(datatype.size).unwrap_or(usize::MAX);
        let bytes = || {
            let bytes = shape::in_memory(shape::count(&dataspace.shape)?)?.checked_mul(element_size);
            bytes.ok_or_else(|| Error::limit("the elements are larger than memory"))
        };
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
            Some(chunk) => self.chunks(group, datatype, dataspace, &chunk, fill),
        }
    }

    fn chunks(
        &self,
        group: &NewGroup,
        datatype: &Datatype,
        dataspace: &Dataspace,
        chunk: &[u64],
        fill: Option<Vec<u8>>,
    ) -> Result<(Data, Option<FilterPipeline>)> {
        let (level, limits) = (group.shared.level, dataspace.max_shape());
        let elements = checked(chunk, &dataspace.shape, &limits, datatype.size)?;
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
                let pipeline = Pipeline::new(message, ChunkInfo { bytes, element_size }, &group.shared.registry)?;
                pipeline.check()?;
                Some(pipeline)
            }
            None => None,
        };
        let may_grow = limits.iter().zip(&dataspace.shape).map(|(max, size)| *max != Some(*size)).collect();
        let grid = Grid::new(&dataspace.shape, chunk)?;
        let writer = ChunkWriter::new(grid, element_size, fill, pipeline, (self.partial_unfiltered, may_grow))?;
        let dimensions: Vec<u64> = chunk.iter().copied().chain([u64::from(datatype.size)]).collect();
        let dimension_width = Sizes::of_numbers_up_to(dimensions.iter().copied().max().unwrap_or(1));
        let index = write::chunk_index(level, &dataspace.shape, &limits, chunk);
        let flags = if self.partial_unfiltered { DO_NOT_FILTER_PARTIAL_CHUNKS } else { 0 };
        let layout = Chunked { dimensions, flags, dimension_width, index, address: None };
        Ok((Data::Chunked(Box::new(layout), Box::new(writer)), message))
    }
}

/// Elements of a chunk, if this can be one.
fn checked(chunk: &[u64], shape: &[u64], limits: &[Option<u64>], element_size: u32) -> Result<u64> {
    if chunk.len() != shape.len() || chunk.contains(&0) {
        return Err(Error::invalid(format!("chunks of shape {chunk:?} in an array of shape {shape:?}")));
    }
    if let Some(axis) = (0..chunk.len()).find(|&axis| limits[axis].is_some_and(|max| chunk[axis] > max)) {
        let what = format!("chunks are larger along dimension {axis} than the array can be: {chunk:?}");
        return Err(Error::invalid(what));
    }
    let elements = shape::count(chunk)?;
    let bytes = elements.checked_mul(element_size.into());
    if elements > MOST_ELEMENTS || bytes.is_none_or(|bytes| bytes > MOST_ELEMENTS) {
        return Err(Error::invalid(format!("chunks of shape {chunk:?} have 4 GiB or more")));
    }
    Ok(elements)
}
