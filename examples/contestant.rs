//! Answers the questions of a benchmark runner: reads something, times it, and prints a line of JSON with the times in
//! nanoseconds and a checksum of what was read.
//!
//! ```text
//! contestant OP FILE [DATASET] [SELECTION] --reps N --dtype T
//! ```
//! `full`, `slab` (SELECTION is `start:end:step,...`), `strings`, `walk` (every object's path, shape and attributes),
//! `readmany` (all datasets by path), `index` (the manifest of a chunked dataset), `into` (as `full`, into memory that is
//! there before), `field` (the member `x` of a compound), `threads` (as `full`, in as many threads at once as SELECTION says, each alone);
//! and writing FILE: `write` (8192 x 8192 floats in filtered chunks), `wplain` (the same in one piece), `wmany` (10,000
//! small datasets with attributes), `append` (10,000 times 100 floats), `wtexts` (a million strings).

use std::cell::RefCell;
use std::time::Instant;

use ndarray::Array2;
use rayon::prelude::*;

use hdfive::convert::notation;
use hdfive::convert::types::fixed_text;
use hdfive::format::message::datatype::Class;
use hdfive::inspect::Tree;
use hdfive::manifest::Manifest;
use hdfive::selection::{Index, Selection};
use hdfive::write::Compatibility;
use hdfive::{Attribute, Dataset, File, FileBuilder, H5Type, Object, Result};

fn main() -> Result<()> {
    let mut words = Vec::new();
    let mut reps = 1;
    let mut arguments = std::env::args().skip(1);
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--reps" => reps = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1),
            "--dtype" => drop(arguments.next()),
            _ => words.push(word),
        }
    }
    let word = |i: usize| words.get(i).map_or("", String::as_str);
    let (file, dataset, selection) = (word(1), word(2), word(3));
    match word(0) {
        "full" => time(reps, || File::open(file)?.dataset(dataset)?.read_bytes(), |bytes| crc(&bytes)),
        "slab" => match ranges(selection) {
            Some(ranges) => {
                time(reps, || File::open(file)?.dataset(dataset)?.select(&ranges).read_bytes(), |bytes| crc(&bytes))
            }
            None => unsupported(selection),
        },
        "field" if selection == "x" => time(
            reps,
            || File::open(file)?.dataset(dataset)?.read::<OnlyX>(),
            |rows| crc(&rows.iter().flat_map(|row| row.x.to_le_bytes()).collect::<Vec<u8>>()),
        ),
        "strings" => time(
            reps,
            || File::open(file)?.dataset(dataset)?.read::<String>(),
            |strings| crc(&strings.iter().flat_map(|s| s.bytes().chain([0])).collect::<Vec<u8>>()),
        ),
        "walk" => time(
            reps,
            || walk(file),
            |mut nodes| {
                nodes.sort_by(|a, b| a.path.cmp(&b.path));
                crc(nodes.iter_mut().map(Node::line).collect::<Vec<_>>().join("\n").as_bytes())
            },
        ),
        "readmany" => time(reps, || read_many(file), |bytes| crc(&bytes)),
        "index" => time(reps, || index(file, dataset), |count| count.to_string()),
        "into" => {
            let whole = File::open(file)?.dataset(dataset)?;
            let buffer = RefCell::new(whole.read_bytes()?);
            let read = || {
                let dataset = File::open(file)?.dataset(dataset)?;
                dataset.read_bytes_into(&mut buffer.borrow_mut())
            };
            time(reps, read, |()| crc(&buffer.borrow()))
        }
        "threads" => {
            let threads: usize = selection.parse().unwrap_or(1);
            let read = |_: usize| File::open(file)?.dataset(dataset)?.select(..).threads(1).read_bytes();
            let all = || {
                std::thread::scope(|scope| {
                    let started: Vec<_> = (0..threads).map(|i| scope.spawn(move || read(i))).collect();
                    let joined = started.into_iter().map(|t| t.join().expect("because reading does not panic"));
                    joined.collect::<Result<Vec<_>>>()
                })
            };
            time(reps, all, |read| crc(&read[0]))
        }
        "write" | "wplain" => {
            let data = Array2::from_shape_vec((8192, 8192), written()).expect("because there are as many");
            time(reps, || write(file, &data, word(0) == "write"), |()| "written".to_owned())
        }
        "wmany" => time(reps, || write_many(file), |()| "written".to_owned()),
        "append" => time(reps, || append(file), |()| "written".to_owned()),
        "wtexts" => {
            let texts: Vec<String> = (0..1_000_000).map(|i| format!("text number {i}")).collect();
            time(reps, || write_texts(file, &texts), |()| "written".to_owned())
        }
        other => unsupported(other),
    }
}

/// What `write` writes: a triangular wave with noise.
fn written() -> Vec<f32> {
    let value = |i: u32| {
        let hash = i.wrapping_mul(2_654_435_761);
        let hash = (hash ^ hash >> 15).wrapping_mul(0x85EB_CA6B);
        let (noise, phase) = ((hash ^ hash >> 13) & 15, i >> 3 & 0x7FF);
        let wave = if phase < 1024 { phase } else { 2048 - phase };
        // At most 1039: exactly an `f32`.
        u16::try_from(wave + noise).map_or(0.0, f32::from) * 0.125
    };
    (0..8192 * 8192).map(value).collect()
}

fn write(path: &str, data: &Array2<f32>, is_filtered: bool) -> Result<()> {
    let file = File::create(path)?;
    let dataset = file.new_dataset_builder().with_data(data);
    let dataset = if is_filtered { dataset.chunk([256, 1024]).shuffle().deflate(4) } else { dataset };
    dataset.create("data")?;
    file.close()
}

