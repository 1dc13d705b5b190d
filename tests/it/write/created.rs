//! New files hold what was written to them, as h5py reads it; and still after h5py has changed them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use half::f16;
use hdfive::create::{AllocTime, Blosc, BloscShuffle, DatasetBuilder, FillTime, NewGroup, Scalar, VirtualSource};
use hdfive::format::message::datatype::{Class, Datatype, Text};
use hdfive::write::{Compatibility, FileSpaceStrategy};
use hdfive::{Conversion, ErrorKind, File, FileBuilder, H5Type, Reference, Result, s};
use ndarray::{Array2, Array3};
use num_complex::Complex;

use super::repacked::LEVELS;
use crate::support::python::{python, run};
use crate::support::{package, scratch};

#[derive(Clone, Debug, PartialEq, H5Type)]
struct Station {
    id: u32,
    #[h5(rename = "station name")]
    name: String,
    position: [f64; 3],
    kind: Kind,
    open: bool,
    seen: Vec<i16>,
}

#[derive(Clone, Copy, Debug, PartialEq, H5Type)]
#[repr(i16)]
enum Kind {
    Ship = -2,
    Land = 300,
}

fn station(i: u32) -> Station {
    Station {
        id: i * i,
        name: format!("Straße {i}"),
        position: [f64::from(i), 0.5, -1.0],
        kind: if i.is_multiple_of(2) { Kind::Ship } else { Kind::Land },
        open: i.is_multiple_of(3),
        seen: (0..i16::try_from(i).unwrap()).collect(),
    }
}

fn fixed_text(size: u32, padding: u8) -> Datatype {
    Datatype { version: 1, size, class: Class::String(Text { padding, character_set: 0 }), unused_bits: 0 }
}

fn ramp(rows: usize, columns: usize) -> Array2<i32> {
    Array2::from_shape_fn((rows, columns), |(i, j)| i32::try_from(i * columns + j).unwrap() % 1009)
}

fn values(group: &NewGroup) -> Result<()> {
    let new = || group.new_dataset_builder();
    new().with_data(3i8).create("scalar")?;
    new().with_data([1.5f32, -0.0, f32::INFINITY]).create("f32")?;
    new().with_data(vec![u64::MAX, 0, 1]).create("u64")?;
    new().with_data([true, false, true]).create("bool")?;
    new().with_data([f16::from_f32(0.1), f16::from_f32(65504.0)]).create("f16")?;
    new().with_data(&[Complex::new(1.0f64, -2.0), Complex::new(0.0, 3.5)][..]).create("complex")?;
    new().with_data(["", "a", "grüße"]).create("text")?;
    new().with_data("one").create("one_text")?;
    new().with_data(["ab", "abcde", ""]).datatype(fixed_text(5, 1)).create("fixed_text")?;
    new().with_data(["ab", "abcd", ""]).datatype(fixed_text(5, 0)).create("ended_text")?;
    new().with_data(["ab", "abcde", ""]).datatype(fixed_text(5, 2)).create("spaced_text")?;
    new().with_data(vec![vec![1i32, 2, 3], vec![], vec![-7]]).create("sequences")?;
    new().with_data(vec![vec!["x".to_owned()], vec!["y".to_owned(), "zz".to_owned()]]).create("texts")?;
    new().with_data([[1u8, 2], [3, 4]]).create("arrays")?;
    new().with_data([(1i16, 2.5f32), (3, 4.5)]).create("tuples")?;
    new().with_data((0..5).map(station).collect::<Vec<_>>()).create("stations")?;
    new().with_data([Kind::Land, Kind::Ship]).create("enum")?;
    new().with_data(ramp(4, 6).reversed_axes()).create("transposed")?;
    new().with_data(Array3::<u8>::zeros((0, 3, 2))).create("none")?;
    group.new_dataset::<f64>().empty().create("empty")?;
    new().with_data([1i32, 2, 300]).datatype(u8::type_descriptor()).conversion(Conversion::Saturating).create("cut")?;
    Ok(())
}

fn attributes(group: &NewGroup) -> Result<()> {
    group.attr("number", 7u16)?;
    group.attr("number", -7i64)?;
    group.attr("text", "Maß")?;
    group.attr("texts", ["a", "bc"])?;
    group.attr("matrix", ramp(2, 3))?;
    group.attr("row", [0.25f64; 3])?;
    group.attr("struct", Scalar((1u8, "in a tuple".to_owned())))?;
    group.attr_empty::<f32>("nothing")?;
    for i in 0..30u8 {
        group.attr(&format!("many{i}"), i)?;
    }
    group.comment("a group with attributes")
}

