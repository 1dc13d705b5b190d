//! One dimension cut into chunks: which chunks a selection touches, whether wholly, and in which pieces.
//!
//! ```text
//! 2..9 by 3 over chunks of 4     . . #|.  . #|. .  #|...      chunk 0: 1 from 2; chunk 1: 1 from 1; chunk 2: 1 from 0
//! ```
//! A range is arithmetic and costs nothing until asked. A list is sorted once, by chunk.

use bitvec::prelude::{BitVec, Lsb0};

use crate::selection::index::AxisSelection;
use crate::selection::shape;

/// Elements of one chunk and their places in the result, along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Piece {
    /// The first element, counted from the chunk's start.
    pub chunk_start: u64,
    /// Its place in the result.
    pub value_start: u64,
    /// How many elements.
    pub count: u64,
    /// From one to the next in the chunk; at least 1.
    pub chunk_step: u64,
    /// From one to the next in the result; negative when the result runs the other way.
    pub value_step: i64,
}

/// What a selection touches along one dimension. Chunks are listed in ascending order, each once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AxisChunks {
    size: u64,
    chunk: u64,
    touched: Touched,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Touched {
    /// `count` elements from `low` up, every `step`-th; `reversed` if the result runs down. They touch `chunks` chunks,
    /// of which `first` is the first.
    Range {
        low: u64,
        step: u64,
        count: u64,
        reversed: bool,
        first: u64,
        chunks: u64,
    },
    List {
        chunks: Vec<ListChunk>,
        pieces: Vec<Piece>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct ListChunk {
    chunk: u64,
    wholly: bool,
    /// Where its pieces end in the list of all pieces.
    end: usize,
}

impl AxisChunks {
    /// What `selection` touches of a dimension of `size` elements in chunks of `chunk` (not 0).
    pub fn new(selection: &AxisSelection, size: u64, chunk: u64) -> AxisChunks {
        let touched = match selection {
            AxisSelection::Range { start, step, count } => {
                let (reversed, step) = (*step < 0, step.unsigned_abs());
                let low = if reversed { start - (count - 1) * step } else { *start };
                let first = low / chunk;
                let chunks = match count {
                    0 => 0,
                    _ if step <= chunk => (low + (count - 1) * step) / chunk - first + 1,
                    _ => *count,
                };
                Touched::Range { low, step, count: *count, reversed, first, chunks }
            }
            AxisSelection::List(list) => split(list, size, chunk),
        };
        AxisChunks { size, chunk, touched }
    }

    /// How many chunks are touched.
    pub fn len(&self) -> u64 {
        match &self.touched {
            Touched::Range { chunks, .. } => *chunks,
            Touched::List { chunks, .. } => chunks.len() as u64,
        }
    }

    /// Whether no chunk is touched.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the `i`-th touched chunk along the dimension.
    pub fn chunk(&self, i: u64) -> u64 {
        match &self.touched {
            Touched::Range { first, step, .. } if *step <= self.chunk => first + i,
            Touched::Range { low, step, .. } => (low + i * step) / self.chunk,
            Touched::List { chunks, .. } => chunks[shape::index(i)].chunk,
        }
    }

    /// Whether every element of the `i`-th touched chunk is selected.
    pub fn wholly(&self, i: u64) -> bool {
        match &self.touched {
            Touched::Range { .. } => self.piece(i, 0).is_some_and(|piece| piece.count == self.extent(i)),
            Touched::List { chunks, .. } => chunks[shape::index(i)].wholly,
        }
    }

    /// The same for all touched chunks, one bit each.
    pub fn all_wholly(&self) -> BitVec<usize, Lsb0> {
        let Touched::Range { step: 1, chunks: chunks @ 1.., .. } = &self.touched else {
            return (0..self.len()).map(|i| self.wholly(i)).collect();
        };
        // Only the first and the last can be cut.
        let mut mask = BitVec::repeat(true, shape::index(*chunks));
        [0, chunks - 1].iter().for_each(|&i| mask.set(shape::index(i), self.wholly(i)));
        mask
    }

    /// How many elements the `i`-th touched chunk has within the dimension.
    pub fn extent(&self, i: u64) -> u64 {
        self.chunk.min(self.size - self.chunk(i) * self.chunk)
    }

    /// How many pieces the `i`-th touched chunk has: 1 for a range.
    pub fn pieces(&self, i: u64) -> usize {
        match &self.touched {
            Touched::Range { .. } => 1,
            Touched::List { chunks, .. } => chunks[shape::index(i)].end - self.first_piece(i),
        }
    }

    fn first_piece(&self, i: u64) -> usize {
        match &self.touched {
            Touched::List { chunks, .. } if i > 0 => chunks[shape::index(i - 1)].end,
            Touched::List { .. } | Touched::Range { .. } => 0,
        }
    }

    /// Piece `n` of the `i`-th touched chunk, in the order in which the pieces are to be moved.
    pub fn piece(&self, i: u64, n: usize) -> Option<Piece> {
        match &self.touched {
            Touched::Range { low, step, count, reversed, .. } => {
                let origin = self.chunk(i) * self.chunk;
                let steps = |distance: u64| if *step == 1 { distance } else { distance.div_ceil(*step) };
                let first = steps(origin.saturating_sub(*low));
                let end = steps(origin.saturating_add(self.chunk) - low).min(*count);
                Some(Piece {
                    chunk_start: low + first * step - origin,
                    value_start: if *reversed { count - 1 - first } else { first },
                    count: end - first,
                    chunk_step: *step,
                    value_step: if *reversed { -1 } else { 1 },
                })
            }
            Touched::List { pieces, .. } => pieces.get(self.first_piece(i) + n).copied(),
        }
    }
}

/// Sorts a list by chunk (within a chunk its order stays) and cuts each chunk's part into pieces.
fn split(list: &[u64], size: u64, chunk: u64) -> Touched {
    let mut sorted: Vec<(u64, usize)> = list.iter().map(|at| at / chunk).zip(0..).collect();
    if !sorted.is_sorted() {
        sorted.sort_unstable();
    }
    let (mut chunks, mut pieces) = (vec![], vec![]);
    let mut distinct: Vec<u64> = vec![];
    for members in sorted.chunk_by(|a, b| a.0 == b.0) {
        let number = members[0].0;
        distinct.clear();
        distinct.extend(members.iter().map(|&(_, k)| list[k]));
        distinct.sort_unstable();
        distinct.dedup();
        let wholly = distinct.len() as u64 == chunk.min(size - number * chunk);
        cut(members, list, number * chunk, &mut pieces);
        chunks.push(ListChunk { chunk: number, wholly, end: pieces.len() });
    }
    Touched::List { chunks, pieces }
}

/// Cuts the members of one chunk greedily into pieces of constant steps.
///
/// A piece grows while both the place in the list and the element ascend by the same steps. A single element stays
/// alone if joining it to the next would cut a contiguous piece that begins there.
fn cut(members: &[(u64, usize)], list: &[u64], origin: u64, pieces: &mut Vec<Piece>) {
    let places: Vec<(u64, u64)> = members.iter().map(|&(_, k)| (k as u64, list[k])).collect();
    let mut i = 0;
    while i < places.len() {
        let (place, at) = places[i];
        let mut piece = Piece { chunk_start: at - origin, value_start: place, count: 1, chunk_step: 1, value_step: 1 };
        let mut steps = (1, 1);
        while let [here, next, rest @ ..] = &places[i..] {
            if next.1 <= here.1 {
                break;
            }
            let step = (next.0 - here.0, next.1 - here.1);
            if piece.count == 1 {
                let contiguous = |part: fn(&(u64, u64)) -> u64| rest.first().is_some_and(|r| part(r) == part(next) + 1);
                if step.0 > 1 && contiguous(|p| p.0) || step.1 > 1 && contiguous(|p| p.1) {
                    break;
                }
                steps = step;
            } else if step != steps {
                break;
            }
            piece.count += 1;
            i += 1;
        }
        i += 1;
        piece.value_step = i64::try_from(steps.0).expect("a place in a list");
        piece.chunk_step = steps.1;
        pieces.push(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn selection() -> impl Strategy<Value = (AxisSelection, u64, u64)> {
        let range = (0..9u64, -5..6i64, 0..6u64, 0..4u64).prop_map(|(low, step, count, spare)| {
            let step = if step == 0 || count < 2 { 1 } else { step };
            let reach = count.saturating_sub(1) * step.unsigned_abs();
            let start = if step < 0 { low + reach } else { low };
            (AxisSelection::Range { start, step, count }, low + reach + 1 + spare)
        });
        let list = prop::collection::vec(0..15u64, 1..12).prop_map(|list| (AxisSelection::List(list), 15));
        (prop_oneof![range, list], 1..8u64).prop_map(|((selection, size), chunk)| (selection, size, chunk))
    }

    proptest! {
        #[test]
        fn pieces_list_every_element_once_in_ascending_chunks((selection, size, chunk) in selection()) {
            let elements: Vec<u64> = match &selection {
                AxisSelection::Range { start, step, count } => (0..*count)
                    .map(|k| start.checked_add_signed(step * i64::try_from(k).unwrap()).unwrap()).collect(),
                AxisSelection::List(list) => list.clone(),
            };
            let axis = AxisChunks::new(&selection, size, chunk);
            let mut touched: Vec<u64> = elements.iter().map(|at| at / chunk).collect();
            touched.sort_unstable();
            touched.dedup();
            prop_assert_eq!((0..axis.len()).map(|i| axis.chunk(i)).collect::<Vec<_>>(), touched);
            let mut found = vec![None; elements.len()];
            for i in 0..axis.len() {
                let origin = axis.chunk(i) * chunk;
                let whole = (origin..size.min(origin + chunk)).all(|at| elements.contains(&at));
                prop_assert_eq!(axis.wholly(i), whole);
                for piece in (0..axis.pieces(i)).map(|n| axis.piece(i, n).unwrap()) {
                    for k in 0..piece.count {
                        let at = origin + piece.chunk_start + k * piece.chunk_step;
                        let place = piece.value_start.checked_add_signed(piece.value_step * i64::try_from(k).unwrap());
                        prop_assert_eq!(at / chunk, axis.chunk(i));
                        prop_assert_eq!(found[shape::index(place.unwrap())].replace(at), None);
                    }
                }
            }
            prop_assert_eq!(found, elements.into_iter().map(Some).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_single_element_does_not_break_the_contiguous_ones_behind_it() {
        let axis = AxisChunks::new(&AxisSelection::List(vec![0, 3, 4, 5, 9]), 10, 10);
        let pieces: Vec<_> = (0..axis.pieces(0)).map(|n| axis.piece(0, n).unwrap()).collect();
        let starts: Vec<_> = pieces.iter().map(|p| (p.chunk_start, p.value_start, p.count)).collect();
        assert_eq!(starts, [(0, 0, 1), (3, 1, 3), (9, 4, 1)]);
    }
}
