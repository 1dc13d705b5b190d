//! How staged arrays come to be: from fill, from an array, from base slabs and a map, from another staged array.

use std::sync::Arc;

use crate::convert::cast::{cast, equal};
use crate::convert::element::ElementType;
use crate::error::{Error, Result};
use crate::selection::{Block, Destination, Grid, Index, Selection, Source, Transfer, copy, shape};
use crate::stage::array::{Access, HashTable, StagedArray};
use crate::stage::hash::Hash;
use crate::stage::map::ChunkMap;
use crate::stage::slabs::{BaseSlab, Buffer, Dense, MemorySlab, Slab, Staged};
use crate::stage::texts::Texts;
use crate::stage::values::{Array, bytes_of};

/// What the elements of a caller's array become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Base slabs: what is there already.
    Base,
    /// Staged slabs: changes to commit.
    Staged,
}

/// Base slabs and where the chunks are on them.
#[derive(Clone, Debug)]
pub struct Base {
    /// The slabs, of one element type. They get numbers from 1 on.
    pub slabs: Vec<Arc<dyn BaseSlab>>,
    /// For each chunk, row-major over the grid, the slab it is on; 0 for fill.
    pub slab_indices: Vec<u64>,
    /// For each chunk the row of its slab at which it begins.
    pub slab_offsets: Vec<u64>,
    /// For each slab the hashes of its chunks, if known; all zero for one that is not.
    pub hashes: Vec<Option<Vec<Hash>>>,
}

fn expect_chunks(shape: &[u64], chunk: &[u64]) -> Result<Grid> {
    if shape.is_empty() {
        return Err(Error::invalid("an array of no dimensions has no chunks"));
    }
    Grid::new(shape, chunk)
}

/// The bytes of a fill value.
fn fill_bytes(fill: &Array, element: &ElementType, texts: &Texts) -> Result<Vec<u8>> {
    if !fill.shape().is_empty() {
        return Err(Error::invalid(format!("a fill value of shape {:?}", fill.shape())));
    }
    Ok(fill.buffer(element, texts)?.into_owned())
}

impl StagedArray {
    /// An array that is all `fill`, which also gives the element type. It takes no memory until it is written.
    ///
    /// Errors: `Invalid` if the ranks differ or are 0, a chunk is empty, or the fill value has dimensions.
    pub fn full(shape: &[u64], chunk: &[u64], fill: &Array) -> Result<StagedArray> {
        let texts = Arc::new(Texts::default());
        let bytes = fill_bytes(fill, fill.element(), &texts)?;
        StagedArray::blank(expect_chunks(shape, chunk)?, fill.element().clone(), bytes, texts)
    }

    /// A sparse array: fill wherever nothing was written. Another name for [`full`](StagedArray::full).
    pub fn sparse(shape: &[u64], chunk: &[u64], fill: &Array) -> Result<StagedArray> {
        StagedArray::full(shape, chunk, fill)
    }

    /// An array whose every element is new: what replaces an array as a whole. See
    /// [`from_array`](StagedArray::from_array).
    pub fn replacement(array: Array, chunk: &[u64], fill: &Array) -> Result<StagedArray> {
        StagedArray::from_array(array, chunk, fill, Role::Staged)
    }

    fn blank(grid: Grid, element: ElementType, fill: Vec<u8>, texts: Arc<Texts>) -> Result<StagedArray> {
        Ok(StagedArray {
            map: Arc::new(ChunkMap::new(&grid)?),
            grid,
            element,
            fill,
            slabs: vec![Slab::Full],
            base_slabs: 0,
            hashes: vec![None],
            resized: false,
            access: Access::Writable,
            texts,
        })
    }

    /// The elements of `array`, one slab per column of chunks. The slabs are windows of the array: nothing is copied.
    ///
    /// Errors: `Invalid` if the ranks differ or are 0, a chunk is empty, or the fill value has dimensions;
    /// `WrongType` if it cannot be cast.
    pub fn from_array(array: Array, chunk: &[u64], fill: &Array, role: Role) -> Result<StagedArray> {
        let (texts, element) = (Arc::new(Texts::default()), array.element().clone());
        let (shape, grid) = (array.shape().to_vec(), expect_chunks(array.shape(), chunk)?);
        let fill = fill_bytes(fill, &element, &texts)?;
        let buffer = Buffer::new(array.into_buffer(&texts), &shape);
        let mut staged = StagedArray::blank(grid, element, fill, texts)?;
        if shape::count(&shape)? == 0 {
            return Ok(staged);
        }
        let columns = staged.grid.counts()[1..].to_vec();
        let mut column = vec![0; columns.len()];
        loop {
            let mut window = staged.grid.block(&[&[0], &column[..]].concat());
            window.count[0] = shape[0];
            let slab = staged.window(&buffer, window, role);
            staged.slabs.push(slab);
            staged.hashes.push(None);
            if !shape::advance(&mut column, &columns) {
                break;
            }
        }
        let map = Arc::make_mut(&mut staged.map);
        for number in 0..map.len() {
            let (row, column) = (number / (staged.slabs.len() - 1), number % (staged.slabs.len() - 1));
            map.set(number, column + 1, row as u64 * chunk[0])?;
        }
        if role == Role::Base {
            staged.base_slabs = staged.slabs.len() - 1;
        }
        Ok(staged)
    }

