//! What differs between two files: objects, links, types, shapes, attributes, values.

use std::collections::{BTreeMap, BTreeSet};

use super::check::leads_elsewhere;
use super::covered::Cells;
use super::notation::{short, text};
use super::tree::Tree;
use crate::convert::{Reference, Value};
use crate::error::{Error, Result};
use crate::handle::{Attribute, Dataset, File, Link, LinkTarget, Object, StorageLayout};
use crate::selection::{Block, Selected};

/// What two files are compared by.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Numbers that differ by no more than this are equal.
    pub absolute: f64,
    /// Numbers that differ by no more than this times the second are equal.
    pub relative: f64,
    /// Names of attributes that are left out.
    pub ignored_attributes: BTreeSet<String>,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Path of the object.
    pub path: String,
    /// What differs, the first file's before a bar, the second's after it.
    pub what: String,
}

/// Bytes of elements that are compared at once.
const AT_ONCE: u64 = 16 << 20;

/// Tells `differs` of everything in which two files differ, by path.
///
/// Errors are those of reading; what was told before them holds.
pub fn diff(first: &File, second: &File, by: &Comparison, differs: &mut dyn FnMut(Difference)) -> Result<()> {
    let trees = [Tree::walk(first)?, Tree::walk(second)?];
    let by_path = [index(&trees[0]), index(&trees[1])];
    let paths: BTreeSet<&[u8]> = by_path.iter().flat_map(|index| index.keys().copied()).collect();
    let mut comparer = Comparer { trees: [&trees[0], &trees[1]], by, path: String::new(), differs };
    for path in paths {
        comparer.path = text(path);
        match (by_path[0].get(path), by_path[1].get(path)) {
            (Some(&a), Some(&b)) => comparer.object(a, b)?,
            (Some(_), None) => comparer.tell("is in the first file only"),
            (None, _) => comparer.tell("is in the second file only"),
        }
    }
    Ok(())
}

fn index(tree: &Tree) -> BTreeMap<&[u8], usize> {
    tree.objects.iter().enumerate().map(|(number, object)| (&object.path[..], number)).collect()
}

struct Comparer<'a> {
    trees: [&'a Tree; 2],
    by: &'a Comparison,
    path: String,
    differs: &'a mut dyn FnMut(Difference),
}

