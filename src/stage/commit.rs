//! Commit: hash what changed, keep what is not there yet, point the map at what is.
//!
//! A chunk is known if it equals the full chunk, any base chunk whose hash is known (also one that no chunk of the
//! array is on any more), or a staged chunk before it. The first of these wins, lowest slab and row first.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::selection::{Selected, shape};
use crate::stage::array::StagedArray;
use crate::stage::hash::{Hash, hashed};
use crate::stage::parallel::map_all;
use crate::stage::plan::{Cell, CommitPlan, HashCell, HashPlan, Part, Side, TransferPlan};
use crate::stage::planner::slab_shape;
use crate::stage::slabs::{BaseSlab, Buffer, Memory, NewSlab, Slab, SlabSink};

/// What a commit did.
#[derive(Clone, Debug)]
pub struct CommitReport {
    /// The chunks that were hashed.
    pub hash_plan: HashPlan,
    /// Their hashes, in the same order.
    pub hashes: Vec<Hash>,
    /// What was stored and where each staged chunk is now.
    pub plan: CommitPlan,
    /// The new base slab, if one was needed.
    pub slab: Option<Arc<dyn BaseSlab>>,
}

impl CommitReport {
    /// How many chunks were stored.
    pub fn stored(&self) -> usize {
        self.plan.stored.len()
    }

    /// How many staged chunks were there already.
    pub fn known(&self) -> usize {
        self.plan.redirected.len() - self.stored()
    }
}

impl StagedArray {
    /// The chunks that a commit has to hash: the full one, the first time, and all staged ones.
    pub fn plan_hash(&self) -> HashPlan {
        let mut cells = vec![];
        if !self.grid.is_empty() {
            if self.hashes[0].is_none() {
                cells.push(HashCell { chunk: None, slab: 0, row: 0 });
            }
            let known = cells.len();
            let staged = self.map.iter().enumerate().filter(|(_, (slab, _))| *slab > self.base_slabs);
            cells.extend(staged.map(|(n, (slab, row))| HashCell { chunk: Some(n as u64), slab, row }));
            cells[known..].sort_unstable_by_key(|cell| (cell.slab, cell.row));
        }
        HashPlan { grid: self.grid.clone(), cells }
    }

    /// Carries out a hash plan, in parallel.
    pub fn hash(&self, plan: &HashPlan) -> Result<Vec<Hash>> {
        let chunk = self.chunk_shape();
        let mut full = vec![];
        if plan.cells.first().is_some_and(|cell| cell.chunk.is_none()) {
            full = self.fill.repeat(shape::in_memory(shape::count(chunk)?)?);
        }
        let start = vec![0; chunk.len()];
        let hashed = |cell: &HashCell| {
            let memory = match self.staged_memory(cell.slab) {
                Some(memory) => memory,
                None => Memory { bytes: &full, array: chunk, start: &start, shape: chunk },
            };
            hashed(&memory, cell.row, &plan.extent(cell), &self.element, &self.texts)
        };
        let pairs: Vec<&[HashCell]> = plan.cells.chunks(2).collect();
        let hashes = map_all(&pairs, |pair| match pair {
            [one, other] => hashed(one)?.hash_with(&hashed(other)?).map(Ok).into_iter().collect(),
            others => others.iter().map(|cell| Ok(hashed(cell)?.hash())).collect::<Result<Vec<Hash>>>(),
        })?;
        Ok(hashes.concat())
    }

    /// The plan for a commit, from the hashes of the chunks of `hash_plan`.
    ///
    /// Errors: `Invalid` if they are not as many.
    pub fn plan_commit(&self, hash_plan: &HashPlan, hashes: &[Hash]) -> Result<CommitPlan> {
        if hash_plan.cells.len() != hashes.len() {
            return Err(Error::invalid(format!("{} hashes for {} chunks", hashes.len(), hash_plan.cells.len())));
        }
        let (mut known, chunk) = (self.known(hash_plan, hashes), self.chunk_shape());
        let mut plan = CommitPlan { changes: self.no_changes(), redirected: vec![], stored: vec![] };
        for (n, (cell, hash)) in hash_plan.cells.iter().zip(hashes).enumerate() {
            let Some(number) = cell.chunk else { continue };
            let row = plan.stored.len() as u64 * chunk[0];
            let (slab, row) = match known.entry(*hash) {
                Entry::Occupied(there) => *there.get(),
                Entry::Vacant(free) => {
                    let cell = Cell { touched: number, source_row: cell.row, destination_row: row };
                    plan.changes.store(hash_plan.cells[n].slab, cell);
                    plan.stored.push(n);
                    *free.insert((self.base_slabs + 1, row))
                }
            };
            plan.redirected.push((number, slab, row));
        }
        if !plan.stored.is_empty() {
            plan.changes.append.push(slab_shape(chunk, plan.stored.len())?);
            plan.changes.selections.push(self.grid.select(&Selected::all(self.shape()))?);
        }
        Ok(plan)
    }

