//! Virtual datasets: finds the sources, settles the shape, and reads from them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::adoption::Adoption;
use super::core::{Core, Node};
use super::dataset::{About, Dataset};
use super::group::Object;
use crate::convert::stored::converted;
use crate::error::{Error, ErrorKind, Result};
use crate::format::encoded_selection::{EncodedSelection, RegularDimension, Selection};
use crate::format::message::data_layout::Layout;
use crate::format::message::datatype::{Class, Datatype};
use crate::index::virtual_layout::{
    self, StoredMapping, block_number, elements, extent, numbered, slices, unlimited_axis,
};
use crate::manifest::{Manifest, Mapping};
use crate::read::lanes;
use crate::selection::{Block, Destination, Elements, Pair, Selected, paired, shape};
use crate::storage::Purpose;

/// A virtual dataset whose sources are virtual, and so on, at most so often.
const DEEPEST: u32 = 16;

/// The mappings of the virtual dataset `node`, as they are stored.
pub(super) fn stored(node: &Node, layout: &Layout) -> Result<Vec<StoredMapping>> {
    let Layout::Virtual { heap, index } = *layout else { return Ok(Vec::new()) };
    node.run(|scope| virtual_layout::mappings(scope, heap, index))
}

/// Settles the shape of a virtual dataset that is being opened, and its manifest.
pub(super) fn settle(node: &Node, about: &mut About) -> Result<()> {
    if node.depth > DEEPEST {
        return Err(Error::limit(format!("virtual datasets refer to each other over more than {DEEPEST} (a cycle?)")));
    }
    let stored = stored(node, &about.layout.layout)?;
    let rank = about.dataspace.shape.len();
    for mapping in &stored {
        if mapping.target.rank().is_some_and(|r| usize::try_from(r).is_ok_and(|r| r != rank)) {
            let what = format!("a mapping of rank {:?} in a virtual dataset of rank {rank}", mapping.target.rank());
            return Err(Error::corrupt(what));
        }
    }
    let found = stored.iter().map(|mapping| find(node, mapping)).collect::<Result<Vec<_>>>()?;
    settle_shape(about, &stored, &found)?;
    let mut mappings = Vec::new();
    for (mapping, sources) in stored.iter().zip(found) {
        for (number, source) in (0..).zip(sources) {
            mappings.extend(settle_mapping(mapping, number, source, &about.dataspace.shape)?);
        }
    }
    about.manifest.get_or_init(|| Arc::new(Manifest::Virtual(mappings)));
    Ok(())
}

/// A source dataset by name, with its shape where that had to be found out.
struct Source {
    file: String,
    dataset: String,
    shape: Option<Vec<u64>>,
}