impl Comparer<'_> {
    fn tell(&mut self, what: impl Into<String>) {
        (self.differs)(Difference { path: self.path.clone(), what: what.into() });
    }

    fn object(&mut self, a: usize, b: usize) -> Result<()> {
        let [first, second] = [&self.trees[0].objects[a], &self.trees[1].objects[b]];
        let (one, other) = match (&first.object, &second.object) {
            (Ok(one), Ok(other)) => (one, other),
            (Err(one), Err(other)) if one.message() == other.message() => return Ok(()),
            (Err(error), _) | (_, Err(error)) => return Err(error.clone()),
        };
        match (one, other) {
            (Object::Group(_), Object::Group(_)) => {
                let links = [first.links.clone()?, second.links.clone()?];
                self.links(&links);
            }
            (Object::Dataset(one), Object::Dataset(other)) => self.datasets(one, other)?,
            (Object::NamedType(one), Object::NamedType(other)) => {
                self.texts("type", &short(&one.datatype()?), &short(&other.datatype()?));
            }
            _ => self.tell(format!("kind: {} | {}", one.kind(), other.kind())),
        }
        self.attributes(one, other)
    }

    /// Tells of two texts that are not the same.
    fn texts(&mut self, what: &str, one: &str, other: &str) {
        if one != other {
            self.tell(format!("{what}: {one} | {other}"));
        }
    }

    /// Links that are no objects of their own: hard ones to what has another path, soft, external and user-defined ones.
    fn links(&mut self, links: &[Vec<Link>; 2]) {
        let shown = |tree: &Tree, link: &Link| match &link.target {
            LinkTarget::Hard(addr) => {
                tree.path(*addr).map_or_else(|| "an object that cannot be opened".to_owned(), text)
            }
            LinkTarget::Soft(target) => format!("-> {}", text(target)),
            LinkTarget::External { file, path } => format!("-> {} in {}", text(path), text(file)),
            LinkTarget::User { class, data } => format!("link of class {class} with {data:02x?}"),
        };
        let by_name = |number: usize| -> BTreeMap<&[u8], String> {
            links[number].iter().map(|link| (&link.name[..], shown(self.trees[number], link))).collect()
        };
        let (first, second) = (by_name(0), by_name(1));
        let names: BTreeSet<&[u8]> = first.keys().chain(second.keys()).copied().collect();
        for name in names {
            let own = |target: &String| target.ends_with(&format!("/{}", text(name))) && !target.starts_with("->");
            match (first.get(name), second.get(name)) {
                (Some(one), Some(other)) => self.texts(&format!("link {:?}", text(name)), one, other),
                // An object of this name is told of by its path.
                (Some(target), None) | (None, Some(target)) if own(target) => {}
                (Some(one), None) => self.tell(format!("link {:?}: {one} | -", text(name))),
                (None, Some(other)) => self.tell(format!("link {:?}: - | {other}", text(name))),
                (None, None) => {}
            }
        }
    }

    fn attributes(&mut self, one: &Object, other: &Object) -> Result<()> {
        let by_name = |object: &Object| -> Result<BTreeMap<String, Attribute>> {
            object.attributes()?.into_iter().map(|a| a.map(|a| (a.name(), a))).collect()
        };
        let (first, second) = (by_name(one)?, by_name(other)?);
        let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
        for name in names {
            if self.by.ignored_attributes.contains(name) {
                continue;
            }
            match (first.get(name), second.get(name)) {
                (Some(one), Some(other)) => self.attribute(name, one, other)?,
                (Some(_), None) => self.tell(format!("attribute {name:?} is in the first file only")),
                (None, _) => self.tell(format!("attribute {name:?} is in the second file only")),
            }
        }
        Ok(())
    }

    fn attribute(&mut self, name: &str, one: &Attribute, other: &Attribute) -> Result<()> {
        self.texts(&format!("type of attribute {name:?}"), &short(one.datatype()), &short(other.datatype()));
        let shape = |a: &Attribute| if a.is_null() { "empty".to_owned() } else { format!("{:?}", a.shape()) };
        let (shapes, what) = ([shape(one), shape(other)], format!("shape of attribute {name:?}"));
        self.texts(&what, &shapes[0], &shapes[1]);
        if shapes[0] == shapes[1] {
            let (one, other) = (one.read_value()?, other.read_value()?);
            if !self.alike(&one, &other) {
                self.tell(format!("attribute {name:?}: {one} | {other}"));
            }
        }
        Ok(())
    }

    fn datasets(&mut self, one: &Dataset, other: &Dataset) -> Result<()> {
        self.texts("type", &short(one.datatype()), &short(other.datatype()));
        self.texts("shape", &one.shape_text(), &other.shape_text());
        if one.shape() != other.shape() || one.is_null() != other.is_null() || one.is_empty() {
            return Ok(());
        }
        let mut found = Found::default();
        let cells = Cells::stored([one, other])?;
        match &cells {
            None => {
                check_size(one, other)?;
                self.elements([one, other], &Selected::all(one.shape()), &mut found)?;
            }
            Some(cells) => {
                for block in cells.blocks() {
                    self.elements([one, other], &Selected::block(&block, one.shape())?, &mut found)?;
                }
            }
        }
        // Where nothing is stored, one element stands for all.
        if let Some(mut rest) = cells.as_ref().and_then(Cells::first_other) {
            let others = one.len().saturating_sub(found.compared);
            rest.count.fill(1);
            let before = found.count;
            self.elements([one, other], &Selected::block(&rest, one.shape())?, &mut found)?;
            found.count = before.saturating_add((found.count - before).saturating_mul(others));
        }
        if let Some((place, values)) = found.first {
            self.tell(format!("{} of {} elements differ, first at {place:?}: {values}", found.count, one.len()));
        }
        Ok(())
    }

    /// Compares what is selected of two datasets, part after part.
    fn elements(&self, datasets: [&Dataset; 2], selected: &Selected, found: &mut Found) -> Result<()> {
        let [one, other] = datasets;
        let same_bytes_are_same = one.datatype() == other.datatype() && !leads_elsewhere(one.datatype());
        let size = one.datatype().size.max(other.datatype().size).max(1);
        for part in selected.parts(AT_ONCE / u64::from(size), one.chunk_shape()) {
            let Some(block) = part.as_block() else { continue };
            found.compared = found.compared.saturating_add(part.count()?);
            let (one, other) = (one.select(&block), other.select(&block));
            if same_bytes_are_same && one.read_bytes()? == other.read_bytes()? {
                continue;
            }
            for (number, (one, other)) in (0..).zip(one.values()?.zip(other.values()?)) {
                let (one, other) = (one?, other?);
                if !self.alike(&one, &other) {
                    found.add(|| place(&block, number), || format!("{one} | {other}"));
                }
            }
        }
        Ok(())
    }

    fn alike(&self, one: &Value, other: &Value) -> bool {
        match (one, other) {
            (Value::Array(one), Value::Array(other)) => {
                one.shape == other.shape
                    && one.elements.iter().zip(&other.elements).all(|(one, other)| self.alike(one, other))
            }
            (Value::Compound(one), Value::Compound(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.0 == b.0 && self.alike(&a.1, &b.1))
            }
            (Value::Complex(a, b), Value::Complex(c, d)) => self.near(*a, *c) && self.near(*b, *d),
            (Value::Reference(one), Value::Reference(other)) => self.referred(0, one) == self.referred(1, other),
            (Value::Integer(a), Value::Integer(b)) if a == b => true,
            _ => match (one.as_f64(), other.as_f64()) {
                (Some(a), Some(b)) => self.near(a, b),
                _ => one == other,
            },
        }
    }

    fn near(&self, a: f64, b: f64) -> bool {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= self.by.absolute + self.by.relative * b.abs()
    }

    /// What a reference leads to, by path rather than by address.
    fn referred(&self, file: usize, reference: &Reference) -> String {
        let mut value = Value::Reference(reference.clone());
        self.trees[file].name_references(&mut value);
        value.to_string()
    }
}