type Setting = fn(DatasetBuilder<'_>) -> DatasetBuilder<'_>;

/// Filters that libhdf5 itself has, but for szip, which it may have.
const BUILT_IN: [&str; 7] = ["none", "deflate", "shuffle_deflate", "fletcher32", "all", "nbit", "scale_offset"];

/// Filters by the names that the script knows them by.
const FILTERS: [(&str, Setting); 14] = [
    ("none", |b| b),
    ("deflate", |b| b.deflate(4)),
    ("shuffle_deflate", |b| b.shuffle().deflate(9)),
    ("fletcher32", |b| b.fletcher32()),
    ("all", |b| b.shuffle().deflate(1).fletcher32()),
    ("szip", |b| b.szip(true, 8)),
    ("nbit", |b| b.nbit()),
    ("scale_offset", |b| b.scale_offset(0)),
    ("lzf", |b| b.shuffle().lzf()),
    ("lz4", |b| b.lz4()),
    ("zstd", |b| b.shuffle().zstd(3)),
    ("bzip2", |b| b.bzip2(9)),
    ("bitshuffle", |b| b.bitshuffle()),
    ("blosc", |b| b.blosc(Blosc::Lz4, 5, BloscShuffle::Bits)),
];

fn layouts(group: &NewGroup, level: Compatibility, with: fn(&str) -> bool) -> Result<()> {
    let data = ramp(37, 53);
    for (name, filters) in FILTERS.into_iter().filter(|(name, _)| with(name)) {
        let new = || filters(group.new_dataset::<i32>().shape([37, 53]).chunk([10, 20]).fill_value(-1));
        new().create(&format!("whole/{name}"))?.write(&data)?;
        // By rows, by blocks across chunks, with a hole.
        let mut parts = new().create(&format!("parts/{name}"))?;
        for row in (0..30).rev() {
            parts.write_slice(data.row(row), s![row, ..])?;
        }
        parts.write_slice(data.slice(ndarray::s![28.., 5..50;3]), s![28.., 5..50;3])?;
        let mut grown = filters(group.new_dataset::<i32>().shape([0, 53]).resizable().chunk([8, 53]));
        grown = if level >= Compatibility::V110 { grown.partial_chunks_unfiltered() } else { grown };
        let mut grown = grown.create(&format!("grown/{name}"))?;
        for row in data.rows() {
            grown.append(row)?;
        }
    }
    group.new_dataset::<i32>().shape([37, 53]).fill_value(9).create("contiguous")?.write_slice(&data, s![.., ..])?;
    let mut parts = group.new_dataset::<i32>().shape([37, 53]).fill_value(9).create("contiguous_parts")?;
    parts.write_slice(data.slice(ndarray::s![5..20, 7..11]), s![5..20, 7..11])?;
    parts.write_slice([1, 2, 3], s![[30, 2, 36], 50])?;
    group
        .new_dataset::<i32>()
        .shape([37, 5])
        .compact()
        .fill_value(4)
        .create("compact")?
        .write_slice([5; 37], s![.., 2])?;
    group.new_dataset::<f32>().shape([1000, 1000]).chunked().create("never_written")?;
    let mut both =
        group.new_dataset::<i32>().shape([3, 3]).max_shape([None, None]).chunk([2, 2]).create("both_ways")?;
    both.write(ramp(3, 3))?;
    both.resize(&[5, 7])?;
    both.write_slice(ramp(5, 7), s![.., ..])?;
    both.resize(&[4, 6])?;
    let mut raw = group.new_dataset::<u8>().shape([4]).chunk([2]).deflate(1).create("raw")?;
    raw.write_chunk_raw(&[1], 1, &[7, 8])?;
    raw.write_slice([5, 6], s![..2])
}

/// Space that is there before anything is written to it.
fn allocated(group: &NewGroup) -> Result<()> {
    let data = ramp(37, 53);
    let new = || group.new_dataset::<i32>().shape([37, 53]).alloc_time(AllocTime::Early).fill_value(-5);
    new().create("contiguous")?;
    let mut chunks = new().chunk([10, 20]).create("chunks")?;
    chunks.write_slice(data.slice(ndarray::s![12..18, 7..]), s![12..18, 7..])?;
    let mut larger = new().chunk([10, 20]).max_shape([Some(45), Some(90)]).create("larger")?;
    larger.write(&data)?;
    larger.resize(&[41, 60])?;
    larger.write_slice([1, 2, 3], s![38..41, 59])?;
    let mut filtered = new().chunk([10, 20]).shuffle().deflate(1).create("filtered")?;
    filtered.write_slice(data.row(3), s![3, ..])?;
    group.new_dataset::<i32>().shape([6]).chunk([4]).fill_value(8).fill_time(FillTime::Never).create("any")?;
    let late = group.new_dataset::<i32>().shape([6]).chunk([4]).alloc_time(AllocTime::Late).fill_time(FillTime::Alloc);
    late.create("late")?.write_slice([9], s![..1])
}

/// Elements that lie in other datasets and files: in the file itself, and in `raw.bin`.
fn elsewhere(group: &NewGroup, level: Compatibility) -> Result<()> {
    let new = || group.new_dataset::<i32>();
    new().shape([5, 4]).external("raw.bin", 8, Some(48)).external("raw.bin", 80, None).create("external")?;
    if level < Compatibility::V110 {
        return Ok(());
    }
    let from = || VirtualSource::new(".", "/layouts/whole/none", [37, 53]);
    let mapped = new().shape([10, 53]).fill_value(-1);
    mapped
        .map(s![0, ..], from().select(s![36, ..]))
        .map(s![2..8;2, 3..13], from().select(s![10..19;4, [0, 1, 2, 3, 4, 20, 21, 22, 23, 24]]))
        .map(s![9, [1, 2, 4, 7]], from().select(s![[0, 1, 3, 9], 52]))
        .create("mapped")?;
    let grown = VirtualSource::new(".", "/layouts/grown/deflate", [37, 53]).select(s![1.., 5..8]).unlimited(0);
    new().shape([36, 3]).max_shape([None, Some(3)]).map_unlimited(s![.., ..], 0, grown).create("grows")?;
    for i in 0..3i32 {
        new().shape([2]).create(&format!("part{i}"))?.write([10 * i, 10 * i + 1])?;
    }
    let parts = VirtualSource::new(".", format!("{}/part%b", group.path()), [2]);
    new().shape([6]).resizable().map_unlimited(s![..2], 0, parts).create("parts")?;
    Ok(())
}

fn links(file: &NewGroup, level: Compatibility) -> Result<()> {
    file.link_soft("/values/f32", "links/soft")?;
    file.link_hard("/values/u64", "links/hard")?;
    if level > Compatibility::Earliest {
        file.link_external("elsewhere.h5", "/x", "links/outside")?;
    }
    for i in 0..100 {
        file.create_group(&format!("links/many/{i}"))?;
    }
    let named = file.commit::<Station>("links/type")?;
    named.attr("why", "it is committed")?;
    file.new_dataset::<Station>()
        .of_type(&named)
        .shape([2])
        .create("links/of_type")?
        .write(vec![station(1), station(4)])?;
    let dataset = file.new_dataset::<i32>().shape([2]).create("links/pointed_at")?;
    let references = vec![dataset.reference()?, file.group("links")?.reference()?, Reference::NULL];
    file.new_dataset_builder().with_data(references).create("links/references")?;
    Ok(())
}

/// Everything; of the filters those that are wanted.
fn write(builder: FileBuilder, path: &Path, level: Compatibility, with: fn(&str) -> bool) -> Result<()> {
    let file = builder.compatibility(level).create(path)?;
    values(&file.create_group("values")?)?;
    attributes(&file.create_group("attributes")?)?;
    layouts(&file.create_group("layouts")?, level, with)?;
    links(&file, level)?;
    allocated(&file.create_group("allocated")?)?;
    elsewhere(&file.create_group("elsewhere")?, level)?;
    file.close()
}

/// The external file: numbers from 0 on.
fn write_raw(folder: &Path) {
    let bytes: Vec<u8> = (0..40i32).flat_map(i32::to_le_bytes).collect();
    std::fs::write(folder.join("raw.bin"), bytes).unwrap();
}

/// An interpreter with an h5py of its own.
struct Judge {
    python: PathBuf,
    /// Where its h5py lies, if not with the interpreter.
    h5py: Option<PathBuf>,
}

impl Judge {
    /// The tests' own; and, with `HDFIVE_JUDGES`, those that `.ci/judges.sh` puts together.
    fn all() -> Vec<Judge> {
        let mut judges = vec![Judge { python: python().to_owned(), h5py: None }];
        if let Some(folder) = std::env::var_os("HDFIVE_JUDGES").map(PathBuf::from) {
            let versions = std::fs::read_dir(folder.join("h5py")).unwrap().map(|entry| entry.unwrap().path());
            judges.extend(versions.map(|h5py| Judge { python: folder.join("venv/bin/python"), h5py: Some(h5py) }));
            assert!(judges.len() > 4, "{} of the judges are there", judges.len());
        }
        judges
    }

    /// Whether its libhdf5 can copy strings in dense attributes: 1.12.2 and 1.14.2 end with a violation of memory, also
    /// for files of their own.
    fn copies(&self) -> bool {
        !["3.9.0", "3.11.0"].iter().any(|version| self.h5py.as_ref().is_some_and(|h5py| h5py.ends_with(version)))
    }

    fn script(&self, arguments: &[&OsStr]) -> Vec<u8> {
        let mut command = Command::new(&self.python);
        if let Some(h5py) = &self.h5py {
            command.env("PYTHONPATH", h5py);
        }
        let script = package().join("tests/write/created.py");
        // Where libhdf5 looks for external files.
        command.current_dir(Path::new(arguments[1]).parent().unwrap());
        run(command.arg("-B").arg(script).args(arguments), "h5py reads something else").stdout
    }

    fn finds_and_changes_everything(&self, path: &Path, level: &str) {
        self.script(&["check".as_ref(), path.as_ref(), level.as_ref()]);
        if self.copies() {
            let copy = path.with_extension("copy.h5");
            self.script(&["copy".as_ref(), path.as_ref(), level.as_ref(), copy.as_ref()]);
        }
        let said = self.script(&["edit".as_ref(), path.as_ref()]);
        super::repacked::agrees(path, &serde_json::from_slice(&said).unwrap());
        let file = File::open(path).unwrap();
        let stations: Vec<Station> = file.dataset("values/stations").unwrap().read().unwrap();
        assert_eq!(stations, [0, 1, 3, 3, 4].map(station));
        let parts: Array2<i32> = file.dataset("layouts/parts/all").unwrap().read_array().unwrap();
        assert_eq!(parts.row(4), ramp(37, 53).row(4));
    }
}

#[test]
fn h5py_finds_and_changes_everything_at_every_level() {
    let folder = scratch("created");
    write_raw(&folder);
    for (name, level) in LEVELS {
        let path = folder.join(format!("{name}.h5"));
        let builder = FileBuilder::new().track_order(level > Compatibility::Earliest);
        write(builder, &path, level, |_| true).unwrap();
        for judge in Judge::all() {
            let own = folder.join("judged.h5");
            std::fs::copy(&path, &own).unwrap();
            judge.finds_and_changes_everything(&own, name);
        }
    }
}

/// PyTables; and, with `HDFIVE_JUDGES`, readers that do without libhdf5, and one of the browser.
#[test]
fn readers_that_are_not_h5py_find_the_same_numbers() {
    let folder = scratch("created_for_readers");
    write_raw(&folder);
    let judges = std::env::var_os("HDFIVE_JUDGES").map(PathBuf::from);
    for (name, level) in LEVELS {
        let path = folder.join(format!("{name}.h5"));
        write(FileBuilder::new(), &path, level, |filter| BUILT_IN.contains(&filter)).unwrap();
        let read = |python: &Path, reader: &str, more: Option<&Path>| {
            let script = package().join("tests/write/readers.py");
            let mut command = Command::new(python);
            command.arg("-B").arg(script).args([reader.as_ref(), path.as_os_str()]).args(more);
            run(command.current_dir(&folder), "another reader finds something else");
        };
        read(python(), "tables", None);
        match &judges {
            None => {
                crate::support::skipped("pyfive, h5wasm and jsfive", "HDFIVE_JUDGES is not set; .ci/judges.sh sets it")
            }
            // They read what was there before 1.10.
            Some(judges) if level < Compatibility::V110 => {
                read(&judges.join("readers/bin/python"), "pyfive", None);
                read(&judges.join("readers/bin/python"), "js", Some(&judges.join("js")));
            }
            Some(_) => {}
        }
    }
}

/// Pages, each of metadata or of data; and chunks that only libhdf5 2.0 has.
#[test]
fn files_in_pages_and_chunks_beyond_32_bits() {
    let folder = scratch("created_in_pages");
    write_raw(&folder);
    for (name, level) in &LEVELS[2..] {
        let path = folder.join(format!("{name}.h5"));
        let strategy = FileSpaceStrategy::Page(4096);
        write(FileBuilder::new().track_order(true).file_space(strategy), &path, *level, |filter| {
            BUILT_IN.contains(&filter)
        })
        .unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        assert!(size.is_multiple_of(4096), "{size} bytes");
        let judge = &Judge::all()[0];
        judge.script(&["pages".as_ref(), path.as_ref()]);
        judge.finds_and_changes_everything(&path, name);
    }
    let path = folder.join("large.h5");
    let file = FileBuilder::new().compatibility(Compatibility::V200).create(&path).unwrap();
    let new = || file.new_dataset::<u8>().shape([1 << 34]).chunk([1 << 33]).fill_value(6);
    new().deflate(1).create("filtered").unwrap();
    new().max_shape([None]).create("unlimited").unwrap();
    file.close().unwrap();
    Judge::all()[0].script(&["large".as_ref(), path.as_ref()]);
    assert_eq!(kind(FileBuilder::new().file_space(FileSpaceStrategy::None).create_in_memory()), ErrorKind::Unsupported);
    let odd = FileBuilder::new().compatibility(Compatibility::V110).file_space(FileSpaceStrategy::Page(511));
    assert_eq!(kind(odd.create_in_memory()), ErrorKind::Invalid);
}

fn kind<T: std::fmt::Debug>(result: Result<T>) -> ErrorKind {
    result.unwrap_err().kind()
}

/// The tools of the oldest libhdf5 that is still in use say that a copy which h5py makes of a file is the same file.
#[test]
fn old_tools_read_what_the_levels_promise_them() {
    if std::env::var_os("HDFIVE_JUDGES").is_none() {
        return crate::support::skipped("old tools", "HDFIVE_JUDGES is not set; .ci/judges.sh sets it");
    }
    let folder = scratch("created_for_old_tools");
    write_raw(&folder);
    let judge = &Judge::all()[0];
    for (name, level) in &LEVELS[..3] {
        let (path, copy) = (folder.join(format!("{name}.h5")), folder.join(format!("{name}-copy.h5")));
        write(FileBuilder::new(), &path, *level, |filter| BUILT_IN.contains(&filter)).unwrap();
        judge.script(&["copy".as_ref(), path.as_ref(), name.as_ref(), copy.as_ref()]);
        // References that libhdf5 copies point nowhere.
        let (path, copy) = (path.to_str().unwrap(), copy.to_str().unwrap());
        let diff = vec!["h5diff", "-v", "--exclude-path", "/links/references", path, copy];
        for command in [diff, vec!["h5dump", path], vec!["h5stat", path], vec!["h5ls", "-rv", path]] {
            let mut tool = Command::new(command[0]);
            let said = run(tool.args(&command[1..]).current_dir(&folder), "an old tool does not read the file");
            assert!(!said.stdout.is_empty(), "{command:?}");
            assert_eq!(String::from_utf8_lossy(&said.stderr), "", "{command:?}");
        }
    }
}

#[test]
fn the_same_calls_give_the_same_bytes_behind_a_user_block() {
    let folder = scratch("created_twice");
    let once = |name: &str, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let path = folder.join(name);
        pool.install(|| write(FileBuilder::new().user_block(1024), &path, Compatibility::V110, |_| true)).unwrap();
        std::fs::read(path).unwrap()
    };
    let one = once("one.h5", 1);
    assert!(one == once("many.h5", 5));
    assert_eq!(File::from_bytes(one).unwrap().facts().user_block, 1024);
}

