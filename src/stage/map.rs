//! The map of a staged array: for each chunk of the grid, which slab holds it and at which row it begins there.

use crate::error::{Error, Result};
use crate::selection::{Grid, shape};
use crate::stage::plan::{Side, SlabChanges};

/// Slab and row per chunk, row-major over the grid. Twelve bytes a chunk; a map of zeros costs nothing until written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChunkMap {
    slabs: Vec<u32>,
    rows: Vec<u64>,
}

impl ChunkMap {
    /// Every chunk of `grid` on the full slab.
    pub(crate) fn new(grid: &Grid) -> Result<ChunkMap> {
        let len = shape::in_memory(grid.len())?;
        Ok(ChunkMap { slabs: vec![0; len], rows: vec![0; len] })
    }

    pub(crate) fn len(&self) -> usize {
        self.slabs.len()
    }

    pub(crate) fn get(&self, number: usize) -> (usize, u64) {
        (usize::try_from(self.slabs[number]).expect("slabs are in memory"), self.rows[number])
    }

    pub(crate) fn set(&mut self, number: usize, slab: usize, row: u64) -> Result<()> {
        self.slabs[number] = u32::try_from(slab).map_err(|_| Error::limit("more than 2^32 slabs"))?;
        self.rows[number] = row;
        Ok(())
    }

    /// Slab and row of every chunk.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Points the chunks that the transfers of a plan move to where they are then.
    pub(crate) fn relocate(&mut self, changes: &SlabChanges, grid: &Grid) -> Result<()> {
        let mut numbers: Vec<Option<Vec<Option<u64>>>> = vec![None; changes.selections.len()];
        for plan in changes.transfers.iter().filter(|plan| plan.moves) {
            let Side::Slab(slab) = plan.destination else { continue };
            let numbers =
                &*numbers[plan.selection].get_or_insert_with(|| changes.selections[plan.selection].numbers(grid));
            for cell in &plan.cells {
                if let Some(number) = numbers[shape::index(cell.touched)] {
                    self.set(shape::index(number), slab, cell.destination_row)?;
                }
            }
        }
        Ok(())
    }

    /// The map of `new`, with what it has in common with `old`, whose map this is. Chunks that are new are full.
    pub(crate) fn regrid(&self, old: &Grid, new: &Grid) -> Result<ChunkMap> {
        let mut map = ChunkMap::new(new)?;
        let common: Vec<u64> = old.counts().iter().zip(new.counts()).map(|(a, b)| *a.min(b)).collect();
        if common.contains(&0) {
            return Ok(map);
        }
        // Whole rows of the last dimension are copied at once.
        let run = shape::index(common.last().copied().unwrap_or(1));
        let outer = &common[..common.len().saturating_sub(1)];
        let mut at = vec![0; outer.len()];
        loop {
            let row = |grid: &Grid| {
                let places = at.iter().zip(grid.counts());
                places.fold(0, |n, (x, count)| n * count + x) * grid.counts().last().copied().unwrap_or(1)
            };
            let (from, to) = (shape::index(row(old)), shape::index(row(new)));
            map.slabs[to..to + run].copy_from_slice(&self.slabs[from..from + run]);
            map.rows[to..to + run].copy_from_slice(&self.rows[from..from + run]);
            if !shape::advance(&mut at, outer) {
                return Ok(map);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_grid_keeps_what_both_have() {
        let old = Grid::new(&[3, 5], &[1, 1]).unwrap();
        let new = Grid::new(&[4, 2], &[1, 1]).unwrap();
        let mut map = ChunkMap::new(&old).unwrap();
        for number in 0..15 {
            map.set(number, number, 100 + number as u64).unwrap();
        }
        let slabs: Vec<usize> = map.regrid(&old, &new).unwrap().iter().map(|(slab, _)| slab).collect();
        assert_eq!(slabs, [0, 1, 5, 6, 10, 11, 0, 0]);
    }
}