/// The sources of a mapping: one, or, for numbered ones, as many as there are in a row.
fn find(node: &Node, mapping: &StoredMapping) -> Result<Vec<Source>> {
    let shape = |file: &str, dataset: &str| -> Result<Option<Vec<u64>>> {
        match open(node, file, dataset) {
            Ok(source) => Ok(Some(source.shape().to_vec())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    };
    let unlimited = unlimited_axis(&mapping.target).is_some();
    if !unlimited {
        return Ok(vec![Source { file: mapping.file.clone(), dataset: mapping.dataset.clone(), shape: None }]);
    }
    if !mapping.is_numbered() {
        let shape = shape(&mapping.file, &mapping.dataset)?;
        return Ok(vec![Source { file: mapping.file.clone(), dataset: mapping.dataset.clone(), shape }]);
    }
    let mut sources = Vec::new();
    for number in 0.. {
        let (file, dataset) = (numbered(&mapping.file, number), numbered(&mapping.dataset, number));
        let same_name = number > 0 && (&file, &dataset) == (&mapping.file, &mapping.dataset);
        match shape(&file, &dataset)? {
            Some(shape) if !same_name => sources.push(Source { file, dataset, shape: Some(shape) }),
            _ => break,
        }
    }
    Ok(sources)
}

/// The dimension of an unlimited selection along its unlimited axis.
fn unlimited_dimension(selection: &Selection, axis: usize) -> Option<RegularDimension> {
    let Selection::Regular(axes) = selection else { return None };
    axes.get(axis).copied()
}

/// How many elements along the unlimited axis a source has for a mapping.
fn available(mapping: &StoredMapping, source: &Source) -> u64 {
    let Some(axis) = unlimited_axis(&mapping.source) else { return 0 };
    let size = source.shape.as_ref().and_then(|shape| shape.get(axis)).copied().unwrap_or(0);
    unlimited_dimension(&mapping.source.selection, axis).map_or(0, |dimension| slices(&dimension, size))
}

/// An unlimited dimension is as large as the largest mapping makes it, and at least as the limited ones reach.
fn settle_shape(about: &mut About, stored: &[StoredMapping], found: &[Vec<Source>]) -> Result<()> {
    let shape = &mut about.dataspace.shape;
    let unlimited: Vec<usize> = stored.iter().filter_map(|m| unlimited_axis(&m.target)).collect();
    if unlimited.is_empty() {
        return Ok(());
    }
    let mut sizes = shape.clone();
    for axis in &unlimited {
        sizes[*axis] = 0;
    }
    for (mapping, sources) in stored.iter().zip(found) {
        let Some(axis) = unlimited_axis(&mapping.target) else {
            let bounds =
                elements(&mapping.target, &vec![u64::MAX >> 1; shape.len()], None).ok().and_then(|e| e.bounds());
            for axis in &unlimited {
                let end = match (&mapping.target.selection, &bounds) {
                    (Selection::All | Selection::None, _) | (_, None) => 0,
                    (_, Some(bounds)) => bounds.end(*axis),
                };
                sizes[*axis] = sizes[*axis].max(end);
            }
            continue;
        };
        let Some(dimension) = unlimited_dimension(&mapping.target.selection, axis) else { continue };
        let size = if mapping.is_numbered() {
            let blocks = u64::try_from(sources.len()).unwrap_or(u64::MAX);
            let block = dimension.block.unwrap_or(1);
            extent(&dimension, blocks.saturating_mul(block))
        } else {
            extent(&dimension, sources.first().map_or(0, |source| available(mapping, source)))
        };
        sizes[axis] = sizes[axis].max(size);
    }
    if let Some(max) = &about.dataspace.max_shape {
        for (size, max) in sizes.iter_mut().zip(max) {
            *size = max.map_or(*size, |max| max.min(*size));
        }
    }
    *shape = sizes;
    Ok(())
}

/// A mapping with both selections as they are for these shapes; `None` if it selects nothing.
fn settle_mapping(mapping: &StoredMapping, number: u64, source: Source, shape: &[u64]) -> Result<Option<Mapping>> {
    let Source { file, dataset, shape: source_shape } = source;
    let Some(axis) = unlimited_axis(&mapping.target) else {
        let destination = elements(&mapping.target, shape, None)?;
        // The source's shape is only known when it is read.
        let selection = mapping.source.clone();
        return Ok(Some(Mapping { file, dataset, source: selection, source_end: None, destination }));
    };
    if mapping.is_numbered() {
        let Some(target) = block_number(&mapping.target, axis, number) else { return Ok(None) };
        let destination = elements(&target, shape, None)?;
        let source = of_block(&mapping.source, source_shape.as_deref(), &destination);
        return Ok(Some(Mapping { file, dataset, source, source_end: None, destination }));
    }
    let source = Source { file, dataset, shape: source_shape };
    let room = unlimited_dimension(&mapping.target.selection, axis).map(|d| (d, slices(&d, shape[axis])));
    let count = available(mapping, &source).min(room.map_or(0, |(_, room)| room));
    let (Some((target, _)), true) = (room, count > 0) else { return Ok(None) };
    let source_axis = unlimited_axis(&mapping.source).and_then(|a| unlimited_dimension(&mapping.source.selection, a));
    let destination = elements(&mapping.target, shape, Some(extent(&target, count)))?;
    let source_end = source_axis.map(|dimension| extent(&dimension, count));
    let Source { file, dataset, .. } = source;
    Ok(Some(Mapping { file, dataset, source: mapping.source.clone(), source_end, destination }))
}

/// What a block takes of its numbered source: where all of it is meant and it has grown along its first dimension since,
/// its first rows, as many as the block has. The file does not say how large the source was; for growth along other
/// dimensions libhdf5's answer depends on the source's layout, so there is none here.
fn of_block(selection: &EncodedSelection, shape: Option<&[u64]>, destination: &Elements) -> EncodedSelection {
    let block = match destination {
        Elements::Hyperslab(hyperslab) => hyperslab.as_block(),
        _ => None,
    };
    match (&selection.selection, shape, block.as_ref().map(|block| &block.count[..])) {
        (Selection::All, Some([rows, columns @ ..]), Some([wanted, width @ ..]))
            if rows > wanted && columns == width =>
        {
            let axis = |n: &u64| RegularDimension { start: 0, stride: 1, count: Some(1), block: Some(*n) };
            let first = Selection::Regular([wanted].into_iter().chain(width).map(axis).collect());
            EncodedSelection { selection: first, ..selection.clone() }
        }
        _ => selection.clone(),
    }
}

/// Opens a source dataset.
fn open(node: &Node, file: &str, dataset: &str) -> Result<Dataset> {
    let core: Arc<Core> = match file {
        "." => Arc::clone(&node.core),
        _ => node.core.other(file, Purpose::VirtualSource)?,
    };
    let (core, addr) = core.follow(core.container.root, "/", dataset.as_bytes())?;
    let header = core.header(addr);
    match Object::of(Node::at_depth(core, header, dataset, node.depth + 1)?)? {
        Object::Dataset(dataset) => Ok(dataset),
        Object::Group(_) | Object::NamedType(_) => {
            Err(Error::wrong_type(format!("the source {dataset:?} in {file:?} of a virtual dataset is no dataset")))
        }
    }
}

/// Bytes of a virtual dataset that are read at once where not a whole block of it is wanted.
const TILE: usize = 4 << 20;

/// Reads what is selected of a virtual dataset.
pub(super) fn read(
    dataset: &Dataset,
    mappings: &[Mapping],
    fill: Option<&[u8]>,
    selected: &Selected,
    threads: usize,
    into: &mut [u8],
) -> Result<()> {
    let virtual_read = VirtualRead { dataset, mappings, fill, threads };
    if let Some(block) = selected.as_block() {
        return virtual_read.block(&block, into);
    }
    let size = into.len() / usize::try_from(selected.count()?).unwrap_or(1).max(1);
    let tiles = crate::read::tiles(dataset.shape(), size, TILE)?.select(selected)?;
    let whole = shape::in_memory(shape::count(tiles.grid().chunk_shape())?)?;
    let mut bytes = Vec::new();
    for (i, tile) in (0..).zip(tiles.iter()) {
        // A tile at the edge is read as a whole one: its elements lie as in the array.
        bytes.resize(whole * size, 0);
        let block = tile.block();
        let there = shape::in_memory(shape::count(&block.count)?)?;
        virtual_read.block(&block, &mut bytes[..there * size])?;
        let result = Destination { bytes: &mut *into, shape: selected.aligned_shape() };
        crate::read::place(&tiles, i, &bytes, result, size)?;
    }
    Ok(())
}

/// What reading a virtual dataset needs.
struct VirtualRead<'a> {
    dataset: &'a Dataset,
    mappings: &'a [Mapping],
    fill: Option<&'a [u8]>,
    threads: usize,
}

/// What a mapping gives of a block: the smallest box that holds it.
type Part<'a> = (&'a Mapping, Block);
/// A part, and the bytes that it is.
type Slot<'p, 'a> = (&'p Part<'a>, Range<usize>);

