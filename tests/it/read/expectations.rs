//! Holds what is read from the files of `testdata` against what the library that wrote them read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hdfive::format::message::datatype::Datatype;
use hdfive::inspect::{Canonical, Tree};
use hdfive::selection::Block;
use hdfive::{Attribute, Dataset, Driver, File, Group, LinkTarget, MissingSources, Object, OpenOptions, Result};
use serde_json::{Value, json};

use crate::support;

/// What is wrong with one file.
struct Check {
    file: File,
    tree: Tree,
    wrong: Vec<String>,
}

impl Check {
    fn equal(&mut self, place: &str, found: &Value, wanted: &Value) {
        if found != wanted {
            let short = |value: &Value| value.to_string().chars().take(200).collect::<String>();
            self.wrong.push(format!("{place} is {}, should be {}", short(found), short(wanted)));
        }
    }

    /// Compares what `found` gives with what stands at `key`, if something does.
    fn key(&mut self, place: &str, wanted: &Value, key: &str, found: impl FnOnce(&Self) -> Result<Value>) {
        let Some(wanted) = wanted.get(key).filter(|wanted| !wanted.is_null() || !["values", "digest"].contains(&key))
        else {
            return;
        };
        match found(self) {
            Ok(found) => self.equal(&format!("{place}, {key}"), &found, wanted),
            Err(error) => self.wrong.push(format!("{place}, {key}: {error}")),
        }
    }

    fn digest(&self, raw: &[u8], datatype: &Datatype) -> Result<Value> {
        let mut canonical = Canonical::new(&self.file, &self.tree);
        canonical.elements(raw, datatype)?;
        Ok(canonical.finish().sha256.into())
    }

    fn object(&mut self, path: &str, wanted: &Value) {
        let object = match self.file.object(path) {
            Ok(object) => object,
            Err(error) => return self.wrong.push(format!("{path}: {error}")),
        };
        let kind = match &object {
            Object::Group(_) => "group",
            Object::Dataset(_) => "dataset",
            Object::NamedType(_) => "named_type",
        };
        self.key(path, wanted, "kind", |_| Ok(kind.into()));
        match &object {
            Object::Group(group) => {
                self.key(path, wanted, "links", |_| links(group));
                self.key(path, wanted, "comment", |_| Ok(group.comment()?.into()));
            }
            Object::Dataset(dataset) => self.dataset(path, wanted, dataset),
            Object::NamedType(_) => {}
        }
        self.attributes(path, wanted, &object);
    }

    fn dataset(&mut self, path: &str, wanted: &Value, dataset: &Dataset) {
        let shape = if dataset.is_null() { Value::Null } else { json!(dataset.shape()) };
        self.key(path, wanted, "shape", |_| Ok(shape));
        self.key(path, wanted, "maxshape", |_| Ok(json!(dataset.max_shape())));
        self.key(path, wanted, "chunks", |_| Ok(json!(dataset.chunk_shape())));
        self.key(path, wanted, "digest", |check| check.digest(&dataset.read_bytes()?, dataset.datatype()));
        let few = |values: Vec<Value>| values.into_iter().take(64).collect::<Vec<_>>().into();
        self.key(path, wanted, "values", |_| Ok(few(typed(&wanted["values"], &Reader::Dataset(dataset))?)));
        let numbers = |value: &Value| -> Vec<u64> {
            value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
        };
        for block in wanted["blocks"].as_array().into_iter().flatten() {
            let place = format!("{path}, block {} {}", block["start"], block["count"]);
            let block_of = Block::new(&numbers(&block["start"]), &numbers(&block["count"]));
            self.key(&place, block, "digest", |check| {
                check.digest(&dataset.select(&block_of).read_bytes()?, dataset.datatype())
            });
        }
    }

    fn attributes(&mut self, path: &str, wanted: &Value, object: &Object) {
        let Some(wanted_attributes) = wanted.get("attributes").and_then(Value::as_object) else { return };
        let mut found = Vec::new();
        match object.attributes() {
            Ok(attributes) => {
                for attribute in attributes {
                    match attribute {
                        Ok(attribute) => found.push(attribute),
                        Err(error) => self.wrong.push(format!("{path}: {error}")),
                    }
                }
            }
            Err(error) => return self.wrong.push(format!("{path}: {error}")),
        }
        if wanted.get("links").is_some() || wanted.get("maxshape").is_some() {
            let names: BTreeSet<String> = found.iter().map(Attribute::name).collect();
            let wanted_names: BTreeSet<String> = wanted_attributes.keys().cloned().collect();
            self.equal(&format!("{path}, names of attributes"), &json!(names), &json!(wanted_names));
        }
        for (name, wanted) in wanted_attributes {
            let place = format!("{path}@{name}");
            let Some(attribute) = found.iter().find(|a| a.name() == *name) else { continue };
            let shape = if attribute.is_null() { Value::Null } else { json!(attribute.shape()) };
            self.key(&place, wanted, "shape", |_| Ok(shape));
            self.key(&place, wanted, "digest", |check| check.digest(attribute.bytes(), attribute.datatype()));
            let few = |values: Vec<Value>| values.into_iter().take(64).collect::<Vec<_>>().into();
            self.key(&place, wanted, "values", |_| Ok(few(typed(&wanted["values"], &Reader::Attribute(attribute))?)));
        }
    }
}

