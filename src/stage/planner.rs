//! From what is wanted to plans: choosing chunks, sorting them by slab and row, and deciding what goes where.
//!
//! Nothing here changes an array or looks at an element. Every plan takes the chunks that a selection touches, in the
//! order (slab, row, place in the grid), one transfer plan per pair of slabs.

use bitvec::prelude::BitVec;

use crate::error::{Error, Result};
use crate::selection::{Block, ChunkSelection, Grid, Selected, Selection, shape};
use crate::stage::array::StagedArray;
use crate::stage::map::ChunkMap;
use crate::stage::plan::{
    Cell, Change, ChangesPlan, GetItemPlan, LoadPlan, Part, SetItemPlan, Side, SlabChanges, TransferPlan,
};

/// A touched chunk and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Placed {
    pub(crate) slab: usize,
    pub(crate) row: u64,
    pub(crate) touched: u64,
    /// Its number in the grid of the map.
    pub(crate) number: usize,
}

/// The chunks of `selection` on slabs that `keep` wants, sorted.
pub(crate) fn placed(
    selection: &ChunkSelection,
    map: &ChunkMap,
    grid: &Grid,
    keep: impl Fn(usize) -> bool,
) -> Vec<Placed> {
    let mut found = Vec::with_capacity(shape::index(selection.len()));
    selection.each_number(grid, |touched, number| {
        let number = shape::index(number);
        let (slab, row) = map.get(number);
        if keep(slab) {
            found.push(Placed { slab, row, touched, number });
        }
    });
    found.sort_unstable();
    found
}

/// How the chunks of one plan move.
#[derive(Clone, Copy)]
pub(crate) struct Move {
    pub(crate) part: Part,
    pub(crate) selection: usize,
    pub(crate) moves: bool,
}

impl Move {
    /// Adds one transfer plan per pair of `sides`, source and destination; `rows` are those there, for the n-th chunk.
    pub(crate) fn by_slab(
        &self,
        placed: &[Placed],
        sides: impl Fn(&Placed) -> (Side, Side),
        rows: impl Fn(&Placed, u64) -> (u64, u64),
        plans: &mut Vec<TransferPlan>,
    ) {
        let (Move { part, selection, moves }, mut n) = (*self, 0..);
        let mut cell = |chunk: &Placed| {
            let (source_row, destination_row) = rows(chunk, n.next().unwrap_or_default());
            Cell { touched: chunk.touched, source_row, destination_row }
        };
        let plan = |group: &[Placed]| {
            let (source, destination) = sides(&group[0]);
            let cells = group.iter().map(&mut cell).collect();
            TransferPlan { source, destination, part, selection, moves, cells }
        };
        plans.extend(placed.chunk_by(|a, b| sides(a) == sides(b)).map(plan));
    }
}

/// The shape of a slab of `chunks` chunks.
pub(crate) fn slab_shape(chunk: &[u64], chunks: usize) -> Result<Vec<u64>> {
    let mut shape = chunk.to_vec();
    let rows = chunk[0].checked_mul(chunks as u64);
    shape[0] = rows.ok_or_else(|| Error::limit(format!("{chunks} chunks of shape {chunk:?} are too many")))?;
    Ok(shape)
}

impl SlabChanges {
    /// Appends a slab for the chunks of `placed` and copies their `part` there.
    pub(crate) fn bring(
        &mut self,
        placed: &[Placed],
        chunk: &[u64],
        (part, selection): (Part, usize),
    ) -> Result<usize> {
        let slab = self.first + self.append.len();
        self.append.push(slab_shape(chunk, placed.len())?);
        let how = Move { part, selection, moves: true };
        let sides = |from: &Placed| (Side::Slab(from.slab), Side::Slab(slab));
        how.by_slab(placed, sides, |from, n| (from.row, n * chunk[0]), &mut self.transfers);
        Ok(slab)
    }
}

impl StagedArray {
    /// What `selection` comes to for this array.
    ///
    /// Errors: those of [`Selection::resolve`].
    pub fn resolve(&self, selection: &Selection) -> Result<Selected> {
        selection.resolve(self.shape())
    }

    /// The plan for reading `selection`.
    pub fn plan_get(&self, selection: &Selection) -> Result<GetItemPlan> {
        self.plan_get_selected(&self.resolve(selection)?)
    }

