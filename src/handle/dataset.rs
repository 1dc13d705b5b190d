//! Datasets.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::attribute::object_methods;
use super::core::Node;
use crate::error::{Error, Result};
use crate::filter::{ChunkInfo, Pipeline};
use crate::format::message::HeaderMessageBody;
use crate::format::message::data_layout::{ChunkIndex, Chunked, DO_NOT_FILTER_PARTIAL_CHUNKS, DataLayout, Layout};
use crate::format::message::dataspace::{Dataspace, Kind};
use crate::format::message::datatype::Datatype;
use crate::format::message::external_files::ExternalFiles;
use crate::format::message::fill_value::{Fill, FillValue, OldFillValue};
use crate::format::message::filter_pipeline::FilterPipeline;
use crate::index;
use crate::manifest::{Manifest, Segment};
use crate::object::datatype::in_file;
use crate::object::heap;
use crate::plan::{PieceRead, ReadPlan};
use crate::read::{self, Reading, SourceTable};
use crate::selection::{Block, Destination, Grid, Selected, shape};
use crate::storage::{Purpose, SharedSource};
use crate::wire::{Addr, ByteRange, SourceId};

/// A dataset: an array of elements of one datatype.
#[derive(Clone)]
pub struct Dataset {
    pub(super) node: Node,
    pub(super) about: Arc<About>,
}

/// `Dataset("/time" in "weather.h5", f64 [28+], chunks [512])`.
impl std::fmt::Debug for Dataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Dataset").field(&self.node).field(&format_args!("{self}")).finish()
    }
}

object_methods!(Dataset);

/// What a dataset's header says.
pub(super) struct About {
    pub(super) datatype: Datatype,
    pub(super) dataspace: Dataspace,
    pub(super) layout: DataLayout,
    pub(super) manifest: OnceLock<Arc<Manifest>>,
    /// What looking up single chunks has cost so far, in chunks of a manifest that could have been read for it.
    pub(super) looked_up: AtomicU64,
}

/// What it costs at least to look up chunks in their index, in chunks of a manifest that could be read for it: a tenth of a
/// millisecond.
const LOOK_UP: u64 = 2000;

/// How the elements of a dataset are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageLayout {
    /// In the object header.
    Compact,
    /// In one piece, or in external files.
    Contiguous,
    /// In chunks.
    Chunked,
    /// In other datasets.
    Virtual,
}

/// A filter of a dataset's pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterInfo {
    /// The registered id.
    pub id: u16,
    /// Bit 0: writing may skip the filter where it fails.
    pub flags: u16,
    /// The name that the writer gave it; may be empty.
    pub name: String,
    /// Parameters.
    pub client_data: Vec<u32>,
}

/// A piece of external raw data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalSegment {
    /// The file's name as it stands in the dataset.
    pub file: String,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes; `None` for as many as the dataset needs.
    pub size: Option<u64>,
}

/// The fill time "never".
const NEVER_WRITTEN: u8 = 1;

impl Dataset {
    pub(super) fn open(node: Node) -> Result<Dataset> {
        let (datatype, dataspace, layout) = node.run(|scope| {
            let datatype = in_file(node.header.expect(scope)?, scope.view.sizes());
            Ok((datatype, node.header.expect(scope)?, node.header.expect(scope)?))
        })?;
        let mut about = About { datatype, dataspace, layout, manifest: OnceLock::new(), looked_up: AtomicU64::new(0) };
        if let Layout::Virtual { .. } = about.layout.layout {
            super::virtual_sources::settle(&node, &mut about).map_err(|e| node.at(e))?;
        }
        Ok(Dataset { node, about: Arc::new(about) })
    }

    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// An error, seen from here.
    pub(super) fn at(&self, error: Error) -> Error {
        self.node.at(error)
    }

    /// The datatype of its elements.
    pub fn datatype(&self) -> &Datatype {
        &self.about.datatype
    }

    /// Header address of the committed datatype that it has, if it has one.
    pub fn committed_datatype(&self) -> Result<Option<Addr>> {
        self.node.run(|scope| self.node.header.committed::<Datatype>(scope))
    }

