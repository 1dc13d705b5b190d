//! New files hold what was written to them, as h5py reads it; and still after h5py has changed them.

use std::process::Command;

use half::f16;
use hdfive::create::{Blosc, BloscShuffle, DatasetBuilder, NewGroup, Scalar};
use hdfive::format::message::datatype::{Class, Datatype, Text};
use hdfive::write::Compatibility;
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

fn layouts(group: &NewGroup, level: Compatibility) -> Result<()> {
    let data = ramp(37, 53);
    for (name, filters) in FILTERS {
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

fn write(builder: FileBuilder, path: &std::path::Path, level: Compatibility) -> Result<()> {
    let file = builder.compatibility(level).create(path)?;
    values(&file.create_group("values")?)?;
    attributes(&file.create_group("attributes")?)?;
    layouts(&file.create_group("layouts")?, level)?;
    links(&file, level)?;
    file.close()
}

fn script(arguments: &[&std::ffi::OsStr]) -> Vec<u8> {
    let script = package().join("tests/write/created.py");
    run(Command::new(python()).arg(script).args(arguments), "h5py reads something else").stdout
}

#[test]
fn h5py_finds_and_changes_everything_at_every_level() {
    let folder = scratch("created");
    for (name, level) in LEVELS {
        let path = folder.join(format!("{name}.h5"));
        let builder = FileBuilder::new().track_order(level > Compatibility::Earliest);
        write(builder, &path, level).unwrap();
        script(&["check".as_ref(), path.as_ref(), name.as_ref()]);
        let said = script(&["edit".as_ref(), path.as_ref()]);
        super::repacked::agrees(&path, &serde_json::from_slice(&said).unwrap());
        let file = File::open(&path).unwrap();
        let stations: Vec<Station> = file.dataset("values/stations").unwrap().read().unwrap();
        assert_eq!(stations, [0, 1, 3, 3, 4].map(station));
        let grown: Array2<i32> = file.dataset("layouts/parts/all").unwrap().read_array().unwrap();
        assert_eq!(grown.row(4), ramp(37, 53).row(4));
    }
}

#[test]
fn the_same_calls_give_the_same_bytes_behind_a_user_block() {
    let folder = scratch("created_twice");
    let once = |name: &str, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let path = folder.join(name);
        pool.install(|| write(FileBuilder::new().user_block(1024), &path, Compatibility::V110)).unwrap();
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
    let kind = |result: Result<hdfive::create::NewDataset>| result.unwrap_err().kind();
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
