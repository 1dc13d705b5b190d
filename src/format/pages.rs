//! Holds the pages of `format-spec/` to the code: the tables of fields are what `describe` says of random values of each
//! structure. With `HDFIVE_BLESS=1` the tables on the pages are rewritten instead.
//!
//! A new table is one line in [`make_tables`], and on its page the two lines
//!
//! ```text
//! <!-- fields: NAME -->
//! <!-- end -->
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::btree_v2::{self, FilteredChunkContext};
use super::message::data_layout::{self, DataLayout, Layout};
use super::message::datatype::{self, Class, Datatype, Level, Member};
use super::message::link::LinkTarget;
use super::message::shared::{Shared, SharedPlace};
use super::object_header::{Block, Continuation, Framing, ObjectHeader};
use super::*;
use crate::wire::{Addr, Placed, Sizes, Structure};

/// Structures inside others that are one row there, since they have tables of their own on these pages.
const ELSEWHERE: [(&str, &str); 6] = [
    (INNER, "message/datatype, another table"),
    ("datatype message", "message/datatype"),
    ("dataspace message", "message/dataspace"),
    ("dataspace selection", "encoded_selection"),
    ("filter pipeline message", "message/filter_pipeline"),
    ("filter description", "message/filter_pipeline"),
];

/// A datatype inside a datatype.
const INNER: &str = "inner datatype";

/// What every page says, in this order.
const HEADINGS: [&str; 7] = [
    "Purpose",
    "Who points here and where it points",
    "Fields",
    "Versions",
    "Checks we make",
    "Seen in the wild",
    "Section of the specification",
];

