//! The staged array: an array whose changes are held in memory, chunk by chunk, until they are committed.
//!
//! ```text
//! map:  chunk -> (slab, row)        slabs[0]      full: one chunk of fill value
//!                                   slabs[1..=B]  base: read-only
//!                                   slabs[B+1..]  staged: in memory
//! ```
//! Every operation makes a plan, carries it out and drops it. An operation that is refused or fails changes nothing.

use std::sync::Arc;

use crate::convert::cast::castable;
use crate::convert::element::ElementType;
use crate::error::{Error, Result};
use crate::selection::{ChunkSelection, Destination, Grid, Selected, Selection, Transfer};
use crate::stage::execute::{Flow, From, Job, To, Value};
use crate::stage::hash::Hash;
use crate::stage::map::ChunkMap;
use crate::stage::plan::{Change, GetItemPlan, Side, SlabChanges, TransferPlan};
use crate::stage::slabs::{BaseSlab, Memory, Slab, Staged};
use crate::stage::texts::Texts;
use crate::stage::values::{Array, broadcast, bytes_of, spread};
use crate::stage::zeroed::Zeroed;

/// The hashes of a slab's chunks, if known. All zero is an unknown one.
pub(crate) type HashTable = Option<Arc<Vec<Hash>>>;

/// Whether an array may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It may.
    Writable,
    /// Changing it is refused.
    ReadOnly,
}

/// An array whose changes are held in memory until they are committed. Cloning is cheap: both share all slabs until
/// one of them writes.
///
/// ```
/// use hdfive::stage::{Array, MemorySink, StagedArray};
/// use hdfive::s;
///
/// let mut array = StagedArray::full(&[5, 7], &[2, 3], &Array::scalar(0i32))?;
/// let row = s![3];
/// array.set(&row, &Array::scalar(42i32))?;
/// assert_eq!(array.get(&row)?.values::<i32>()?, [42; 7]);
/// assert_eq!(array.commit(&mut MemorySink)?.stored(), 2); // three chunks changed, two of them alike
/// # Ok::<(), hdfive::Error>(())
/// ```
#[derive(Debug)]
pub struct StagedArray {
    pub(crate) grid: Grid,
    pub(crate) element: ElementType,
    pub(crate) fill: Vec<u8>,
    pub(crate) slabs: Vec<Slab>,
    pub(crate) base_slabs: usize,
    pub(crate) map: Arc<ChunkMap>,
    /// One per slab; those of staged slabs are never known.
    pub(crate) hashes: Vec<HashTable>,
    pub(crate) resized: bool,
    pub(crate) access: Access,
    pub(crate) texts: Arc<Texts>,
}

impl Clone for StagedArray {
    /// A copy that shares all slabs until one of both writes. It is writable even if the original is not.
    fn clone(&self) -> Self {
        for slab in &self.slabs[self.base_slabs + 1..] {
            if let Slab::Staged(staged) = slab {
                staged.share();
            }
        }
        StagedArray {
            grid: self.grid.clone(),
            element: self.element.clone(),
            fill: self.fill.clone(),
            slabs: self.slabs.clone(),
            base_slabs: self.base_slabs,
            map: self.map.clone(),
            hashes: self.hashes.clone(),
            resized: self.resized,
            access: Access::Writable,
            texts: self.texts.clone(),
        }
    }
}

impl StagedArray {
    /// The shape.
    pub fn shape(&self) -> &[u64] {
        self.grid.shape()
    }

    /// The shape of a chunk.
    pub fn chunk_shape(&self) -> &[u64] {
        self.grid.chunk_shape()
    }

    /// The grid of chunks.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The type of the elements.
    pub fn element(&self) -> &ElementType {
        &self.element
    }

    /// The fill value, as an array of no dimensions.
    pub fn fill_value(&self) -> Array {
        Array::from_buffer(&[], &self.element, self.fill.clone().into(), &self.texts)
    }

    /// How many slabs there are, dropped ones included.
    pub fn slab_count(&self) -> usize {
        self.slabs.len()
    }

    /// How many of them are base slabs.
    pub fn base_slab_count(&self) -> usize {
        self.base_slabs
    }

    /// The shape of a slab; `None` if it was dropped or never was.
    pub fn slab_shape(&self, slab: usize) -> Option<&[u64]> {
        match self.slabs.get(slab)? {
            Slab::Full => Some(self.chunk_shape()),
            Slab::Base(base) => Some(base.shape()),
            Slab::Staged(staged) => Some(&staged.shape),
            Slab::Dropped => None,
        }
    }

    /// For each chunk, row-major over the grid, the slab it is on.
    pub fn slab_indices(&self) -> Vec<u64> {
        self.map.iter().map(|(slab, _)| slab as u64).collect()
    }

