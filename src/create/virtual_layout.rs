//! Virtual datasets: which elements of other datasets theirs are.

use bytes::Bytes;

use super::site::Site;
use crate::error::{Error, Result};
use crate::format::encoded_selection::{EncodedSelection, Newest, RegularDimension, Selection as Stored};
use crate::format::virtual_mapping::{Mapping, Name, VirtualMapping};
use crate::selection::{AxisSelection, Selection};
use crate::wire::{Addr, Sizes, Structure};
use crate::write::{Compatibility, Storage};

/// Boxes of a selection that is not regular at most.
const MOST_BOXES: usize = 1 << 20;

/// A dataset that elements of a virtual dataset come from, and which of its elements they are.
///
/// ```
/// use hdfive::create::VirtualSource;
/// use hdfive::write::Compatibility;
/// use hdfive::{FileBuilder, s};
///
/// # fn main() -> hdfive::Result<()> {
/// let file = FileBuilder::new().compatibility(Compatibility::V110).create_in_memory()?;
/// let all = file.new_dataset::<f32>().shape([2, 100]);
/// let first = VirtualSource::new("day1.h5", "rain", [300]).select(s![..100]);
/// let second = VirtualSource::new("day2.h5", "rain", [300]).select(s![100..200]);
/// all.map(s![0, ..], first).map(s![1, ..], second).create("rain")?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct VirtualSource {
    file: String,
    dataset: String,
    shape: Vec<u64>,
    selection: Selection,
    unlimited: Option<usize>,
}

impl VirtualSource {
    /// The dataset at the path `dataset` of `file` (relative to the new file's folder; `.` is the new file itself),
    /// which has this shape. All of it, unless something is selected.
    ///
    /// In either name `%b` stands for the number of a block, counted from 0, where the elements that are mapped go on without
    /// end: each block comes from a source of its own.
    pub fn new(file: impl Into<String>, dataset: impl Into<String>, shape: impl AsRef<[u64]>) -> VirtualSource {
        let (file, dataset, shape) = (file.into(), dataset.into(), shape.as_ref().to_vec());
        VirtualSource { file, dataset, shape, selection: Selection::all(), unlimited: None }
    }

    /// These of its elements.
    #[must_use]
    pub fn select(mut self, selection: impl Into<Selection>) -> VirtualSource {
        self.selection = selection.into();
        self
    }

    /// What is selected goes on without end along `axis`, as far as the source comes to have elements.
    #[must_use]
    pub fn unlimited(mut self, axis: usize) -> VirtualSource {
        self.unlimited = Some(axis);
        self
    }

    fn is_numbered(&self) -> bool {
        let has = |name: &str| name.replace("%%", "").contains("%b");
        has(&self.file) || has(&self.dataset)
    }
}

/// Elements of a virtual dataset, and where they come from.
#[derive(Clone, Debug)]
pub(super) struct Mapped {
    pub(super) target: Selection,
    /// Along which dimension they go on without end.
    pub(super) unlimited: Option<usize>,
    pub(super) source: VirtualSource,
}

/// Stores the mappings of a virtual dataset of this shape.
pub(super) fn store(site: &Site, mapped: &[Mapped], shape: &[u64]) -> Result<Storage> {
    if site.level < Compatibility::V110 {
        return Err(Error::unsupported(format!("virtual datasets cannot be written for {:?}", site.level)));
    }
    let version = u8::from(site.level >= Compatibility::V200);
    let mut mappings: Vec<Mapping> = Vec::with_capacity(mapped.len());
    for one in mapped {
        mappings.push(one.mapping(shape, site.level)?);
    }
    if version == 1 {
        share_names(&mut mappings);
    }
    let block = Bytes::from(VirtualMapping { version, mappings }.encode(Addr(0), Sizes::EIGHT, ())?);
    let ids = site.with(|draft| draft.heap.store(&mut draft.space, &[block]))?;
    let id = ids.first().ok_or_else(|| Error::invalid("no mapping was stored"))?;
    Ok(Storage::Virtual(id.collection, id.index))
}

