//! Plans as text: the assignments they will make, in the notation of Python and NumPy.
//!
//! `{}` names the plan and lists the assignments; `{:#}` adds to the name how much there is of what. Of more than
//! 200 chunks between two slabs only the first and last are shown. A [`Listing`] adds where the chunks are
//! afterwards.

use std::fmt::{self, Display, Formatter};

use crate::error::Result;
use crate::selection::{AxisTransfer, ChunkSelection, Grid, shape};
use crate::stage::array::StagedArray;
use crate::stage::plan::{
    ChangesPlan, CommitPlan, GetItemPlan, HashPlan, LoadPlan, ResizePlan, SetItemPlan, Side, SlabChanges, TransferPlan,
};
use crate::stage::values::Tuple;

/// Chunks per pair of slabs that are listed in full.
const MOST: usize = 200;
/// Chunks at either end that are listed when there are more.
const ENDS: usize = 20;

fn list<T: Display>(f: &mut Formatter<'_>, items: impl Iterator<Item = T>) -> fmt::Result {
    for (n, item) in items.enumerate() {
        write!(f, "{}{item}", if n > 0 { ", " } else { "" })?;
    }
    Ok(())
}

impl Display for Side {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Side::Slab(number) => write!(f, "slabs[{number}]"),
            Side::Value => f.write_str("value"),
            Side::Result => f.write_str("out"),
        }
    }
}

/// `start:stop` or `start:stop:step` along one dimension.
struct Span(u64, u64, i64);

impl Display for Span {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Span(start, count, stride) = *self;
        let reach = i128::from(count.saturating_sub(1)) * i128::from(stride);
        let stop = i128::from(start) + reach + i128::from(stride.signum().max(0) * 2 - 1);
        write!(f, "{start}:")?;
        // A stop before the first element has no number in this notation.
        if stop >= 0 {
            write!(f, "{stop}")?;
        }
        if stride == 1 { Ok(()) } else { write!(f, ":{stride}") }
    }
}

fn assignment(f: &mut Formatter<'_>, plan: &TransferPlan, axes: &[AxisTransfer]) -> fmt::Result {
    write!(f, "\n  {}[", plan.destination)?;
    list(f, axes.iter().map(|a| Span(a.destination_start, a.count, a.destination_stride)))?;
    write!(f, "] = {}[", plan.source)?;
    list(f, axes.iter().map(|a| Span(a.source_start, a.count, a.source_stride)))?;
    f.write_str("]")
}

fn transfers(f: &mut Formatter<'_>, plans: &[TransferPlan], selections: &[ChunkSelection]) -> fmt::Result {
    for plan in plans {
        let count = plan.count(selections);
        write!(f, "\n  # {count} transfers from {} to {}", plan.source, plan.destination)?;
        let len = plan.cells.len();
        for (n, cell) in plan.cells.iter().enumerate() {
            if len <= MOST || n < ENDS || n >= len - ENDS {
                let mut done = Ok(());
                plan.each_transfer(selections, cell, |axes| {
                    if done.is_ok() {
                        done = assignment(f, plan, axes);
                    }
                });
                done?;
            } else if n == ENDS {
                f.write_str("\n  ...")?;
            }
        }
    }
    Ok(())
}

/// Which dimensions of the array a value has: `:` for those, `None` for the others.
fn view(kept: &[bool]) -> String {
    let parts: Vec<&str> = kept.iter().map(|kept| if *kept { ":" } else { "None" }).collect();
    format!("[{}]", parts.join(", "))
}

fn slices(plans: &[TransferPlan], selections: &[ChunkSelection]) -> String {
    let count: usize = plans.iter().map(|plan| plan.count(selections)).sum();
    format!("{count} slice transfers among {} slab pairs", plans.len())
}

fn totals(changes: &SlabChanges) -> String {
    let moved = slices(&changes.transfers, &changes.selections);
    format!("append {} empty slabs, {moved}, drop {} slabs", changes.append.len(), changes.drop.len())
}