/// The tables: page, name of the table, random values with their contexts.
#[rustfmt::skip]
fn make_tables() -> Vec<Table> {
    const FILTERED: FilteredChunkContext = FilteredChunkContext { rank: 2, size_width: 3 };
    vec![
        table("superblock", "superblock, version 0", |s| plain(superblock::superblock(s, 0))),
        table("superblock", "superblock, version 1", |s| plain(superblock::superblock(s, 1))),
        table("superblock", "superblock, version 2", |s| plain(superblock::superblock(s, 2))),
        table("superblock", "superblock, version 3", |s| plain(superblock::superblock(s, 3))),
        table("driver_info", "driver information block", |_| plain(driver_info::driver_info())),
        table("metadata_cache_image", "metadata cache image", |s| plain(metadata_cache_image::metadata_cache_image(s))),
        table("btree_v1", "node of a group", |s| plain(btree_v1::group_node(s))),
        table("btree_v1", "node of a chunked dataset", |s| with(3, btree_v1::chunk_node(s, 3))),
        table("btree_v2/header", "version 2 B-tree header", |s| plain(btree_v2::header(s))),
        table("btree_v2/node", "node, with records of type 5", |s| btree_v2::node(s, (), btree_v2::link_name())),
        table("btree_v2/record", "type 1", |s| plain(btree_v2::huge_indirect(s))),
        table("btree_v2/record", "type 2", |s| plain(btree_v2::huge_indirect_filtered(s))),
        table("btree_v2/record", "type 3", |s| plain(btree_v2::huge_direct(s))),
        table("btree_v2/record", "type 4", |s| plain(btree_v2::huge_direct_filtered(s))),
        table("btree_v2/record", "type 5", |_| plain(btree_v2::link_name())),
        table("btree_v2/record", "type 6", |_| plain(btree_v2::link_creation_order())),
        table("btree_v2/record", "type 8", |_| plain(btree_v2::attribute_name())),
        table("btree_v2/record", "type 9", |_| plain(btree_v2::attribute_creation_order())),
        table("btree_v2/record", "type 10", |s| with(2, btree_v2::chunk(s, 2))),
        table("btree_v2/record", "type 11", |s| with(FILTERED, btree_v2::filtered_chunk(s, FILTERED))),
        table("symbol_table", "symbol table node", |s| plain(symbol_table::node(s))),
        table("local_heap", "local heap", |s| plain(local_heap::local_heap(s))),
        table("local_heap", "free block", |s| plain(local_heap::free_block(s))),
        table("global_heap", "collection", |s| plain(global_heap::collection(s))),
        table("global_heap", "global heap id", |s| plain(global_heap::global_heap_id(s))),
        table("virtual_mapping", "block, version 0", |s| plain(versioned_mapping(s, 0))),
        table("virtual_mapping", "block, version 1", |s| plain(versioned_mapping(s, 1))),
        table("fractal_heap/header", "fractal heap header", |s| plain(fractal_heap::header(s))),
        table("fractal_heap/block", "direct block", fractal_heap::direct_block),
        table("fractal_heap/block", "indirect block", fractal_heap::indirect_block),
        table("fractal_heap/heap_id", "heap id", fractal_heap::heap_id),
        table("free_space", "header", |s| plain(free_space::header(s))),
        table("free_space", "section information", free_space::section_info),
        table("shared_message_table", "table", shared_message_table::shared_message_table),
        table("shared_message_table", "list", shared_message_table::message_list),
        table("fixed_array", "header", |s| plain(fixed_array::header(s))),
        table("fixed_array", "data block", fixed_array::data_block),
        table("extensible_array/header", "header", |s| plain(extensible_array::header(s))),
        table("extensible_array/blocks", "index block", extensible_array::index_block),
        table("extensible_array/blocks", "secondary block", extensible_array::super_block),
        table("extensible_array/blocks", "data block", extensible_array::data_block),
        table("chunk_element", "page", chunk_element::page),
        table("encoded_selection", "none or all", |_| selection(|s| s.length == 0 && s.width == 4 && s.rank().is_none())),
        table("encoded_selection", "points, version 1", |_| selection(|s| s.version == 1 && is_points(s))),
        table("encoded_selection", "points, version 2", |_| selection(|s| s.version == 2 && is_points(s))),
        table("encoded_selection", "hyperslab, version 1", |_| selection(|s| s.version == 1 && is_hyperslab(s))),
        table("encoded_selection", "hyperslab, version 2", |_| selection(|s| s.version == 2 && is_hyperslab(s))),
        table("encoded_selection", "hyperslab, version 3", |_| selection(|s| s.version == 3 && is_hyperslab(s))),
        table("reference", "object reference", |s| plain(reference::object_reference(s))),
        table("reference", "dataset region reference", |s| plain(reference::region_reference(s))),
        table("reference", "element of a revised reference", reference::reference_element),
        table("reference", "block of a revised reference", reference::reference_block),
        table("object_header", "version 1", |_| header(Framing::V1)),
        table("object_header", "version 2", |_| header(Framing::V2)),
        table("object_header", "version 2, creation order tracked", |_| header(Framing::V2Ordered)),
        table("object_header", "continuation block, version 2", |_| continuation(Framing::V2)),
    ]
}

