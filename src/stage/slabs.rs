//! Slabs: stacks of chunks along the first dimension, where a staged array keeps its elements.
//!
//! ```text
//! full slab      one chunk of fill value, never written, kept as one element
//! base slabs     read-only, anything that can copy elements out: memory, a dataset, another staged array
//! staged slabs   memory of our own, written in place; shared with copies of the array until one of them writes
//! ```

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::convert::cast::cast;
use crate::convert::element::ElementType;
use crate::error::Result;
use crate::selection::{Destination, Source, Transfer, copy, shape};
use crate::stage::parallel::each;
use crate::stage::texts::Texts;
use crate::stage::values::{Array, bytes_of};
use crate::stage::zeroed::Zeroed;

/// Elements that are read and never written.
pub trait BaseSlab: Send + Sync + fmt::Debug {
    /// The type of the elements.
    fn element(&self) -> &ElementType;

    /// Its shape. A stack of chunks: the first dimension is as long as all chunks together, the others have the size
    /// of a chunk (or less, where no chunk is wider).
    fn shape(&self) -> &[u64];

    /// Copies the elements of all `transfers` to `destination`. Texts are put there as their numbers in `texts`.
    fn read(&self, transfers: &[Transfer], destination: Destination<'_>, texts: &Texts) -> Result<()>;

    /// Its elements, where they lie in memory as a buffer has them. A slab that has this is not asked to `read`.
    fn memory(&self, _texts: &Texts) -> Option<Memory<'_>> {
        None
    }

    /// Its elements, where several slabs may hold them together. Loading it then copies nothing until it is written.
    fn shared(&self, _texts: &Texts) -> Option<Shared> {
        None
    }
}

/// Elements in memory that several slabs hold together; see [`BaseSlab::shared`].
#[derive(Clone, Debug)]
pub struct Shared(pub(crate) Buffer);

/// Elements in memory: a window on a row-major array.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// The bytes of the whole array.
    pub bytes: &'a [u8],
    /// The whole array's shape.
    pub array: &'a [u64],
    /// Where the window begins.
    pub start: &'a [u64],
    /// The window's shape.
    pub shape: &'a [u64],
}

impl Memory<'_> {
    /// Copies `transfers`, which count from the window's start.
    pub(crate) fn copy(&self, transfers: &[Transfer], destination: Destination<'_>, size: usize) -> Result<()> {
        let Destination { bytes, shape } = destination;
        for transfer in transfers {
            let mut axes = transfer.axes.clone();
            axes.iter_mut().zip(self.start).for_each(|(axis, start)| axis.source_start += start);
            copy(&axes, Source { bytes: self.bytes, shape: self.array }, Destination { bytes, shape }, size)?;
        }
        Ok(())
    }
}

/// Elements in memory that several slabs may share: each sees a window of the array.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub(crate) bytes: Arc<Zeroed>,
    pub(crate) array: Vec<u64>,
    pub(crate) start: Vec<u64>,
}

impl Buffer {
    pub(crate) fn new(bytes: impl Into<Zeroed>, array: &[u64]) -> Buffer {
        Buffer { bytes: Arc::new(bytes.into()), array: array.to_vec(), start: vec![0; array.len()] }
    }

    fn memory<'a>(&'a self, shape: &'a [u64]) -> Memory<'a> {
        Memory { bytes: &self.bytes, array: &self.array, start: &self.start, shape }
    }

    /// Whether a window of `shape` is the whole array, except for unused rows at its end.
    fn is_whole(&self, shape: &[u64]) -> bool {
        self.start.iter().all(|at| *at == 0) && self.array[1..] == shape[1..]
    }

    /// The bytes of the window of `shape`, if they lie one behind the other.
    fn in_one_piece(&self, shape: &[u64], size: usize) -> Option<&[u8]> {
        let row = shape::index(shape[1..].iter().product()) * size;
        let (first, rows) = (shape::index(self.start[0]), shape::index(shape[0]));
        let whole_rows = self.start[1..].iter().all(|at| *at == 0) && self.array[1..] == shape[1..];
        if whole_rows { self.bytes.get(first * row..(first + rows) * row) } else { None }
    }

