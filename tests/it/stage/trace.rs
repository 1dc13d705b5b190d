//! Replays recorded traces of Python's staged arrays: contents, errors, maps, plans, hashes and what a commit keeps.

use std::collections::HashMap;
use std::sync::Arc;

use hdfive::convert::ElementType;
use hdfive::selection::{AxisChunks, ChunkSelection, Index};
use hdfive::stage::plan::{Side, SlabChanges, TransferPlan};
use hdfive::stage::{
    Access, Array, Base, BaseSlab, CommitReport, Hash, MemorySink, MemorySlab, Role, StagedArray, hash_array,
};
use hdfive::{Error, ErrorKind};
use serde_json::{Value, json};

use super::recorded::{array, digest, element, fill, hex, lines, lists, moved, numbers, selection, slice, with_first};

type Arrays = HashMap<String, StagedArray>;

fn side(side: Side) -> Value {
    match side {
        Side::Slab(slab) => json!(slab),
        Side::Value | Side::Result => Value::Null,
    }
}

fn transfers(plans: &[TransferPlan], selections: &[ChunkSelection]) -> Value {
    let one = |plan: &TransferPlan| {
        let slices: Vec<Value> = plan.transfers(selections).iter().map(|transfer| slice(&transfer.axes)).collect();
        json!({"src": side(plan.source), "dst": side(plan.destination), "slices": slices})
    };
    plans.iter().map(one).collect()
}

fn changes(changes: &SlabChanges) -> Value {
    json!({
        "append": changes.append,
        "transfers": transfers(&changes.transfers, &changes.selections),
        "shrink": changes.shrink,
        "drop": changes.drop,
    })
}

fn state(array: &StagedArray) -> Value {
    let slabs = |of: &dyn Fn(&[u64]) -> Value| -> Value {
        (0..array.slab_count()).map(|slab| array.slab_shape(slab).map_or(Value::Null, of)).collect()
    };
    json!({
        "shape": array.shape(),
        "chunk_size": array.chunk_shape(),
        "n_slabs": array.slab_count(),
        "n_base_slabs": array.base_slab_count(),
        "slab_shapes": slabs(&|shape| json!(shape)),
        "slab_chunks": slabs(&|shape| json!(shape[0].div_ceil(array.chunk_shape()[0]))),
        "slab_indices": array.slab_indices(),
        "slab_offsets": array.slab_offsets(),
        "has_changes": array.has_changes(),
        "has_base_chunks": array.has_base_chunks(),
        "sha256": digest(&array.get_all().unwrap()),
    })
}

/// Compares all that is normative; the exact shapes of slabs only where ours pads at the same moments.
fn expect_states(arrays: &Arrays, step: &Value, same_padding: bool, place: &str) {
    for (name, recorded) in step["states"].as_object().into_iter().flatten() {
        let own = &arrays[name];
        assert_eq!(own.broken_invariant(), None, "{place}");
        assert_eq!(*own.element(), element(&recorded["dtype"]), "{place}: dtype of {name}");
        assert_eq!(own.fill_value(), array(&recorded["fill"]), "{place}: fill of {name}");
        for (key, value) in state(own).as_object().unwrap() {
            if key == "slab_shapes" && !same_padding {
                continue;
            }
            assert_eq!(*value, recorded[key], "{place}: {key} of {name}");
        }
    }
}

/// Whether an error of ours is the recorded one.
fn expect_error(step: &Value, result: Result<(), Error>, place: &str) {
    let Err(error) = result else { panic!("{place}: expected {}", step["error"]) };
    let kinds: &[ErrorKind] = match step["error"].as_str().unwrap() {
        "ValueError" => &[ErrorKind::Invalid],
        "IndexError" => &[ErrorKind::OutOfBounds, ErrorKind::Invalid],
        "NotImplementedError" => &[ErrorKind::Unsupported],
        other => panic!("{place}: {other}"),
    };
    assert!(kinds.contains(&error.kind()), "{place}: {error:?}, expected {}", step["error"]);
}

