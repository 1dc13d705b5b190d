//! Random files: many objects of all kinds, written in many steps, are in h5py's eyes what was written.

use std::path::Path;
use std::process::Command;

use hdfive::create::{Blosc, BloscShuffle, DatasetBuilder, NewDataset, NewGroup};
use hdfive::format::message::datatype::{ByteOrder, Class, Datatype};
use hdfive::selection::{Index, Selection};
use hdfive::write::Compatibility;
use hdfive::{FileBuilder, H5Type, Result};
use ndarray::{ArrayD, IxDyn, Slice};
use num_complex::Complex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::repacked::LEVELS;
use crate::support::python::{python, run};
use crate::support::random::Random;
use crate::support::{package, scratch};

fn bytes(bytes: impl IntoIterator<Item = u8>) -> Value {
    let digest = Sha256::digest(bytes.into_iter().collect::<Vec<u8>>());
    json!({ "kind": "bytes", "sha256": digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>() })
}

/// A type of values: one at random, and what is told of some.
trait Kind: H5Type {
    fn any(random: &mut Random) -> Self;
    fn nothing() -> Self;
    fn told<'a>(values: impl Iterator<Item = &'a Self>) -> Value;
    /// Whether values have a size that filters and fill values can count on.
    const FIXED: bool = true;
    /// Whether values are integers or floats.
    const NUMBER: bool = false;
}

macro_rules! numbers {
    ($($number:ty),*) => { $(
        impl Kind for $number {
            fn any(random: &mut Random) -> Self {
                let mut bits = [0; size_of::<$number>()];
                // Also numbers that resemble each other, as filters like them; and no NaN, which equals nothing.
                let used = if random.index(2) == 0 { 1 } else { bits.len() };
                bits[..used].fill_with(|| random.byte());
                let number = <$number>::from_le_bytes(bits);
                if number.partial_cmp(&number).is_some() { number } else { Self::nothing() }
            }

            fn nothing() -> Self {
                <$number>::from_le_bytes([0; size_of::<$number>()])
            }

            fn told<'a>(values: impl Iterator<Item = &'a Self>) -> Value {
                bytes(values.flat_map(|value| value.to_le_bytes()))
            }

            const NUMBER: bool = true;
        }
    )* };
}
numbers!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

impl Kind for bool {
    fn any(random: &mut Random) -> Self {
        random.index(2) == 1
    }

    fn nothing() -> Self {
        false
    }

    fn told<'a>(values: impl Iterator<Item = &'a Self>) -> Value {
        bytes(values.map(|value| u8::from(*value)))
    }
}

impl Kind for Complex<f32> {
    fn any(random: &mut Random) -> Self {
        Complex::new(f32::any(random), f32::any(random))
    }

    fn nothing() -> Self {
        Complex::new(0.0, 0.0)
    }

    fn told<'a>(values: impl Iterator<Item = &'a Self>) -> Value {
        bytes(values.flat_map(|value| [value.re, value.im]).flat_map(f32::to_le_bytes))
    }
}

impl Kind for (i16, [f64; 2], u8) {
    fn any(random: &mut Random) -> Self {
        (i16::any(random), [f64::any(random), f64::any(random)], random.byte())
    }

    fn nothing() -> Self {
        (0, [0.0; 2], 0)
    }

    fn told<'a>(values: impl Iterator<Item = &'a Self>) -> Value {
        let one = |(a, b, c): &Self| [a.to_le_bytes().to_vec(), b.map(f64::to_le_bytes).concat(), vec![*c]].concat();
        bytes(values.flat_map(one))
    }
}

impl Kind for String {
    fn any(random: &mut Random) -> Self {
        let count = if random.index(20) == 0 { 5000 } else { random.index(12) };
        (0..count).map(|_| ['a', 'Z', '0', ' ', 'ß', '漢'][random.index(6)]).collect()
    }

    fn nothing() -> Self {
        String::new()
    }

    fn told<'a>(values: impl Iterator<Item = &'a Self>) -> Value {
        json!({ "kind": "texts", "values": values.collect::<Vec<_>>() })
    }

    const FIXED: bool = false;
}