fn write_many(path: &str) -> Result<()> {
    let file = FileBuilder::new().compatibility(Compatibility::Earliest).create(path)?;
    let kelvin = fixed_text(6);
    for i in 0..100u16 {
        let group = file.create_group(&format!("g{i:03}"))?;
        for j in 0..100u16 {
            let values: Vec<f32> = (0..64).map(|k| f32::from(i * 100 + j + k)).collect();
            let dataset = group.new_dataset_builder().with_data(values).create(&format!("d{j:03}"))?;
            dataset.attr("index", i64::from(i * 100 + j))?;
            dataset.attr("scale", 0.5 * f64::from(j))?;
            dataset.attr_as("units", "kelvin", &kelvin)?;
        }
    }
    file.close()
}

fn append(path: &str) -> Result<()> {
    let file = File::create(path)?;
    let mut dataset = file.new_dataset::<f64>().shape([0]).resizable().chunk([4096]).create("data")?;
    for k in 0..10_000u32 {
        let values: Vec<f64> = (0..100).map(|i| f64::from(k * 100 + i)).collect();
        dataset.append(values)?;
    }
    file.close()
}

fn write_texts(path: &str, texts: &[String]) -> Result<()> {
    let file = File::create(path)?;
    file.new_dataset_builder().with_data(texts).create("data")?;
    file.close()
}

/// Rows of which one member is wanted.
#[derive(Clone, H5Type)]
struct OnlyX {
    x: f32,
}

fn unsupported(what: &str) -> Result<()> {
    println!("{{\"unsupported\":{}}}", notation::quoted(what));
    Ok(())
}

fn crc(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// Runs `job` so many times, or for four seconds; then says how long each run took and what the last one gave.
fn time<T>(reps: usize, job: impl Fn() -> Result<T>, sum: impl FnOnce(T) -> String) -> Result<()> {
    let (mut wall, mut cpu, begin) = (Vec::new(), Vec::new(), Instant::now());
    let result = loop {
        let (before, start) = (cpu_time(), Instant::now());
        let result = job()?;
        wall.push(start.elapsed().as_nanos().to_string());
        cpu.push((cpu_time() - before).to_string());
        if wall.len() >= reps.max(1) || begin.elapsed().as_secs() >= 4 {
            break result;
        }
    };
    let (wall, cpu) = (wall.join(","), cpu.join(","));
    let sum = sum(result);
    println!("{{\"ns\":[{wall}],\"cpu_ns\":[{cpu}],\"sum\":\"{sum}\",\"rss_kb\":{}}}", resident());
    Ok(())
}

/// User and system time of the process in nanoseconds, to the tick that Linux counts.
fn cpu_time() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok());
    ticks.sum::<u64>() * 10_000_000
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// `start:end:step,...` as a selection.
fn ranges(selection: &str) -> Option<Selection> {
    let range = |part: &str| {
        let numbers: Option<Vec<i64>> = part.split(':').map(|n| n.parse().ok()).collect();
        let [start, stop, step] = numbers?[..] else { return None };
        Some(Index::Range { start: Some(start), stop: Some(stop), step })
    };
    selection.split(',').map(range).collect::<Option<Vec<Index>>>().map(Selection::Indices)
}

/// What is noted of an object.
struct Node {
    path: Vec<u8>,
    kind: char,
    shape: Vec<u64>,
    attributes: Vec<(String, String)>,
}

impl Node {
    fn line(&mut self) -> String {
        self.attributes.sort();
        let shape: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let attributes: Vec<String> = self.attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{}|{}|{}|{}", notation::text(&self.path), self.kind, shape.join(","), attributes.join(";"))
    }

    fn of(path: Vec<u8>, object: &Object) -> Result<Option<Node>> {
        let (kind, shape) = match object {
            Object::Group(_) => ('G', Vec::new()),
            Object::Dataset(dataset) => ('D', dataset.shape().to_vec()),
            Object::NamedType(_) => return Ok(None),
        };
        let attributes = object.attributes()?.into_iter().map(|a| a.and_then(|a| Ok((a.name(), value(&a)?))));
        Ok(Some(Node { path, kind, shape, attributes: attributes.collect::<Result<_>>()? }))
    }
}

fn walk(file: &str) -> Result<Vec<Node>> {
    let objects = Tree::walk(&File::open(file)?)?.objects;
    let nodes = objects.into_par_iter().map(|found| Node::of(found.path, &found.object?));
    nodes.filter_map(Result::transpose).collect()
}

/// Integers in decimal, floats as the digits of their bits, strings as they are.
fn value(attribute: &Attribute) -> Result<String> {
    Ok(match attribute.datatype().class {
        Class::FixedPoint(_) => attribute.read::<i64>()?[0].to_string(),
        Class::FloatingPoint(_) => format!("{:016x}", attribute.read::<f64>()?[0].to_bits()),
        _ => attribute.read::<String>()?.swap_remove(0),
    })
}

fn read_many(file: &str) -> Result<Vec<u8>> {
    let file = File::open(file)?;
    let mut datasets: Vec<(Vec<u8>, Dataset)> = Vec::new();
    for found in Tree::walk(&file)?.objects {
        if let Object::Dataset(dataset) = found.object? {
            datasets.push((found.path, dataset));
        }
    }
    datasets.sort_by(|a, b| a.0.cmp(&b.0));
    let read = datasets.into_par_iter().map(|(_, dataset)| dataset.read_bytes());
    Ok(read.collect::<Result<Vec<_>>>()?.concat())
}

fn index(file: &str, dataset: &str) -> Result<usize> {
    match &*File::open(file)?.dataset(dataset)?.manifest()? {
        Manifest::Chunks(chunks) => Ok(chunks.len()),
        Manifest::Inline(_) | Manifest::Segments { .. } | Manifest::Virtual(_) => Ok(0),
    }
}