    /// Its dataspace. For a virtual dataset with unlimited mappings the shape is what the sources give.
    pub fn dataspace(&self) -> &Dataspace {
        &self.about.dataspace
    }

    /// Elements per dimension; empty for a scalar and for a null dataspace.
    pub fn shape(&self) -> &[u64] {
        &self.about.dataspace.shape
    }

    /// Elements per dimension at most; `None` is unlimited.
    pub fn max_shape(&self) -> Vec<Option<u64>> {
        self.about.dataspace.max_shape()
    }

    /// Whether it has no elements at all by its dataspace (h5py's `Empty`).
    pub fn is_null(&self) -> bool {
        self.about.dataspace.kind == Kind::Null
    }

    /// The number of elements.
    pub fn len(&self) -> u64 {
        self.about.dataspace.element_count().unwrap_or(u64::MAX)
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How the elements are stored.
    pub fn layout(&self) -> StorageLayout {
        match self.about.layout.layout {
            Layout::Compact(_) => StorageLayout::Compact,
            Layout::Contiguous { .. } => StorageLayout::Contiguous,
            Layout::Chunked(_) => StorageLayout::Chunked,
            Layout::Virtual { .. } => StorageLayout::Virtual,
        }
    }

    fn chunked(&self) -> Option<&Chunked> {
        match &self.about.layout.layout {
            Layout::Chunked(chunked) => Some(chunked),
            Layout::Compact(_) | Layout::Contiguous { .. } | Layout::Virtual { .. } => None,
        }
    }

    /// Elements of a chunk per dimension, if it is chunked.
    pub fn chunk_shape(&self) -> Option<&[u64]> {
        self.chunked().map(Chunked::shape)
    }

    /// How its chunks are found, if it is chunked.
    pub fn chunk_index(&self) -> Option<&ChunkIndex> {
        self.chunked().map(|chunked| &chunked.index)
    }

    /// Whether chunks that reach over the edge of the shape are stored without filters.
    pub fn partial_chunks_unfiltered(&self) -> bool {
        self.chunked().is_some_and(|chunked| chunked.flags & DO_NOT_FILTER_PARTIAL_CHUNKS != 0)
    }

    /// Its filters, in the order in which writing applies them.
    pub fn filters(&self) -> Result<Vec<FilterInfo>> {
        let Some(pipeline) = self.filter_pipeline()? else { return Ok(Vec::new()) };
        let filter = |f: &crate::format::message::filter_pipeline::FilterDescription| FilterInfo {
            id: f.id,
            flags: f.flags,
            name: f.name(),
            client_data: f.client_data.clone(),
        };
        Ok(pipeline.filters.iter().map(filter).collect())
    }

    pub(crate) fn filter_pipeline(&self) -> Result<Option<FilterPipeline>> {
        let pipeline = self.node.run(|scope| self.node.header.message::<FilterPipeline>(scope))?;
        Ok(pipeline.filter(|p| !p.filters.is_empty()))
    }

    /// Its fill value, and when it is written; `None` if the file says nothing about it.
    pub fn fill_value(&self) -> Result<Option<FillValue>> {
        if let Some(fill) = self.node.run(|scope| self.node.header.message::<FillValue>(scope))? {
            return Ok(Some(fill));
        }
        let old = self.node.run(|scope| self.node.header.message::<OldFillValue>(scope))?;
        Ok(old.map(|old| FillValue {
            version: 1,
            allocation_time: 2,
            write_time: 2,
            value: if old.value.is_empty() { Fill::Default } else { Fill::User(old.value) },
            unused_bits: 0,
            stated: None,
        }))
    }

    /// One element that stands for what nobody wrote, as stored; `None` for zeros.
    pub(super) fn fill_element(&self) -> Result<Option<bytes::Bytes>> {
        // A fill time of "never" leaves what was not written without a value, and so zero.
        let written = self.fill_value()?.filter(|fill| fill.write_time != NEVER_WRITTEN);
        match written.map(|fill| fill.value) {
            Some(Fill::User(value)) if value.len() == self.element_size()? => Ok(Some(value)),
            Some(Fill::User(value)) => {
                let what = format!("the fill value has {} bytes, an element {}", value.len(), self.about.datatype.size);
                Err(self.node.at(Error::corrupt(what)))
            }
            Some(Fill::Default | Fill::Undefined) | None => Ok(None),
        }
    }

    /// Its pieces of external raw data; empty if the data are in the file.
    pub fn external(&self) -> Result<Vec<ExternalSegment>> {
        let header = &self.node.header;
        if !header.messages.iter().any(|m| m.kind == ExternalFiles::KIND) {
            return Ok(Vec::new());
        }
        self.node.run(|scope| {
            let Some(files) = header.message::<ExternalFiles>(scope)? else { return Ok(Vec::new()) };
            let names = heap::local(scope, files.heap)?;
            let mut segments = Vec::new();
            for slot in &files.slots {
                let file = String::from_utf8_lossy(&names.at(slot.name)?).into_owned();
                segments.push(ExternalSegment { file, offset: slot.offset, size: slot.size });
            }
            Ok(segments)
        })
    }

    /// Its mappings, if it is virtual, as they are stored.
    pub fn virtual_mappings(&self) -> Result<Vec<crate::index::virtual_layout::StoredMapping>> {
        super::virtual_sources::stored(&self.node, &self.about.layout.layout)
    }

    /// Why sources are not there, if it is virtual, each once: they are errors when they are read, or fill value
    /// ([`OpenOptions::missing_sources`](crate::OpenOptions::missing_sources)).
    pub fn missing_sources(&self) -> Result<Vec<Error>> {
        super::virtual_sources::missing(self)
    }

    pub(super) fn element_size(&self) -> Result<usize> {
        match usize::try_from(self.about.datatype.size) {
            Ok(0) => Err(self.node.at(Error::corrupt("an element has 0 bytes"))),
            Ok(size) => Ok(size),
            Err(_) => Err(self.node.at(Error::limit("an element is larger than memory"))),
        }
    }

    /// Bytes of all elements.
    fn data_size(&self) -> Result<u64> {
        let size = self.about.dataspace.element_count().and_then(|n| n.checked_mul(self.about.datatype.size.into()));
        size.ok_or_else(|| self.node.at(Error::corrupt("the elements are more bytes than 64 bits can count")))
    }

    /// Where its data lie. Read from the file once.
    pub fn manifest(&self) -> Result<Arc<Manifest>> {
        if let Some(manifest) = self.about.manifest.get() {
            return Ok(Arc::clone(manifest));
        }
        let manifest = match &self.about.layout.layout {
            Layout::Compact(data) => self.compact(data)?,
            Layout::Contiguous { address, size } => self.segments(*address, *size)?,
            Layout::Chunked(chunked) => self.indexed(chunked, None)?,
            Layout::Virtual { .. } => Manifest::Virtual(Vec::new()),
        };
        Ok(Arc::clone(self.about.manifest.get_or_init(|| Arc::new(manifest))))
    }

    /// Where the data of what is in `bounds` lie, perhaps those of nothing else: as long as little is wanted, only what leads
    /// to it is read of an index, and looked up anew. When that has cost as much as a manifest, one is read.
    pub(super) fn manifest_of(&self, bounds: Option<Block>) -> Result<Arc<Manifest>> {
        let wanted = bounds.zip(self.chunked()).filter(|_| self.about.manifest.get().is_none());
        let Some((bounds, chunked)) = wanted else { return self.manifest() };
        let Ok(grid) = Grid::new(self.shape(), chunked.shape()) else { return self.manifest() };
        let block = grid.around(&bounds);
        let cost = shape::count(&block.count)?.max(LOOK_UP);
        let before = self.about.looked_up.fetch_add(cost, Ordering::Relaxed);
        if before.saturating_add(cost) > grid.len() {
            return self.manifest();
        }
        self.indexed(chunked, Some(&block)).map(Arc::new)
    }

    fn compact(&self, data: &bytes::Bytes) -> Result<Manifest> {
        let size = self.data_size()?;
        match usize::try_from(size).ok().filter(|size| *size <= data.len()) {
            Some(size) => Ok(Manifest::Inline(data.slice(..size))),
            None => {
                let what = format!("compact data have {} bytes, the elements want {size}", data.len());
                Err(self.node.at(Error::corrupt(what)))
            }
        }
    }

    fn segments(&self, address: Option<Addr>, stored: Option<u64>) -> Result<Manifest> {
        let size = self.data_size()?;
        let external = self.external()?;
        let (mut segments, mut files) = (Vec::new(), Vec::new());
        if external.is_empty() {
            if let Some(stored) = stored.filter(|stored| address.is_some() && *stored < size) {
                let what = format!("contiguous data have {stored} bytes, the elements want {size}");
                return Err(self.node.at(Error::corrupt(what)));
            }
            segments.extend(address.map(|addr| Segment { start: 0, source: SourceId(0), addr, size }));
            return Ok(Manifest::Segments { segments, files });
        }
        let mut start = 0;
        for (i, piece) in external.into_iter().enumerate() {
            let source = u32::try_from(i + 1).map_err(|_| Error::limit("too many external files"))?;
            let size = piece.size.unwrap_or(u64::MAX).min(size - start);
            segments.push(Segment { start, source: SourceId(source), addr: Addr(piece.offset), size });
            files.push(piece.file);
            start += size;
        }
        if start < size {
            let what = format!("external files hold {start} bytes, the elements want {size}");
            return Err(self.node.at(Error::corrupt(what)));
        }
        Ok(Manifest::Segments { segments, files })
    }

    /// Where chunks lie: all, or those within a block of chunks.
    fn indexed(&self, chunked: &Chunked, within: Option<&Block>) -> Result<Manifest> {
        let element = chunked.dimensions.last().copied().unwrap_or(0);
        if element != u64::from(self.about.datatype.size) {
            let what = format!("chunks have elements of {element} bytes, the datatype {}", self.about.datatype.size);
            return Err(self.node.at(Error::corrupt(what)));
        }
        let (shape, max_shape) = (self.shape(), self.max_shape());
        let filtered = self.filter_pipeline()?.is_some();
        let chunks = self.node.run(|scope| index::chunks(scope, chunked, shape, &max_shape, filtered, within))?;
        Ok(Manifest::Chunks(chunks))
    }

    /// The plan of reading what is `selected`: what would be fetched, and where it would go.
    pub(super) fn plan(&self, selected: Selected) -> Result<ReadPlan> {
        let (manifest, size) = (self.manifest_of(selected.bounds())?, self.element_size()?);
        let planned = read::plan(&manifest, self.pipeline(size)?.as_ref(), size, selected);
        planned.map_err(|e| self.at(e))
    }

    /// Reads all elements, as stored, into memory of their size. Errors do not name the dataset yet.
    pub(super) fn read_all(&self, into: &mut [u8]) -> Result<()> {
        // What lies in one piece needs no plan.
        if let Manifest::Segments { segments, files } = &*self.manifest()?
            && let ([whole], []) = (&segments[..], &files[..])
            && u64::try_from(into.len()) == Ok(whole.size)
        {
            let piece = PieceRead { source: whole.source, addr: whole.addr, size: whole.size, destination: 0 };
            return self.sources(Vec::new()).read_pieces(&[piece], into, usize::MAX);
        }
        self.read_selected(&Selected::all(self.shape()), usize::MAX, into)
    }

    /// Bytes of its own file, as they are stored there. The buffer grows to their size once they are known to be there.
    pub(crate) fn read_stored(&self, range: ByteRange, buffer: &mut Vec<u8>) -> Result<()> {
        self.sources(Vec::new()).stored(range, buffer)
    }

    /// Its dataspace as the file has it, also where that of a virtual dataset depends on its sources.
    pub(crate) fn stored_dataspace(&self) -> Result<Dataspace> {
        self.node.run(|scope| self.node.header.expect(scope))
    }

    fn sources(&self, others: Vec<SharedSource>) -> SourceTable<'_> {
        SourceTable { container: &self.node.core.container, others }
    }

