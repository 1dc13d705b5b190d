//! Virtual layouts: the stored mappings, and what unlimited ones select once the sources' shapes are known.
//! Specification IV.A.2.i (virtual class) and III.F.

use crate::error::{Error, Result};
use crate::format::encoded_selection::{EncodedSelection, RegularDimension, Selection};
use crate::format::global_heap::GlobalHeapId;
use crate::format::virtual_mapping::VirtualMapping;
use crate::object::{Scope, Step, heap};
use crate::selection::{Block, BlockCount, Elements, Hyperslab, Points, Span, Union};
use crate::wire::{Addr, Structure};

/// A mapping as it is stored: elements of another dataset stand for elements of this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMapping {
    /// The other dataset's file, `.` for the same file; may hold `%b` for the number of a block.
    pub file: String,
    /// Path of the other dataset; may hold `%b` too.
    pub dataset: String,
    /// Which elements of the other dataset.
    pub source: EncodedSelection,
    /// Which elements of the virtual one.
    pub target: EncodedSelection,
}

/// The mappings of a virtual layout.
pub fn mappings(scope: Scope<'_>, heap: Option<Addr>, index: u32) -> Step<Vec<StoredMapping>> {
    let Some(block) = heap::global(scope, GlobalHeapId { collection: heap, index })? else { return Ok(Vec::new()) };
    let at = heap.unwrap_or(Addr(0));
    let stored = VirtualMapping::decode(&block, at, scope.view.sizes(), ()).map_err(Error::sealed)?;
    scope.container.loaded.decoded_part(&stored, &block, at, ());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut mappings = Vec::new();
    for (number, mapping) in stored.mappings.iter().enumerate() {
        mappings.push(StoredMapping {
            file: stored.file(number)?.map_or_else(|| ".".to_owned(), text),
            dataset: text(stored.dataset(number)?),
            source: mapping.source.clone(),
            target: mapping.target.clone(),
        });
    }
    Ok(mappings)
}

/// A name with the number of a block in the place of `%b`.
pub fn numbered(name: &str, block: u64) -> String {
    let (mut out, mut letters) = (String::new(), name.chars());
    while let Some(letter) = letters.next() {
        match (letter, letters.clone().next()) {
            ('%', Some('b')) => out.push_str(&block.to_string()),
            ('%', Some('%')) => out.push('%'),
            _ => {
                out.push(letter);
                continue;
            }
        }
        letters.next();
    }
    out
}

/// The dimension along which a selection goes on without end, if there is one.
pub fn unlimited_axis(selection: &EncodedSelection) -> Option<usize> {
    match &selection.selection {
        Selection::Regular(axes) => axes.iter().position(|axis| axis.count.is_none() || axis.block.is_none()),
        Selection::None | Selection::All | Selection::Points { .. } | Selection::Boxes { .. } => None,
    }
}

impl StoredMapping {
    /// Whether blocks of the virtual dataset come from sources whose names hold the block's number.
    pub fn is_numbered(&self) -> bool {
        unlimited_axis(&self.target).is_some() && unlimited_axis(&self.source).is_none()
    }
}

/// How many elements along the axis an unlimited selection has in a dimension of `size` elements.
pub fn slices(axis: &RegularDimension, size: u64) -> u64 {
    let Some(room) = size.checked_sub(axis.start).filter(|room| *room > 0) else { return 0 };
    match axis.block {
        Some(block) if block != axis.stride && axis.stride > 0 => {
            let (whole, rest) = (room / axis.stride, room % axis.stride);
            whole.saturating_mul(block).saturating_add(rest.min(block))
        }
        _ => room,
    }
}

/// The smallest size of a dimension in which an unlimited selection has `slices` elements along the axis.
pub fn extent(axis: &RegularDimension, slices: u64) -> u64 {
    if slices == 0 {
        return 0;
    }
    let end = match axis.block {
        Some(block) if block != axis.stride && block > 0 => {
            let (before, last) = ((slices - 1) / block, (slices - 1) % block + 1);
            before.saturating_mul(axis.stride).saturating_add(last)
        }
        _ => slices,
    };
    axis.start.saturating_add(end)
}

/// A selection of boxes that form a regular pattern, as the regular selection that it is; others as they are.
pub fn regular(stored: &EncodedSelection) -> EncodedSelection {
    let Selection::Boxes { rank, corners } = &stored.selection else { return stored.clone() };
    let rank = usize::try_from(*rank).unwrap_or(0).max(1);
    let boxes: Vec<&[u64]> = corners.chunks_exact(2 * rank).collect();
    let axes: Option<Vec<_>> = (0..rank).map(|axis| regular_axis(&boxes, axis, rank)).collect();
    // Distinct boxes that lie on a grid and are as many as the grid has are the grid.
    let mut distinct = boxes.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let places = |axes: &[RegularDimension]| axes.iter().map(|a| a.count.unwrap_or(0)).try_fold(1u64, u64::checked_mul);
    match axes.filter(|axes| places(axes) == u64::try_from(distinct.len()).ok() && distinct.len() == boxes.len()) {
        Some(axes) => EncodedSelection { selection: Selection::Regular(axes), ..stored.clone() },
        None => stored.clone(),
    }
}

