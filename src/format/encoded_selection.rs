//! Selections of a dataspace as region references and virtual datasets store them. Specification VIII.A, "Dataspace
//! Selection".
//!
//! ```text
//! type | version | none, all: nothing | points: coordinates | hyperslab: regular, or a list of boxes
//! ```

use std::fmt;

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// The largest rank of a dataspace.
const MAX_RANK: u32 = 32;

/// A selection with the way it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedSelection {
    /// What is selected.
    pub selection: Selection,
    /// Version of the encoding: 1 for none and all, 1 or 2 for points, 1 to 3 for hyperslabs.
    pub version: u32,
    /// Width of coordinates and counts; 4 in version 1, 8 in version 2 of hyperslabs, otherwise 2, 4 or 8.
    pub width: u8,
    /// The stored length, which some versions have and nobody needs.
    pub length: u32,
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
}

/// What is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Nothing.
    None,
    /// Everything.
    All,
    /// Single elements.
    Points {
        /// The dataspace's rank.
        rank: u32,
        /// The coordinates of all points, one point after the other.
        coordinates: Vec<u64>,
    },
    /// Blocks of equal size at equal distances.
    Regular(Vec<RegularDimension>),
    /// Boxes of any size.
    Boxes {
        /// The dataspace's rank.
        rank: u32,
        /// For each box the coordinates of its first element, then those of its last.
        corners: Vec<u64>,
    },
}

/// Points and boxes that are shown.
const SHOWN: usize = 4;

/// In NumPy's notation: `[0:2, 5:9]`, `[0:10:5]`; for blocks of several elements `[0:12:5 by 2]`; of points `(0, 1), (4, 4)`,
/// of boxes `[0:2, 0:3], [5:6, 1:2]`, of many the first few.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |texts: Vec<String>| texts.join(", ");
        let few = |f: &mut fmt::Formatter<'_>, all: usize, first: Vec<String>| {
            f.write_str(&first.join(", "))?;
            if all > SHOWN { write!(f, " and {} more", all - SHOWN) } else { Ok(()) }
        };
        match self {
            Selection::None => f.write_str("[]"),
            Selection::All => f.write_str("[...]"),
            Selection::Regular(dimensions) => {
                write!(f, "[{}]", joined(dimensions.iter().map(RegularDimension::to_string).collect()))
            }
            Selection::Points { rank, coordinates } => {
                let points = coordinates.chunks(usize::try_from(*rank).unwrap_or(1).max(1));
                let point = |point: &[u64]| format!("({})", joined(point.iter().map(u64::to_string).collect()));
                few(f, points.len(), points.take(SHOWN).map(point).collect())
            }
            Selection::Boxes { rank, corners } => {
                let rank = usize::try_from(*rank).unwrap_or(1).max(1);
                let side = |(first, last): (&u64, &u64)| format!("{first}:{}", last.saturating_add(1));
                let one = |both: &[u64]| {
                    let (first, last) = both.split_at(rank);
                    format!("[{}]", joined(first.iter().zip(last).map(side).collect()))
                };
                let boxes = corners.chunks_exact(2 * rank);
                few(f, boxes.len(), boxes.take(SHOWN).map(one).collect())
            }
        }
    }
}

/// One dimension of a regular hyperslab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegularDimension {
    /// Where the first block begins.
    pub start: u64,
    /// From the beginning of a block to that of the next.
    pub stride: u64,
    /// Blocks; none if they go on without end.
    pub count: Option<u64>,
    /// Elements in a block; none if it goes on without end.
    pub block: Option<u64>,
}

/// `start:end`, `start:end:stride`, and `start:end:stride by block` for blocks of several elements.
impl fmt::Display for RegularDimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RegularDimension { start, stride, count, block } = *self;
        let (Some(count), Some(block)) = (count, block) else { return write!(f, "{start}:") };
        let end = |length: u64| start.saturating_add(length);
        let last = count.saturating_sub(1).saturating_mul(stride);
        match (count, block) {
            (1, _) => write!(f, "{start}:{}", end(block)),
            _ if stride == block => write!(f, "{start}:{}", end(count.saturating_mul(block))),
            (_, 1) => write!(f, "{start}:{}:{stride}", end(last.saturating_add(1))),
            _ => write!(f, "{start}:{}:{stride} by {block}", end(last.saturating_add(block))),
        }
    }
}