#[rustfmt::skip]
fn make_message_tables() -> Vec<Table> {
    use message::*;
    vec![
        table("message/dataspace", "version 1", |s| pick(dataspace::dataspace(s), |d| d.version == 1)),
        table("message/dataspace", "version 2", |s| pick(dataspace::dataspace(s), |d| d.version == 2)),
        table("message/link_info", "link info", |s| plain(link_info::link_info(s))),
        table("message/fill_value", "old fill value", |_| plain(fill_value::old_fill_value())),
        table("message/fill_value", "version 1", |_| pick(fill_value::fill_value(), |f| f.version == 1)),
        table("message/fill_value", "version 2", |_| pick(fill_value::fill_value(), |f| f.version == 2)),
        table("message/fill_value", "version 3", |_| pick(fill_value::fill_value(), |f| f.version == 3)),
        table("message/link", "hard link", |s| pick(link::link(s), |l| matches!(l.target, LinkTarget::Hard(_)))),
        table("message/link", "other link", |s| pick(link::link(s), |l| !matches!(l.target, LinkTarget::Hard(_)))),
        table("message/external_files", "external data files", |s| plain(external_files::external_files(s))),
        table("message/data_layout", "versions 1 and 2, compact", |s| layout(s, 1..=2, |l| matches!(l, Layout::Compact(_)))),
        table("message/data_layout", "versions 1 and 2, contiguous", |s| layout(s, 1..=2, is_contiguous)),
        table("message/data_layout", "versions 1 and 2, chunked", |s| layout(s, 1..=2, |l| matches!(l, Layout::Chunked(_)))),
        table("message/data_layout", "versions 3 to 5, compact", |s| layout(s, 3..=5, |l| matches!(l, Layout::Compact(_)))),
        table("message/data_layout", "versions 3 to 5, contiguous", |s| layout(s, 3..=5, is_contiguous)),
        table("message/data_layout", "version 3, chunked", |s| layout(s, 3..=3, |l| matches!(l, Layout::Chunked(_)))),
        table("message/data_layout", "versions 4 and 5, single chunk", |s| indexed(s, 1)),
        table("message/data_layout", "versions 4 and 5, implicit index", |s| indexed(s, 2)),
        table("message/data_layout", "versions 4 and 5, fixed array", |s| indexed(s, 3)),
        table("message/data_layout", "versions 4 and 5, extensible array", |s| indexed(s, 4)),
        table("message/data_layout", "versions 4 and 5, version 2 B-tree", |s| indexed(s, 5)),
        table("message/data_layout", "versions 4 and 5, virtual", |s| layout(s, 4..=5, |l| matches!(l, Layout::Virtual { .. }))),
        table("message/bogus", "bogus", |_| plain(bogus::bogus())),
        table("message/group_info", "group info", |_| plain(group_info::group_info())),
        table("message/filter_pipeline", "version 1", |_| pick(filter_pipeline::filter_pipeline(), |p| p.version == 1)),
        table("message/filter_pipeline", "version 2", |_| pick(filter_pipeline::filter_pipeline(), |p| p.version == 2)),
        table("message/attribute", "version 1", |_| pick(attribute::attribute(), |a| a.version == 1)),
        table("message/attribute", "version 2", |_| pick(attribute::attribute(), |a| a.version == 2)),
        table("message/attribute", "version 3", |_| pick(attribute::attribute(), |a| a.version == 3)),
        table("message/comment", "comment", |_| plain(comment::comment())),
        table("message/modification_time", "old modification time", |_| plain(modification_time::old_modification_time())),
        table("message/modification_time", "modification time", |_| plain(modification_time::modification_time())),
        table("message/shared_message_table", "shared message table", |s| plain(shared_message_table::shared_message_table_info(s))),
        table("message/continuation", "continuation", |s| plain(continuation::continuation_info(s))),
        table("message/symbol_table", "symbol table", |s| plain(symbol_table::symbol_table(s))),
        table("message/btree_k", "B-tree 'K' values", |_| plain(btree_k::btree_k())),
        table("message/driver_info", "driver info", |_| plain(driver_info::driver_info())),
        table("message/attribute_info", "attribute info", |s| plain(attribute_info::attribute_info(s))),
        table("message/reference_count", "reference count", |_| plain(reference_count::reference_count())),
        table("message/file_space_info", "version 0", |s| pick(file_space_info::file_space_info(s), |i| i.version() == 0)),
        table("message/file_space_info", "version 1", |s| pick(file_space_info::file_space_info(s), |i| i.version() == 1)),
        table("message/cache_image", "metadata cache image", |s| plain(cache_image::cache_image_info(s))),
        table("message/shared", "version 1", |s| pick(shared::shared(s), |m| m.version == 1)),
        table("message/shared", "version 2", |s| pick(shared::shared(s), |m| m.version == 2)),
        table("message/shared", "version 3, committed", |s| pick(shared::shared(s), |m| m.version == 3 && is_committed(m))),
        table("message/shared", "version 3, in the heap", |s| pick(shared::shared(s), |m| !is_committed(m))),
    ]
}

