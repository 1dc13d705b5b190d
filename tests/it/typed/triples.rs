//! Random triples of dataset, selection and type, read by hdfive and by h5py.
//!
//! `HDFIVE_TRIPLES` says how many, `HDFIVE_SEED` which.

use std::path::PathBuf;

use hdfive::selection::{Index, Selection};
use hdfive::{Conversion, Dataset, ErrorKind, File, H5Type, Result};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::oracle::Oracle;
use crate::support::{self, documents};

/// Questions asked of a dataset before the next one is taken.
const A_DATASET: usize = 6;
/// Elements of a dataset at most.
const MOST_ELEMENTS: u64 = 60_000;

/// Random numbers: xorshift.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// Below `n`, or 0.
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    fn signed(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.below(u64::try_from(high - low).unwrap())).unwrap()
    }

    fn of<T: Clone>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.below(list.len() as u64)).unwrap()].clone()
    }
}

/// A value as bytes that both sides pack alike.
trait Pack: H5Type {
    fn pack(&self, into: &mut Vec<u8>);
}

macro_rules! pack {
    ($($rust:ty)*; $($float:ty)*) => {
        $(impl Pack for $rust {
            fn pack(&self, into: &mut Vec<u8>) {
                into.extend_from_slice(&self.to_le_bytes());
            }
        })*
        $(impl Pack for $float {
            fn pack(&self, into: &mut Vec<u8>) {
                let own = if self.is_nan() { <$float>::NAN } else { *self };
                into.extend_from_slice(&own.to_le_bytes());
            }
        })*
    };
}
pack!(i8 i16 i32 i64 u8 u16 u32 u64; f32 f64 half::f16);

impl Pack for bool {
    fn pack(&self, into: &mut Vec<u8>) {
        into.push(u8::from(*self));
    }
}

impl Pack for String {
    fn pack(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&(self.len() as u64).to_le_bytes());
        into.extend_from_slice(self.as_bytes());
    }
}

impl<T: Pack + Copy> Pack for num_complex::Complex<T>
where
    num_complex::Complex<T>: H5Type,
{
    fn pack(&self, into: &mut Vec<u8>) {
        self.re.pack(into);
        self.im.pack(into);
    }
}

/// Eight threads, whatever the machine has.
fn pool() -> &'static rayon::ThreadPool {
    static POOL: std::sync::OnceLock<rayon::ThreadPool> = std::sync::OnceLock::new();
    POOL.get_or_init(|| rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap())
}

const TYPES: [&str; 15] =
    ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bool", "string", "c64", "c128"];

fn read<T: Pack>(dataset: &Dataset, selection: &Selection, conversion: Conversion) -> Result<Value> {
    let selected = dataset.select(selection).conversion(conversion);
    let pack = |values: Vec<T>| {
        let mut packed = Vec::new();
        values.iter().for_each(|value| value.pack(&mut packed));
        packed
    };
    let alone = selected.clone().threads(1).read().map(pack);
    let packed = pool().install(|| selected.read().map(pack));
    let said = |result: &Result<Vec<u8>>| result.as_ref().err().map(ToString::to_string);
    assert!(
        said(&packed) == said(&alone) && packed.as_ref().ok() == alone.as_ref().ok(),
        "one thread and eight differ"
    );
    let packed = packed?;
    let sha256: String = Sha256::digest(&packed).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(json!({"shape": selected.shape()?, "sha256": sha256, "bytes": packed.len()}))
}

fn ours(dataset: &Dataset, selection: &Selection, wanted: &str, conversion: Conversion) -> Result<Value> {
    match wanted {
        "i8" => read::<i8>(dataset, selection, conversion),
        "i16" => read::<i16>(dataset, selection, conversion),
        "i32" => read::<i32>(dataset, selection, conversion),
        "i64" => read::<i64>(dataset, selection, conversion),
        "u8" => read::<u8>(dataset, selection, conversion),
        "u16" => read::<u16>(dataset, selection, conversion),
        "u32" => read::<u32>(dataset, selection, conversion),
        "u64" => read::<u64>(dataset, selection, conversion),
        "f16" => read::<half::f16>(dataset, selection, conversion),
        "f32" => read::<f32>(dataset, selection, conversion),
        "f64" => read::<f64>(dataset, selection, conversion),
        "bool" => read::<bool>(dataset, selection, conversion),
        "string" => read::<String>(dataset, selection, conversion),
        "c64" => read::<num_complex::Complex<f32>>(dataset, selection, conversion),
        "c128" => read::<num_complex::Complex<f64>>(dataset, selection, conversion),
        other => panic!("there is no type {other}"),
    }
}

