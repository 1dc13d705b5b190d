//! Encodes chunks through filter pipelines: a line of JSON in, a line of JSON out. `tests/filters/encoded_here.py` has
//! libhdf5 read the result.

use std::io::{BufRead, Write};

use hdfive::filter::{ChunkInfo, Pipeline, Registry, Scratch};
use hdfive::format::message::filter_pipeline::{FilterDescription, FilterPipeline};
use serde_json::{Value, json};

fn numbers(value: &Value) -> Vec<u32> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(|item| u32::try_from(item.as_u64()?).ok()).collect()
}

fn size(value: &Value) -> usize {
    value.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

fn description(filter: &Value) -> FilterDescription {
    FilterDescription {
        id: u16::try_from(size(&filter["id"])).unwrap_or(0),
        stored_name: Vec::new(),
        flags: u16::try_from(size(&filter["flags"])).unwrap_or(0),
        client_data: numbers(&filter["client_data"]),
        padding: Vec::new(),
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok()).unwrap_or(0);
    text.as_bytes().as_chunks::<2>().0.iter().map(|[high, low]| digit(*high) << 4 | digit(*low)).collect()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut scratch = Scratch::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let filters = case["filters"].as_array().into_iter().flatten().map(description).collect();
        let message = FilterPipeline { version: 2, reserved: Vec::new(), filters };
        let plain = from_hex(case["plain"].as_str().unwrap_or_default());
        let chunk = ChunkInfo { bytes: plain.len(), element_size: size(&case["element_size"]) };
        let pipeline = Pipeline::new(&message, chunk, &Registry::default())?;
        let answer = match pipeline.encode(&plain, &mut scratch) {
            Ok((stored, mask)) => json!({ "stored": to_hex(stored), "mask": mask }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        writeln!(out, "{answer}")?;
    }
    Ok(())
}
