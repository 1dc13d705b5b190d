//! Chunks looked up one block at a time: those that the whole index has, and no more of the index than leads to them.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use hdfive::format::message::data_layout::{DataLayout, Layout};
use hdfive::index;
use hdfive::manifest::Chunks;
use hdfive::object::container::{Container, Opening};
use hdfive::object::{Header, Scope, Step};
use hdfive::selection::Block;
use hdfive::storage::FileSource;
use hdfive::storage::counting::CountingSource;
use hdfive::{Dataset, File, Object, OpenOptions};

use crate::support::random::Random;
use crate::support::{self, package, python};

/// The files that `indexes.py` writes.
fn files(test: &str) -> Vec<PathBuf> {
    let folder = support::scratch(test);
    let script = package().join("tests/it/read/indexes.py");
    python::run(Command::new(python::python()).arg("-B").arg(script).arg(&folder), "the script does not run");
    ["earliest.h5", "latest.h5"].map(|name| folder.join(name)).to_vec()
}

fn datasets(file: &File) -> Vec<(String, Dataset)> {
    let tree = hdfive::inspect::Tree::walk(file).unwrap();
    let dataset = |object: hdfive::inspect::TreeObject| match object.object.unwrap() {
        Object::Dataset(dataset) => Some((String::from_utf8(object.path).unwrap(), dataset)),
        Object::Group(_) | Object::NamedType(_) => None,
    };
    tree.objects.into_iter().filter_map(dataset).filter(|(_, dataset)| dataset.chunk_shape().is_some()).collect()
}

/// The chunks of a dataset within a block of chunks, or all, from its index.
fn chunks(container: &Container, dataset: &Dataset, within: Option<&Block>) -> Chunks {
    let (shape, max_shape) = (dataset.shape(), dataset.max_shape());
    let filtered = !dataset.filters().unwrap().is_empty();
    let job = |scope: Scope<'_>| -> Step<Chunks> {
        let layout: DataLayout = Header::load(scope, dataset.address())?.expect(scope)?;
        let Layout::Chunked(chunked) = &layout.layout else { panic!("a dataset without chunks") };
        index::chunks(scope, chunked, shape, &max_shape, filtered, within)
    };
    container.run(job).unwrap()
}

#[test]
fn chunks_within_a_block_are_those_of_the_whole_index() {
    let mut random = Random::of("indexes");
    let mut kinds = std::collections::HashSet::new();
    let small =
        ["chunks_btree_v2.h5", "chunks_earliest.h5", "chunks_extensible.h5", "chunks_fixed.h5", "large_earliest.h5"];
    let small = small.iter().map(|name| support::testdata("index").join(name));
    for path in files("indexes").into_iter().chain(small) {
        let file = File::open(&path).unwrap();
        let container = Container::open(Arc::new(FileSource::open(&path).unwrap()), Opening::default()).unwrap();
        for (name, dataset) in datasets(&file) {
            kinds.insert(std::mem::discriminant(dataset.chunk_index().unwrap()));
            let all = chunks(&container, &dataset, None);
            for _ in 0..12 {
                let counts = all.grid().counts();
                let start: Vec<u64> = counts.iter().map(|n| random.next() % (n + 1)).collect();
                let count: Vec<u64> = counts.iter().map(|n| random.next() % (n / 2 + 2)).collect();
                let block = Block { start, count };
                let within = |number: u64| block.contains(&all.grid().coordinates(number).unwrap());
                let wanted: Vec<_> = all.iter().filter(|place| within(place.number)).collect();
                let found: Vec<_> = chunks(&container, &dataset, Some(&block)).iter().collect();
                assert_eq!(found, wanted, "{name} of {}, {block}", path.display());
            }
        }
    }
    assert_eq!(kinds.len(), 6, "chunk indexes of these files");
}

#[test]
fn a_small_selection_of_a_file_just_opened_reads_little_of_an_index() {
    for path in files("look_up") {
        let bytes = std::fs::read(&path).unwrap();
        for (name, _) in datasets(&File::open(&path).unwrap()) {
            let source = Arc::new(CountingSource::new(bytes.clone()));
            let file = OpenOptions::new().open_source(source.clone(), "counted").unwrap();
            let dataset = file.dataset(&name).unwrap();
            let before = source.counts();
            let values: Vec<u32> = dataset.select(Block::new(&[101, 57], &[2, 3])).read().unwrap();
            assert_eq!(values, [101, 102].map(|row| [57, 58, 59].map(|at| row * 120 + at)).concat(), "{name}");
            let after = source.counts();
            let (read, batches) = (after.bytes - before.bytes, after.batches - before.batches);
            // 31,200 chunks have at least 250,000 bytes of index.
            assert!(read < 60_000 && batches < 24, "{name}: {read} bytes in {batches} batches");
            // Much of it takes the whole index, and single chunks are then found in that.
            let all: Vec<u32> = dataset.select(..).read().unwrap();
            assert_eq!(all[120 * 102 + 58], 120 * 102 + 58);
            let before = source.counts().bytes;
            dataset.read_chunk_raw(&[101, 59]).unwrap();
            assert!(source.counts().bytes - before <= 8, "{name}");
        }
    }
}

/// Selection after selection, until the whole index is worth it.
#[test]
fn chunks_are_looked_up_anew_until_the_whole_index_costs_no_more() {
    let path = &files("worth")[1];
    let source = Arc::new(CountingSource::new(std::fs::read(path).unwrap()));
    let file = OpenOptions::new().open_source(source.clone(), "counted").unwrap();
    let dataset = file.dataset("/both_checked").unwrap();
    for row in 0..260u32 {
        let values: Vec<u32> = dataset.select(Block::new(&[row.into(), 5], &[1, 2])).read().unwrap();
        assert_eq!(values, [row * 120 + 5, row * 120 + 6]);
    }
    let before = source.counts().bytes;
    let values: Vec<u32> = dataset.select(Block::new(&[3, 100], &[1, 2])).read().unwrap();
    assert_eq!(values, [460, 461]);
    assert!(source.counts().bytes - before <= 16, "the chunks alone");
}