impl EncodedSelection {
    /// A selection in an encoding whose coordinates have `width` bytes: 4 for the oldest version that all libraries
    /// read (8 for regular hyperslabs), 2, 4 or 8 for the newest. `newest` says which.
    pub fn new(selection: Selection, width: u8, newest: Newest) -> Self {
        let version = match (&selection, newest) {
            (Selection::None | Selection::All, _) => 1,
            (Selection::Points { .. }, Newest::No) => 1,
            (Selection::Points { .. }, Newest::Yes) => 2,
            (Selection::Regular(_), Newest::No) => 2,
            (Selection::Boxes { .. }, Newest::No) => 1,
            (Selection::Regular(_) | Selection::Boxes { .. }, Newest::Yes) => 3,
        };
        let of = |numbers: usize, width: usize| u32::try_from(numbers * width).unwrap_or(u32::MAX);
        let (width, length) = match (&selection, newest) {
            (Selection::None | Selection::All, _) => (4, 0),
            (_, Newest::Yes) => (width, 0),
            (Selection::Points { coordinates, .. }, Newest::No) => (4, of(2 + coordinates.len(), 4)),
            (Selection::Boxes { corners, .. }, Newest::No) => (4, of(2 + corners.len(), 4)),
            (Selection::Regular(dimensions), Newest::No) => (8, 4 + of(4 * dimensions.len(), 8)),
        };
        EncodedSelection { selection, version, width, length, reserved: Vec::new() }
    }

    /// The dataspace's rank, where the encoding says it.
    pub fn rank(&self) -> Option<u32> {
        match &self.selection {
            Selection::None | Selection::All => None,
            Selection::Points { rank, .. } | Selection::Boxes { rank, .. } => Some(*rank),
            Selection::Regular(dimensions) => u32::try_from(dimensions.len()).ok(),
        }
    }

    /// The number that stands for the kind of selection.
    fn kind(&self) -> u32 {
        match &self.selection {
            Selection::None => 0,
            Selection::Points { .. } => 1,
            Selection::Regular(_) | Selection::Boxes { .. } => 2,
            Selection::All => 3,
        }
    }

    fn is_regular(&self) -> bool {
        matches!(self.selection, Selection::Regular(_))
    }

    fn numbers(&self) -> &[u64] {
        match &self.selection {
            Selection::Points { coordinates, .. } => coordinates,
            Selection::Boxes { corners, .. } => corners,
            Selection::None | Selection::All | Selection::Regular(_) => &[],
        }
    }

    fn dimensions(&self) -> &[RegularDimension] {
        match &self.selection {
            Selection::Regular(dimensions) => dimensions,
            _ => &[],
        }
    }

    /// How many points or boxes of `numbers` coordinates each.
    fn count(&self, numbers: usize) -> u64 {
        u64::try_from(self.numbers().len().checked_div(numbers).unwrap_or(0)).unwrap_or(u64::MAX)
    }
}

/// Whether an encoding is used that libraries before 1.12 do not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newest {
    /// All libraries read it.
    No,
    /// It takes the least space.
    Yes,
}

impl Structure for EncodedSelection {
    const NAME: &'static str = "dataspace selection";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let kind = w.u32("selection type", EncodedSelection::kind)?;
        let version = w.u32("version", |s| s.version)?;
        match (kind, version) {
            (0 | 3, 1) => {
                let reserved = w.reserved(8, |s| &s.reserved)?;
                let selection = if kind == 0 { Selection::None } else { Selection::All };
                Ok(EncodedSelection { selection, version, width: 4, length: 0, reserved })
            }
            (1, 1..=2) => walk_points(w, version),
            (2, 1..=3) => walk_hyperslab(w, version),
            (0..=3, _) => w.unsupported("version", format!("version of selection type {kind} is {version}")),
            _ => w.unsupported("selection type", format!("type is {kind}, 0 to 3 are known")),
        }
    }
}