    /// For each chunk, row-major over the grid, the row of its slab at which it begins.
    pub fn slab_offsets(&self) -> Vec<u64> {
        self.map.iter().map(|(_, row)| row).collect()
    }

    /// The known hashes of a slab's chunks; all zero for one that is not known.
    pub fn hash_table(&self, slab: usize) -> Option<&[Hash]> {
        self.hashes.get(slab)?.as_ref().map(|table| table.as_slice())
    }

    /// Whether there is anything to commit: staged slabs, or another shape.
    pub fn has_changes(&self) -> bool {
        self.slabs.len() > self.base_slabs + 1 || self.resized
    }

    /// Whether a chunk is on a base slab.
    pub fn has_base_chunks(&self) -> bool {
        self.map.iter().any(|(slab, _)| 0 < slab && slab <= self.base_slabs)
    }

    /// Allows or refuses changes.
    pub fn set_access(&mut self, access: Access) {
        self.access = access;
    }

    pub(crate) fn expect_writable(&self) -> Result<()> {
        match self.access {
            Access::Writable => Ok(()),
            Access::ReadOnly => Err(Error::invalid("the array is read-only")),
        }
    }

    /// Reads a selection.
    pub fn get(&self, selection: &Selection) -> Result<Array> {
        let selected = self.resolve(selection)?;
        let mut bytes = Zeroed::new(bytes_of(selected.result_shape(), self.element.size())?);
        self.read(&selected, &mut bytes)?;
        Ok(Array::from_buffer(selected.result_shape(), &self.element, bytes, &self.texts))
    }

    /// Reads everything.
    pub fn get_all(&self) -> Result<Array> {
        self.get(&Selection::all())
    }

    /// Reads a selection into `bytes`, which must be exactly as long as it needs. Not for text.
    ///
    /// Errors: `Invalid` for another length, `WrongType` for text.
    pub fn get_into(&self, selection: &Selection, bytes: &mut [u8]) -> Result<()> {
        if self.element == ElementType::Text {
            return Err(Error::wrong_type("text has no fixed size"));
        }
        let selected = self.resolve(selection)?;
        if bytes_of(selected.result_shape(), self.element.size())? != bytes.len() {
            return Err(Error::invalid(format!("{} bytes for shape {:?}", bytes.len(), selected.result_shape())));
        }
        self.read(&selected, bytes)
    }

    fn read(&self, selected: &Selected, bytes: &mut [u8]) -> Result<()> {
        let plan = self.plan_get_selected(selected)?;
        self.execute_get(&plan, bytes)
    }

    pub(crate) fn execute_get(&self, plan: &GetItemPlan, bytes: &mut [u8]) -> Result<()> {
        let flows = plan.transfers.iter().map(|plan| self.flow(plan, None)).collect::<Result<_>>()?;
        self.job(&plan.selections).to_result(plan, flows, bytes)
    }

    fn job<'a>(&'a self, selections: &'a [ChunkSelection]) -> Job<'a> {
        Job { selections, chunk: self.chunk_shape(), element: &self.element, texts: &self.texts }
    }