#[rustfmt::skip]
fn make_datatype_tables() -> Vec<Table> {
    const PAGE: &str = "message/datatype";
    vec![
        table(PAGE, "string, reference", |_| datatype(1..=5, |c| matches!(c, Class::String(_) | Class::Reference { .. }))),
        table(PAGE, "fixed-point, bit field", |_| datatype(1..=5, |c| matches!(c, Class::FixedPoint(_) | Class::BitField(_)))),
        table(PAGE, "floating-point", |_| datatype(1..=5, |c| matches!(c, Class::FloatingPoint(_)))),
        table(PAGE, "time", |_| datatype(1..=5, |c| matches!(c, Class::Time { .. }))),
        table(PAGE, "opaque", |_| datatype(1..=5, |c| matches!(c, Class::Opaque { .. }))),
        table(PAGE, "compound member, version 1", |_| datatype::member(1)),
        table(PAGE, "compound member, version 2", |_| datatype::member(2)),
        table(PAGE, "compound member, versions 3 to 5", |_| datatype::member(3)),
        table(PAGE, "enumeration, versions 1 and 2", |_| datatype(1..=2, |c| matches!(c, Class::Enumeration(_)))),
        table(PAGE, "enumeration, versions 3 to 5", |_| datatype(3..=5, |c| matches!(c, Class::Enumeration(_)))),
        table(PAGE, "array, versions 1 and 2", |_| datatype(1..=2, |c| matches!(c, Class::Array { base, .. } if is_nameless(base)))),
        table(PAGE, "array, versions 3 to 5", |_| datatype(3..=5, |c| matches!(c, Class::Array { base, .. } if is_nameless(base)))),
        table(PAGE, "variable-length", |_| datatype(1..=5, |c| matches!(c, Class::VariableLength { base, .. } if is_nameless(base)))),
        table(PAGE, "complex", |_| datatype(5..=5, |c| matches!(c, Class::Complex { .. }))),
    ]
}

fn datatype(versions: RangeInclusive<u8>, which: fn(&Class) -> bool) -> BoxedStrategy<(Datatype, Level)> {
    let values = datatype::datatype().prop_filter("another", move |d| versions.contains(&d.version) && which(&d.class));
    with(Level::TOP, values.boxed())
}

fn is_nameless(datatype: &Datatype) -> bool {
    !matches!(datatype.class, Class::Compound(_) | Class::Enumeration(_))
        && datatype.class.base_or_none().is_none_or(is_nameless)
}

fn header(framing: Framing) -> BoxedStrategy<(ObjectHeader, ())> {
    pick(object_header::object_header(), move |h| h.framing() == framing)
}

fn continuation(framing: Framing) -> BoxedStrategy<(Continuation, Block)> {
    object_header::continuation().prop_filter("another framing", move |(_, block)| block.framing == framing).boxed()
}

fn layout(
    sizes: Sizes,
    versions: RangeInclusive<u8>,
    which: impl Fn(&Layout) -> bool + 'static,
) -> BoxedStrategy<(DataLayout, ())> {
    pick(data_layout::data_layout(sizes), move |l| versions.contains(&l.version) && which(&l.layout))
}

fn indexed(sizes: Sizes, number: u8) -> BoxedStrategy<(DataLayout, ())> {
    layout(sizes, 4..=5, move |l| matches!(l, Layout::Chunked(chunked) if chunked.index.number() == number))
}

fn is_contiguous(layout: &Layout) -> bool {
    matches!(layout, Layout::Contiguous { .. })
}

fn is_committed(shared: &Shared) -> bool {
    matches!(shared.place, SharedPlace::Committed { .. })
}

fn versioned_mapping(sizes: Sizes, version: u8) -> BoxedStrategy<virtual_mapping::VirtualMapping> {
    virtual_mapping::virtual_mapping(sizes).prop_filter("another version", move |m| m.version == version).boxed()
}

