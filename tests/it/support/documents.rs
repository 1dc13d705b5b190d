//! Documents of what is in a file: those that libhdf5 gave, our own, and how the two compare.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hdfive::{Driver, File, MissingSources, OpenOptions, Result};
use serde_json::Value;

use crate::document::Document;

/// A document that libhdf5 gave.
pub(crate) struct Expected {
    /// Path of the file (or name of the set) below the corpus.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) document: Value,
}

/// All documents below `corpus`.
pub(crate) fn expected(corpus: &Path) -> Vec<Expected> {
    let mut all = Vec::new();
    for list in super::files(corpus, &|path| path.ends_with("ORACLE.jsonl")) {
        let folder = list.parent().expect("because it is in a folder");
        let below = folder.strip_prefix(corpus).expect("because it was found there").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&list).unwrap_or_else(|e| panic!("{}: {e}", list.display()));
        for line in text.lines() {
            let document: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{}: {e}", list.display()));
            let file = document["file"].as_str().expect("because every document names its file");
            all.push(Expected { name: format!("{below}/{file}"), path: folder.join(file), document });
        }
    }
    assert!(!all.is_empty(), "there are no documents below {}", corpus.display());
    all
}

impl Expected {
    /// The file set driver, if it is no single file.
    fn driver(&self) -> Option<&'static str> {
        match self.document.get("driver")?.as_str()? {
            "family" => Some("family"),
            "split" => Some("split"),
            "multi" => Some("multi"),
            other => panic!("{}: there is no driver {other}", self.name),
        }
    }

    /// Whether it lies in one file of its own.
    pub(crate) fn is_single_file(&self) -> bool {
        self.driver().is_none()
    }

    /// Whether only good behaviour is asked for: no panic, an end within bounds.
    pub(crate) fn is_bad(&self) -> bool {
        self.name.split('/').rev().skip(1).any(|folder| folder == "bad") || self.document.get("oracle_failed").is_some()
    }

    /// Opens the file or the set.
    pub(crate) fn open(&self, options: &OpenOptions) -> Result<File> {
        match self.driver() {
            None => options.open(&self.path),
            Some("family") => options.open_pieces(Driver::Family, &self.path),
            Some("split") => options.open_pieces(Driver::Split, &self.path),
            Some(_) => options.open_pieces(Driver::Multi, &self.path),
        }
    }

    /// Our document.
    pub(crate) fn ours(&self, options: &OpenOptions) -> Result<Value> {
        document(&self.open(options)?, &self.path, self.driver())
    }
}

/// How `h5 digest` opens files.
pub(crate) fn options() -> OpenOptions {
    OpenOptions::new().missing_sources(MissingSources::Fill)
}

/// Our document of an open file.
pub(crate) fn document(file: &File, path: &Path, driver: Option<&'static str>) -> Result<Value> {
    Document { file, name: &path.to_string_lossy(), driver, no_limit: false }.value()
}

/// A difference: where, and what.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) key: String,
    pub(crate) what: String,
}

const ATTRIBUTE: [&str; 7] = ["cset", "shape", "type", "ctype", "digest", "nbytes", "corder"];
const OBJECT: [&str; 3] = ["comment", "attr_corder", "link_corder"];
const DATASET: [&str; 12] = [
    "shape",
    "maxshape",
    "type",
    "ctype",
    "layout",
    "chunk",
    "chunk_opts",
    "filters",
    "external",
    "virtual",
    "digest",
    "nbytes",
];
const SUPERBLOCK: [&str; 13] = [
    "version",
    "userblock",
    "sizeof_offset",
    "sizeof_length",
    "sym_leaf_k",
    "sym_internal_k",
    "chunk_k",
    "sohm_version",
    "sohm_indexes",
    "fs_strategy",
    "fs_persist",
    "fs_threshold",
    "fs_page_size",
];