/// Lets mappings name a file and a dataset once.
fn share_names(mappings: &mut [Mapping]) {
    use std::collections::HashMap;
    let (mut files, mut datasets) = (HashMap::new(), HashMap::new());
    for (mapping, number) in mappings.iter_mut().zip(0..) {
        share(&mut mapping.file, &mut files, number);
        if mapping.file == Name::Text(b".".to_vec()) {
            mapping.file = Name::SameFile;
        }
        share(&mut mapping.dataset, &mut datasets, number);
    }
}

fn share(name: &mut Name, seen: &mut std::collections::HashMap<Vec<u8>, u64>, number: u64) {
    let Name::Text(text) = name else { return };
    if text == b"." {
        return;
    }
    match seen.get(text) {
        Some(first) => *name = Name::Shared(*first),
        None => drop(seen.insert(text.clone(), number)),
    }
}

impl Mapped {
    fn mapping(&self, shape: &[u64], level: Compatibility) -> Result<Mapping> {
        let source = &self.source;
        let numbered = source.is_numbered();
        let (from, to) = (Axes::new(&source.selection, &source.shape)?, Axes::new(&self.target, shape)?);
        let alike = match (self.unlimited, source.unlimited) {
            (None, None) => from.count(None)? == to.count(None)?,
            (Some(_), None) if numbered => from.count(None)? == to.count(None)?,
            (Some(own), Some(other)) if !numbered => from.count(Some(other))? == to.count(Some(own))?,
            _ => {
                let what =
                    "either both of a virtual dataset and its source go on without end, or blocks that `%b` numbers";
                return Err(Error::invalid(what));
            }
        };
        if !alike {
            let what = format!("{} elements are mapped to {}", from.count(None)?, to.count(None)?);
            return Err(Error::invalid(what));
        }
        Ok(Mapping {
            file: Name::Text(source.file.clone().into_bytes()),
            dataset: Name::Text(source.dataset.clone().into_bytes()),
            source: encoded(from.stored(source.unlimited, false)?, level)?,
            target: encoded(to.stored(self.unlimited, numbered)?, level)?,
        })
    }
}

/// What is selected along each dimension: runs of elements, in ascending order.
struct Axes(Vec<Runs>);

/// Runs of elements of one dimension.
enum Runs {
    Regular {
        start: u64,
        stride: u64,
        count: u64,
        block: u64,
    },
    /// Starts and lengths.
    Other(Vec<(u64, u64)>),
}

impl Axes {
    fn new(selection: &Selection, shape: &[u64]) -> Result<Axes> {
        let selected = selection.resolve(shape)?;
        let axes = selected.axes().ok_or_else(|| Error::unsupported("single points in a virtual dataset"))?;
        axes.iter().map(Runs::new).collect::<Result<_>>().map(Axes)
    }

    /// How many elements, but for one dimension.
    fn count(&self, but: Option<usize>) -> Result<u64> {
        let counted = self.0.iter().enumerate().filter(|(axis, _)| Some(*axis) != but);
        let product = counted.map(|(_, runs)| runs.count()).try_fold(1u64, u64::checked_mul);
        product.ok_or_else(|| Error::limit("the selection is larger than 64 bits can count"))
    }

    /// As it is stored, going on without end along one dimension; in blocks, if these have numbers.
    fn stored(&self, unlimited: Option<usize>, numbered: bool) -> Result<Stored> {
        if self.count(None)? == 0 {
            return Ok(Stored::None);
        }
        let regular = |(axis, runs): (usize, &Runs)| {
            let Runs::Regular { start, stride, count, block } = *runs else { return None };
            let one = RegularDimension { start, stride, count: Some(count), block: Some(block) };
            Some(match unlimited == Some(axis) {
                false => one,
                true if count > 1 => RegularDimension { count: None, ..one },
                true if numbered => RegularDimension { stride: block, count: None, ..one },
                true => RegularDimension { block: None, ..one },
            })
        };
        if let Some(all) = self.0.iter().enumerate().map(regular).collect() {
            return Ok(Stored::Regular(all));
        }
        if unlimited.is_some() {
            return Err(Error::unsupported("a selection without end that is not regular"));
        }
        self.boxes()
    }