#[test]
fn what_was_there_stays_until_the_new_file_is_closed() {
    let folder = scratch("created_late");
    let path = folder.join("file.h5");
    let write = |value: i32| -> Result<hdfive::NewFile> {
        let file = File::create(&path)?;
        file.new_dataset_builder().with_data(value).create("value")?;
        Ok(file)
    };
    let value = || File::open(&path).unwrap().dataset("value").unwrap().read_scalar::<i32>().unwrap();
    write(1).unwrap().close().unwrap();
    drop(write(2).unwrap());
    assert_eq!(value(), 1);
    let third = write(3).unwrap();
    assert_eq!(value(), 1);
    third.close().unwrap();
    assert_eq!((value(), std::fs::read_dir(&folder).unwrap().count()), (3, 1));
}

#[test]
fn what_cannot_be_is_an_error_when_it_is_asked_for() {
    let file = FileBuilder::new().create_in_memory().unwrap();
    let new = || file.new_dataset::<i32>().shape([10, 10]);
    assert_eq!(kind(new().chunk([11, 1]).create("too_large")), ErrorKind::Invalid);
    assert_eq!(kind(new().chunk([10]).create("rank")), ErrorKind::Invalid);
    assert_eq!(kind(new().chunk([0, 1]).create("nothing")), ErrorKind::Invalid);
    assert_eq!(kind(new().compact().deflate(1).create("compact_filtered")), ErrorKind::Invalid);
    assert_eq!(kind(new().contiguous().resizable().create("contiguous_resizable")), ErrorKind::Invalid);
    assert_eq!(kind(new().max_shape([Some(5), None]).create("max")), ErrorKind::Invalid);
    assert_eq!(kind(new().filter(32024, &[]).create("sz3")), ErrorKind::Unsupported);
    assert_eq!(kind(new().chunk([2, 2]).partial_chunks_unfiltered().create("new")), ErrorKind::Unsupported);
    assert_eq!(kind(file.new_dataset::<u8>().shape([1 << 33]).chunk([1 << 32]).create("large")), ErrorKind::Invalid);
    assert_eq!(kind(file.new_dataset::<f32>().fill_value(0.1f64).create("fill")), ErrorKind::WrongType);
    assert_eq!(kind(file.new_dataset_builder().create("of_nothing")), ErrorKind::Invalid);
    let source = || VirtualSource::new("a.h5", "x", [10, 10]);
    assert_eq!(kind(new().map(s![..], source()).create("virtual")), ErrorKind::Unsupported);
    assert_eq!(kind(new().external("raw.bin", 0, Some(399)).create("too_short")), ErrorKind::Invalid);
    assert_eq!(kind(new().external("raw.bin", 0, None).deflate(1).create("filtered")), ErrorKind::Invalid);
    let newer = FileBuilder::new().compatibility(Compatibility::V110).create_in_memory().unwrap();
    let new_virtual = || newer.new_dataset::<i32>().shape([10, 10]);
    assert_eq!(kind(new_virtual().map(s![..9], source()).create("fewer")), ErrorKind::Invalid);
    assert_eq!(kind(new_virtual().map(s![[1, 0]], source().select(s![..2])).create("order")), ErrorKind::Unsupported);
    assert_eq!(kind(new_virtual().map_unlimited(s![..], 0, source()).create("end")), ErrorKind::Invalid);
    let mut there = new().create("there").unwrap();
    assert_eq!(kind(new().create("there")), ErrorKind::Conflict);
    assert_eq!(file.create_group("there/below").unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(there.write([1, 2]).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(there.write(vec![0.5f32; 100]).unwrap_err().kind(), ErrorKind::WrongType);
    assert_eq!(there.write_slice(1, s![10, 0]).unwrap_err().kind(), ErrorKind::OutOfBounds);
    assert_eq!(there.resize(&[20, 10]).unwrap_err().kind(), ErrorKind::OutOfBounds);
    assert_eq!(file.attr("", 1).unwrap_err().kind(), ErrorKind::Invalid);
    let text = fixed_text(3, 0);
    assert_eq!(kind(file.new_dataset_builder().with_data("abc").datatype(text).create("t")), ErrorKind::WrongType);
    // None of that is in the file, but for what was created before its data were wrong.
    let file = File::from_bytes(file.close_in_memory().unwrap()).unwrap();
    assert_eq!(file.root().unwrap().names().unwrap(), ["t", "there"]);
    assert_eq!(file.dataset("there").unwrap().read::<i32>().unwrap(), [0; 100]);
    let file = FileBuilder::new().create_in_memory().unwrap();
    let mut late = file.new_dataset::<i32>().create("late").unwrap();
    file.close().unwrap();
    assert_eq!(late.write(1).unwrap_err().kind(), ErrorKind::Conflict);
}