    /// A plan and where its elements come from.
    fn flow<'a>(&'a self, plan: &'a TransferPlan, value: Option<Value<'a>>) -> Result<Flow<'a>> {
        let slab = match (plan.source, value) {
            (Side::Slab(slab), _) => slab,
            (Side::Value, Some(value)) => return Ok((plan, From::Value(value))),
            (Side::Value | Side::Result, _) => return Err(Error::invalid("a plan that needs a value")),
        };
        let from = match self.slabs.get(slab) {
            Some(Slab::Full) => From::Fill(&self.fill),
            Some(Slab::Base(base)) => base.memory(&self.texts).map_or(From::Base(&**base), From::Memory),
            // What is only read is cast on its way.
            Some(Slab::Staged(staged)) => match staged.uncast().filter(|_| plan.destination == Side::Result) {
                Some((memory, element)) => From::Before(memory, element),
                None => From::Memory(staged.memory()),
            },
            Some(Slab::Dropped) | None => return Err(Error::invalid(format!("slab {slab} is gone"))),
        };
        Ok((plan, from))
    }

    /// The elements of a staged slab.
    pub(crate) fn staged_memory(&self, slab: usize) -> Option<Memory<'_>> {
        match self.slabs.get(slab)? {
            Slab::Staged(staged) => Some(staged.memory()),
            Slab::Full | Slab::Base(_) | Slab::Dropped => None,
        }
    }

    /// Writes `value`, broadcast to the selection's shape and cast to the array's type. Where a list repeats an index
    /// the last one wins.
    ///
    /// Errors: `Invalid` if the value does not broadcast or the array is read-only; those of the selection; those of
    /// base slabs that cannot be read.
    pub fn set(&mut self, selection: &Selection, value: &Array) -> Result<()> {
        self.expect_writable()?;
        let selected = self.resolve(selection)?;
        let broadcast = broadcast(value.shape(), selected.result_shape())?;
        if selected.is_empty() {
            return Ok(());
        }
        let mut bytes = value.buffer(&self.element, &self.texts)?;
        let places = selected.result_dimensions().iter();
        let mut shape: Vec<u64> = places.map(|place| place.map_or(1, |place| broadcast[place])).collect();
        if selected.axes().is_none() && selected.result_shape().len() > 1 {
            // Listed elements have one dimension only: the value is spread over all of it.
            bytes = spread(&bytes, &broadcast, selected.result_shape(), self.element.size())?.into();
            shape.copy_from_slice(selected.aligned_shape());
        }
        let plan = self.plan_set_selected(&selected)?;
        let value = Value { bytes: &bytes, shape: &shape };
        self.apply(&plan.changes, Some(value))?;
        self.finish(&plan.changes)
    }

    /// Brings all base chunks into memory. The base slabs stay listed.
    ///
    /// Errors: `Invalid` if there is something to load and the array is read-only; those of base slabs.
    pub fn load(&mut self) -> Result<()> {
        if self.slabs[1..=self.base_slabs].iter().any(|slab| !matches!(slab, Slab::Dropped)) {
            self.expect_writable()?;
        }
        let plan = self.plan_load()?;
        match self.shared_view(&plan.changes) {
            Some(view) => {
                self.slabs.push(Slab::Staged(Arc::new(view)));
                self.hashes.push(None);
            }
            None => self.apply(&plan.changes, None)?,
        }
        self.finish(&plan.changes)
    }

    /// What a plan would copy, if that is one piece of a base slab in memory: a window of it, copied when it is written.
    fn shared_view(&self, changes: &SlabChanges) -> Option<Staged> {
        let ([plan], [shape]) = (&changes.transfers[..], &changes.append[..]) else { return None };
        let Side::Slab(source) = plan.source else { return None };
        let Slab::Base(base) = self.slabs.get(source)? else { return None };
        let first = plan.cells.first()?.source_row;
        let one_piece = plan.cells.iter().all(|cell| cell.source_row == first + cell.destination_row);
        let inside = base.shape()[1..] == shape[1..] && first + shape[0] <= base.shape()[0];
        let mut buffer = if one_piece && inside { base.shared(&self.texts)?.0 } else { return None };
        buffer.start[0] += first;
        Some(Staged::new(buffer, shape))
    }

    /// Changes the shape. What is cut off is gone; what is new is fill.
    ///
    /// Errors: `Invalid` for another rank or a read-only array; those of base slabs.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        self.expect_writable()?;
        let (plan, grid, map) = self.planned_resize(shape)?;
        if shape == self.shape() {
            return Ok(());
        }
        let (chunk, size) = (self.chunk_shape().to_vec(), self.element.size());
        for &slab in &plan.untrimmed {
            if let Slab::Staged(staged) = &mut self.slabs[slab] {
                Arc::make_mut(staged).pad(&chunk, size)?;
            }
        }
        self.apply(&plan.changes, None)?;
        (self.grid, self.map, self.resized) = (grid, Arc::new(map), true);
        self.tidy(&plan.changes);
        Ok(())
    }

    /// Appends slabs and moves elements. When a base slab cannot be read, everything visible is as it was.
    fn apply(&mut self, changes: &SlabChanges, value: Option<Value<'_>>) -> Result<()> {
        let done = self.try_apply(changes, value);
        if done.is_err() {
            self.slabs.truncate(changes.first);
            self.hashes.truncate(changes.first);
        }
        done
    }

    fn try_apply(&mut self, changes: &SlabChanges, value: Option<Value<'_>>) -> Result<()> {
        for shape in &changes.append {
            self.slabs.push(Slab::Staged(Arc::new(Staged::zeroed(shape, self.element.size())?)));
            self.hashes.push(None);
        }
        // Only base slabs can fail, and what is read from them goes to new slabs, which are given up then. What was
        // written elsewhere by then lies beyond the array's edge: a value is written when all is brought in.
        for plans in changes.transfers.chunk_by(follows) {
            let Side::Slab(to) = plans[0].destination else { continue };
            let Slab::Staged(mut slab) = std::mem::replace(&mut self.slabs[to], Slab::Dropped) else {
                return Err(Error::invalid(format!("slab {to} is not for writing")));
            };
            let done = self.write(plans, changes, Arc::make_mut(&mut slab), value);
            self.slabs[to] = Slab::Staged(slab);
            done?;
        }
        Ok(())
    }

    fn write(
        &self,
        plans: &[TransferPlan],
        changes: &SlabChanges,
        slab: &mut Staged,
        value: Option<Value<'_>>,
    ) -> Result<()> {
        let flows = plans.iter().map(|plan| self.flow(plan, value)).collect::<Result<_>>()?;
        let (bytes, array, shape) = slab.own(self.chunk_shape(), self.element.size())?;
        self.job(&changes.selections).to_slab(flows, To { bytes, array, shape })
    }

    /// Points the map at where chunks are now, and shrinks and drops slabs.
    fn finish(&mut self, changes: &SlabChanges) -> Result<()> {
        if changes.transfers.iter().any(|plan| plan.moves) {
            Arc::make_mut(&mut self.map).relocate(changes, &self.grid)?;
        }
        self.tidy(changes);
        Ok(())
    }

    /// Shrinks and drops slabs.
    fn tidy(&mut self, changes: &SlabChanges) {
        for &(slab, rows) in &changes.shrink {
            if let Slab::Staged(staged) = &mut self.slabs[slab] {
                Arc::make_mut(staged).shape[0] = rows;
            }
        }
        for &slab in &changes.drop {
            (self.slabs[slab], self.hashes[slab]) = (Slab::Dropped, None);
        }
        debug_assert_eq!(self.broken_invariant(), None);
    }

    /// What is wrong with the bookkeeping, if anything. Tests ask after every operation.
    pub fn broken_invariant(&self) -> Option<String> {
        let chunk = self.chunk_shape();
        if self.map.len() as u64 != self.grid.len() {
            return Some(format!("map of {} chunks for a grid of {}", self.map.len(), self.grid.len()));
        }
        if self.hashes.len() != self.slabs.len() {
            return Some("hash tables and slabs are not parallel".into());
        }
        let mut seen = std::collections::HashSet::new();
        for (number, (slab, row)) in self.map.iter().enumerate() {
            let Some(shape) = self.slab_shape(slab) else {
                return Some(format!("chunk {number} is on slab {slab}, which is gone"));
            };
            if !row.is_multiple_of(chunk[0]) || row >= shape[0].next_multiple_of(chunk[0]) {
                return Some(format!("chunk {number} is at row {row} of slab {slab}, which has {}", shape[0]));
            }
            if slab > self.base_slabs && !seen.insert((slab, row)) {
                return Some(format!("two chunks are at row {row} of staged slab {slab}"));
            }
        }
        let gone = |n: usize| self.hashes[n].is_some() && matches!(self.slabs[n], Slab::Dropped);
        (0..self.slabs.len()).find(|&n| gone(n)).map(|n| format!("slab {n} is gone but its hashes are not"))
    }

    /// Whether this array's elements can become `element`.
    pub(crate) fn expect_castable(&self, element: &ElementType) -> Result<()> {
        if castable(&self.element, element) {
            return Ok(());
        }
        Err(Error::wrong_type(format!("elements are {}, wanted {element}", self.element)))
    }

    /// The elements of a changed chunk, if it is in memory; `None` if it is on a base slab.
    pub fn staged_chunk(&self, change: &Change) -> Result<Option<Array>> {
        let Some(memory) = self.staged_memory(change.slab) else { return Ok(None) };
        let extent = &change.block.count;
        let mut bytes = Zeroed::new(bytes_of(extent, self.element.size())?);
        let mut start = vec![0; extent.len()];
        start[0] = change.row;
        let transfer = Transfer::block(&start, &vec![0; extent.len()], extent);
        memory.copy(&[transfer], Destination { bytes: &mut bytes, shape: extent }, self.element.size())?;
        Ok(Some(Array::from_buffer(extent, &self.element, bytes, &self.texts)))
    }

    /// The base slabs; `None` for those that were given up.
    pub fn base(&self) -> impl Iterator<Item = Option<&Arc<dyn BaseSlab>>> {
        self.slabs[1..=self.base_slabs].iter().map(|slab| match slab {
            Slab::Base(base) => Some(base),
            Slab::Full | Slab::Staged(_) | Slab::Dropped => None,
        })
    }
}

/// Whether `next` writes behind what `plan` writes on the same slab, so that both can be carried out at once.
fn follows(plan: &TransferPlan, next: &TransferPlan) -> bool {
    let (last, first) = (plan.cells.last(), next.cells.first());
    let behind = last.zip(first).is_some_and(|(last, first)| last.destination_row < first.destination_row);
    plan.destination == next.destination && behind
}