impl Display for SlabChanges {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (n, shape) in self.append.iter().enumerate() {
            write!(f, "\n  slabs.append(empty({}))  # slabs[{}]", Tuple(shape), self.first + n)?;
        }
        transfers(f, &self.transfers, &self.selections)?;
        for (slab, rows) in &self.shrink {
            write!(f, "\n  slabs[{slab}] = slabs[{slab}][:{rows}]")?;
        }
        self.drop.iter().try_for_each(|slab| write!(f, "\n  slabs[{slab}] = None"))
    }
}

/// The name, and with `{:#}` what stands in angle brackets behind it.
fn head(f: &mut Formatter<'_>, name: &str, details: impl FnOnce() -> String) -> fmt::Result {
    f.write_str(name)?;
    if f.alternate() { write!(f, "<{}>", details()) } else { Ok(()) }
}

impl Display for GetItemPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        head(f, "GetItemPlan", || {
            let (shape, moved) = (Tuple(&self.output_shape), slices(&self.transfers, &self.selections));
            format!("output_shape={shape}, output_view={}, {moved}", view(&self.kept))
        })?;
        transfers(f, &self.transfers, &self.selections)
    }
}

impl Display for SetItemPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        head(f, "SetItemPlan", || {
            let (shape, view) = (Tuple(&self.value_shape), view(&self.kept));
            format!("value_shape={shape}, value_view={view}, {}", totals(&self.changes))
        })?;
        self.changes.fmt(f)
    }
}

impl Display for LoadPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        head(f, "LoadPlan", || totals(&self.changes))?;
        self.changes.fmt(f)
    }
}

impl Display for ResizePlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        head(f, "ResizePlan", || totals(&self.changes))?;
        self.changes.fmt(f)
    }
}

impl Display for CommitPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        head(f, "CommitPlan", || totals(&self.changes))?;
        self.changes.fmt(f)
    }
}

impl Display for ChangesPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        head(f, "ChangesPlan", || format!("{} chunks", self.changes.len()))?;
        for change in &self.changes {
            let Some((rows, widths)) = change.block.count.split_first() else { continue };
            f.write_str("\n  base[")?;
            list(f, change.block.start.iter().zip(&change.block.count).map(|(s, n)| Span(*s, *n, 1)))?;
            write!(f, "] = slabs[{}][{}", change.slab, Span(change.row, *rows, 1))?;
            widths.iter().try_for_each(|width| write!(f, ", {}", Span(0, *width, 1)))?;
            f.write_str("]")?;
        }
        Ok(())
    }
}

impl Display for HashPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let slabs = self.cells.chunk_by(|a, b| a.slab == b.slab);
        head(f, "HashPlan", || format!("{} chunks over {} slabs", self.cells.len(), slabs.clone().count()))?;
        for cells in slabs {
            let slab = cells[0].slab;
            write!(f, "\n  # hash {} chunks of slabs[{slab}]", cells.len())?;
            for (n, cell) in cells.iter().enumerate() {
                if cells.len() > MOST && (ENDS..cells.len() - ENDS).contains(&n) {
                    if n == ENDS {
                        f.write_str("\n  ...")?;
                    }
                    continue;
                }
                let extent = self.extent(cell);
                let row = cell.row / self.grid.chunk_shape()[0];
                write!(f, "\n  hash_tables[{slab}][{row}] = hash(slabs[{slab}][{}", Span(cell.row, extent[0], 1))?;
                extent[1..].iter().try_for_each(|size| write!(f, ", :{size}"))?;
                f.write_str("])")?;
            }
        }
        Ok(())
    }
}

/// Chunks of a map that are printed.
const MOST_CHUNKS: usize = 1000;