    /// A copy of the window of `shape`, at the start of an array of shape `padded`.
    fn copied(&self, shape: &[u64], padded: &[u64], size: usize) -> Result<Buffer> {
        let mut bytes = Zeroed::new(bytes_of(padded, size)?);
        let block = Transfer::block(&vec![0; shape.len()], &vec![0; shape.len()], shape);
        self.memory(shape).copy(&[block], Destination { bytes: &mut bytes, shape: padded }, size)?;
        Ok(Buffer::new(bytes, padded))
    }
}

/// A base slab in memory.
#[derive(Clone, Debug)]
pub struct MemorySlab {
    element: ElementType,
    buffer: Buffer,
    shape: Vec<u64>,
    texts: Arc<Texts>,
}

impl MemorySlab {
    /// A slab of the elements of `array`.
    pub fn new(array: &Array) -> Result<MemorySlab> {
        let texts = Arc::new(Texts::default());
        let bytes = array.buffer(array.element(), &texts)?.into_owned();
        let buffer = Buffer::new(bytes, array.shape());
        Ok(MemorySlab { element: array.element().clone(), buffer, shape: array.shape().to_vec(), texts })
    }

    pub(crate) fn of_buffer(element: &ElementType, buffer: Buffer, shape: &[u64], texts: &Arc<Texts>) -> MemorySlab {
        MemorySlab { element: element.clone(), buffer, shape: shape.to_vec(), texts: texts.clone() }
    }

    /// Its elements as an array.
    pub fn to_array(&self) -> Result<Array> {
        let whole = self.buffer.copied(&self.shape, &self.shape, self.element.size())?;
        Ok(Array::from_buffer(&self.shape, &self.element, whole.bytes.to_vec().into(), &self.texts))
    }
}

impl BaseSlab for MemorySlab {
    fn element(&self) -> &ElementType {
        &self.element
    }

    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn read(&self, transfers: &[Transfer], destination: Destination<'_>, texts: &Texts) -> Result<()> {
        let memory = self.buffer.memory(&self.shape);
        if self.element != ElementType::Text || std::ptr::eq(texts, &*self.texts) {
            return memory.copy(transfers, destination, self.element.size());
        }
        // The numbers of our texts are not those of the reader.
        let Destination { bytes, shape } = destination;
        for transfer in transfers {
            let dense = Dense::new(transfer);
            let mut numbers = vec![0; bytes_of(&dense.shape, 8)?];
            memory.copy(&[dense.gather], Destination { bytes: &mut numbers, shape: &dense.shape }, 8)?;
            let own = self.texts.texts(&numbers);
            let translated = texts.numbers(own.iter().map(|text| &**text));
            let source = Source { bytes: &translated, shape: &dense.shape };
            dense.scatter.copy(source, Destination { bytes, shape }, 8)?;
        }
        Ok(())
    }

    fn memory(&self, texts: &Texts) -> Option<Memory<'_>> {
        let ours = self.element != ElementType::Text || std::ptr::eq(texts, &*self.texts);
        ours.then(|| self.buffer.memory(&self.shape))
    }

    fn shared(&self, texts: &Texts) -> Option<Shared> {
        self.memory(texts).map(|_| Shared(self.buffer.clone()))
    }
}

/// A transfer in two steps, with a dense array of its elements between them.
pub(crate) struct Dense {
    pub(crate) shape: Vec<u64>,
    pub(crate) gather: Transfer,
    pub(crate) scatter: Transfer,
}

impl Dense {
    pub(crate) fn new(transfer: &Transfer) -> Dense {
        let (mut gather, mut scatter) = (transfer.clone(), transfer.clone());
        for (to, from) in gather.axes.iter_mut().zip(&mut scatter.axes) {
            (to.destination_start, to.destination_stride) = (0, 1);
            (from.source_start, from.source_stride) = (0, 1);
        }
        Dense { shape: transfer.axes.iter().map(|axis| axis.count).collect(), gather, scatter }
    }
}

/// A slab of a staged array.
#[derive(Clone, Debug)]
pub(crate) enum Slab {
    Full,
    Base(Arc<dyn BaseSlab>),
    Staged(Arc<Staged>),
    Dropped,
}