impl VirtualRead<'_> {
    /// Reads `block`: fill value first, then each mapping over it.
    fn block(&self, block: &Block, into: &mut [u8]) -> Result<()> {
        crate::read::fill(into, self.fill);
        let part = |mapping| -> Option<Part<'_>> {
            let mapping: &Mapping = mapping;
            Some((mapping, mapping.destination.bounds()?.intersect(block)?))
        };
        let parts: Vec<Part<'_>> = self.mappings.iter().filter_map(part).collect();
        let Some(slots) = one_after_the_other(&parts, block, into.len())? else {
            return parts.iter().try_for_each(|(mapping, _)| self.part(mapping, block, into));
        };
        let bytes = u64::try_from(into.len()).unwrap_or(u64::MAX);
        let lanes = lanes::number(self.threads, slots.len(), bytes);
        let (mut left, mut position) = (into, 0);
        let tasks = slots.iter().map(|(part, range)| {
            let (_, rest) = std::mem::take(&mut left).split_at_mut(range.start - position);
            let (slot, rest) = rest.split_at_mut(range.len());
            (left, position) = (rest, range.end);
            (*part, slot)
        });
        lanes::run(lanes, tasks, |(): &mut (), ((mapping, part), slot)| self.part(mapping, part, slot))
    }

    /// Reads what `mapping` gives of `block`.
    fn part(&self, mapping: &Mapping, block: &Block, into: &mut [u8]) -> Result<()> {
        let fills = self.dataset.node.core.options.fills_missing_sources();
        match open(&self.dataset.node, &mapping.file, &mapping.dataset) {
            Ok(source) => read_mapping(self.dataset, &source, mapping, block, self.threads, into),
            Err(error) if error.kind() == ErrorKind::NotFound => match fills {
                true => Ok(()),
                false => {
                    Err(error.hint("MissingSources::Fill and --missing-sources fill read fill value in its place"))
                }
            },
            Err(error) => Err(error),
        }
    }
}

