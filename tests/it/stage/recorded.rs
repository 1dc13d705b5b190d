//! The recorded form of values, indices and transfers: JSON lines, as `oracle/staged/README.md` describes them.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;
use hdfive::convert::{ByteOrder, ElementType, Field, NumberKind, NumberType};
use hdfive::selection::{AxisTransfer, Index, Selection};
use hdfive::stage::Array;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support;

/// The folder with the recordings; `None`, said aloud, where there is none.
pub(super) fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("HDFIVE_STAGED") {
        let folder = PathBuf::from(folder);
        assert!(folder.is_dir(), "HDFIVE_STAGED is {}, which is no folder", folder.display());
        return Some(folder);
    }
    let folder = support::package().join("../shared/oracle/staged");
    if folder.is_dir() {
        return Some(folder);
    }
    support::skipped("recorded traces", "there is no ../shared/oracle/staged; HDFIVE_STAGED can name a folder");
    None
}

/// The lines of all files whose names begin with `stem`.
pub(super) fn lines(stem: &str) -> Vec<Value> {
    let Some(folder) = folder() else { return vec![] };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(stem) && name.ends_with(".jsonl.gz")
    });
    paths.sort();
    let mut lines = vec![];
    for path in paths {
        let reader = BufReader::new(MultiGzDecoder::new(File::open(path).unwrap()));
        lines.extend(reader.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()));
    }
    lines
}

pub(super) fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> = text
        .bytes()
        .filter(|byte| *byte != b'=')
        .map(|byte| u32::try_from(DIGITS.iter().position(|digit| *digit == byte).unwrap()).unwrap())
        .collect();
    let mut bytes = vec![];
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

pub(super) fn element(dtype: &Value) -> ElementType {
    if let Some(members) = dtype.as_array() {
        let mut size = 0;
        let fields = members.iter().map(|member| {
            let element = element(&member[1]);
            let field = Field { name: member[0].as_str().unwrap().into(), position: size, element };
            size += field.element.size();
            field
        });
        let fields = fields.collect();
        return ElementType::Compound { size, fields };
    }
    let name = dtype.as_str().unwrap();
    if name == "str" {
        return ElementType::Text;
    }
    let order = if name.starts_with('>') { ByteOrder::Big } else { ByteOrder::Little };
    let size: usize = name[2..].split('[').next().unwrap().parse().unwrap();
    let number = |kind, size| NumberType { kind, size, order: if size == 1 { ByteOrder::NATIVE } else { order } };
    match name.as_bytes()[1] {
        b'i' | b'M' => ElementType::Number(number(NumberKind::Signed, size)),
        b'u' => ElementType::Number(number(NumberKind::Unsigned, size)),
        b'f' => ElementType::Number(number(NumberKind::Float, size)),
        b'c' => ElementType::Complex(number(NumberKind::Float, size / 2)),
        b'b' => ElementType::Bool,
        b'S' => ElementType::Bytes(size),
        other => panic!("dtype {}", char::from(other)),
    }
}

pub(super) fn array(value: &Value) -> Array {
    let (shape, element) = (numbers(&value["shape"]), element(&value["dtype"]));
    if let Some(texts) = value.get("strs") {
        let texts = texts.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_string()).collect();
        return Array::from_texts(&shape, texts).unwrap();
    }
    Array::from_bytes(&shape, element, base64(value["b64"].as_str().unwrap())).unwrap()
}