    fn window(&self, buffer: &Buffer, window: Block, role: Role) -> Slab {
        let part = Buffer { start: window.start, ..buffer.clone() };
        match role {
            Role::Base => Slab::Base(Arc::new(MemorySlab::of_buffer(&self.element, part, &window.count, &self.texts))),
            Role::Staged => Slab::Staged(Arc::new(Staged::new(part, &window.count))),
        }
    }

    /// An array of `shape` whose chunks are on base slabs, as `base` says. Without a fill value it is zero.
    ///
    /// Errors: `Invalid` if there is no slab, ranks differ or are 0, a list has not one entry per chunk or slab, a
    /// hash table not one row per chunk of its slab, or a chunk lies outside its slab; `WrongType` if the slabs differ
    /// in their element type.
    pub fn new(shape: &[u64], chunk: &[u64], base: Base, fill: Option<&Array>) -> Result<StagedArray> {
        let (grid, texts) = (expect_chunks(shape, chunk)?, Arc::new(Texts::default()));
        let first = base.slabs.first().ok_or_else(|| Error::invalid("no base slab: use `full`"))?;
        let element = first.element().clone();
        for slab in &base.slabs {
            expect_slab(&**slab, &element, chunk)?;
        }
        let fill = fill.map_or_else(|| Ok(element.zero()), |fill| fill_bytes(fill, &element, &texts))?;
        let mut staged = StagedArray::blank(grid, element, fill, texts)?;
        let entries = staged.map.len();
        if base.slab_indices.len() != entries || base.slab_offsets.len() != entries {
            return Err(Error::invalid(format!(
                "{} slab indices and {} offsets for {entries} chunks",
                base.slab_indices.len(),
                base.slab_offsets.len()
            )));
        }
        staged.hashes.extend(hash_tables(base.hashes, &base.slabs, chunk[0])?);
        staged.base_slabs = base.slabs.len();
        staged.slabs.extend(base.slabs.into_iter().map(Slab::Base));
        let map = Arc::make_mut(&mut staged.map);
        for (number, (slab, row)) in base.slab_indices.into_iter().zip(base.slab_offsets).enumerate() {
            map.set(number, usize::try_from(slab).unwrap_or(usize::MAX), row)?;
        }
        match staged.broken_invariant() {
            None => Ok(staged),
            Some(what) => Err(Error::invalid(what)),
        }
    }

    /// The same array with elements of another type. What is read of staged slabs is cast on its way; a slab is cast as a
    /// whole when it is first written or hashed. Base slabs are loaded and given up.
    ///
    /// Errors: `WrongType` where no cast is known; those of base slabs that cannot be read.
    pub fn astype(&self, element: &ElementType) -> Result<StagedArray> {
        let mut copy = self.clone();
        if *element == self.element {
            return Ok(copy);
        }
        self.expect_castable(element)?;
        copy.load()?;
        for slab in 1..=copy.base_slabs {
            (copy.slabs[slab], copy.hashes[slab]) = (Slab::Dropped, None);
        }
        copy.become_type(element)?;
        Ok(copy)
    }

    /// The same array with elements of another type, where base slabs that already have that type take the place of
    /// the old ones.
    ///
    /// Errors: `Invalid` if they are not as many or not of the same shapes, `WrongType` if of another type.
    pub fn astype_with(&self, element: &ElementType, base: Vec<Arc<dyn BaseSlab>>) -> Result<StagedArray> {
        let mut copy = self.clone();
        if *element == self.element {
            return Ok(copy);
        }
        self.expect_castable(element)?;
        if base.len() != self.base_slabs {
            return Err(Error::invalid(format!("{} base slabs in place of {}", base.len(), self.base_slabs)));
        }
        for (n, slab) in base.into_iter().enumerate() {
            expect_slab(&*slab, element, self.chunk_shape())?;
            if self.slab_shape(n + 1).is_some_and(|shape| shape != slab.shape()) {
                return Err(Error::invalid(format!("base slab {} has another shape: {:?}", n + 1, slab.shape())));
            }
            (copy.slabs[n + 1], copy.hashes[n + 1]) = (Slab::Base(slab), None);
        }
        copy.become_type(element)?;
        Ok(copy)
    }

    fn become_type(&mut self, element: &ElementType) -> Result<()> {
        self.fill = cast(&self.fill, &self.element, element)?;
        self.hashes[0] = None;
        for slab in &mut self.slabs {
            if let Slab::Staged(staged) = slab {
                *staged = Arc::new(staged.cast_later(&self.element, element));
            }
        }
        self.element = element.clone();
        Ok(())
    }