enum Reader<'a> {
    Dataset(&'a Dataset),
    Attribute(&'a Attribute),
}

/// The elements as the kind of values that are wanted.
fn typed(wanted: &Value, reader: &Reader<'_>) -> Result<Vec<Value>> {
    fn all<T: Into<Value>>(values: Vec<T>) -> Vec<Value> {
        values.into_iter().map(Into::into).collect()
    }
    let wanted = wanted.as_array().unwrap();
    let is = |test: fn(&Value) -> bool| wanted.iter().any(test);
    Ok(match reader {
        Reader::Dataset(dataset) if is(Value::is_string) => all(dataset.read::<String>()?),
        Reader::Dataset(dataset) if is(Value::is_f64) => all(dataset.read::<f64>()?),
        Reader::Dataset(dataset) if !wanted.is_empty() && !is(|v| v.as_i64().is_none()) => all(dataset.read::<i64>()?),
        Reader::Dataset(dataset) if !wanted.is_empty() => all(dataset.read::<u64>()?),
        Reader::Attribute(attribute) if is(Value::is_string) => all(attribute.read::<String>()?),
        Reader::Attribute(attribute) if is(Value::is_f64) => all(attribute.read::<f64>()?),
        Reader::Attribute(attribute) if !wanted.is_empty() && !is(|v| v.as_i64().is_none()) => {
            all(attribute.read::<i64>()?)
        }
        Reader::Attribute(attribute) if !wanted.is_empty() => all(attribute.read::<u64>()?),
        Reader::Dataset(_) | Reader::Attribute(_) => Vec::new(),
    })
}

fn links(group: &Group) -> Result<Value> {
    let mut links = serde_json::Map::new();
    for link in group.links()? {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let told = match &link.target {
            LinkTarget::Hard(_) => json!(["hard"]),
            LinkTarget::Soft(path) => json!(["soft", text(path)]),
            LinkTarget::External { file, path } => json!(["external", text(file), text(path)]),
            LinkTarget::User { class, .. } => json!(["user", class]),
        };
        links.insert(link.name(), told);
    }
    Ok(links.into())
}

fn wrong(path: &Path) -> Vec<String> {
    let wanted: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let name = path.with_file_name(wanted["file"].as_str().unwrap());
    let options = OpenOptions::new().missing_sources(MissingSources::Fill);
    let file = match wanted.get("driver").and_then(Value::as_str) {
        None => options.open(&name),
        Some("family") => options.open_pieces(Driver::Family, &name),
        Some("split") => options.open_pieces(Driver::Split, &name),
        Some(other) => panic!("there is no driver {other}"),
    };
    let file = match file {
        Ok(file) => file,
        Err(error) => return vec![error.to_string()],
    };
    let tree = match Tree::walk(&file) {
        Ok(tree) => tree,
        Err(error) => return vec![error.to_string()],
    };
    let paths: BTreeSet<String> =
        tree.objects.iter().map(|object| String::from_utf8_lossy(&object.path).into_owned()).collect();
    let mut check = Check { file, tree, wrong: Vec::new() };
    let objects = wanted["objects"].as_object().unwrap();
    if wanted["by"] == "h5py" {
        let wanted_paths: BTreeSet<String> = objects.keys().cloned().collect();
        check.equal("objects", &json!(paths), &json!(wanted_paths));
    }
    for (path, wanted) in objects {
        check.object(path, wanted);
    }
    check.wrong
}

#[test]
fn files_of_other_libraries_read_as_these_libraries_read_them() {
    let is_expectation = |path: &Path| path.to_string_lossy().ends_with(".expect.json");
    let all: Vec<PathBuf> = support::files(&support::testdata(""), &is_expectation);
    assert!(all.len() > 30, "{all:?}");
    let found: Vec<String> = support::in_parallel(&all, |path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        wrong(path).into_iter().map(|what| format!("{name}: {what}")).collect::<Vec<_>>()
    })
    .concat();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn every_area_of_testdata_has_a_script_a_file_and_an_expectation() {
    for area in [
        "attributes",
        "container",
        "datatypes",
        "external",
        "filters",
        "index",
        "layouts",
        "objects",
        "readme",
        "references",
        "typed",
        "virtual",
        "writers",
    ] {
        let names: Vec<String> = support::files(&support::testdata(area), &|_| true)
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        for end in [".py", ".h5", ".expect.json"] {
            assert!(names.iter().any(|name| name.ends_with(end)), "{area} has no {end}: {names:?}");
        }
    }
}