impl Kind for Vec<i16> {
    fn any(random: &mut Random) -> Self {
        (0..random.index(6)).map(|_| i16::any(random)).collect()
    }

    fn nothing() -> Self {
        Vec::new()
    }

    fn told<'a>(values: impl Iterator<Item = &'a Self>) -> Value {
        json!({ "kind": "sequences", "values": values.collect::<Vec<_>>() })
    }

    const FIXED: bool = false;
}

/// A file that is being written, and what is told of it.
struct Tree {
    random: Random,
    level: Compatibility,
    objects: Map<String, Value>,
}

impl Tree {
    fn shape(&mut self, rank: usize) -> Vec<u64> {
        (0..rank).map(|_| self.random.next() % [2, 4, 9, 40][self.random.index(4)]).collect()
    }

    fn attributes(&mut self, put: impl Fn(&str, &mut Random) -> Result<Value>) -> Result<Value> {
        let count = [0, 0, 1, 3, 12][self.random.index(5)];
        let names = (0..count).map(|i| format!("attribute {i}"));
        let told = names.map(|name| put(&name, &mut self.random).map(|told| (name, told)));
        Ok(Value::Object(told.collect::<Result<_>>()?))
    }

    fn filtered<'g, T: Kind>(&mut self, mut builder: DatasetBuilder<'g>, elements: u64) -> DatasetBuilder<'g> {
        let size = usize::try_from(T::type_descriptor().size).unwrap();
        for _ in 0..[0, 1, 2][self.random.index(3)] {
            builder = match self.random.index(12) {
                0 | 1 => builder.shuffle(),
                2 | 3 => builder.deflate(self.random.byte() % 10),
                4 => builder.fletcher32(),
                5 => builder.lzf(),
                6 => builder.lz4(),
                7 => builder.zstd(3),
                8 if elements.is_multiple_of(8) => builder.bitshuffle(),
                9 => builder.blosc(Blosc::Zstd, 5, BloscShuffle::Bytes),
                10 if T::NUMBER && elements >= 8 => builder.szip(self.random.index(2) == 0, 8),
                11 if T::NUMBER && size < 8 => return builder.nbit(),
                _ => builder.bzip2(1),
            };
        }
        builder
    }

    fn dataset<T: Kind>(&mut self, group: &NewGroup, path: &str) -> Result<()> {
        let rank = self.random.index(4);
        let shape = self.shape(rank);
        let mut builder = group.new_dataset::<T>().shape(&shape);
        let mut model = ArrayD::from_elem(in_memory(&shape), T::nothing());
        if T::FIXED && self.random.index(2) == 0 {
            let fill = T::any(&mut self.random);
            model.fill(fill.clone());
            builder = builder.fill_value(fill);
        }
        let fill = model.first().cloned();
        let mut max_shape: Vec<Option<u64>> = shape.iter().copied().map(Some).collect();
        let chunks = rank > 0 && self.random.index(3) > 0;
        if chunks {
            for (max, size) in max_shape.iter_mut().zip(&shape) {
                *max = [Some(*size), Some(size + 30), None][self.random.index(3)];
            }
            let chunk: Vec<u64> =
                max_shape.iter().map(|max| 1 + self.random.next() % max.unwrap_or(20).clamp(1, 20)).collect();
            // A dimension of no elements that cannot grow has no chunks.
            if max_shape.contains(&Some(0)) {
                max_shape = shape.iter().copied().map(Some).collect();
            } else {
                builder = builder.max_shape(&max_shape).chunk(&chunk);
                builder = self.filtered::<T>(builder, chunk.iter().product());
                if self.level >= Compatibility::V110 && self.random.index(3) == 0 {
                    builder = builder.partial_chunks_unfiltered();
                }
            }
        } else if self.random.index(3) == 0 && model.len() < 500 && T::FIXED {
            builder = builder.compact();
        }
        if T::NUMBER && self.random.index(4) == 0 && !chunks {
            builder = builder.datatype(big_endian(T::type_descriptor()));
        }
        let mut dataset = builder.create(&format!("/{path}"))?;
        let steps = self.random.index(4);
        for _ in 0..steps {
            self.step(&mut dataset, &mut model, &max_shape, fill.as_ref())?;
        }
        let attributes = self.attributes(|name, random| attribute(random, |value| put(&dataset, name, value)))?;
        let told = json!({ "shape": model.shape(), "max_shape": max_shape, "data": T::told(model.iter()),
            "attributes": attributes });
        self.objects.insert(path.to_owned(), told);
        Ok(())
    }

    /// Writes a part, or changes the shape.
    fn step<T: Kind>(
        &mut self,
        dataset: &mut NewDataset,
        model: &mut ArrayD<T>,
        max_shape: &[Option<u64>],
        fill: Option<&T>,
    ) -> Result<()> {
        let shape = dataset.shape()?;
        let may_grow = max_shape.iter().zip(&shape).any(|(max, size)| *max != Some(*size));
        if let Some(fill) = fill.filter(|_| may_grow && self.random.index(3) == 0) {
            let new = max_shape.iter().map(|max| self.random.next() % (max.unwrap_or(50).min(50) + 1));
            let new: Vec<u64> = new.collect();
            // What was cut off is gone also where it would come back.
            let keep: Vec<u64> = shape.iter().zip(&new).map(|(old, new)| *old.min(new)).collect();
            dataset.resize(&keep)?;
            dataset.resize(&new)?;
            let mut grown = ArrayD::from_elem(in_memory(&new), fill.clone());
            let kept = in_memory(&keep);
            let part = |axis: ndarray::AxisDescription| Slice::from(0..kept[axis.axis.0]);
            grown.slice_each_axis_mut(part).assign(&model.slice_each_axis(part));
            *model = grown;
            return Ok(());
        }
        let ranges: Vec<(i64, i64, i64)> = (shape.iter())
            .map(|&size| {
                let size = i64::try_from(size).unwrap();
                let from = |random: &mut Random, low: i64| {
                    low + i64::from(random.below(u32::try_from(size - low + 1).unwrap()))
                };
                match self.random.index(3) {
                    0 => (0, size, 1),
                    _ => {
                        let start = from(&mut self.random, 0);
                        (start, from(&mut self.random, start), 1 + i64::from(self.random.below(3)))
                    }
                }
            })
            .collect();
        let range = |&(start, stop, step): &_| Index::Range { start: Some(start), stop: Some(stop), step };
        let selection = Selection::Indices(ranges.iter().map(range).collect());
        let mut part = model.slice_each_axis_mut(|axis| {
            let (start, stop, step) = ranges[axis.axis.0];
            Slice::new(
                isize::try_from(start).unwrap(),
                Some(isize::try_from(stop).unwrap()),
                isize::try_from(step).unwrap(),
            )
        });
        part.mapv_inplace(|_| T::any(&mut self.random));
        dataset.write_slice(&part, selection)
    }

    fn group(&mut self, group: &NewGroup, path: &str, depth: u32, left: &mut u32) -> Result<()> {
        let attributes = self.attributes(|name, random| {
            attribute(random, |value| match value {
                Attribute::Number(value) => group.attr(name, value),
                Attribute::Text(value) => group.attr(name, value),
                Attribute::Matrix(value) => group.attr(name, value),
            })
        })?;
        if !path.is_empty() {
            self.objects.insert(path.to_owned(), json!({ "attributes": attributes }));
        }
        for i in 0..[3, 6, 12][self.random.index(3)] {
            if *left == 0 {
                return Ok(());
            }
            *left -= 1;
            let path = format!(
                "{path}{}{}{i}",
                if path.is_empty() { "" } else { "/" },
                ["x", "ä ", "long name "][self.random.index(3)]
            );
            match self.random.index(16) {
                0..3 if depth < 5 => {
                    let below = group.create_group(&format!("/{path}"))?;
                    self.group(&below, &path, depth + 1, left)?;
                }
                kind => self.any_dataset(group, &path, kind)?,
            }
        }
        Ok(())
    }

    fn any_dataset(&mut self, root: &NewGroup, path: &str, kind: usize) -> Result<()> {
        match kind {
            0 => self.dataset::<i8>(root, path),
            1 => self.dataset::<u8>(root, path),
            2 => self.dataset::<i16>(root, path),
            3 => self.dataset::<u16>(root, path),
            4 => self.dataset::<i32>(root, path),
            5 => self.dataset::<u32>(root, path),
            6 => self.dataset::<i64>(root, path),
            7 => self.dataset::<u64>(root, path),
            8 | 9 => self.dataset::<f32>(root, path),
            10 => self.dataset::<f64>(root, path),
            11 => self.dataset::<bool>(root, path),
            12 => self.dataset::<Complex<f32>>(root, path),
            13 => self.dataset::<(i16, [f64; 2], u8)>(root, path),
            14 => self.dataset::<String>(root, path),
            _ => self.dataset::<Vec<i16>>(root, path),
        }
    }
}