type Encoded = encoded_selection::EncodedSelection;

fn selection(which: impl Fn(&Encoded) -> bool + 'static) -> BoxedStrategy<(Encoded, ())> {
    pick(encoded_selection::encoded_selection(), which)
}

fn is_points(selection: &Encoded) -> bool {
    matches!(selection.selection, encoded_selection::Selection::Points { .. })
}

fn is_hyperslab(selection: &Encoded) -> bool {
    selection.rank().is_some() && !is_points(selection)
}

/// Some of the values, which need no context.
fn pick<S: std::fmt::Debug + 'static>(
    values: BoxedStrategy<S>,
    which: impl Fn(&S) -> bool + 'static,
) -> BoxedStrategy<(S, ())> {
    plain(values.prop_filter("another kind", which).boxed())
}

/// Values that need no context.
fn plain<S: std::fmt::Debug + 'static>(values: BoxedStrategy<S>) -> BoxedStrategy<(S, ())> {
    with((), values)
}

/// Values that all have the same context.
fn with<S, C>(cx: C, values: BoxedStrategy<S>) -> BoxedStrategy<(S, C)>
where
    S: std::fmt::Debug + 'static,
    C: Copy + std::fmt::Debug + 'static,
{
    values.prop_map(move |value| (value, cx)).boxed()
}

/// A table of a page.
struct Table {
    page: &'static str,
    name: &'static str,
    text: String,
}

const WIDTHS: [Sizes; 3] = [Sizes::EIGHT, Sizes { offsets: 4, lengths: 8 }, Sizes { offsets: 8, lengths: 4 }];

/// A structure, a field of it, and how often the field stood elsewhere in the value before.
type Key = (&'static str, &'static str, usize);

/// A field, its size, and whether it follows itself.
type Shown = (Key, usize, bool);

/// A row of a table.
struct Row {
    key: Key,
    /// The widths of the file, and the size of the field.
    seen: Vec<(Sizes, usize)>,
    is_repeated: bool,
}

fn table<S>(page: &'static str, name: &'static str, values: impl Fn(Sizes) -> BoxedStrategy<(S, S::Context)>) -> Table
where
    S: Structure + std::fmt::Debug,
    S::Context: std::fmt::Debug,
{
    let mut samples = Vec::new();
    for sizes in WIDTHS {
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(Config { max_local_rejects: 1 << 20, ..Config::default() }, rng);
        let values = values(sizes);
        for _ in 0..64 {
            let (value, cx) = values.new_tree(&mut runner).expect("because there are such values").current();
            let bytes = value.encode(Addr(0), sizes, cx).unwrap();
            let (placed, error) = S::describe(&bytes, Addr(0), sizes, cx);
            assert!(error.is_none(), "{name}: {error:?}");
            samples.push((sizes, keyed(page, &inner_datatypes(S::NAME, placed))));
            spoil::<S>(bytes, sizes, cx);
        }
    }
    let rows = rows(&samples);
    let mut text = String::from("| field | bytes |\n|---|---|\n");
    for row in &rows {
        let (structure, field, _) = row.key;
        let name = match (structure, field) {
            (name, _) if name == S::NAME => String::new(),
            (name, "") => name.to_owned(),
            (name, _) => format!("{name}: "),
        };
        let each = if row.is_repeated { ", each" } else { "" };
        text += &format!("| {name}{field} | {}{each} |\n", row.size());
    }
    Table { page, name, text }
}

/// Bytes with one of them spoiled give an error, or a value that is written back alike; they never panic.
fn spoil<S: Structure + std::fmt::Debug>(mut bytes: Vec<u8>, sizes: Sizes, cx: S::Context) {
    for at in (0..bytes.len()).step_by(1 + bytes.len() / 64) {
        let good = bytes[at];
        for bad in [0, 1, 0x7f, 0x80, 0xff, good ^ 4] {
            bytes[at] = bad;
            let _ = S::describe(&bytes, Addr(0), sizes, cx);
            if let Ok(value) = S::decode(&bytes, Addr(0), sizes, cx) {
                let again = value.encode(Addr(0), sizes, cx).unwrap_or_else(|e| panic!("{e}: {value:?}"));
                assert!(bytes.starts_with(&again), "{bad:#x} at {at}: {value:?}");
            }
        }
        bytes[at] = good;
    }
}