    pub(crate) fn plan_get_selected(&self, selected: &Selected) -> Result<GetItemPlan> {
        let mut plan = GetItemPlan {
            output_shape: selected.result_shape().to_vec(),
            aligned_shape: selected.aligned_shape().to_vec(),
            kept: selected.result_dimensions().iter().map(Option::is_some).collect(),
            selections: vec![],
            transfers: vec![],
        };
        if selected.is_empty() {
            return Ok(plan);
        }
        let touched = self.grid.select(selected)?;
        let all = placed(&touched, &self.map, &self.grid, |_| true);
        let how = Move { part: Part::Selected, selection: 0, moves: false };
        let sides = |from: &Placed| (Side::Slab(from.slab), Side::Result);
        how.by_slab(&all, sides, |from, _| (from.row, 0), &mut plan.transfers);
        plan.selections.push(touched);
        Ok(plan)
    }

    /// The plan for writing `selection`.
    pub fn plan_set(&self, selection: &Selection) -> Result<SetItemPlan> {
        self.plan_set_selected(&self.resolve(selection)?)
    }

    pub(crate) fn plan_set_selected(&self, selected: &Selected) -> Result<SetItemPlan> {
        let mut changes = self.no_changes();
        let value_shape = selected.result_shape().to_vec();
        let kept = selected.result_dimensions().iter().map(Option::is_some).collect();
        if selected.is_empty() {
            return Ok(SetItemPlan { value_shape, kept, changes });
        }
        let (touched, chunk) = (self.grid.select(selected)?, self.grid.chunk_shape());
        let mut all = placed(&touched, &self.map, &self.grid, |_| true);
        let unstaged = all.partition_point(|chunk| chunk.slab <= self.base_slabs);
        let wholly = if unstaged == 0 { BitVec::EMPTY } else { touched.wholly() };
        let in_part = all.extract_if(..unstaged, |chunk| !wholly[shape::index(chunk.touched)]);
        let mut partly: Vec<Placed> = in_part.collect();
        let (whole, staged) = all.split_at(unstaged - partly.len());
        changes.selections = vec![touched];
        if !partly.is_empty() {
            let slab = changes.bring(&partly, chunk, (Part::Whole, 0))?;
            for (n, moved) in partly.iter_mut().enumerate() {
                (moved.slab, moved.row) = (slab, n as u64 * chunk[0]);
            }
        }
        if !whole.is_empty() {
            let slab = changes.first + changes.append.len();
            changes.append.push(slab_shape(chunk, whole.len())?);
            let how = Move { part: Part::Selected, selection: 0, moves: true };
            let sides = |_: &Placed| (Side::Value, Side::Slab(slab));
            how.by_slab(whole, sides, |_, n| (0, n * chunk[0]), &mut changes.transfers);
        }
        let how = Move { part: Part::Selected, selection: 0, moves: false };
        let sides = |chunk: &Placed| (Side::Value, Side::Slab(chunk.slab));
        for there in [staged, &partly] {
            how.by_slab(there, sides, |chunk, _| (0, chunk.row), &mut changes.transfers);
        }
        Ok(SetItemPlan { value_shape, kept, changes })
    }

    /// The plan for loading all base chunks into memory.
    pub fn plan_load(&self) -> Result<LoadPlan> {
        let mut changes = self.no_changes();
        if !self.has_base_chunks() {
            return Ok(LoadPlan { changes });
        }
        let touched = self.grid.select(&Selected::all(self.shape()))?;
        let found = placed(&touched, &self.map, &self.grid, |slab| 0 < slab && slab <= self.base_slabs);
        if !found.is_empty() {
            changes.bring(&found, self.grid.chunk_shape(), (Part::Selected, 0))?;
            changes.selections.push(touched);
        }
        Ok(LoadPlan { changes })
    }

    /// The chunks that are not on the full slab, row-major over the grid.
    pub fn plan_changes(&self) -> ChangesPlan {
        let found = self.map.iter().enumerate().filter(|(_, (slab, _))| *slab != 0);
        let change = |(number, (slab, row)): (usize, (usize, u64))| {
            let block: Block = self.grid.block(&self.grid.coordinates(number as u64)?);
            Some(Change { block, slab, row })
        };
        ChangesPlan { changes: found.filter_map(change).collect() }
    }

    pub(crate) fn no_changes(&self) -> SlabChanges {
        SlabChanges { first: self.slabs.len(), ..SlabChanges::default() }
    }
}
