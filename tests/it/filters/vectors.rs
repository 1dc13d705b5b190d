//! A folder of files with one dataset each behind one pipeline, and `filters.json`, which says what libhdf5 reads from
//! them: the vectors in `../shared/oracle/filters`, or those of the folder that `HDFIVE_FILTERS` names.

use std::path::PathBuf;

use hdfive::filter::{Known, Registry};
use hdfive::manifest::Manifest;
use hdfive::selection::Block;
use hdfive::{Dataset, ErrorKind, File, Result};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::plain;
use crate::support::{package, skipped};

/// Filters that only have to be named in the error.
const NEVER_DECODED: [u64; 5] = [32002, 32017, 32024, 32028, 32033];

/// Boxes that are read from each dataset.
const BOXES: u64 = 20;

fn folder(test: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("HDFIVE_FILTERS") {
        Some(folder) => PathBuf::from(folder),
        None => package().join("../shared/oracle/filters"),
    };
    if folder.join("filters.json").is_file() {
        return Some(folder);
    }
    assert!(std::env::var_os("HDFIVE_FILTERS").is_none(), "{} has no filters.json", folder.display());
    skipped(test, "there is no ../shared/oracle/filters beside the package; HDFIVE_FILTERS can name a folder");
    None
}

fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All elements as NumPy holds them in memory.
fn values(dataset: &Dataset) -> Result<Vec<u8>> {
    let (stored, mut values) = (dataset.read_bytes()?, Vec::new());
    for stored in stored.chunks_exact(usize::try_from(dataset.datatype().size).unwrap()) {
        plain::element(stored, dataset.datatype(), &mut values);
    }
    Ok(values)
}

/// Numbers that are the same in every run, for choosing boxes.
fn below(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}

/// A box of random place and size within `shape`.
fn random_box(state: &mut u64, shape: &[u64]) -> Block {
    let (mut start, mut count) = (Vec::new(), Vec::new());
    for &size in shape {
        let from = below(state, size);
        start.push(from);
        count.push(1 + below(state, size - from));
    }
    Block::new(&start, &count)
}

/// The elements of `block`, cut one by one from all elements of `shape`.
fn cut(all: &[u8], shape: &[u64], block: &Block, element: usize) -> Vec<u8> {
    let count: u64 = block.count.iter().product();
    let mut part = Vec::new();
    for mut number in 0..count {
        let (mut at, mut stride) = (0, 1);
        for axis in (0..shape.len()).rev() {
            at += (block.start[axis] + number % block.count[axis]) * stride;
            number /= block.count[axis];
            stride *= shape[axis];
        }
        let at = usize::try_from(at).unwrap() * element;
        part.extend_from_slice(&all[at..at + element]);
    }
    part
}

/// What is wrong with the filters and masks that the file is said to have.
fn check_facts(dataset: &Dataset, case: &Value) -> std::result::Result<(), String> {
    let filters = dataset.filters().map_err(|e| e.to_string())?;
    let found = filters.iter().map(|f| json!({ "id": f.id, "flags": f.flags, "cd_values": f.client_data }));
    let wanted = case["filters"].as_array().into_iter().flatten().map(|f| {
        let values = f["cd_values"].as_array().into_iter().flatten();
        let values: Vec<u64> = values.map(|v| v.as_i64().unwrap().cast_unsigned() & 0xffff_ffff).collect();
        json!({ "id": f["id"], "flags": f["flags"], "cd_values": values })
    });
    let (found, wanted): (Vec<Value>, Vec<Value>) = (found.collect(), wanted.collect());
    if found != wanted {
        return Err(format!("filters are {found:?}, should be {wanted:?}"));
    }
    let manifest = dataset.manifest().map_err(|e| e.to_string())?;
    let Manifest::Chunks(chunks) = &*manifest else { return Err("is not chunked".to_owned()) };
    let mut masks: Vec<u32> = chunks.iter().map(|chunk| chunk.filter_mask).collect();
    masks.sort_unstable();
    masks.dedup();
    let mut wanted: Vec<u64> =
        case["filter_masks"].as_array().into_iter().flatten().map(|v| v.as_u64().unwrap()).collect();
    wanted.sort_unstable();
    if json!(masks) != json!(wanted) {
        return Err(format!("masks are {masks:?}, should be {wanted:?}"));
    }
    Ok(())
}

/// Reads a dataset that this build decodes, whole and by boxes.
fn check_values(dataset: &Dataset, case: &Value) -> std::result::Result<(), String> {
    let bytes = values(dataset).map_err(|e| e.to_string())?;
    if json!(bytes.len()) != case["nbytes"] {
        return Err(format!("has {} bytes, should have {}", bytes.len(), case["nbytes"]));
    }
    let sha256 = hexadecimal(&Sha256::digest(&bytes));
    if json!(sha256) != case["sha256"] {
        return Err(format!("digest is {sha256}, should be {}", case["sha256"]));
    }
    let all = dataset.read_bytes().map_err(|e| e.to_string())?;
    let element = usize::try_from(dataset.datatype().size).unwrap();
    let mut state = 1;
    for _ in 0..BOXES {
        let block = random_box(&mut state, dataset.shape());
        let part = dataset.select(&block).read_bytes().map_err(|e| format!("{block:?}: {e}"))?;
        if part != cut(&all, dataset.shape(), &block, element) {
            return Err(format!("{block:?} differs from that part of the whole"));
        }
    }
    Ok(())
}

/// A dataset behind a filter that is not decoded: the error says so, with the filter's name, id and maker.
fn check_refusal(dataset: &Dataset, id: u64) -> std::result::Result<(), String> {
    let Err(error) = dataset.read_bytes() else { return Err(format!("filter {id} is decoded without a decoder")) };
    let known = Known::find(u16::try_from(id).unwrap()).ok_or_else(|| format!("filter {id} is not known"))?;
    let says = [known.name, known.maker, &id.to_string()].iter().all(|word| error.to_string().contains(word));
    if error.kind() == ErrorKind::Unsupported && says { Ok(()) } else { Err(format!("{error} does not name it")) }
}

#[test]
fn every_vector_is_read_as_libhdf5_reads_it_whole_and_by_boxes() {
    let Some(folder) = folder("every_vector_is_read_as_libhdf5_reads_it_whole_and_by_boxes") else { return };
    let list: Value = serde_json::from_slice(&std::fs::read(folder.join("filters.json")).unwrap()).unwrap();
    let (mut decoded, mut named, mut wrong) = (0, 0, Vec::new());
    for case in list["cases"].as_array().unwrap() {
        let name = case["file"].as_str().unwrap();
        let file = File::open(folder.join(name)).unwrap();
        let dataset = file.dataset(case["dataset"].as_str().unwrap()).unwrap();
        let ids = case["filters"].as_array().into_iter().flatten().map(|f| f["id"].as_u64().unwrap());
        let missing = ids.into_iter().find(|&id| !Registry::default().decodes(u16::try_from(id).unwrap()));
        let result = check_facts(&dataset, case).and_then(|()| match missing {
            None => check_values(&dataset, case).inspect(|()| decoded += 1),
            Some(id) if NEVER_DECODED.contains(&id) => check_refusal(&dataset, id).inspect(|()| named += 1),
            Some(id) => Err(format!("filter {id} is not in this build")),
        });
        wrong.extend(result.err().map(|what| format!("{name}: {what}")));
    }
    println!("{decoded} vectors decoded, {named} refused with the name of their filter, of {}", folder.display());
    assert!(wrong.is_empty(), "{} vectors:\n{}", wrong.len(), wrong.join("\n"));
    assert!(decoded > 0);
}
