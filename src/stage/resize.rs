//! Planning a change of shape.
//!
//! First the dimensions that shrink: edge chunks that still lie on base slabs are brought in, so that no base chunk is
//! ever used with two extents. Then those that grow, one after the other: what was the edge is brought in, and the
//! strip behind it is filled. New chunks are full and cost nothing.

use crate::error::{Error, Result};
use crate::selection::{Block, ChunkSelection, Grid};
use crate::stage::array::StagedArray;
use crate::stage::map::ChunkMap;
use crate::stage::plan::{Part, ResizePlan, Side, SlabChanges};
use crate::stage::planner::{Move, Placed, placed};
use crate::stage::slabs::Slab;

impl StagedArray {
    /// The plan for changing the shape.
    ///
    /// Errors: `Invalid` for another rank; `Limit` if the chunks cannot be counted.
    pub fn plan_resize(&self, shape: &[u64]) -> Result<ResizePlan> {
        Ok(self.planned_resize(shape)?.0)
    }

    /// The plan, and the map of the new grid as it is then.
    pub(crate) fn planned_resize(&self, shape: &[u64]) -> Result<(ResizePlan, Grid, ChunkMap)> {
        let old = self.shape();
        if shape.len() != old.len() {
            return Err(Error::invalid(format!("an array of shape {old:?} cannot get shape {shape:?}")));
        }
        let grid = Grid::new(shape, self.grid.chunk_shape())?;
        let mut planner = Planner {
            array: self,
            map: self.map.regrid(&self.grid, &grid)?,
            untrimmed: self.trimmed_where_it_grows(shape),
            changes: self.no_changes(),
            grid,
        };
        if shape != old {
            let mid: Vec<u64> = old.iter().zip(shape).map(|(a, b)| *a.min(b)).collect();
            planner.shrink(old, &mid)?;
            planner.grow(mid)?;
            planner.drop_unused(self.map.len());
        }
        let plan = ResizePlan { shape: shape.to_vec(), untrimmed: planner.untrimmed, changes: planner.changes };
        Ok((plan, planner.grid, planner.map))
    }

    /// Staged slabs narrower than whole chunks along a dimension (not the first) whose last chunk will grow.
    fn trimmed_where_it_grows(&self, shape: &[u64]) -> Vec<usize> {
        let (old, chunk) = (self.shape(), self.grid.chunk_shape());
        let grows: Vec<usize> =
            (1..old.len()).filter(|&a| shape[a] > old[a] && !old[a].is_multiple_of(chunk[a])).collect();
        let trimmed = |slab: &Slab| match slab {
            Slab::Staged(staged) => grows.iter().any(|&a| !staged.shape[a].is_multiple_of(chunk[a])),
            Slab::Full | Slab::Base(_) | Slab::Dropped => false,
        };
        (0..self.slabs.len()).filter(|&n| trimmed(&self.slabs[n])).collect()
    }
}

struct Planner<'a> {
    array: &'a StagedArray,
    /// The new grid, and the map as far as it is planned.
    grid: Grid,
    map: ChunkMap,
    untrimmed: Vec<usize>,
    changes: SlabChanges,
}