    /// Reads what is `selected`, as stored, into memory of its size, on at most so many threads. Errors do not name the
    /// dataset yet.
    pub(super) fn read_selected(&self, selected: &Selected, threads: usize, into: &mut [u8]) -> Result<()> {
        if into.is_empty() {
            return Ok(());
        }
        let size = self.element_size()?;
        let manifest = self.manifest_of(selected.bounds())?;
        let fill = self.fill_element()?;
        if let Manifest::Virtual(mappings) = &*manifest {
            return super::virtual_sources::read(self, mappings, fill.as_deref(), selected, threads, into);
        }
        if let Manifest::Inline(data) = &*manifest {
            let whole = read::tiles(self.shape(), 1, usize::MAX)?.select(selected)?;
            return read::place(&whole, 0, data, Destination { bytes: into, shape: selected.aligned_shape() }, size);
        }
        let pipeline = self.pipeline(size)?;
        let plan = read::plan(&manifest, pipeline.as_ref(), size, selected.clone())?;
        let mut others = Vec::new();
        if let Manifest::Segments { files, .. } = &*manifest {
            for file in files {
                others.push(self.node.core.resolve.resolve(file, Purpose::RawData)?.0);
            }
        }
        let chunks = match &*manifest {
            Manifest::Chunks(chunks) => Some(chunks),
            Manifest::Inline(_) | Manifest::Segments { .. } | Manifest::Virtual(_) => None,
        };
        let sources = self.sources(others);
        let partial_unfiltered = self.partial_chunks_unfiltered();
        let (fill, pipeline) = (fill.as_deref(), pipeline.as_ref());
        Reading { sources, fill, chunks, pipeline, partial_unfiltered, threads }.run(&plan, into)
    }

