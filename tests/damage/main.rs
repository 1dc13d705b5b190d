//! Damaged chunks, as many as `HDFIVE_MUTANTS` says per decoder (1,000 by default): whatever is stored, a decoder neither
//! panics nor hangs nor takes more memory than the sizes on the plain side allow.
//!
//! The chunks are those of `testdata/filters`, which libhdf5 and the makers of the filters wrote.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[expect(unsafe_code, reason = "an allocator is unsafe by nature")]
mod allocations;
#[path = "../support/random.rs"]
mod random;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hdfive::filter::{ChunkInfo, Output, Pipeline, Registry, Scratch};
use hdfive::format::message::filter_pipeline::{FilterDescription, FilterPipeline};
use random::Random;
use serde_json::Value;

/// Memory that a decoder may take besides a few times the chunk: tables and windows, which do not depend on the input.
const TABLES: usize = 12 << 20;
/// No damaged chunk may take as long.
const LONGEST: Duration = Duration::from_secs(10);
/// Larger chunks are left out, so that the run is short.
const LARGEST: usize = 20_000;

struct Chunk {
    message: FilterPipeline,
    pipeline: Pipeline,
    mask: u32,
    stored: Vec<u8>,
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn size(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().as_chunks::<2>().0;
    digits.iter().map(|d| u8::from_str_radix(std::str::from_utf8(d).unwrap(), 16).unwrap()).collect()
}

/// Chunks by decoder: the filters with the codecs inside them.
fn decoders() -> BTreeMap<String, Vec<Chunk>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/filters");
    let list =
        |name: &str| -> Vec<Value> { serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap() };
    let mut decoders: BTreeMap<String, Vec<Chunk>> = BTreeMap::new();
    for case in list("chunks.json").iter().chain(&list("decoded_only.json")) {
        let filters: Vec<FilterDescription> = (case["filters"].as_array().unwrap().iter())
            .map(|f| FilterDescription {
                id: u16::try_from(number(&f["id"])).unwrap(),
                stored_name: Vec::new(),
                flags: 0,
                client_data: f["client_data"].as_array().unwrap().iter().map(number).collect(),
                padding: Vec::new(),
            })
            .collect();
        let chunk = ChunkInfo { bytes: size(&case["chunk_bytes"]), element_size: size(&case["element_size"]) };
        if chunk.bytes > LARGEST || filters.iter().any(|f| !Registry::default().decodes(f.id)) {
            continue;
        }
        let name = filters.iter().map(name).collect::<Vec<_>>().join(" + ");
        let message = FilterPipeline { version: 2, reserved: Vec::new(), filters };
        for stored in case["chunks"].as_array().unwrap() {
            let pipeline = Pipeline::new(&message, chunk, &Registry::default()).unwrap();
            let (mask, stored) = (number(&stored["mask"]), from_hex(stored["stored"].as_str().unwrap()));
            let message = message.clone();
            decoders.entry(name.clone()).or_default().push(Chunk { message, pipeline, mask, stored });
        }
    }
    decoders
}

fn name(filter: &FilterDescription) -> String {
    let codec = match filter.id {
        32001 | 32026 => filter.client_data.get(6),
        32008 => filter.client_data.get(4),
        _ => None,
    };
    let known = hdfive::filter::Known::find(filter.id).unwrap().name;
    codec.map_or_else(|| known.to_owned(), |codec| format!("{known} {codec}"))
}

/// Decodes damaged forms of the chunks; says how many decoded all the same.
fn run(decoder: &str, chunks: &[Chunk], mutants: usize) -> usize {
    let mut random = Random::new(decoder.len() as u64 + 1000);
    let mut passed = 0;
    let mut scratch = Scratch::default();
    for mutant in 0..mutants {
        let chunk = &chunks[mutant % chunks.len()];
        let plain = chunk.pipeline.chunk().bytes;
        let mut stored = chunk.stored.clone();
        random.damage(&mut stored);
        let mut to = vec![0; plain];
        let (from, until) = (random.index(plain), plain);
        let mut decode = || {
            let part = &mut vec![0; until - from];
            let range = from..until;
            let _ = chunk.pipeline.decode_range(&stored, chunk.mask, range, &mut scratch, &mut Output::exact(part));
            chunk.pipeline.decode(&stored, chunk.mask, &mut scratch, &mut Output::exact(&mut to))
        };
        let start = Instant::now();
        let (result, most) = allocations::most(&mut decode);
        if start.elapsed() > LONGEST {
            // Perhaps the machine was busy, or asleep.
            let again = Instant::now();
            let _ = decode();
            assert!(again.elapsed() < LONGEST, "{decoder}, mutant {mutant}: {:?}", again.elapsed());
        }
        let allowed = TABLES + 8 * (plain + stored.len());
        assert!(most < allowed, "{decoder}, mutant {mutant}: {most} bytes were allocated, {allowed} are allowed");
        passed += usize::from(result.is_ok());
    }
    passed
}

#[test]
fn a_chunk_that_claims_a_vast_size_takes_what_its_bytes_give() {
    let mut tried = 0;
    for (decoder, chunks) in decoders() {
        for Chunk { message, pipeline, mask, stored } in chunks {
            let vast = ChunkInfo { bytes: 2 << 30, ..pipeline.chunk() };
            // Some filters say how many elements there are, and need not be asked.
            let Ok(claiming) = Pipeline::new(&message, vast, &Registry::default()) else { continue };
            if claiming.check().is_err() {
                continue;
            }
            let decode = || claiming.decode_whole(&stored, mask, &mut Scratch::default(), &mut Vec::new());
            let (result, most) = allocations::most(decode);
            let allowed = TABLES + 16 * (pipeline.chunk().bytes + stored.len());
            assert!(result.is_err() && most < allowed, "{decoder}: {most} bytes, {allowed} are allowed: {result:?}");
            tried += 1;
        }
    }
    assert!(tried > 100, "only {tried} chunks");
}

#[test]
fn damaged_chunks_never_panic_hang_or_take_memory() {
    let mutants = std::env::var("HDFIVE_MUTANTS").map_or(1000, |count| count.parse().expect("a number"));
    let decoders: Vec<_> = decoders().into_iter().collect();
    assert!(decoders.len() > 20, "only {} decoders", decoders.len());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((name, chunks)) = decoders.get(next.fetch_add(1, Ordering::Relaxed)) {
            let passed = run(name, chunks, mutants);
            println!("{name}: {mutants} mutants of {} chunks, {passed} decoded all the same", chunks.len());
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().for_each(|worker| worker.join().expect("a decoder panicked"));
    });
}