/// A plan and where the chunks are once it is carried out; see [`StagedArray::listing`].
#[derive(Debug)]
pub struct Listing<'a, P> {
    plan: &'a P,
    counts: Vec<u64>,
    slab_indices: Vec<u64>,
    slab_offsets: Vec<u64>,
}

/// Plans after which chunks may live elsewhere.
pub trait Relocates: Display {
    /// What happens to the slabs.
    fn changes(&self) -> &SlabChanges;

    /// The shape afterwards, if it is another.
    fn new_shape(&self) -> Option<&[u64]> {
        None
    }

    /// Where single chunks are afterwards, beside those that the transfers move: number, slab and row.
    fn redirected(&self) -> &[(u64, usize, u64)] {
        &[]
    }
}

impl Relocates for SetItemPlan {
    fn changes(&self) -> &SlabChanges {
        &self.changes
    }
}

impl Relocates for LoadPlan {
    fn changes(&self) -> &SlabChanges {
        &self.changes
    }
}

impl Relocates for ResizePlan {
    fn changes(&self) -> &SlabChanges {
        &self.changes
    }

    fn new_shape(&self) -> Option<&[u64]> {
        Some(&self.shape)
    }
}

impl Relocates for CommitPlan {
    fn changes(&self) -> &SlabChanges {
        &self.changes
    }

    fn redirected(&self) -> &[(u64, usize, u64)] {
        &self.redirected
    }
}

impl StagedArray {
    /// `plan`, which was made for this array, with the map as it will be: for reading by people.
    ///
    /// Errors: `Limit` if a new grid is too large.
    pub fn listing<'a, P: Relocates>(&self, plan: &'a P) -> Result<Listing<'a, P>> {
        let grid = Grid::new(plan.new_shape().unwrap_or(self.shape()), self.chunk_shape())?;
        let mut map = self.map.regrid(&self.grid, &grid)?;
        let changes = plan.changes();
        map.relocate(changes, &grid)?;
        for &(number, slab, row) in plan.redirected() {
            map.set(shape::index(number), slab, row)?;
        }
        Ok(Listing {
            plan,
            counts: grid.counts().to_vec(),
            slab_indices: map.iter().map(|(slab, _)| slab as u64).collect(),
            slab_offsets: map.iter().map(|(_, row)| row).collect(),
        })
    }
}

impl<P: Display> Display for Listing<'_, P> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}\nslab_indices:\n", self.plan)?;
        matrix(f, &self.slab_indices, &self.counts)?;
        f.write_str("\nslab_offsets:\n")?;
        matrix(f, &self.slab_offsets, &self.counts)
    }
}

/// A grid of numbers as NumPy prints it.
fn matrix(f: &mut Formatter<'_>, numbers: &[u64], counts: &[u64]) -> fmt::Result {
    let width = numbers.iter().max().map_or(1, |most| most.to_string().len());
    let Some((&last, outer)) = counts.split_last() else { return Ok(()) };
    if numbers.is_empty() || numbers.len() > MOST_CHUNKS {
        return if numbers.is_empty() { f.write_str("[]") } else { write!(f, "({} chunks)", numbers.len()) };
    }
    for (n, row) in numbers.chunks(shape::index(last)).enumerate() {
        // How many dimensions begin at this row.
        let (mut begins, mut left) = (0, n as u64);
        while let Some(size) = outer.iter().rev().nth(begins).filter(|size| left.is_multiple_of(**size)) {
            (left, begins) = (left / size, begins + 1);
        }
        if n > 0 {
            write!(f, "{}{}", "]".repeat(begins + 1), "\n".repeat(begins + 1))?;
            f.write_str(&" ".repeat(outer.len() - begins))?;
        }
        f.write_str(&"[".repeat(begins + 1))?;
        for (k, number) in row.iter().enumerate() {
            write!(f, "{}{number:>width$}", if k > 0 { " " } else { "" })?;
        }
    }
    f.write_str(&"]".repeat(outer.len() + 1))
}