/// Calls the fields of datatypes that stand in others fields of inner datatypes, and what belongs to their members
/// elsewhere fields of the datatype.
fn inner_datatypes(structure: &str, mut placed: Vec<Placed>) -> Vec<Placed> {
    let (is_datatype, is_member) = (structure == Datatype::NAME, structure == Member::NAME);
    let mut is_inside = false;
    for (i, field) in placed.iter_mut().enumerate() {
        if is_datatype || is_member {
            let is_after = is_datatype && ["name", "name padding", "values"].contains(&field.field);
            is_inside = !is_after && (is_inside || (i > 0 && field.field == "class and version"));
            field.structure = if is_inside { INNER } else { field.structure };
        } else if field.structure == Member::NAME {
            field.structure = Datatype::NAME;
        }
    }
    placed
}

/// The fields that one value shows, with their sizes. Fields that follow themselves count as one.
fn keyed(page: &str, placed: &[Placed]) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for Placed { structure, field, size, .. } in placed.iter().filter(|field| field.size > 0) {
        let is_elsewhere = ELSEWHERE.iter().any(|(s, p)| s == structure && *p != page);
        let field = if is_elsewhere { "" } else { *field };
        let same = |((s, f, _), ..): &&Shown| (*s, *f) == (*structure, field);
        let before = all.iter().rev().find(same).map(|((_, _, number), ..)| *number);
        let follows_itself = all.last().as_ref().is_some_and(same);
        match all.last_mut() {
            Some((_, whole, _)) if follows_itself && is_elsewhere => *whole += size,
            _ => {
                let number = before.map_or(0, |number| if follows_itself { number } else { number + 1 });
                all.push(((*structure, field, number), *size, follows_itself));
            }
        }
    }
    all
}

/// The rows that all values show. A field of a list has one row.
fn rows(samples: &[(Sizes, Vec<Shown>)]) -> Vec<Row> {
    let mut counts: BTreeMap<(&str, &str), BTreeSet<usize>> = BTreeMap::new();
    for (_, fields) in samples {
        let last: BTreeMap<_, _> = fields.iter().map(|((s, f, n), ..)| ((*s, *f), *n)).collect();
        for (field, number) in last {
            counts.entry(field).or_default().insert(number);
        }
    }
    let (mut rows, mut orders): (Vec<Row>, Vec<Vec<Key>>) = (Vec::new(), Vec::new());
    for (sizes, fields) in samples {
        let (mut next, mut order) = (0, Vec::new());
        for &((structure, field, number), size, follows_itself) in fields {
            let is_list = counts[&(structure, field)].len() > 1;
            let key = (structure, field, if is_list { 0 } else { number });
            let at = rows.iter().position(|row| row.key == key).unwrap_or_else(|| {
                // New fields come after those they follow.
                rows.insert(next, Row { key, seen: Vec::new(), is_repeated: false });
                next
            });
            next = at + 1;
            rows[at].seen.push((*sizes, size));
            rows[at].is_repeated |= is_list || follows_itself;
            order.push(key);
        }
        orders.push(order);
    }
    in_order(rows, &orders)
}

/// The rows, so that a field which all values that have both show before another comes before it.
fn in_order(mut rows: Vec<Row>, orders: &[Vec<Key>]) -> Vec<Row> {
    let place = |order: &Vec<Key>, row: &Row| order.iter().position(|key| *key == row.key);
    let is_before = |a: &Row, b: &Row| {
        let mut both = orders.iter().filter_map(|order| place(order, a).zip(place(order, b))).peekable();
        both.peek().is_some() && both.all(|(a, b)| a < b)
    };
    let mut sorted = Vec::new();
    while !rows.is_empty() {
        let first = rows.iter().position(|row| !rows.iter().any(|other| is_before(other, row)));
        sorted.push(rows.remove(first.unwrap_or(0)));
    }
    sorted
}