/// An index along a dimension of `size` elements, now and then one that does not fit.
fn index(dice: &mut Dice, size: u64) -> (Index, Value) {
    let n = i64::try_from(size).unwrap();
    let slack = if dice.below(40) == 0 { 2 } else { 0 };
    match dice.below(9) {
        0 | 1 if n > 0 => {
            let at = dice.signed(-n - slack, n + slack);
            (Index::At(at), json!({"at": at}))
        }
        2..=4 => {
            let mut end = || (dice.below(4) > 0).then(|| dice.signed(-n - 2, n + 3));
            let (start, stop) = (end(), end());
            let step = dice.of(&[1, 1, 1, 2, 3, 7, -1, -2, -5]);
            (Index::Range { start, stop, step }, json!({"range": [start, stop, step]}))
        }
        5 | 6 if n > 0 => {
            let mut list: Vec<i64> = (0..dice.below(6)).map(|_| dice.signed(-n - slack, n + slack)).collect();
            if dice.below(3) == 0 {
                list.iter_mut().for_each(|at| *at = at.rem_euclid(n));
                list.sort_unstable();
                list.dedup();
            }
            (Index::List(list.clone()), json!({"list": list}))
        }
        7 => {
            let mask: Vec<bool> = (0..size).map(|_| dice.below(3) == 0).collect();
            (Index::Mask { shape: vec![size], values: mask.clone() }, json!({"mask": mask}))
        }
        8 if n > 0 => {
            let block = 1 + dice.below(3.min(size));
            let stride = block + dice.below(3);
            let count = 1 + dice.below((size - block) / stride + 1);
            let start = dice.below(size - ((count - 1) * stride + block) + 1);
            (Index::Blocks { start, stride, count, block }, json!({"blocks": [start, stride, count, block]}))
        }
        _ => (Index::ALL, json!({"range": [null, null, null]})),
    }
}

fn selection(dice: &mut Dice, shape: &[u64]) -> (Selection, Value) {
    let count: u64 = shape.iter().product();
    if dice.below(12) == 0 && !shape.is_empty() && count > 0 {
        let point = |dice: &mut Dice| -> Vec<i64> {
            shape.iter().map(|&n| i64::try_from(n).unwrap()).map(|n| dice.signed(-n, n)).collect()
        };
        let points: Vec<Vec<i64>> = (0..dice.below(9)).map(|_| point(dice)).collect();
        return (Selection::Points(points.clone()), json!({"points": points}));
    }
    if dice.below(12) == 0 && !shape.is_empty() && count < 5000 {
        let values: Vec<bool> = (0..count).map(|_| dice.below(4) == 0).collect();
        let mask = Index::Mask { shape: shape.to_vec(), values: values.clone() };
        return (Selection::Indices(vec![mask]), json!({"full_mask": values}));
    }
    let (mut indices, mut told) = (Vec::new(), Vec::new());
    let axes = if dice.below(3) == 0 { dice.below(shape.len() as u64 + 1) } else { shape.len() as u64 };
    let ellipsis = if dice.below(3) == 0 { dice.below(axes + 1) } else { u64::MAX };
    for place in 0..=axes {
        if place == ellipsis {
            indices.push(Index::Ellipsis);
            told.push(json!("..."));
        }
        if dice.below(15) == 0 {
            indices.push(Index::NewAxis);
            told.push(json!("new"));
        }
        if place < axes {
            // Behind the ellipsis the last dimensions are meant.
            let behind = ellipsis <= place;
            let axis = if behind { shape.len() as u64 - (axes - place) } else { place };
            let (one, own) = index(dice, shape[usize::try_from(axis).unwrap()]);
            indices.push(one);
            told.push(own);
        }
    }
    (Selection::Indices(indices), json!(told))
}

/// A type that suits the datatype, or any.
fn wanted(dice: &mut Dice, datatype: &str) -> &'static str {
    let suits: &[&str] = match datatype {
        t if t.starts_with("string") || t.starts_with("vlenstr") => &["string"],
        t if t.starts_with("float") => &["f16", "f32", "f64", "f64", "i32"],
        t if t.starts_with("int") || t.starts_with("bits") => &TYPES[..11],
        t if t.starts_with("enum") => &["bool", "i64", "u8"],
        t if t.starts_with("compound") || t.starts_with("complex") => &["c64", "c128"],
        _ => &TYPES,
    };
    if dice.below(5) == 0 { dice.of(&TYPES) } else { dice.of(suits) }
}