enum Attribute {
    Number(i32),
    Text(String),
    Matrix(ArrayD<f64>),
}

fn put(dataset: &NewDataset, name: &str, value: Attribute) -> Result<()> {
    match value {
        Attribute::Number(value) => dataset.attr(name, value),
        Attribute::Text(value) => dataset.attr(name, value),
        Attribute::Matrix(value) => dataset.attr(name, value),
    }
}

/// An attribute at random, and what is told of it.
fn attribute(random: &mut Random, put: impl FnOnce(Attribute) -> Result<()>) -> Result<Value> {
    match random.index(3) {
        0 => {
            let value = i32::any(random);
            put(Attribute::Number(value)).map(|()| i32::told([value].iter()))
        }
        1 => {
            let value = String::any(random);
            put(Attribute::Text(value.clone())).map(|()| String::told([value].iter()))
        }
        _ => {
            let value = ArrayD::from_shape_simple_fn(IxDyn(&[2, 3]), || f64::any(random));
            let told = f64::told(value.iter());
            put(Attribute::Matrix(value)).map(|()| told)
        }
    }
}

fn in_memory(shape: &[u64]) -> IxDyn {
    IxDyn(&shape.iter().map(|&size| usize::try_from(size).unwrap()).collect::<Vec<_>>())
}