impl Row {
    /// The size if it is always the same, `O` or `L` if it is that of offsets or lengths.
    fn size(&self) -> String {
        let first = self.seen[0].1;
        if self.seen.iter().all(|&(_, size)| size == first) {
            first.to_string()
        } else if self.seen.iter().all(|&(sizes, size)| size == usize::from(sizes.offsets)) {
            "O".into()
        } else if self.seen.iter().all(|&(sizes, size)| size == usize::from(sizes.lengths)) {
            "L".into()
        } else {
            "variable".into()
        }
    }
}

/// All tables, made once.
fn tables() -> &'static [Table] {
    static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
        [make_tables(), make_message_tables(), make_datatype_tables()].into_iter().flatten().collect()
    });
    &TABLES
}

/// Held by whoever reads or mends pages.
static PAGES: Mutex<()> = Mutex::new(());

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec")
}

// Random values of collections are others where counts have 32 bits, and so are the tables made from them.
#[cfg(target_pointer_width = "64")]
#[test]
fn the_tables_of_fields_are_what_the_code_reads() {
    let _alone = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let bless = std::env::var_os("HDFIVE_BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for &Table { page, name, ref text } in tables() {
        let path = folder().join(page).with_extension("md");
        let old = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let begin = format!("<!-- fields: {name} -->\n");
        let found = old.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once("<!-- end -->")?)));
        let Some((before, (between, after))) = found else {
            panic!("{} has no lines {begin:?} and \"<!-- end -->\"", path.display());
        };
        if between == text.as_str() {
            continue;
        }
        if bless {
            std::fs::write(&path, format!("{before}{begin}{text}<!-- end -->{after}")).unwrap();
        } else {
            wrong.push(format!("{page}, {name}: the code has\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "with HDFIVE_BLESS=1 the pages are mended:\n{}", wrong.join("\n"));
}

/// The stems of all files under `folder` that end in `end`, with their folders.
fn stems(folder: &Path, end: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            all.extend(stems(&path, end).iter().map(|stem| format!("{name}/{stem}")));
        } else if let Some(stem) = name.strip_suffix(end) {
            all.insert(stem.to_owned());
        }
    }
    all
}

/// Whether a file of `src/format` is a structure's, not an index, random values or these tests.
fn is_structure(stem: &str) -> bool {
    let name = stem.rsplit('/').next().unwrap();
    name != "mod" && stem != "pages" && !name.ends_with("_testing")
}

#[test]
fn every_structure_has_a_page_and_every_page_a_structure() {
    let format = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/format");
    let structures: BTreeSet<String> = stems(&format, ".rs").into_iter().filter(|s| is_structure(s)).collect();
    let mut pages = stems(&folder(), ".md");
    assert!(pages.remove("README"), "the index is missing");
    assert_eq!(pages, structures, "format-spec on the left, src/format on the right");
}

#[test]
fn pages_have_the_headings_in_order_and_a_line_in_the_index() {
    let _alone = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let index = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let tables = tables();
    for stem in stems(&folder(), ".md").into_iter().filter(|stem| stem != "README") {
        let text = std::fs::read_to_string(folder().join(&stem).with_extension("md")).unwrap();
        let headings: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, HEADINGS, "{stem}");
        assert!(index.contains(&format!("({stem}.md)")), "{stem} is not in the index");
        for line in text.lines().filter_map(|line| line.strip_prefix("<!-- fields: ")) {
            let name = line.strip_suffix(" -->").unwrap();
            assert!(
                tables.iter().any(|t| (t.page, t.name) == (stem.as_str(), name)),
                "{stem}: no such table as {name}"
            );
        }
    }
}