/// A zero of the type, or the value.
pub(super) fn fill(value: &Value, element: &ElementType) -> Array {
    match (value, element) {
        (Value::Null, ElementType::Text) => Array::from_texts(&[], vec![String::new()]).unwrap(),
        (Value::Null, _) => Array::from_bytes(&[], element.clone(), element.zero()).unwrap(),
        (value, _) => array(value),
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of an array's values, as recorded.
pub(super) fn digest(array: &Array) -> String {
    let mut hasher = Sha256::new();
    hasher.update(array.bytes());
    for text in array.texts() {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    hex(&hasher.finalize())
}

/// What a recorded index says in our terms; `None` if we have no such index.
pub(super) fn selection(index: &Value) -> Option<Selection> {
    let integer = |value: &Value| value.as_i64();
    let mut indices = vec![];
    for item in index["items"].as_array().unwrap() {
        let shape = item.get("shape").map(numbers);
        let rank = shape.as_ref().map_or(0, Vec::len);
        indices.push(if let Some(at) = item.get("int") {
            Index::At(at.as_i64().unwrap())
        } else if let Some(slice) = item.get("slice") {
            let step = integer(&slice[2]).unwrap_or(1);
            Index::Range { start: integer(&slice[0]), stop: integer(&slice[1]), step }
        } else if let Some(list) = item.get("array") {
            if rank != 1 {
                return None;
            }
            Index::List(list.as_array().unwrap().iter().map(|at| at.as_i64().unwrap()).collect())
        } else if let Some(mask) = item.get("mask") {
            let values = mask.as_array().unwrap().iter().map(|value| value.as_u64() == Some(1)).collect();
            Index::Mask { shape: shape.unwrap(), values }
        } else if item.get("ellipsis").is_some() {
            Index::Ellipsis
        } else if item.get("newaxis").is_some() {
            Index::NewAxis
        } else {
            return None;
        });
    }
    Some(Selection::Indices(indices))
}

/// How many lists and masks an index has: with several, ours selects their product.
pub(super) fn lists(index: &Value) -> usize {
    index["items"].as_array().unwrap().iter().filter(|i| i.get("array").is_some() || i.get("mask").is_some()).count()
}

/// The dimension of the result that NumPy puts first and ours leaves where it is, as h5py does: that of a list which a
/// range keeps apart from an integer.
pub(super) fn moved(index: &Value) -> Option<usize> {
    let items = index["items"].as_array().unwrap();
    let is_list = |item: &Value| item.get("array").is_some() || item.get("mask").is_some();
    let is_fancy = |item: &Value| is_list(item) || item.get("int").is_some();
    let (first, last) = (items.iter().position(is_fancy)?, items.iter().rposition(is_fancy)?);
    let list = items.iter().position(is_list)?;
    let apart = !items[first..=last].iter().all(is_fancy);
    let ints = items.iter().any(|item| item.get("int").is_some());
    (apart && ints).then(|| items[..list].iter().filter(|item| item.get("int").is_none()).count())
}

/// An array of bytes with dimension `axis` first.
pub(super) fn with_first(array: &Array, axis: usize) -> Array {
    let mut order: Vec<usize> = (0..array.shape().len()).collect();
    order.remove(axis);
    order.insert(0, axis);
    let shape: Vec<u64> = order.iter().map(|&n| array.shape()[n]).collect();
    let size = array.element().size();
    let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
    let mut bytes = Vec::with_capacity(count * size);
    for n in 0..count as u64 {
        let (mut left, mut at) = (n, vec![0; shape.len()]);
        for (k, &own) in order.iter().enumerate().rev() {
            at[own] = left % shape[k];
            left /= shape[k];
        }
        let place = at.iter().zip(array.shape()).fold(0, |n, (at, size)| n * size + at);
        let from = usize::try_from(place).unwrap() * size;
        bytes.extend_from_slice(&array.bytes()[from..from + size]);
    }
    Array::from_bytes(&shape, array.element().clone(), bytes).unwrap()
}

/// A transfer as recorded: five lists over the dimensions.
pub(super) fn slice(axes: &[AxisTransfer]) -> Value {
    let list = |of: fn(&AxisTransfer) -> Value| Value::Array(axes.iter().map(of).collect());
    json!([
        list(|axis| json!(axis.source_start)),
        list(|axis| json!(axis.destination_start)),
        list(|axis| json!(axis.count)),
        list(|axis| json!(axis.source_stride)),
        list(|axis| json!(axis.destination_stride)),
    ])
}
