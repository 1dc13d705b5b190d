//! Which parts of two datasets of one shape are stored in either of them: only these need to be compared.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::handle::Dataset;
use crate::manifest::{Chunks, Manifest};
use crate::selection::{Block, Grid};

/// Cells of a grid over an array.
#[derive(Debug)]
pub(super) struct Cells {
    grid: Grid,
    numbers: BTreeSet<u64>,
}

/// Cells that may be listed; of more, all are looked at.
const MOST: usize = 1 << 22;

impl Cells {
    /// The cells in which something is stored in one of the datasets; `None` where that may be anywhere, or almost is.
    pub(super) fn stored(datasets: [&Dataset; 2]) -> Result<Option<Cells>> {
        let manifests = [datasets[0].manifest()?, datasets[1].manifest()?];
        let mut chunked: Vec<&Chunks> = Vec::new();
        for manifest in &manifests {
            match &**manifest {
                Manifest::Segments { segments, .. } if segments.is_empty() => {}
                Manifest::Chunks(chunks) => chunked.push(chunks),
                Manifest::Segments { .. } | Manifest::Inline(_) | Manifest::Virtual(_) => return Ok(None),
            }
        }
        let shape = datasets[0].shape();
        let grid = chunked.first().map_or_else(|| Grid::new(shape, shape), |chunks| Ok(chunks.grid().clone()))?;
        let mut cells = Cells { grid, numbers: BTreeSet::new() };
        let all = chunked.iter().all(|chunks| cells.add(chunks));
        let many = cells.numbers.len() as u64 > cells.grid.len() / 2;
        Ok((all && !many).then_some(cells))
    }

    /// Adds the cells that meet stored chunks; whether these can be listed.
    fn add(&mut self, chunks: &Chunks) -> bool {
        let own = chunks.grid() == &self.grid;
        for chunk in chunks.iter() {
            if own {
                self.numbers.insert(chunk.number);
            } else if let Some(coordinates) = chunks.grid().coordinates(chunk.number) {
                let around = self.grid.around(&chunks.grid().block(&coordinates));
                let Ok(runs) = around.runs(self.grid.counts()) else { return false };
                for run in runs {
                    if run.count > MOST as u64 {
                        return false;
                    }
                    self.numbers.extend(run.start..run.start + run.count);
                }
            }
            if self.numbers.len() > MOST {
                return false;
            }
        }
        true
    }

    /// The blocks of the array that the cells are.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Block> {
        self.numbers.iter().filter_map(|&number| self.block(number))
    }

    /// The first block in which nothing is stored.
    pub(super) fn first_other(&self) -> Option<Block> {
        let number = (0..self.grid.len()).find(|number| !self.numbers.contains(number))?;
        self.block(number)
    }

    fn block(&self, number: u64) -> Option<Block> {
        Some(self.grid.block(&self.grid.coordinates(number)?))
    }
}