/// Why sources of a virtual dataset are not there, each once.
pub(super) fn missing(dataset: &Dataset) -> Result<Vec<Error>> {
    let manifest = dataset.manifest()?;
    let Manifest::Virtual(mappings) = &*manifest else { return Ok(Vec::new()) };
    let sources: BTreeSet<(&str, &str)> = mappings.iter().map(|m| (&m.file[..], &m.dataset[..])).collect();
    let missing = sources.into_iter().filter_map(|(file, path)| open(&dataset.node, file, path).err());
    Ok(missing.filter(|error| error.kind() == ErrorKind::NotFound).map(|error| dataset.at(error)).collect())
}

/// Where each part lies in the `bytes` of `block`; `None` unless each is in one piece and no two have bytes in common. Such
/// parts can be read at the same time.
fn one_after_the_other<'p, 'm>(
    parts: &'p [Part<'m>],
    block: &Block,
    bytes: usize,
) -> Result<Option<Vec<Slot<'p, 'm>>>> {
    let elements = shape::in_memory(shape::count(&block.count)?)?.max(1);
    let size = bytes / elements;
    let mut slots = Vec::new();
    for part in parts {
        let start: Vec<u64> = part.1.start.iter().zip(&block.start).map(|(a, b)| a - b).collect();
        let mut runs = Block::new(&start, &part.1.count).runs(&block.count)?;
        let (Some(run), None) = (runs.next(), runs.next()) else { return Ok(None) };
        let (start, count) = (shape::in_memory(run.start)?, shape::in_memory(run.count)?);
        slots.push((part, start * size..(start + count) * size));
    }
    slots.sort_unstable_by_key(|(_, range)| range.start);
    let apart = slots.is_sorted_by(|(_, before), (_, after)| before.end <= after.start);
    Ok(apart.then_some(slots))
}