    /// The same array with another fill value: every element that equals the old one becomes the new one.
    ///
    /// Errors: `Invalid` if it has dimensions, `WrongType` if it cannot be cast; those of base slabs.
    pub fn refill(&self, fill: &Array) -> Result<StagedArray> {
        let new = fill_bytes(fill, &self.element, &self.texts)?;
        let mut copy = self.clone();
        if equal(&self.fill, &new, &self.element) {
            return Ok(copy);
        }
        copy.load()?;
        let (chunk, size) = (self.chunk_shape().to_vec(), self.element.size());
        let is_old = |element: &[u8]| equal(element, &self.fill, &self.element);
        for slab in &mut copy.slabs {
            let Slab::Staged(staged) = slab else { continue };
            if !staged.dense(size)?.chunks_exact(size).any(is_old) {
                continue;
            }
            let (bytes, ..) = Arc::make_mut(staged).own(&chunk, size)?;
            bytes.chunks_exact_mut(size).filter(|element| is_old(element)).for_each(|e| e.copy_from_slice(&new));
        }
        (copy.fill, copy.hashes[0]) = (new, None);
        Ok(copy)
    }

    /// The same array in chunks of another shape. All chunks that are not fill become staged ones.
    ///
    /// Errors: `Invalid` for another rank or an empty chunk; those of base slabs.
    pub fn rechunk(&self, chunk: &[u64]) -> Result<StagedArray> {
        let copy = self.clone();
        if chunk == self.chunk_shape() {
            return Ok(copy);
        }
        let grid = expect_chunks(self.shape(), chunk)?;
        let mut new = StagedArray::blank(grid, self.element.clone(), self.fill.clone(), self.texts.clone())?;
        for change in copy.plan_changes().changes {
            let selection = select_block(&change.block)?;
            new.set(&selection, &copy.get(&selection)?)?;
        }
        Ok(new)
    }
}

/// The selection of a block.
fn select_block(block: &Block) -> Result<Selection> {
    let index = |n: u64| i64::try_from(n).map_err(|_| Error::limit(format!("{n} is too large an index")));
    let range = |axis: usize| {
        let (start, stop) = (index(block.start[axis])?, index(block.end(axis))?);
        Ok(Index::Range { start: Some(start), stop: Some(stop), step: 1 })
    };
    Ok(Selection::Indices((0..block.rank()).map(range).collect::<Result<_>>()?))
}

fn expect_slab(slab: &dyn BaseSlab, element: &ElementType, chunk: &[u64]) -> Result<()> {
    if slab.element() != element {
        return Err(Error::wrong_type(format!("a base slab of {} among {element}", slab.element())));
    }
    if slab.shape().len() != chunk.len() {
        return Err(Error::invalid(format!("a base slab of shape {:?} for chunks of {chunk:?}", slab.shape())));
    }
    Ok(())
}

fn hash_tables(tables: Vec<Option<Vec<Hash>>>, slabs: &[Arc<dyn BaseSlab>], rows: u64) -> Result<Vec<HashTable>> {
    if tables.is_empty() {
        return Ok(vec![None; slabs.len()]);
    }
    if tables.len() != slabs.len() {
        return Err(Error::invalid(format!("{} hash tables for {} base slabs", tables.len(), slabs.len())));
    }
    for (table, slab) in tables.iter().zip(slabs) {
        let chunks = slab.shape()[0].div_ceil(rows);
        if let Some(found) = table.as_ref().map(Vec::len).filter(|found| *found as u64 != chunks) {
            return Err(Error::invalid(format!("a hash table of {found} rows for a slab of {chunks} chunks")));
        }
    }
    Ok(tables.into_iter().map(|table| table.map(Arc::new)).collect())
}

/// A staged array can be the base of another one.
impl BaseSlab for StagedArray {
    fn element(&self) -> &ElementType {
        &self.element
    }

    fn shape(&self) -> &[u64] {
        self.grid.shape()
    }

    fn read(&self, transfers: &[Transfer], destination: Destination<'_>, texts: &Texts) -> Result<()> {
        let (Destination { bytes, shape }, size) = (destination, self.element.size());
        for transfer in transfers {
            let dense = Dense::new(transfer);
            let (mut block, mut strided) = (Block::all(&dense.shape), dense.scatter.clone());
            for (n, axis) in transfer.axes.iter().enumerate() {
                block.start[n] = axis.source_start;
                block.count[n] = (axis.count - 1) * axis.source_stride.unsigned_abs() + 1;
                strided.axes[n].source_stride = axis.source_stride;
            }
            let mut part = vec![0; bytes_of(&block.count, size)?];
            let selected = select_block(&block)?.resolve(self.shape())?;
            self.execute_get(&self.plan_get_selected(&selected)?, &mut part)?;
            if self.element == ElementType::Text {
                part = texts.numbers(self.texts.texts(&part).iter().map(|text| &**text));
            }
            copy(&strided.axes, Source { bytes: &part, shape: &block.count }, Destination { bytes, shape }, size)?;
        }
        Ok(())
    }
}