/// A slab in memory of our own.
#[derive(Debug)]
pub(crate) struct Staged {
    /// Its shape; smaller than whole chunks if it is a trimmed view of a caller's array.
    pub(crate) shape: Vec<u64>,
    /// The elements, once they are of the array's type.
    buffer: OnceLock<Buffer>,
    /// The elements as they were before a change of type that is not carried out yet, and both types.
    before: Option<(Buffer, ElementType, ElementType)>,
    /// Whether a copy of the array may hold it too. Who writes then makes a padded copy first.
    shared: AtomicBool,
}

impl Clone for Staged {
    /// The same elements; whoever writes one of both copies them first.
    fn clone(&self) -> Self {
        Staged {
            shape: self.shape.clone(),
            buffer: self.buffer.clone(),
            before: self.before.clone(),
            shared: AtomicBool::new(self.shared.load(Ordering::Relaxed)),
        }
    }
}

impl Staged {
    pub(crate) fn new(buffer: Buffer, shape: &[u64]) -> Staged {
        Staged { shape: shape.to_vec(), buffer: OnceLock::from(buffer), before: None, shared: AtomicBool::new(false) }
    }

    /// Notes that a copy of the array holds it too. A cast that is still to be carried out gives each its own anyway.
    pub(crate) fn share(&self) {
        self.shared.fetch_or(self.before.is_none(), Ordering::Relaxed);
    }

    /// A slab of default elements, which are all zero bytes.
    pub(crate) fn zeroed(shape: &[u64], size: usize) -> Result<Staged> {
        Ok(Staged::new(Buffer::new(Zeroed::new(bytes_of(shape, size)?), shape), shape))
    }

    fn buffer(&self) -> &Buffer {
        self.buffer.get_or_init(|| {
            let (buffer, from, to) = self.before.as_ref().expect("elements are there or to be cast");
            let cast = |bytes: &[u8]| cast(bytes, from, to).expect("castable was asked before");
            let bytes = match buffer.in_one_piece(&self.shape, from.size()) {
                Some(bytes) => cast(bytes),
                None => {
                    let whole = buffer.copied(&self.shape, &self.shape, from.size());
                    cast(&whole.expect("a window of its array").bytes)
                }
            };
            Buffer::new(bytes, &self.shape)
        })
    }

    /// Its elements as they are before a cast that is still to be carried out, and their type.
    pub(crate) fn uncast(&self) -> Option<(Memory<'_>, &ElementType)> {
        let (buffer, from, _) = self.before.as_ref().filter(|_| self.buffer.get().is_none())?;
        Some((buffer.memory(&self.shape), from))
    }

    /// Its elements from `row` on, for others to hold too.
    pub(crate) fn part(&self, row: u64) -> Buffer {
        let mut part = self.buffer().clone();
        part.start[0] += row;
        part
    }

    /// Its elements.
    pub(crate) fn memory(&self) -> Memory<'_> {
        self.buffer().memory(&self.shape)
    }

    /// Its elements without gaps, in a copy.
    pub(crate) fn dense(&self, size: usize) -> Result<Arc<Zeroed>> {
        Ok(self.buffer().copied(&self.shape, &self.shape, size)?.bytes)
    }

    /// The same slab with elements of another type, to be cast when first asked for.
    pub(crate) fn cast_later(&self, from: &ElementType, to: &ElementType) -> Staged {
        let before = Some((self.buffer().clone(), from.clone(), to.clone()));
        Staged { shape: self.shape.clone(), buffer: OnceLock::new(), before, shared: AtomicBool::new(false) }
    }

    /// Its bytes for writing, the shape of the row-major array they are, and its own shape within that.
    pub(crate) fn own(&mut self, chunk: &[u64], size: usize) -> Result<(&mut [u8], &[u64], &[u64])> {
        self.buffer();
        if *self.shared.get_mut() {
            self.pad(chunk, size)?;
        }
        let buffer = self.buffer.get_mut().expect("it was cast above");
        if !buffer.is_whole(&self.shape) || Arc::get_mut(&mut buffer.bytes).is_none() {
            *buffer = buffer.copied(&self.shape, &self.shape, size)?;
        }
        self.before = None;
        let bytes = Arc::get_mut(&mut buffer.bytes).expect("nobody else holds it");
        Ok((bytes, &buffer.array, &self.shape))
    }

    /// Replaces it by a copy of our own that has whole chunks.
    pub(crate) fn pad(&mut self, chunk: &[u64], size: usize) -> Result<()> {
        let mut padded = chunk.to_vec();
        padded[0] = self.shape[0].next_multiple_of(chunk[0]);
        self.buffer();
        let buffer = self.buffer.get_mut().expect("it was cast above");
        if self.shape != padded || !buffer.is_whole(&padded) || Arc::get_mut(&mut buffer.bytes).is_none() {
            *buffer = buffer.copied(&self.shape, &padded, size)?;
        }
        (self.shape, self.before) = (padded, None);
        *self.shared.get_mut() = false;
        Ok(())
    }
}