fn walk_points(w: &mut Walk<'_, '_, EncodedSelection>, version: u32) -> Result<EncodedSelection> {
    let (mut width, mut length, mut reserved) = (4, 0, Vec::new());
    if version == 1 {
        reserved = w.reserved(4, |s| &s.reserved)?;
        length = w.u32("length", |s| s.length)?;
    } else {
        width = walk_width(w)?;
    }
    let rank = walk_rank(w)?;
    let coordinates = walk_numbers(w, ["num points", "coordinate"], width, rank as usize)?;
    let selection = Selection::Points { rank, coordinates };
    Ok(EncodedSelection { selection, version, width, length, reserved })
}

fn walk_hyperslab(w: &mut Walk<'_, '_, EncodedSelection>, version: u32) -> Result<EncodedSelection> {
    let (mut width, mut length, mut reserved, mut regular) = (4, 0, Vec::new(), false);
    if version == 1 {
        reserved = w.reserved(4, |s| &s.reserved)?;
    } else {
        match w.u8("flags", |s| s.is_regular().into())? {
            flags @ 0..=1 => regular = flags == 1,
            flags => return w.unsupported("flags", format!("flags are {flags:#x}, only 0x1 is known")),
        }
    }
    match version {
        1 => length = w.u32("length", |s| s.length)?,
        2 => (width, length) = (8, w.u32("length", |s| s.length)?),
        _ => width = walk_width(w)?,
    }
    let rank = walk_rank(w)?;
    if !regular {
        let corners = walk_numbers(w, ["num blocks", "offset"], width, 2 * rank as usize)?;
        let selection = Selection::Boxes { rank, corners };
        return Ok(EncodedSelection { selection, version, width, length, reserved });
    }
    let mut dimensions = Vec::new();
    for i in 0..rank as usize {
        let start = w.uint("start", width, |s| s.dimensions()[i].start)?;
        let stride = w.uint("stride", width, |s| s.dimensions()[i].stride)?;
        let count = w.uint_or_none("count", width, |s| s.dimensions()[i].count)?;
        let block = w.uint_or_none("block", width, |s| s.dimensions()[i].block)?;
        dimensions.push(RegularDimension { start, stride, count, block });
    }
    Ok(EncodedSelection { selection: Selection::Regular(dimensions), version, width, length, reserved })
}

fn walk_width(w: &mut Walk<'_, '_, EncodedSelection>) -> Result<u8> {
    match w.u8("encode size", |s| s.width)? {
        width @ (2 | 4 | 8) => Ok(width),
        width => w.corrupt("encode size", format!("size is {width}, must be 2, 4 or 8")),
    }
}

fn walk_rank(w: &mut Walk<'_, '_, EncodedSelection>) -> Result<u32> {
    let rank = w.u32("rank", |s| s.rank().unwrap_or(0))?;
    if rank > MAX_RANK {
        return w.unsupported("rank", format!("rank is {rank}, at most {MAX_RANK} is known"));
    }
    Ok(rank)
}