/// What was found of the elements of two datasets.
#[derive(Default)]
struct Found {
    compared: u64,
    count: u64,
    /// Where the first element that differs is, and how it does.
    first: Option<(Vec<u64>, String)>,
}

impl Found {
    fn add(&mut self, place: impl FnOnce() -> Vec<u64>, what: impl FnOnce() -> String) {
        self.count += 1;
        // Within a block the first comes first, but blocks do not lie in the order of their elements.
        let place = place();
        if self.first.as_ref().is_none_or(|(first, _)| place < *first) {
            self.first = Some((place, what()));
        }
    }
}

/// Elements that no stored bytes stand for, those of virtual datasets and external files, can be as many as a file claims.
fn check_size(one: &Dataset, other: &Dataset) -> Result<()> {
    let limit = one.node().core.container.loaded.limits().result;
    for dataset in [one, other] {
        let claimed = dataset.layout() == StorageLayout::Virtual || !dataset.external()?.is_empty();
        let bytes = u128::from(dataset.len()) * u128::from(dataset.datatype().size);
        if claimed && bytes > limit.into() {
            let what = format!("{bytes} bytes are not compared: they are beyond Limits::result, which is {limit}");
            return Err(dataset.node().at(Error::limit(what)));
        }
    }
    Ok(())
}

/// Coordinates of element `number` of a block.
fn place(block: &Block, number: u64) -> Vec<u64> {
    let mut rest = number;
    let mut place = block.start.clone();
    for (at, count) in place.iter_mut().zip(&block.count).rev() {
        *at += rest % count.max(&1);
        rest /= count.max(&1);
    }
    place
}