fn big_endian(mut datatype: Datatype) -> Datatype {
    match &mut datatype.class {
        Class::FixedPoint(number) => number.bits.order = ByteOrder::BigEndian,
        Class::FloatingPoint(number) => number.bits.order = ByteOrder::BigEndian,
        _ => {}
    }
    datatype
}

fn write(folder: &Path, seed: u64) -> Result<()> {
    let (name, level) = LEVELS[usize::try_from(seed % 5).unwrap()];
    let mut tree = Tree { random: Random::new(seed), level, objects: Map::new() };
    let track = level > Compatibility::Earliest && tree.random.index(2) == 0;
    let block = [0, 0, 512, 2048][tree.random.index(4)];
    let file = FileBuilder::new().compatibility(level).track_order(track).user_block(block);
    let file = file.create(folder.join(format!("{seed:05}-{name}.h5")))?;
    let mut left = 5 + tree.random.below(196);
    tree.group(&file, "", 0, &mut left)?;
    file.close()?;
    let told = json!({ "objects": tree.objects });
    std::fs::write(folder.join(format!("{seed:05}-{name}.json")), told.to_string()).unwrap();
    Ok(())
}

/// `HDFIVE_TREES` says how many; `.ci/full` asks for thousands.
#[test]
fn random_files_are_in_h5pys_eyes_what_was_written() {
    let count = std::env::var("HDFIVE_TREES").map_or(40, |count| count.parse().unwrap());
    let folder = scratch("trees");
    for first in (0..count).step_by(100) {
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::create_dir(&folder).unwrap();
        let seeds = first..count.min(first + 100);
        for seed in seeds.clone() {
            write(&folder, seed).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        }
        let script = package().join("tests/write/trees.py");
        let said = run(Command::new(python()).arg("-B").arg(script).arg(&folder), "h5py sees something else").stdout;
        assert_eq!(String::from_utf8_lossy(&said).trim(), (seeds.end - seeds.start).to_string());
    }
}