fn make(step: &Value, arrays: &mut Arrays) {
    let chunk = numbers(&step["chunk_size"]);
    let array = match step["op"].as_str().unwrap() {
        "full" => {
            let fill = fill(&step["fill"], &element(&step["dtype"]));
            StagedArray::full(&numbers(&step["shape"]), &chunk, &fill)
        }
        "from_array" => {
            let own = array(&step["array"]);
            let fill = fill(&step["fill"], own.element());
            let role = if step["as_base_slabs"] == true { Role::Base } else { Role::Staged };
            StagedArray::from_array(own, &chunk, &fill, role)
        }
        _ => {
            let own: Vec<Array> = step["base_slabs"].as_array().unwrap().iter().map(array).collect();
            let row = |row: &Value| -> Hash {
                let text = row.as_str().unwrap();
                std::array::from_fn(|n| u8::from_str_radix(&text[2 * n..2 * n + 2], 16).unwrap())
            };
            let table = |table: &Value| table.as_array().map(|rows| rows.iter().map(row).collect());
            let base = Base {
                slabs: own.iter().map(memory).collect(),
                slab_indices: numbers(&step["slab_indices"]),
                slab_offsets: numbers(&step["slab_offsets"]),
                hashes: step["base_hash_tables"].as_array().into_iter().flatten().map(table).collect(),
            };
            let fill = fill(&step["fill"], own[0].element());
            StagedArray::new(&numbers(&step["shape"]), &chunk, base, Some(&fill))
        }
    };
    arrays.insert(step["out"].as_str().unwrap_or("a").to_string(), array.unwrap());
}

fn memory(array: &Array) -> Arc<dyn BaseSlab> {
    Arc::new(MemorySlab::new(array).unwrap())
}

/// An index that ours does not have, or not with the same shape: the reference refuses it too, or it selects nothing.
fn expect_nothing_selected(step: &Value, place: &str) {
    let nothing = step["plan"]["transfers"].as_array().is_some_and(Vec::is_empty);
    assert!(step.get("error").is_some() || nothing, "{place}: an index we do not have");
}

fn get(own: &StagedArray, step: &Value, place: &str) {
    let Some(selection) = selection(&step["index"]) else { return expect_nothing_selected(step, place) };
    let result = own.get(&selection);
    if step.get("error").is_none() {
        let plan = own.plan_get(&selection).unwrap();
        let result = result.unwrap();
        if lists(&step["index"]) > 1 {
            // Lists are paired there and multiplied here, so only an empty result can be the same.
            return assert!(result.shape().contains(&0), "{place}");
        }
        assert_eq!(json!(plan.output_shape), step["plan"]["output_shape"], "{place}");
        assert_eq!(transfers(&plan.transfers, &plan.selections), step["plan"]["transfers"], "{place}");
        assert_eq!(json!(result.shape()), step["result"]["shape"], "{place}");
        assert_eq!(digest(&result), step["result"]["sha256"], "{place}");
        return;
    }
    // What the reference refuses ours may give, as NumPy would or, for several lists, as their product.
    match (result, step.get("numpy_result")) {
        (Ok(result), Some(numpy)) if lists(&step["index"]) < 2 && moved(&step["index"]).is_some() => {
            // An ellipsis may stand for several dimensions: the list is then further behind.
            let ellipsis = result.shape().len() + 1 - numpy["shape"].as_array().unwrap().len();
            assert_eq!(ellipsis, 1, "{place}");
            if result.element() != &ElementType::Text {
                let axes = moved(&step["index"]).unwrap()..result.shape().len();
                let mut same = axes.map(|axis| with_first(&result, axis));
                assert!(same.any(|own| digest(&own) == numpy["sha256"]), "{place}");
            }
        }
        (Ok(result), Some(numpy)) if lists(&step["index"]) < 2 => {
            assert_eq!(json!(result.shape()), numpy["shape"], "{place}");
            assert_eq!(digest(&result), numpy["sha256"], "{place}");
        }
        (Ok(_), _) if lists(&step["index"]) > 1 => {}
        (Err(error), _) if lists(&step["index"]) > 1 => {
            assert!(matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::OutOfBounds), "{place}: {error:?}");
        }
        // The reference looks at the kinds of indices before it looks at their bounds.
        (Err(error), None) if moved(&step["index"]).is_some() && error.kind() == ErrorKind::OutOfBounds => {}
        (result, _) => expect_error(step, result.map(|_| ()), place),
    }
}