fn read_mapping(
    dataset: &Dataset,
    source: &Dataset,
    mapping: &Mapping,
    block: &Block,
    threads: usize,
    into: &mut [u8],
) -> Result<()> {
    let converts = check_types(dataset, source)?;
    let selection = elements(&mapping.source, source.shape(), mapping.source_end)?;
    let (shape, size) =
        (dataset.shape(), into.len() / usize::try_from(shape::count(&block.count)?).unwrap_or(1).max(1));
    if let Some((from, to)) = as_blocks(&selection, &mapping.destination) {
        // The usual case: a box for a box of the same shape, wanted as a whole and contiguous where it goes.
        if !converts && from.count == to.count && to.intersect(block).as_ref() == Some(&to) {
            let start: Vec<u64> = to.start.iter().zip(&block.start).map(|(a, b)| a - b).collect();
            let mut runs = Block::new(&start, &to.count).runs(&block.count)?;
            if let (Some(run), None) = (runs.next(), runs.next()) {
                let bytes = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).saturating_mul(size);
                let (start, end) = (bytes(run.start), bytes(run.start + run.count));
                let slot = into.get_mut(start..end).ok_or_else(|| Error::invalid("the buffer is too small"))?;
                return source.read_selected_into(&Selected::block(&from, source.shape())?, threads, slot);
            }
        }
    }
    // Runs of the source that go to runs of the block.
    let mut moves: Vec<Pair> = Vec::new();
    for pair in paired(&selection, source.shape(), &mapping.destination, shape)? {
        clip(pair, shape, block, &mut moves)?;
    }
    let Some(bounds) = bounds_of(&moves, source.shape()) else { return Ok(()) };
    let mut bytes = source.select(&bounds).threads(threads).read_bytes()?;
    if converts {
        let adoption = Adoption { source: &source.node.core.container, own: &dataset.node.core.container };
        bytes = converted(&bytes, source.datatype(), dataset.datatype(), &adoption)?;
    }
    for pair in moves {
        let position = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).saturating_mul(size);
        let mut left = pair;
        while left.count > 0 {
            // A run of the source may cross rows of the box that was read.
            let coordinates = shape::coordinates(source.shape(), left.source).unwrap_or_default();
            let row_end = coordinates.last().zip(bounds.count.len().checked_sub(1));
            let here = row_end.map_or(1, |(at, axis)| bounds.end(axis).saturating_sub(*at).min(left.count).max(1));
            let inside: Vec<u64> = coordinates.iter().zip(&bounds.start).map(|(a, b)| a - b).collect();
            let from = shape::number(&bounds.count, &inside).ok_or_else(|| Error::invalid("a run leaves its box"))?;
            let (from, to, len) = (position(from), position(left.destination), position(here));
            let source = bytes.get(from..from.saturating_add(len));
            let slot = into.get_mut(to..to.saturating_add(len));
            match (source, slot) {
                (Some(source), Some(slot)) => slot.copy_from_slice(source),
                _ => return Err(Error::invalid("a run leaves its box")),
            }
            left = Pair { source: left.source + here, destination: left.destination + here, count: left.count - here };
        }
    }
    Ok(())
}

fn as_blocks(source: &Elements, destination: &Elements) -> Option<(Block, Block)> {
    match (source, destination) {
        (Elements::Hyperslab(source), Elements::Hyperslab(destination)) => {
            source.as_block().zip(destination.as_block())
        }
        _ => None,
    }
}

/// The parts of `pair` whose destination lies in `block`, with destinations counted in the block.
fn clip(pair: Pair, shape: &[u64], block: &Block, moves: &mut Vec<Pair>) -> Result<()> {
    let Some(last) = shape.len().checked_sub(1) else {
        moves.push(pair);
        return Ok(());
    };
    let mut left = pair;
    while left.count > 0 {
        let mut at = shape::coordinates(shape, left.destination).unwrap_or_default();
        let here = (shape[last] - at[last]).min(left.count);
        let (low, high) = (at[last].max(block.start[last]), (at[last] + here).min(block.end(last)));
        let outer = (0..last).all(|axis| (block.start[axis]..block.end(axis)).contains(&at[axis]));
        if outer && low < high {
            let skip = low - at[last];
            at[last] = low;
            let inside: Vec<u64> = at.iter().zip(&block.start).map(|(a, b)| a - b).collect();
            let destination =
                shape::number(&block.count, &inside).ok_or_else(|| Error::invalid("outside the block"))?;
            moves.push(Pair { source: left.source + skip, destination, count: high - low });
        }
        left = Pair { source: left.source + here, destination: left.destination + here, count: left.count - here };
    }
    Ok(())
}