/// A new slab that a commit wants stored.
#[derive(Debug)]
pub struct NewSlab<'a> {
    pub(crate) shape: &'a [u64],
    pub(crate) element: &'a ElementType,
    pub(crate) extents: &'a [Vec<u64>],
    pub(crate) hashes: &'a [[u8; 32]],
    pub(crate) chunks: Vec<(Memory<'a>, u64)>,
    /// All its chunks, if they lie in memory as the slab wants them.
    pub(crate) shared: Option<Buffer>,
    pub(crate) texts: &'a Arc<Texts>,
}

impl NewSlab<'_> {
    /// Its shape: whole chunks along the first dimension.
    pub fn shape(&self) -> &[u64] {
        self.shape
    }

    /// The type of its elements.
    pub fn element(&self) -> &ElementType {
        self.element
    }

    /// How many chunks.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether there is none; a commit never asks for that.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The extent of chunk `n`: smaller than a chunk at the array's edge.
    pub fn extent(&self, n: usize) -> &[u64] {
        &self.extents[n]
    }

    /// The SHA-256 of chunk `n`.
    pub fn hash(&self, n: usize) -> &[u8; 32] {
        &self.hashes[n]
    }

    /// The texts that the elements stand for, if they are text.
    pub fn texts(&self) -> &Arc<Texts> {
        self.texts
    }

    /// Copies the elements of chunk `n`, within its extent, to the start of `destination`; the rest stays as it is.
    pub fn copy(&self, n: usize, destination: Destination<'_>) -> Result<()> {
        let (memory, row) = &self.chunks[n];
        let mut start = vec![0; self.shape.len()];
        start[0] = *row;
        let transfer = Transfer::block(&start, &vec![0; start.len()], &self.extents[n]);
        memory.copy(&[transfer], destination, self.element.size())
    }
}

/// Where a commit puts what is not there yet.
pub trait SlabSink {
    /// Stores `slab` and gives it back as a base slab of the same shape. Called at most once for a commit, which fails
    /// without effect if this does.
    fn store(&mut self, slab: &NewSlab<'_>) -> Result<Arc<dyn BaseSlab>>;
}

/// A sink that keeps slabs in memory. Elements beyond the extents are 0. Nothing is copied if the chunks lie one behind
/// the other already.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemorySink;

impl SlabSink for MemorySink {
    fn store(&mut self, slab: &NewSlab<'_>) -> Result<Arc<dyn BaseSlab>> {
        let slab_of = |buffer| MemorySlab::of_buffer(slab.element, buffer, slab.shape, slab.texts);
        if let Some(shared) = &slab.shared {
            return Ok(Arc::new(slab_of(shared.clone())));
        }
        let size = slab.element.size();
        let mut bytes = Zeroed::new(bytes_of(slab.shape, size)?);
        let mut chunk = slab.shape.to_vec();
        chunk[0] /= slab.len().max(1) as u64;
        let parts = bytes.chunks_exact_mut(bytes_of(&chunk, size)?.max(1)).enumerate().collect();
        each(parts, |(n, bytes)| slab.copy(n, Destination { bytes, shape: &chunk }))?;
        Ok(Arc::new(slab_of(Buffer::new(bytes, slab.shape))))
    }
}