impl Planner<'_> {
    fn shrink(&mut self, old: &[u64], mid: &[u64]) -> Result<()> {
        let (shape, chunk) = (self.grid.shape().to_vec(), self.grid.chunk_shape().to_vec());
        for axis in 0..shape.len() {
            let ragged = mid[axis] % chunk[axis];
            if old[axis] > mid[axis] && ragged > 0 {
                self.bring_edge(&shape, axis, (mid[axis] - ragged, mid[axis]))?;
            }
        }
        Ok(())
    }

    fn grow(&mut self, mut shape: Vec<u64>) -> Result<()> {
        let (wanted, chunk) = (self.grid.shape().to_vec(), self.grid.chunk_shape().to_vec());
        for axis in 0..shape.len() {
            let old = shape[axis];
            shape[axis] = wanted[axis];
            let only_full = self.changes.first + self.changes.append.len() <= 1;
            let edge = old - old % chunk[axis];
            if old == wanted[axis] || only_full || edge == old {
                continue;
            }
            self.bring_edge(&shape, axis, (edge, old))?;
            if shape.contains(&0) {
                continue;
            }
            if axis == 0 {
                self.relocate(&shape, (edge, old))?;
            }
            self.fill(&shape, axis, (old, wanted[axis].min(edge.saturating_add(chunk[axis]))))?;
        }
        Ok(())
    }

    /// The chunks within `range` of one dimension of an array of `shape`.
    fn strip(&self, shape: &[u64], axis: usize, (low, high): (u64, u64)) -> Result<ChunkSelection> {
        let mut block = Block::all(shape);
        (block.start[axis], block.count[axis]) = (low, high - low);
        Grid::new(shape, self.grid.chunk_shape())?.meet(&block)
    }

    /// Brings in the chunks within `range` that lie on base slabs.
    fn bring_edge(&mut self, shape: &[u64], axis: usize, range: (u64, u64)) -> Result<()> {
        let base = self.array.base_slabs;
        if base == 0 || shape.contains(&0) {
            return Ok(());
        }
        let touched = self.strip(shape, axis, range)?;
        let found = placed(&touched, &self.map, &self.grid, |slab| 0 < slab && slab <= base);
        if found.is_empty() {
            return Ok(());
        }
        let chunk = self.grid.chunk_shape();
        let slab = self.changes.bring(&found, chunk, (Part::Selected, self.changes.selections.len()))?;
        self.changes.selections.push(touched);
        self.moved(&found, slab)
    }

    fn moved(&mut self, chunks: &[Placed], slab: usize) -> Result<()> {
        for (n, moved) in chunks.iter().enumerate() {
            self.map.set(moved.number, slab, n as u64 * self.grid.chunk_shape()[0])?;
        }
        Ok(())
    }

    /// The rows of a staged slab that was there before, with padding that is done before the plan.
    fn rows(&self, slab: usize) -> Option<u64> {
        let chunk = self.grid.chunk_shape()[0];
        match self.array.slabs.get(slab)? {
            Slab::Staged(staged) if self.untrimmed.contains(&slab) => Some(staged.shape[0].next_multiple_of(chunk)),
            Slab::Staged(staged) => Some(staged.shape[0]),
            Slab::Full | Slab::Base(_) | Slab::Dropped => None,
        }
    }

    /// Moves last chunks of slabs that are trimmed along the first dimension to one slab where they have room.
    fn relocate(&mut self, shape: &[u64], range: (u64, u64)) -> Result<()> {
        let chunk = self.grid.chunk_shape().to_vec();
        let touched = self.strip(shape, 0, range)?;
        let no_room = |slab: usize, row: u64| {
            self.rows(slab).is_some_and(|rows| !rows.is_multiple_of(chunk[0]) && row + chunk[0] > rows)
        };
        let mut found = placed(&touched, &self.map, &self.grid, |slab| slab > self.array.base_slabs);
        found.retain(|chunk| no_room(chunk.slab, chunk.row));
        if found.is_empty() {
            return Ok(());
        }
        let slab = self.changes.bring(&found, &chunk, (Part::Selected, self.changes.selections.len()))?;
        self.changes.selections.push(touched);
        for source in found.chunk_by(|a, b| a.slab == b.slab).map(|group| group[0].slab) {
            let rows = self.rows(source).unwrap_or(0);
            match rows - rows % chunk[0] {
                0 => self.changes.drop.push(source),
                whole => self.changes.shrink.push((source, whole)),
            }
        }
        self.moved(&found, slab)
    }

    /// Fills `range` of all chunks there that are not full.
    fn fill(&mut self, shape: &[u64], axis: usize, range: (u64, u64)) -> Result<()> {
        let touched = self.strip(shape, axis, range)?;
        let found = placed(&touched, &self.map, &self.grid, |slab| slab > 0);
        if !found.is_empty() {
            let how = Move { part: Part::Selected, selection: self.changes.selections.len(), moves: false };
            let sides = |chunk: &Placed| (Side::Slab(0), Side::Slab(chunk.slab));
            how.by_slab(&found, sides, |chunk, _| (0, chunk.row), &mut self.changes.transfers);
            self.changes.selections.push(touched);
        }
        Ok(())
    }

    /// If chunks were cut off, gives up the staged slabs that no chunk is on any more.
    fn drop_unused(&mut self, chunks_before: usize) {
        let (old, new) = (self.array.grid.counts(), self.grid.counts());
        let kept: u64 = old.iter().zip(new).map(|(a, b)| a.min(b)).product();
        if kept >= chunks_before as u64 {
            return;
        }
        let mut used = vec![false; self.changes.first + self.changes.append.len()];
        self.map.iter().for_each(|(slab, _)| used[slab] = true);
        self.changes.drop = (self.array.base_slabs + 1..self.changes.first).filter(|&slab| !used[slab]).collect();
    }
}
