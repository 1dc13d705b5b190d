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
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::btree_v2::{self, FilteredChunkContext};
use super::*;
use crate::wire::{Addr, Placed, Sizes, Structure};

/// Structures inside others that are one row there, since they have tables of their own on these pages.
const ELSEWHERE: [(&str, &str); 3] = [
    ("dataspace selection", "encoded_selection"),
    ("filter pipeline message", "message/filter_pipeline"),
    ("filter description", "message/filter_pipeline"),
];

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
        table("message/filter_pipeline", "version 1", |_| pipeline(1)),
        table("message/filter_pipeline", "version 2", |_| pipeline(2)),
    ]
}

fn versioned_mapping(sizes: Sizes, version: u8) -> BoxedStrategy<virtual_mapping::VirtualMapping> {
    virtual_mapping::virtual_mapping(sizes).prop_filter("another version", move |m| m.version == version).boxed()
}

fn pipeline(version: u8) -> BoxedStrategy<(message::filter_pipeline::FilterPipeline, ())> {
    let any = message::filter_pipeline::filter_pipeline();
    plain(any.prop_filter("another version", move |p| p.version == version).boxed())
}

type Encoded = encoded_selection::EncodedSelection;

fn selection(which: impl Fn(&Encoded) -> bool + 'static) -> BoxedStrategy<(Encoded, ())> {
    plain(encoded_selection::encoded_selection().prop_filter("another encoding", which).boxed())
}

fn is_points(selection: &Encoded) -> bool {
    matches!(selection.selection, encoded_selection::Selection::Points { .. })
}

fn is_hyperslab(selection: &Encoded) -> bool {
    selection.rank().is_some() && !is_points(selection)
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
            samples.push((sizes, keyed(page, &placed)));
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
    let mut rows: Vec<Row> = Vec::new();
    for (sizes, fields) in samples {
        let mut next = 0;
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
        }
    }
    rows
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
    static TABLES: LazyLock<Vec<Table>> = LazyLock::new(make_tables);
    &TABLES
}

/// Held by whoever reads or mends pages.
static PAGES: Mutex<()> = Mutex::new(());

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec")
}

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

/// All pages, without the index.
fn pages(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, all);
        } else if path.file_name().is_some_and(|name| name != "README.md") {
            all.push(path);
        }
    }
}

#[test]
fn pages_have_a_source_file_the_headings_in_order_and_a_line_in_the_index() {
    let _alone = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let index = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let (mut all, tables) = (Vec::new(), tables());
    pages(&folder(), &mut all);
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        let headings: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, HEADINGS, "{}", path.display());
        let stem = path.strip_prefix(folder()).unwrap().with_extension("");
        let stem = stem.to_str().unwrap().replace('\\', "/");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/format").join(&stem).with_extension("rs");
        assert!(source.exists(), "{} has no source file", path.display());
        assert!(index.contains(&format!("({stem}.md)")), "{stem} is not in the index");
        for line in text.lines().filter_map(|line| line.strip_prefix("<!-- fields: ")) {
            let name = line.strip_suffix(" -->").unwrap();
            assert!(tables.iter().any(|t| (t.page, t.name) == (&stem, name)), "{stem}: no such table as {name}");
        }
    }
}