    fn boxes(&self) -> Result<Stored> {
        let runs: Vec<Vec<(u64, u64)>> = self.0.iter().map(Runs::list).collect();
        let boxes = runs.iter().map(Vec::len).try_fold(1usize, usize::checked_mul).filter(|n| *n <= MOST_BOXES);
        let boxes = boxes.ok_or_else(|| Error::limit(format!("a selection of more than {MOST_BOXES} boxes")))?;
        let mut corners = Vec::with_capacity(boxes * 2 * runs.len());
        for number in 0..boxes {
            let (mut left, mut at) = (number, Vec::with_capacity(runs.len()));
            for own in runs.iter().rev() {
                at.push(own[left % own.len()]);
                left /= own.len();
            }
            at.reverse();
            corners.extend(at.iter().map(|(start, _)| *start));
            corners.extend(at.iter().map(|(start, count)| start + count - 1));
        }
        Ok(Stored::Boxes { rank: u32::try_from(runs.len()).unwrap_or(u32::MAX), corners })
    }
}

impl Runs {
    fn new(axis: &AxisSelection) -> Result<Runs> {
        let list = match axis {
            AxisSelection::Range { start, step: 1, count } => {
                return Ok(Runs::Regular { start: *start, stride: 1, count: 1, block: *count });
            }
            AxisSelection::Range { start, step, count } => {
                let stride = u64::try_from(*step).map_err(|_| descending())?;
                return Ok(Runs::Regular { start: *start, stride, count: *count, block: 1 });
            }
            AxisSelection::List(list) => list,
        };
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for at in list {
            match runs.last_mut() {
                Some((start, count)) if *start + *count == *at => *count += 1,
                Some((start, count)) if *start + *count > *at => return Err(descending()),
                _ => runs.push((*at, 1)),
            }
        }
        let stride = runs.get(1).zip(runs.first()).map_or(1, |(second, first)| second.0 - first.0);
        let is_regular = runs.windows(2).all(|w| w[1].0 - w[0].0 == stride && w[1].1 == w[0].1);
        match runs.first() {
            Some(&(start, block)) if is_regular => Ok(Runs::Regular { start, stride, count: runs.len() as u64, block }),
            _ => Ok(Runs::Other(runs)),
        }
    }

    fn count(&self) -> u64 {
        match self {
            Runs::Regular { count, block, .. } => count.saturating_mul(*block),
            Runs::Other(runs) => runs.iter().map(|(_, count)| count).sum(),
        }
    }

    fn list(&self) -> Vec<(u64, u64)> {
        match self {
            Runs::Regular { start, stride, count, block } => {
                (0..*count).map(|i| (start + i * stride, *block)).collect()
            }
            Runs::Other(runs) => runs.clone(),
        }
    }
}

fn descending() -> Error {
    Error::unsupported("elements of a virtual dataset that are not in ascending order, or repeated")
}

/// In the oldest encoding that can hold it.
fn encoded(stored: Stored, level: Compatibility) -> Result<EncodedSelection> {
    let is_wide =
        matches!(&stored, Stored::Boxes { corners, .. } if corners.iter().any(|at| u32::try_from(*at).is_err()));
    if is_wide && level < Compatibility::V114 {
        return Err(Error::unsupported(format!("boxes beyond 32 bits cannot be written for {level:?}")));
    }
    Ok(EncodedSelection::new(stored, 8, if is_wide { Newest::Yes } else { Newest::No }))
}