fn set(own: &mut StagedArray, step: &Value, place: &str) {
    let Some(selection) = selection(&step["index"]) else { return expect_nothing_selected(step, place) };
    let value = array(&step["value"]);
    match step.get("error") {
        None => {
            let plan = own.plan_set(&selection).unwrap();
            let mut found = changes(&plan.changes);
            if lists(&step["index"]) > 1 {
                return expect_nothing_selected(step, place);
            }
            found["value_shape"] = json!(plan.value_shape);
            assert_eq!(found, step["plan"], "{place}");
            own.set(&selection, &value).unwrap();
        }
        // Ours may do what the reference refuses; the trace goes on without.
        Some(error) if error == "NotImplementedError" || is_full_mask(&selection) => {
            if let Err(error) = own.plan_set(&selection) {
                let kinds = [ErrorKind::Unsupported, ErrorKind::OutOfBounds, ErrorKind::Invalid];
                assert!(kinds.contains(&error.kind()), "{place}: {error:?}");
            }
        }
        Some(_) => expect_error(step, own.set(&selection, &value), place),
    }
}

fn is_full_mask(selection: &hdfive::selection::Selection) -> bool {
    match selection {
        hdfive::selection::Selection::Indices(indices) => {
            indices.iter().any(|index| matches!(index, Index::Mask { shape, .. } if shape.len() > 1))
        }
        hdfive::selection::Selection::Points(_) => false,
    }
}

/// Resizes as recorded. `false` if the plan is another one because ours padded a slab at another moment: contents are
/// then the same but the numbers of slabs are not, so the trace cannot be followed further.
fn resize(own: &mut StagedArray, step: &Value, same_padding: bool, place: &str) -> bool {
    let shape: Option<Vec<u64>> = step["shape"].as_array().unwrap().iter().map(Value::as_u64).collect();
    let Some(shape) = shape else {
        // A negative size cannot be said in Rust.
        assert_eq!(step["error"], "ValueError", "{place}");
        return true;
    };
    if step.get("error").is_some() {
        expect_error(step, own.resize(&shape), place);
        return true;
    }
    let plan = own.plan_resize(&shape).unwrap();
    own.resize(&shape).unwrap();
    if !same_padding && changes(&plan.changes) != step["plan"] {
        let recorded = step["states"].as_object().unwrap().values().next().unwrap();
        assert_eq!(state(own)["sha256"], recorded["sha256"], "{place}");
        return false;
    }
    assert_eq!(json!(plan.untrimmed), step["untrimmed"], "{place}");
    assert_eq!(changes(&plan.changes), step["plan"], "{place}");
    true
}

fn load(own: &mut StagedArray, step: &Value, place: &str) {
    if step.get("error").is_some() {
        return expect_error(step, own.load(), place);
    }
    assert_eq!(changes(&own.plan_load().unwrap().changes), step["plan"], "{place}");
    own.load().unwrap();
}

fn list_changes(own: &StagedArray, step: &Value, place: &str) {
    let found: Vec<Value> = own
        .plan_changes()
        .changes
        .iter()
        .map(|change| {
            let range = |start: &u64, count: &u64| json!([start, start + count]);
            let block = &change.block;
            let ranges: Vec<Value> = block.start.iter().zip(&block.count).map(|(s, n)| range(s, n)).collect();
            let mut within: Vec<Value> = block.count.iter().map(|n| range(&0, n)).collect();
            within[0] = range(&change.row, &block.count[0]);
            let data = own.staged_chunk(change).unwrap().map_or(Value::Null, |data| json!(digest(&data)));
            json!([ranges, change.slab, within, data])
        })
        .collect();
    assert_eq!(json!(found), step["changes"], "{place}");
}

/// A hash table as recorded.
fn table(own: &StagedArray, slab: usize) -> Value {
    own.hash_table(slab).map_or(Value::Null, |table| table.iter().map(|hash| hex(hash)).collect())
}