/// Where `ours` differs from what libhdf5 said, in what is normative.
pub(crate) fn compare(want: &Value, ours: &Value) -> Vec<Fault> {
    let mut faults = Faults(Vec::new());
    let refused = want.get("open_error").is_some() && want.get("opened_as").is_none();
    if want.get("root_error").is_some() || refused {
        return Vec::new();
    }
    faults.keys("superblock", &SUPERBLOCK, &want["superblock"], &ours["superblock"], false);
    let mut broken: Vec<String> = Vec::new();
    let mut left: BTreeMap<&str, &Value> = list(ours, "objects").iter().map(|o| (text(o, "path"), o)).collect();
    for object in list(want, "objects") {
        let path = text(object, "path");
        let Some(other) = left.remove(path) else {
            if object.get("error").is_none() {
                faults.add(path, "missing");
            }
            continue;
        };
        if object.get("error").is_some() {
            continue;
        }
        if object["kind"] != other["kind"] {
            faults.differ(&format!("{path}.kind"), &object["kind"], &other["kind"]);
            continue;
        }
        faults.keys(path, &OBJECT, object, other, false);
        match text(object, "kind") {
            "group" => {
                let unknown: BTreeSet<&str> =
                    list(object, "links").iter().filter(|l| l[1] == "hard" && l[2] == "?").map(name).collect();
                broken.extend(unknown.iter().map(|name| format!("{}/{name}", path.trim_end_matches('/'))));
                if links(object, &unknown) != links(other, &unknown) {
                    faults.add(&format!("{path}.links"), "differ");
                }
            }
            "named_type" => faults.keys(path, &["type"], object, other, false),
            "dataset" => {
                let free = object.get("data_error").is_some()
                    || object.get("undigested").is_some()
                    || is_behind_unsupported_filter(other);
                faults.keys(path, &DATASET, object, other, free);
                if let (Some(sparse), Some(ours)) = (object.get("sparse"), other.get("sparse"))
                    && sparse != ours
                {
                    faults.differ(&format!("{path}.sparse"), sparse, ours);
                }
                let fill = &object["fill"];
                if fill["defined"] == "user" && fill["digest"] != other["fill"]["digest"] {
                    faults.add(&format!("{path}.fill"), "differs");
                }
            }
            kind => faults.add(path, &format!("there is no kind {kind}")),
        }
        attributes(path, object, other, &mut faults);
    }
    let errors = list(want, "objects").iter().filter(|o| o.get("error").is_some());
    broken.extend(errors.map(|o| text(o, "path").to_owned()));
    for extra in left.keys() {
        let below = |path: &String| {
            extra == path || extra.strip_prefix(path.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
        };
        if !broken.iter().any(below) {
            faults.add(extra, "should not be there");
        }
    }
    faults.0
}

/// Whether a dataset of ours has no digest because this build lacks one of its filters, and says which.
pub(crate) fn is_behind_unsupported_filter(ours: &Value) -> bool {
    let error = &ours["data_error"];
    let named = |filter: &Value| {
        let id = &filter[0];
        [format!("filter {id}"), format!("id {id}")].iter().any(|name| text(error, "desc").contains(name))
    };
    error["kind"] == "Unsupported" && list(ours, "filters").iter().any(named)
}

fn attributes(path: &str, want: &Value, ours: &Value, faults: &mut Faults) {
    let mut left: BTreeMap<&str, &Value> = list(ours, "attrs").iter().map(|a| (text(a, "name"), a)).collect();
    for attribute in list(want, "attrs") {
        let place = format!("{path}@{}", text(attribute, "name"));
        let Some(other) = left.remove(text(attribute, "name")) else {
            faults.add(&place, "missing");
            continue;
        };
        if attribute.get("error").is_none() {
            let free = attribute.get("data_error").is_some() || attribute.get("undigested").is_some();
            faults.keys(&place, &ATTRIBUTE, attribute, other, free);
        }
    }
    for extra in left.keys() {
        faults.add(&format!("{path}@{extra}"), "should not be there");
    }
}

/// Name, kind and target of each link, and its creation order where that is tracked; where libhdf5 could not reach a
/// target, any is right.
fn links(group: &Value, unknown: &BTreeSet<&str>) -> Vec<String> {
    let link = |link: &Value| {
        let parts = link.as_array().expect("because a link is a list");
        let kind = parts[1].as_str().unwrap_or_default();
        let head = if unknown.contains(name(link)) && kind == "hard" {
            vec![parts[0].clone(), "hard".into(), "?".into()]
        } else {
            parts.iter().take(if matches!(kind, "hard" | "soft") { 3 } else { 4 }).cloned().collect()
        };
        let order = parts.iter().skip(3).filter_map(|part| part.get("corder"));
        format!("{head:?} {:?}", order.collect::<Vec<_>>())
    };
    let mut all: Vec<String> = list(group, "links").iter().map(link).collect();
    all.sort();
    all
}

fn name(link: &Value) -> &str {
    link[0].as_str().expect("because a link begins with its name")
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, key: &str, what: &str) {
        self.0.push(Fault { key: key.to_owned(), what: what.to_owned() });
    }

    fn differ(&mut self, key: &str, want: &Value, ours: &Value) {
        let short = |value: &Value| value.to_string().chars().take(90).collect::<String>();
        self.add(key, &format!("{} for {}", short(ours), short(want)));
    }

    /// Compares those of `keys` that `want` has; digests only if they are not `free`.
    fn keys(&mut self, place: &str, keys: &[&str], want: &Value, ours: &Value, free: bool) {
        for key in keys {
            if free && matches!(*key, "digest" | "nbytes") {
                continue;
            }
            match want.get(key) {
                Some(value) if *value != ours[key] => {
                    let why = if *key == "digest" { &ours["data_error"]["desc"] } else { &Value::Null };
                    let why = if why.is_null() { &ours[key] } else { why };
                    self.differ(&format!("{place}.{key}"), value, why);
                }
                _ => {}
            }
        }
    }
}