/// A count, then so many times `each` numbers.
fn walk_numbers(
    w: &mut Walk<'_, '_, EncodedSelection>,
    [count_field, field]: [&'static str; 2],
    width: u8,
    each: usize,
) -> Result<Vec<u64>> {
    let count = w.uint(count_field, width, |s| s.count(each))?;
    if each == 0 && count > 0 {
        return w.corrupt(count_field, format!("{count} are selected in a dataspace without dimensions"));
    }
    match usize::try_from(count).ok().and_then(|count| count.checked_mul(each)) {
        Some(count) => w.uints(field, width, count, EncodedSelection::numbers),
        None => w.corrupt(count_field, format!("{count} are more than this machine can address")),
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::encoded_selection;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;

    /// Any selection in any encoding.
    pub fn encoded_selection() -> BoxedStrategy<EncodedSelection> {
        let width = prop_oneof![Just(2u8), Just(4), Just(8)];
        let newest = prop_oneof![Just(Newest::No), Just(Newest::Yes)];
        let number = 0u64..0xffff;
        let dimension = (number.clone(), number.clone(), option::of(number.clone()), option::of(number.clone()))
            .prop_map(|(start, stride, count, block)| RegularDimension { start, stride, count, block });
        let points = (1u32..5, 0usize..4).prop_flat_map({
            let number = number.clone();
            move |(rank, count)| {
                vec(number.clone(), rank as usize * count)
                    .prop_map(move |coordinates| Selection::Points { rank, coordinates })
            }
        });
        let boxes = (1u32..5, 0usize..4).prop_flat_map(move |(rank, count)| {
            vec(number.clone(), 2 * rank as usize * count).prop_map(move |corners| Selection::Boxes { rank, corners })
        });
        let regular = vec(dimension, 0..5).prop_map(Selection::Regular);
        let selection = prop_oneof![Just(Selection::None), Just(Selection::All), points, regular, boxes];
        (selection, width, newest).prop_map(|(s, width, newest)| EncodedSelection::new(s, width, newest)).boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::{Addr, Sizes, laws};

    #[test]
    fn laws_hold() {
        laws::hold::<EncodedSelection>(|_| encoded_selection().prop_map(|s| (s, ())).boxed());
    }

    fn decode(bytes: &[u8]) -> Result<EncodedSelection> {
        let selection = EncodedSelection::decode(bytes, Addr(0), Sizes::EIGHT, ())?;
        assert_eq!(selection.encode(Addr(0), Sizes::EIGHT, ())?, bytes);
        Ok(selection)
    }

    #[test]
    fn a_box_as_libhdf5_1_8_wrote_it() {
        let words: [u32; 10] = [2, 1, 0, 24, 2, 1, 3, 0, 3, 9];
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let selection = decode(&bytes).unwrap();
        assert_eq!(selection.selection, Selection::Boxes { rank: 2, corners: vec![3, 0, 3, 9] });
        assert_eq!(selection, EncodedSelection::new(selection.selection.clone(), 4, Newest::No));
    }

    #[test]
    fn a_regular_hyperslab_as_libhdf5_2_0_writes_it() {
        let bytes = [2, 0, 0, 0, 3, 0, 0, 0, 1, 2, 2, 0, 0, 0, 4, 0, 1, 0, 0xff, 0xff, 1, 0, 0, 0, 7, 0, 6, 0, 10, 0];
        let dimension = |start, stride, count, block| RegularDimension { start, stride, count, block: Some(block) };
        let expected = Selection::Regular(vec![dimension(4, 1, None, 1), dimension(0, 7, Some(6), 10)]);
        let selection = decode(&bytes).unwrap();
        assert_eq!(selection, EncodedSelection::new(expected, 2, Newest::Yes));
    }

    #[test]
    fn an_encoding_that_is_not_known_is_unsupported() {
        let kind = |words: [u32; 4]| {
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            decode(&bytes).unwrap_err().kind()
        };
        assert_eq!(kind([4, 1, 0, 0]), ErrorKind::Unsupported);
        assert_eq!(kind([0, 2, 0, 0]), ErrorKind::Unsupported);
        assert_eq!(kind([1, 3, 0, 0]), ErrorKind::Unsupported);
        assert_eq!(kind([2, 4, 0, 0]), ErrorKind::Unsupported);
        assert_eq!(kind([2, 3, 0x0000_0302, 0]), ErrorKind::Unsupported);
        assert_eq!(kind([2, 3, 0x0000_0301, 0]), ErrorKind::Corrupt);
    }

    #[test]
    fn points_without_coordinates_are_corrupt() {
        let mut bytes = [1u32, 2].iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
        bytes.extend_from_slice(&[8, 0, 0, 0, 0]);
        bytes.extend_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(decode(&bytes).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
