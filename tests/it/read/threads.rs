//! Many threads read one file.

use hdfive::selection::Block;
use hdfive::storage::{FileSource, read_at};
use hdfive::{Attribute, Dataset, ErrorKind, File, Group, MissingSources, NamedType, Object, OpenOptions};

use crate::support::testdata;

const fn is_shared<T: Send + Sync + Clone + 'static>() {}

const _: () = {
    is_shared::<File>();
    is_shared::<Group>();
    is_shared::<Dataset>();
    is_shared::<Attribute>();
    is_shared::<NamedType>();
    is_shared::<Object>();
};

/// Files that have all layouts, indexes and filters between them.
const FILES: [&str; 10] = [
    "layouts/layouts_earliest.h5",
    "layouts/layouts_latest.h5",
    "index/chunks_fixed.h5",
    "index/chunks_extensible.h5",
    "index/chunks_btree_v2.h5",
    "index/large_earliest.h5",
    "filters/builtin.h5",
    "filters/plugins.h5",
    "virtual/virtual.h5",
    "external/external.h5",
];
const THREADS: usize = 16;

fn open(name: &str) -> File {
    OpenOptions::new().missing_sources(MissingSources::Fill).open(testdata(name)).unwrap()
}

fn datasets(file: &File) -> Vec<(String, Dataset)> {
    let tree = hdfive::inspect::Tree::walk(file).unwrap();
    let dataset = |object: hdfive::inspect::TreeObject| match object.object.unwrap() {
        Object::Dataset(dataset) => Some((String::from_utf8(object.path).unwrap(), dataset)),
        Object::Group(_) | Object::NamedType(_) => None,
    };
    tree.objects.into_iter().filter_map(dataset).collect()
}

#[test]
fn sixteen_threads_that_share_handles_read_what_one_reads() {
    for name in FILES {
        let serial: Vec<(String, Vec<u8>)> =
            datasets(&open(name)).into_iter().map(|(path, dataset)| (path, dataset.read_bytes().unwrap())).collect();
        assert!(serial.len() > 1, "{name}");
        // A file that nobody has read from yet.
        let file = open(name);
        let shared = datasets(&file);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (file, shared, serial) = (file.clone(), &shared, &serial);
                scope.spawn(move || {
                    for step in 0..serial.len() {
                        let number = (step + thread * 7) % serial.len();
                        let (path, wanted) = &serial[number];
                        let opened_here = thread % 2 == 0;
                        let dataset = if opened_here { file.dataset(path).unwrap() } else { shared[number].1.clone() };
                        assert!(dataset.read_bytes().unwrap() == *wanted, "{name}, {path}, thread {thread}");
                    }
                });
            }
        });
    }
}

#[test]
fn threads_that_read_different_blocks_of_one_dataset_get_its_parts() {
    let file = open("readme/weather.h5");
    let dataset = file.dataset("/surface/temperature").unwrap();
    let whole: Vec<f32> = dataset.read().unwrap();
    let row = 11 * 16;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (dataset, whole) = (dataset.clone(), &whole);
            scope.spawn(move || {
                for step in 0..28 {
                    let at = (step * 5 + thread) % 28;
                    let block = Block::new(&[at as u64, 0, 0], &[1, 11, 16]);
                    let day: Vec<f32> = dataset.select(&block).read().unwrap();
                    assert_eq!(day, whole[at * row..(at + 1) * row]);
                }
            });
        }
    });
}

#[test]
fn handles_outlive_the_file_value_they_came_from() {
    let file = open("readme/weather.h5");
    let (group, dataset) = (file.group("/stations").unwrap(), file.dataset("/surface/temperature").unwrap());
    let attribute = dataset.attribute("units").unwrap();
    drop(file);
    let names = group.dataset("name").unwrap().read::<String>().unwrap();
    assert_eq!(names, ["Brocken", "Zugspitze", "Hohenpeißenberg", "Helgoland", "Łódź"]);
    drop(group);
    assert_eq!(dataset.read::<f32>().unwrap().len(), 28 * 11 * 16);
    drop(dataset);
    assert_eq!(attribute.read::<String>().unwrap(), ["K"]);
}

/// Large reads are shared among threads by the source.
#[test]
fn many_bytes_are_read_at_once_from_anywhere_in_a_file() {
    let path = std::env::temp_dir().join(format!("hdfive-large-{}", std::process::id()));
    let content: Vec<u8> = (0u32..3_300_000).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&path, &content).unwrap();
    let source = FileSource::open(&path).unwrap();
    for (start, size) in [(0, 13_200_000), (1, 4 << 20), (3, (4 << 20) + 1), (777_777, 12_000_001)] {
        let mut buffer = vec![0; size];
        read_at(&source, u64::try_from(start).unwrap(), &mut buffer).unwrap();
        assert!(buffer == content[start..start + size], "{size} bytes at {start}");
    }
    let beyond = read_at(&source, 200, &mut vec![0; 13_200_000]).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(beyond.kind(), ErrorKind::Corrupt, "{beyond}");
}