/// A dataset that libhdf5 reads: the file, the path, the datatype.
type Place = (PathBuf, String, String);

fn places() -> Vec<Place> {
    let mut places = Vec::new();
    let mut add = |path: PathBuf, objects: &mut dyn Iterator<Item = (String, String)>| {
        places.extend(objects.map(|(object, datatype)| (path.clone(), object, datatype)));
    };
    if let Some(corpus) = support::corpus("the triples over the corpus") {
        for expected in documents::expected(&corpus).into_iter().filter(|e| e.is_single_file() && !e.is_bad()) {
            let readable =
                |o: &&Value| o["kind"] == "dataset" && o.get("data_error").is_none() && o.get("error").is_none();
            let objects = expected.document["objects"].as_array().into_iter().flatten().filter(readable);
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            add(expected.path, &mut objects.map(|o| (text(&o["path"]), text(&o["type"]))));
        }
    }
    let is_file = |path: &std::path::Path| {
        path.extension().is_some_and(|e| ["h5", "h5ad", "nc", "mat", "nxs"].iter().any(|own| e == *own))
    };
    // What is made to hurt is for other tests.
    let files = support::files(&support::testdata(""), &is_file)
        .into_iter()
        .filter(|path| !path.to_string_lossy().contains("hostile"));
    for path in files {
        let Ok(tree) = File::open(&path).and_then(|file| hdfive::inspect::Tree::walk(&file)) else { continue };
        let datasets = tree.objects.iter().filter_map(|o| match &o.object {
            Ok(hdfive::Object::Dataset(dataset)) => {
                Some((o.path.clone(), hdfive::inspect::notation::datatype(dataset.datatype())))
            }
            _ => None,
        });
        let mut datasets = datasets.filter_map(|(path, datatype)| Some((String::from_utf8(path).ok()?, datatype)));
        add(path, &mut datasets);
    }
    places
}

/// What both sides say to one question; `None` if h5py cannot say, or this build cannot decode the data.
fn compare(dice: &mut Dice, oracle: &mut Oracle, place: &Place, dataset: &Dataset) -> Option<Option<String>> {
    let (path, object, datatype) = place;
    let (selection, index) = selection(dice, dataset.shape());
    let wanted = wanted(dice, datatype);
    let (conversion, rule) = dice.of(&[(Conversion::Lossless, "lossless"), (Conversion::Saturating, "saturating")]);
    let question = json!({"file": path, "path": object, "index": index, "type": wanted, "rule": rule});
    let told = oracle.ask(&question)?;
    if told.get("skip").is_some() {
        return None;
    }
    let found = match ours(dataset, &selection, wanted, conversion) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::Unsupported => return None,
        Err(error) => json!({"error": format!("{:?}", error.kind()), "says": error.to_string()}),
    };
    let equal = match (told.get("error"), found.get("error")) {
        // Where both the type and the selection do not fit, either may be said.
        (Some(told), Some(found)) => told == found || told == "OutOfBounds" && found == "WrongType",
        (None, None) => told == found,
        _ => false,
    };
    Some((!equal).then(|| format!("{question}\n  h5py {told}\n  here {found}")))
}

#[test]
fn random_triples_of_dataset_selection_and_type_equal_h5py() {
    let number = |name: &str, usual: u64| {
        std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is {text}")))
    };
    let (wanted, seed) = (number("HDFIVE_TRIPLES", 3000), number("HDFIVE_SEED", 1).max(1));
    let places = places();
    assert!(places.len() > 200, "only {} datasets", places.len());
    let (mut dice, mut oracle) = (Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1), Oracle::start());
    let (mut compared, mut asked, mut wrong) = (0, 0, Vec::new());
    while compared < wanted && asked < 100 * wanted {
        let place = dice.of(&places);
        asked += 1;
        let Ok(dataset) = documents::options().open(&place.0).and_then(|file| file.dataset(&place.1)) else { continue };
        if dataset.len() > MOST_ELEMENTS || dataset.is_null() {
            continue;
        }
        for _ in 0..A_DATASET {
            if let Some(difference) = compare(&mut dice, &mut oracle, &place, &dataset) {
                compared += 1;
                wrong.extend(difference);
            }
        }
    }
    support::say(&format!("{compared} triples were compared, seed {seed}"));
    assert!(compared >= wanted, "only {compared} could be compared");
    wrong.truncate(20);
    assert!(wrong.is_empty(), "seed {seed}; differences:\n{}", wrong.join("\n"));
}