    /// The filters, configured for its chunks.
    fn pipeline(&self, element_size: usize) -> Result<Option<Pipeline>> {
        let (Some(message), Some(chunk)) = (self.filter_pipeline()?, self.chunk_shape()) else { return Ok(None) };
        let bytes = shape::count(chunk).ok().and_then(|n| usize::try_from(n).ok()?.checked_mul(element_size));
        let bytes = bytes.ok_or_else(|| Error::limit(format!("a chunk of shape {chunk:?} is larger than memory")))?;
        let info = ChunkInfo { bytes, element_size };
        Pipeline::new(&message, info, &self.node.core.container.registry).map(Some)
    }

    /// Bytes that the stored elements take in the file (or in external files), without their index.
    pub fn stored_size(&self) -> Result<u64> {
        Ok(match &*self.manifest()? {
            Manifest::Inline(data) => u64::try_from(data.len()).unwrap_or(u64::MAX),
            Manifest::Segments { segments, .. } => segments.iter().fold(0, |sum, s| sum.saturating_add(s.size)),
            Manifest::Chunks(chunks) => chunks.stored_size(),
            Manifest::Virtual(_) => 0,
        })
    }
}

impl Dataset {
    /// The shape as text: `[365, 721, 1440]`, `scalar`, `empty`; unlimited dimensions have a `+`.
    pub fn shape_text(&self) -> String {
        match self.about.dataspace.kind {
            Kind::Null => "empty".to_owned(),
            Kind::Scalar => "scalar".to_owned(),
            Kind::Simple => {
                let dimensions = self.shape().iter().zip(self.max_shape());
                let text = |(size, max): (&u64, Option<u64>)| match max {
                    None => format!("{size}+"),
                    Some(max) if max > *size => format!("{size}..{max}"),
                    Some(_) => size.to_string(),
                };
                format!("[{}]", dimensions.map(text).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// Type, shape, layout and filters on one line: `f32 [365, 721], chunks [1, 721], shuffle + deflate(4)`.
impl std::fmt::Display for Dataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", crate::convert::notation::short(self.datatype()), self.shape_text())?;
        match self.layout() {
            StorageLayout::Chunked => write!(f, ", chunks {:?}", self.chunk_shape().unwrap_or_default())?,
            StorageLayout::Compact => write!(f, ", compact")?,
            StorageLayout::Contiguous => write!(f, ", contiguous")?,
            StorageLayout::Virtual => write!(f, ", virtual")?,
        }
        let filters = self.filters().unwrap_or_default();
        for (i, filter) in filters.iter().enumerate() {
            write!(f, "{}{filter}", if i == 0 { ", " } else { " + " })?;
        }
        Ok(())
    }
}

/// The filter's name and what matters of its parameters: `deflate(4)`, `shuffle(4)`, `blosc(lz4, 5, bits)`.
impl std::fmt::Display for FilterInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&crate::filter::label(self.id, &self.name, &self.client_data))
    }
}