/// The hash tables of the full slab and the staged slabs, as they are while a commit is under way.
fn staged_hashes(own: &StagedArray, report: &CommitReport) -> Vec<Value> {
    let rows = own.chunk_shape()[0];
    let mut tables: Vec<Value> = vec![Value::Null; own.slab_count()];
    tables[0] = table(own, 0);
    for (cell, hash) in report.hash_plan.cells.iter().zip(&report.hashes) {
        let chunks = usize::try_from(own.slab_shape(cell.slab).unwrap()[0].div_ceil(rows)).unwrap();
        if tables[cell.slab].is_null() {
            tables[cell.slab] = vec!["0".repeat(64); chunks].into();
        }
        tables[cell.slab][usize::try_from(cell.row / rows).unwrap()] = json!(hex(hash));
    }
    tables
}

fn commit(own: &mut StagedArray, step: &Value, place: &str) {
    if step.get("error").is_some() {
        return expect_error(step, own.commit(&mut MemorySink).map(|_| ()), place);
    }
    let before = own.clone();
    let report = own.commit(&mut MemorySink).unwrap();
    let mut hash_plan: Vec<Value> = vec![];
    for cells in report.hash_plan.cells.chunk_by(|a, b| a.slab == b.slab) {
        let rows: Vec<u64> = cells.iter().map(|cell| cell.row).collect();
        let extents: Vec<Vec<u64>> = cells.iter().map(|cell| report.hash_plan.extent(cell)).collect();
        hash_plan.push(json!({"slab": cells[0].slab, "src_start": rows, "count": extents}));
    }
    assert_eq!(json!(hash_plan), step["hash_plan"], "{place}");
    assert_eq!(json!(staged_hashes(&before, &report)), step["staged_hashes"], "{place}");
    assert_eq!(changes(&report.plan.changes), step["plan"], "{place}");
    let stored = own.base().last().flatten().filter(|_| report.slab.is_some());
    let new_slab = stored.map_or(Value::Null, |slab| {
        let whole = read_slab(&**slab);
        json!({"shape": slab.shape(), "sha256": digest(&whole)})
    });
    assert_eq!(new_slab, step["new_slab"], "{place}");
    let tables: Vec<Value> = (0..own.slab_count()).map(|slab| table(own, slab)).collect();
    assert_eq!(json!(tables), step["hash_tables"], "{place}");
}

/// All elements of a base slab.
fn read_slab(slab: &dyn BaseSlab) -> Array {
    let shape = slab.shape().to_vec();
    let zero = vec![0; shape.len()];
    let all = hdfive::selection::Transfer::block(&zero, &zero, &shape);
    let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
    let texts = hdfive::stage::Texts::default();
    let mut bytes = vec![0; count * slab.element().size()];
    slab.read(&[all], hdfive::selection::Destination { bytes: &mut bytes, shape: &shape }, &texts).unwrap();
    if *slab.element() == ElementType::Text {
        let texts = texts.texts(&bytes).iter().map(|text| text.to_string()).collect();
        return Array::from_texts(&shape, texts).unwrap();
    }
    Array::from_bytes(&shape, slab.element().clone(), bytes).unwrap()
}

fn derive(own: &StagedArray, step: &Value) -> StagedArray {
    match step["op"].as_str().unwrap() {
        "copy" => Ok(own.clone()),
        "rechunk" => own.rechunk(&numbers(&step["chunk_size"])),
        "refill" => own.refill(&array(&step["fill"])),
        _ => {
            let element = element(&step["dtype"]);
            if step["hot_swap"] == true {
                let cast =
                    |slab: Option<&Arc<dyn BaseSlab>>| memory(&read_slab(&**slab.unwrap()).cast(&element).unwrap());
                own.astype_with(&element, own.base().map(cast).collect())
            } else {
                own.astype(&element)
            }
        }
    }
    .unwrap()
}

