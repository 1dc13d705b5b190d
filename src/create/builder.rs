//! Builders of new datasets.

use std::sync::Arc;

use super::dataset::NewDataset;
use super::external::External;
use super::filters::{Blosc, BloscShuffle, Wanted};
use super::group::{NewGroup, NewNamedType};
use super::settings::{AllocTime, FillTime, FillValue, Layout, Settings};
use super::values::Values;
use super::virtual_layout::{Mapped, VirtualSource};
use super::writer::Slot;
use crate::convert::encoder::Measure;
use crate::convert::{Conversion, H5Type};
use crate::error::{Error, Result};
use crate::format::message::datatype::Datatype;
use crate::selection::Selection;
use crate::write::{self, Body};

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
            match heap.stores {
                false => Ok(bytes),
                true => Err(Error::unsupported("a fill value without a fixed size")),
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

    /// When space for elements is allocated: by default at once in the header, late in one piece, and chunk by chunk.
    #[must_use]
    pub fn alloc_time(mut self, time: AllocTime) -> Self {
        self.settings.alloc_time = Some(time);
        self
    }

    /// When fill values are written to elements that nobody writes.
    #[must_use]
    pub fn fill_time(mut self, time: FillTime) -> Self {
        self.settings.fill_time = time;
        self
    }

    /// Its elements are `size` bytes (without a size as many as are left) from byte `offset` on of another file, which is
    /// named relative to the new file's folder. Said several times: one after the other. Nothing is written to that file.
    #[must_use]
    pub fn external(mut self, file: impl Into<String>, offset: u64, size: Option<u64>) -> Self {
        self.settings.external.push(External { file: file.into(), offset, size });
        self
    }

    /// Its elements at `target` are those of another dataset, in the same order. Said several times: the last counts where
    /// targets overlap. Only from `V110` on.
    #[must_use]
    pub fn map(mut self, target: impl Into<Selection>, source: VirtualSource) -> Self {
        self.settings.mappings.push(Mapped { target: target.into(), unlimited: None, source });
        self
    }

    /// As [`map`](Self::map), going on without end along dimension `axis`: as far as the source does along its own
    /// [`unlimited`](VirtualSource::unlimited) dimension, or in blocks of the target's size for which `%b` in the source's
    /// name stands.
    #[must_use]
    pub fn map_unlimited(mut self, target: impl Into<Selection>, axis: usize, source: VirtualSource) -> Self {
        self.settings.mappings.push(Mapped { target: target.into(), unlimited: Some(axis), source });
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
        let datatype = shared.level().datatype(&datatype)?;
        group.check_free(path)?;
        let conversion = settings.conversion;
        let (dataset, writer) = settings.dataset(&shared.site, &datatype, committed, shape)?;
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
