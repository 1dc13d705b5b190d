//! The notation for selections in Rust code: `s![0, .., 2..9;3, [4, 0, 4]]`.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::selection::index::Index;

/// A [`Selection`](crate::selection::Selection), one index per dimension; those that are missing select all.
///
/// | index | selects |
/// |---|---|
/// | `3`, `-1` | one element, from the start or the end; the dimension is dropped |
/// | `..`, `2..9`, `-3..`, `..=4` | a range; its ends may be negative |
/// | `2..9;3`, `..;-1` | every so manyth of a range; in reverse if negative |
/// | `[4, 0, 4]`, a `Vec` | a list, in any order, with repeats |
/// | `[true, false, true]`, a `Vec<bool>` | a mask of the dimension |
/// | [`Index::Ellipsis`], [`Index::NewAxis`], any [`Index`] | what they say |
///
/// ```
/// use hdfive::s;
/// use hdfive::selection::Index::{Ellipsis, NewAxis};
///
/// let shape = [3, 11, 5];
/// let result = |selection: hdfive::selection::Selection| selection.resolve(&shape).unwrap().result_shape().to_vec();
/// assert_eq!(result(s![-1, 2..9;3, [4, 0, 4]]), [3, 3]);
/// assert_eq!(result(s![.., ..;-1]), [3, 11, 5]);
/// assert_eq!(result(s![NewAxis, Ellipsis, 0]), [1, 3, 11]);
/// assert_eq!(result(s![[true, false, true], ..=4]), [2, 5, 5]);
/// ```
#[macro_export]
macro_rules! s {
    ($($index:expr $(; $step:expr)?),* $(,)?) => {
        $crate::selection::Selection::Indices(::std::vec![$($crate::s!(@ $index $(, $step)?)),*])
    };
    (@ $index:expr) => { $crate::selection::Index::from($index) };
    (@ $range:expr, $step:expr) => { $crate::selection::Index::stepped($range, $step) };
}

/// The ends of a range, which may count from the end of the dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    start: Option<i64>,
    stop: Option<i64>,
}

impl Index {
    /// Every `step`-th element of a range, in reverse if `step` is negative.
    pub fn stepped(range: impl Into<Ends>, step: i64) -> Index {
        let Ends { start, stop } = range.into();
        Index::Range { start, stop, step }
    }
}

/// The stop behind an inclusive end: -1 is the last element, and nothing is behind it.
fn behind(last: i64) -> Option<i64> {
    if last == -1 { None } else { Some(last.saturating_add(1)) }
}

impl From<RangeFull> for Ends {
    fn from(_: RangeFull) -> Ends {
        Ends { start: None, stop: None }
    }
}

impl From<RangeFull> for Index {
    fn from(range: RangeFull) -> Index {
        Index::stepped(range, 1)
    }
}

macro_rules! integers {
    ($($integer:ty)*) => { $(
        impl From<$integer> for Index {
            fn from(at: $integer) -> Index {
                Index::At(i64::try_from(at).unwrap_or(i64::MAX))
            }
        }

        impl From<Vec<$integer>> for Index {
            fn from(list: Vec<$integer>) -> Index {
                Index::from(&list[..])
            }
        }

        impl<const N: usize> From<[$integer; N]> for Index {
            fn from(list: [$integer; N]) -> Index {
                Index::from(&list[..])
            }
        }

        impl From<&[$integer]> for Index {
            fn from(list: &[$integer]) -> Index {
                Index::List(list.iter().map(|at| i64::try_from(*at).unwrap_or(i64::MAX)).collect())
            }
        }

        integers!($integer, Range, |range| (Some(range.start), Some(range.end)), (Some, Some));
        integers!($integer, RangeFrom, |range| (Some(range.start), None), (Some, Some));
        integers!($integer, RangeTo, |range| (None, Some(range.end)), (Some, Some));
        integers!($integer, RangeInclusive, |range| (Some(*range.start()), Some(*range.end())), (Some, behind));
        integers!($integer, RangeToInclusive, |range| (None, Some(range.end)), (Some, behind));
    )* };
    ($integer:ty, $range:ident, |$name:ident| $ends:expr, ($start:expr, $stop:expr)) => {
        impl From<$range<$integer>> for Ends {
            fn from($name: $range<$integer>) -> Ends {
                let (start, stop): (Option<$integer>, Option<$integer>) = $ends;
                let wide = |at: $integer| i64::try_from(at).unwrap_or(i64::MAX);
                Ends { start: start.map(wide).and_then($start), stop: stop.map(wide).and_then($stop) }
            }
        }

        impl From<$range<$integer>> for Index {
            fn from(range: $range<$integer>) -> Index {
                Index::stepped(range, 1)
            }
        }
    };
}
integers!(i32 i64 usize u64);

impl From<&[bool]> for Index {
    fn from(mask: &[bool]) -> Index {
        Index::Mask { shape: vec![mask.len() as u64], values: mask.to_vec() }
    }
}

impl From<Vec<bool>> for Index {
    fn from(mask: Vec<bool>) -> Index {
        Index::from(&mask[..])
    }
}

impl<const N: usize> From<[bool; N]> for Index {
    fn from(mask: [bool; N]) -> Index {
        Index::from(&mask[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::Selection;

    #[test]
    fn the_notation_says_what_the_indices_say() {
        let range = |start, stop, step| Index::Range { start, stop, step };
        let (n, last) = (4usize, -1);
        let expected = vec![
            Index::At(-1),
            Index::At(4),
            Index::ALL,
            range(Some(2), Some(9), 3),
            range(None, None, -2),
            range(Some(-3), None, 1),
            range(Some(1), None, 1),
            range(None, Some(5), 1),
            Index::List(vec![4, 0, -1]),
            Index::NewAxis,
        ];
        assert_eq!(
            s![-1, n, .., 2..9;3, ..;-2, -3.., 1..=last, ..=n, [4, 0, -1], Index::NewAxis],
            Selection::Indices(expected)
        );
        assert_eq!(s![], Selection::all());
        assert_eq!(s![vec![true, false]], Selection::Indices(vec![Index::from([true, false])]));
    }
}