/// `false` if the trace could not be followed to its end; see [`resize`].
fn replay(trace: &Value) -> bool {
    let same_padding = !["cow", "dtypes"].contains(&trace["profile"].as_str().unwrap());
    let mut arrays = Arrays::new();
    for (n, step) in trace["steps"].as_array().unwrap().iter().enumerate() {
        let op = step["op"].as_str().unwrap();
        let place = format!("{}, step {n}, {op}", trace["id"]);
        let name = step["on"].as_str().unwrap_or_default();
        match op {
            "full" | "from_array" | "new" => make(step, &mut arrays),
            "copy" | "astype" | "refill" | "rechunk" => {
                let derived = derive(&arrays[name], step);
                arrays.insert(step["out"].as_str().unwrap().into(), derived);
            }
            "set_writeable" => {
                let access = if step["value"] == true { Access::Writable } else { Access::ReadOnly };
                arrays.get_mut(name).unwrap().set_access(access);
            }
            "getitem" => get(&arrays[name], step, &place),
            "changes" => list_changes(&arrays[name], step, &place),
            _ => {
                let own = arrays.get_mut(name).unwrap();
                match op {
                    "setitem" => set(own, step, &place),
                    "resize" => {
                        if !resize(own, step, same_padding, &place) {
                            return false;
                        }
                    }
                    "load" => load(own, step, &place),
                    "commit" => commit(own, step, &place),
                    other => panic!("{place}: {other}"),
                }
            }
        }
        expect_states(&arrays, step, same_padding, &place);
    }
    true
}

#[test]
fn every_recorded_trace_replays_equal() {
    let traces = lines("traces");
    let (mut failed, mut cut) = (vec![], 0);
    for trace in &traces {
        let run = std::panic::AssertUnwindSafe(|| replay(trace));
        match std::panic::catch_unwind(run) {
            Ok(to_its_end) => cut += usize::from(!to_its_end),
            Err(panic) => failed.push(panic.downcast_ref::<String>().cloned().unwrap_or_default()),
        }
    }
    assert!(failed.is_empty(), "{} of {} traces failed; the first: {}", failed.len(), traces.len(), failed[0]);
    println!("{} traces, {cut} of them not to their end", traces.len());
}

#[test]
fn every_recorded_trace_of_one_dimension_is_cut_into_the_same_slices() {
    let vectors = lines("mapper_vectors");
    for vector in &vectors {
        let (size, chunk) = (vector["size"].as_u64().unwrap(), vector["chunk"].as_u64().unwrap());
        let selected = selection(&vector["index"]).unwrap().resolve(&[size]).unwrap();
        if vector["empty"] == true {
            assert!(selected.is_empty(), "{vector}");
            continue;
        }
        let axis = AxisChunks::new(&selected.axes().unwrap()[0], size, chunk);
        let chunks: Vec<u64> = (0..axis.len()).map(|i| axis.chunk(i)).collect();
        let whole: Vec<u64> = (0..axis.len()).filter(|&i| axis.wholly(i)).map(|i| axis.chunk(i)).collect();
        let mut ends = vec![0];
        let mut slices = vec![];
        for i in 0..axis.len() {
            for piece in (0..axis.pieces(i)).map(|n| axis.piece(i, n).unwrap()) {
                slices.push(json!([
                    piece.chunk_start,
                    piece.value_start,
                    piece.count,
                    piece.chunk_step,
                    piece.value_step
                ]));
            }
            ends.push(slices.len());
        }
        assert_eq!(json!(chunks), vector["chunk_indices"], "{vector}");
        assert_eq!(json!(whole), vector["whole_chunks"], "{vector}");
        assert_eq!(json!(slices), vector["slices"], "{vector}");
        if !vector["chunk_to_slices"].is_null() {
            assert_eq!(json!(ends), vector["chunk_to_slices"], "{vector}");
        } else {
            assert_eq!(slices.len(), chunks.len(), "{vector}");
        }
    }
    println!("{} mapper vectors", vectors.len());
}

#[test]
fn every_recorded_trace_of_a_hash_is_the_same() {
    let Some(folder) = super::recorded::folder() else { return };
    let text = std::fs::read_to_string(folder.join("hash_vectors.json")).unwrap();
    let vectors: Vec<Value> = serde_json::from_str(&text).unwrap();
    for vector in &vectors {
        assert_eq!(hex(&hash_array(&array(&vector["value"])).unwrap()), vector["sha256"], "{vector}");
    }
    println!("{} hash vectors", vectors.len());
}