/// The smallest box of the source that holds all runs.
fn bounds_of(moves: &[Pair], shape: &[u64]) -> Option<Block> {
    let (mut low, mut high): (Option<Vec<u64>>, Vec<u64>) = (None, vec![0; shape.len()]);
    for pair in moves {
        let (first, last) =
            (shape::coordinates(shape, pair.source)?, shape::coordinates(shape, pair.source + pair.count - 1)?);
        // A run over several rows covers whole rows in between.
        let crosses = first.iter().zip(&last).position(|(a, b)| a != b).unwrap_or(shape.len());
        let low = low.get_or_insert_with(|| first.clone());
        for axis in 0..shape.len() {
            let whole = axis > crosses;
            low[axis] = low[axis].min(if whole { 0 } else { first[axis] });
            high[axis] = high[axis].max(if whole { shape[axis] } else { last[axis] + 1 });
        }
    }
    let low = low?;
    let count: Vec<u64> = low.iter().zip(&high).map(|(low, high)| high - low).collect();
    Some(Block::new(&low, &count))
}

/// Whether elements have to be converted on their way; also where they say where something is in another file.
fn check_types(dataset: &Dataset, source: &Dataset) -> Result<bool> {
    let (own, other) = (dataset.datatype(), source.datatype());
    let is_other_file = !Arc::ptr_eq(&dataset.node.core, &source.node.core);
    if same(own, other) && !(is_other_file && refers(own)) {
        return Ok(false);
    }
    // Whether there is a conversion shows on no elements as on many.
    let adoption = Adoption { source: &source.node.core.container, own: &dataset.node.core.container };
    converted(&[], other, own, &adoption).map(|_| true)
}

/// Whether two datatypes mean the same bytes, in whatever version they are encoded.
fn same(a: &Datatype, b: &Datatype) -> bool {
    let all = |a: &[&Datatype], b: &[&Datatype]| a.iter().zip(b).all(|(a, b)| same(a, b));
    a.size == b.size
        && match (&a.class, &b.class) {
            (Class::Compound(a), Class::Compound(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|(a, b)| {
                        (&a.name, a.byte_offset) == (&b.name, b.byte_offset) && same(&a.datatype, &b.datatype)
                    })
            }
            (Class::Array { shape: a, base: x, .. }, Class::Array { shape: b, base: y, .. }) => {
                a == b && all(&[x], &[y])
            }
            (Class::VariableLength { text: a, base: x }, Class::VariableLength { text: b, base: y }) => {
                a == b && all(&[x], &[y])
            }
            (Class::Enumeration(a), Class::Enumeration(b)) => {
                (&a.names, &a.values) == (&b.names, &b.values) && same(&a.base, &b.base)
            }
            (Class::Complex { form: a, base: x }, Class::Complex { form: b, base: y }) => a == b && all(&[x], &[y]),
            (a, b) => a == b,
        }
}

/// Whether elements refer to something else in their file.
fn refers(datatype: &Datatype) -> bool {
    match &datatype.class {
        Class::Reference { .. } | Class::VariableLength { .. } => true,
        Class::Compound(members) => members.iter().any(|member| refers(&member.datatype)),
        Class::Array { base, .. } | Class::Complex { base, .. } => refers(base),
        Class::FixedPoint(_)
        | Class::FloatingPoint(_)
        | Class::Time { .. }
        | Class::String(_)
        | Class::BitField(_)
        | Class::Opaque { .. }
        | Class::Enumeration(_) => false,
    }
}