    /// The first place of every hash that is known before any staged chunk is looked at.
    fn known(&self, hash_plan: &HashPlan, hashes: &[Hash]) -> HashMap<Hash, (usize, u64)> {
        let rows = self.chunk_shape()[0];
        let count = self.hashes.iter().flatten().map(|table| table.len()).sum::<usize>() + hashes.len();
        let mut known = HashMap::with_capacity(count);
        if let (Some(HashCell { chunk: None, .. }), Some(hash)) = (hash_plan.cells.first(), hashes.first()) {
            known.insert(*hash, (0, 0));
        }
        for (slab, table) in self.hashes.iter().enumerate() {
            let table = table.iter().flat_map(|table| table.iter()).enumerate();
            for (row, hash) in table.filter(|(_, hash)| **hash != Hash::default()) {
                known.entry(*hash).or_insert((slab, row as u64 * rows));
            }
        }
        known
    }

    /// Stores all staged chunks that are not there yet as a new base slab in `sink`, and forgets the staged slabs.
    ///
    /// Errors: `Invalid` if the array is read-only; those of the sink. The array is then as it was.
    pub fn commit(&mut self, sink: &mut dyn SlabSink) -> Result<CommitReport> {
        self.expect_writable()?;
        let hash_plan = self.plan_hash();
        let hashes = self.hash(&hash_plan)?;
        let plan = self.plan_commit(&hash_plan, &hashes)?;
        let new: Vec<Hash> = plan.stored.iter().map(|&n| hashes[n]).collect();
        let slab = self.store(&plan, &hash_plan, &new, sink)?;

        if let (Some(HashCell { chunk: None, .. }), Some(hash)) = (hash_plan.cells.first(), hashes.first()) {
            self.hashes[0] = Some(Arc::new(vec![*hash]));
        }
        let map = Arc::make_mut(&mut self.map);
        for &(number, slab, row) in &plan.redirected {
            map.set(shape::index(number), slab, row)?;
        }
        self.slabs.truncate(self.base_slabs + 1);
        self.hashes.truncate(self.base_slabs + 1);
        if let Some(slab) = &slab {
            self.slabs.push(Slab::Base(slab.clone()));
            self.hashes.push(Some(Arc::new(new)));
            self.base_slabs += 1;
        }
        debug_assert_eq!(self.broken_invariant(), None);
        Ok(CommitReport { hash_plan, hashes, plan, slab })
    }

    /// The chunks of `cells`, which become a slab of `shape`, where they lie: if they are whole, lie one behind the
    /// other on one staged slab, and are most of it.
    fn shared_part<'a>(
        &self,
        cells: impl Iterator<Item = &'a HashCell>,
        extents: &[Vec<u64>],
        shape: &[u64],
    ) -> Option<Buffer> {
        let mut cells = cells.enumerate().peekable();
        let (_, &HashCell { slab, row: first, .. }) = *cells.peek()?;
        let Slab::Staged(staged) = self.slabs.get(slab)? else { return None };
        let rows = self.chunk_shape()[0];
        let most = 2 * shape[0] >= staged.shape[0] && first + shape[0] <= staged.shape[0];
        let whole = shape[1..] == staged.shape[1..] && extents.iter().all(|extent| extent == self.chunk_shape());
        let follow = cells.all(|(n, cell)| cell.slab == slab && cell.row == first + n as u64 * rows);
        (most && whole && follow).then(|| staged.part(first))
    }

    fn store(
        &self,
        plan: &CommitPlan,
        hash_plan: &HashPlan,
        hashes: &[Hash],
        sink: &mut dyn SlabSink,
    ) -> Result<Option<Arc<dyn BaseSlab>>> {
        let Some(shape) = plan.changes.append.first() else { return Ok(None) };
        let stored = || plan.stored.iter().map(|&n| &hash_plan.cells[n]);
        let extents: Vec<Vec<u64>> = stored().map(|cell| hash_plan.extent(cell)).collect();
        let chunks = stored().filter_map(|cell| Some((self.staged_memory(cell.slab)?, cell.row))).collect();
        let shared = self.shared_part(stored(), &extents, shape);
        let (element, extents) = (&self.element, &extents);
        let new = NewSlab { shape, element, extents, hashes, chunks, shared, texts: &self.texts };
        let slab = sink.store(&new)?;
        if slab.shape() != shape || *slab.element() != self.element {
            return Err(Error::invalid(format!("the sink stored {:?}, wanted {shape:?}", slab.shape())));
        }
        Ok(Some(slab))
    }
}

impl crate::stage::plan::SlabChanges {
    /// Adds a chunk to what goes from slab `source` to the one new slab.
    fn store(&mut self, source: usize, cell: Cell) {
        let (source, destination) = (Side::Slab(source), Side::Slab(self.first));
        match self.transfers.last_mut() {
            Some(last) if last.source == source => last.cells.push(cell),
            _ => {
                let cells = vec![cell];
                let part = Part::Whole;
                self.transfers.push(TransferPlan { source, destination, part, selection: 0, moves: true, cells });
            }
        }
    }
}