/// The starts and sizes of boxes along one axis, if they are regular.
fn regular_axis(boxes: &[&[u64]], axis: usize, rank: usize) -> Option<RegularDimension> {
    let mut starts: Vec<u64> = boxes.iter().map(|corner| corner[axis]).collect();
    starts.sort_unstable();
    starts.dedup();
    let size = |corner: &[u64]| corner[rank + axis].checked_sub(corner[axis])?.checked_add(1);
    let block = size(boxes.first()?)?;
    if boxes.iter().any(|corner| size(corner) != Some(block)) {
        return None;
    }
    let stride = starts.get(1).map_or(1, |second| second - starts[0]);
    if starts.windows(2).any(|pair| pair[1] - pair[0] != stride) {
        return None;
    }
    let count = u64::try_from(starts.len()).ok();
    Some(RegularDimension { start: starts[0], stride, count, block: Some(block) })
}

/// The elements that a stored selection selects of an array of `shape`; along the unlimited axis, if there is one, it
/// ends at element `end`.
pub fn elements(selection: &EncodedSelection, shape: &[u64], end: Option<u64>) -> Result<Elements> {
    let rank_fits = selection.rank().is_none_or(|rank| usize::try_from(rank).is_ok_and(|rank| rank == shape.len()));
    if !rank_fits {
        let what = format!("a selection of rank {:?} on an array of shape {shape:?}", selection.rank().unwrap_or(0));
        return Err(Error::corrupt(what));
    }
    match &selection.selection {
        Selection::None => Ok(Elements::none(shape.len())),
        Selection::All => Elements::all(shape),
        Selection::Points { coordinates, .. } => Ok(Elements::Points(Points::new(coordinates.clone(), shape)?)),
        Selection::Boxes { rank, corners } => {
            let rank = usize::try_from(*rank).map_err(|_| Error::corrupt("the rank of a selection is too large"))?;
            let blocks = corners.chunks_exact((2 * rank).max(1)).map(|corner| block(&corner[..rank], &corner[rank..]));
            Ok(Elements::Union(Union::new(blocks.collect::<Result<_>>()?, shape)?))
        }
        Selection::Regular(axes) => {
            let mut clipped = shape.to_vec();
            let spans: Vec<Span> = axes.iter().map(span).collect();
            for (axis, size) in axes.iter().zip(&mut clipped) {
                if let (true, Some(end)) = (axis.count.is_none() || axis.block.is_none(), end) {
                    *size = end.min(*size);
                }
            }
            Ok(Elements::Hyperslab(Hyperslab::new(&spans, &clipped)?))
        }
    }
}

/// The box from its first to its last element.
fn block(first: &[u64], last: &[u64]) -> Result<Block> {
    let mut count = Vec::new();
    for (first, last) in first.iter().zip(last) {
        let size = last.checked_sub(*first).and_then(|n| n.checked_add(1));
        count.push(size.ok_or_else(|| Error::corrupt(format!("a box ends at {last} before it begins at {first}")))?);
    }
    Ok(Block::new(first, &count))
}

fn span(axis: &RegularDimension) -> Span {
    match (axis.count, axis.block) {
        (Some(count), Some(block)) => Span::blocks(axis.start, axis.stride.max(1), count, block),
        (None, Some(block)) => {
            Span { start: axis.start, stride: axis.stride.max(1), count: BlockCount::Unlimited, block }
        }
        (_, None) => Span { start: axis.start, stride: 1, count: BlockCount::Unlimited, block: 1 },
    }
}

/// The selection of block number `number` of an unlimited selection along `axis`.
pub fn block_number(selection: &EncodedSelection, axis: usize, number: u64) -> Option<EncodedSelection> {
    let Selection::Regular(axes) = &selection.selection else { return None };
    let mut axes = axes.clone();
    let one = axes.get_mut(axis)?;
    one.start = one.stride.checked_mul(number)?.checked_add(one.start)?;
    one.count = Some(1);
    Some(EncodedSelection { selection: Selection::Regular(axes), ..selection.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered() {
        assert_eq!(numbered("a%b-%%b%", 12), "a12-%b%");
    }

    #[test]
    fn boxes_on_a_grid_are_regular() {
        let boxes = |corners: &[u64]| EncodedSelection {
            selection: Selection::Boxes { rank: 2, corners: corners.to_vec() },
            version: 1,
            width: 4,
            length: 0,
            reserved: Vec::new(),
        };
        let grid = regular(&boxes(&[0, 1, 0, 2, 0, 6, 0, 7, 3, 1, 3, 2, 3, 6, 3, 7]));
        let axis = |start, stride, block| RegularDimension { start, stride, count: Some(2), block: Some(block) };
        assert_eq!(grid.selection, Selection::Regular(vec![axis(0, 3, 1), axis(1, 5, 2)]));
        let ragged = boxes(&[0, 1, 0, 2, 0, 6, 0, 7, 3, 1, 3, 2]);
        assert_eq!(regular(&ragged), ragged);
    }

    #[test]
    fn slices_and_extents_belong_together() {
        let axis = RegularDimension { start: 2, stride: 5, count: None, block: Some(3) };
        for (size, count) in [(2, 0), (3, 1), (5, 3), (7, 3), (8, 4), (10, 6), (12, 6), (13, 7)] {
            assert_eq!(slices(&axis, size), count, "of {size}");
            assert!(extent(&axis, count) <= size);
            assert_eq!(slices(&axis, extent(&axis, count)), count);
        }
    }
}
