//! Reads a file in all the ways there are.

use hdfive::inspect::{self, Surveyor, Tree};
use hdfive::netcdf::NetcdfGroup;
use hdfive::selection::{Block, Index};
use hdfive::{Conversion, Dataset, Error, File, MissingSources, Object, OpenOptions, Reference, Result, s};
use std::sync::Arc;

/// Looks on while something is read: a job, its name, and how many bytes of data it was asked for.
pub trait Watch {
    /// Does the job.
    fn job<T>(&mut self, what: &str, asked: u64, job: impl FnOnce() -> Result<T>) -> Result<T>;
}

/// Larger datasets are read in part.
const WHOLE: u64 = 4 << 20;

/// Opens a file, walks it, checks it, and reads every attribute and dataset; gives the errors.
pub fn read(open: impl Fn(&OpenOptions) -> Result<File>, watch: &mut impl Watch) -> Vec<Error> {
    let mut reading = Reading { errors: Vec::new(), watch };
    let surveyor = Arc::new(Surveyor::default());
    let options = OpenOptions::new().missing_sources(MissingSources::Fill);
    let checked = reading.watch.job("check", WHOLE, || {
        let file = open(&options.clone().observer(Arc::clone(&surveyor) as _))?;
        inspect::check(&file, &surveyor, &|_, _| ())
    });
    match checked {
        Ok(report) => reading.errors.extend(report.problems.into_iter().chain(report.unchecked)),
        Err(error) => reading.errors.push(error),
    }
    if let Some(file) = reading.keep("open", 0, || open(&options)) {
        reading.file(&file);
    }
    reading.errors
}

/// The errors of the structures of a file: what is found on the way to its data, without reading these.
pub fn structures(open: impl Fn(&OpenOptions) -> Result<File>) -> Vec<Error> {
    let mut errors = Vec::new();
    let tree = open(&OpenOptions::new().missing_sources(MissingSources::Fill)).and_then(|file| Tree::walk(&file));
    let Ok(tree) = tree.map_err(|error| errors.push(error)) else { return errors };
    errors.extend(tree.errors().cloned());
    for object in tree.objects.iter().filter_map(|object| object.object.as_ref().ok()) {
        match object.attributes() {
            Ok(attributes) => errors.extend(attributes.into_iter().filter_map(Result::err)),
            Err(error) => errors.push(error),
        }
        if let Object::Dataset(dataset) = object {
            errors.extend(dataset.manifest().err());
        }
    }
    errors
}

struct Reading<'a, W> {
    errors: Vec<Error>,
    watch: &'a mut W,
}

impl<W: Watch> Reading<'_, W> {
    fn keep<T>(&mut self, what: &str, asked: u64, job: impl FnOnce() -> Result<T>) -> Option<T> {
        self.watch.job(what, asked, job).map_err(|error| self.errors.push(error)).ok()
    }

    fn file(&mut self, file: &File) {
        let Some(tree) = self.keep("walk", 0, || Tree::walk(file)) else { return };
        for object in tree.objects.iter().filter_map(|object| object.object.as_ref().ok()) {
            let attributes = self.keep("attributes", 0, || object.attributes()).into_iter().flatten();
            for attribute in attributes.filter_map(Result::ok) {
                self.keep("show", 0, || file.show(&attribute));
                self.keep("attribute as a value", 0, || attribute.read_value());
                self.keep("attribute as text", 0, || attribute.read::<String>());
                self.keep("attribute as numbers", 0, || attribute.read::<f64>());
            }
            match object {
                Object::Dataset(dataset) => self.dataset(file, dataset),
                Object::Group(group) => {
                    self.keep("find", 0, || group.link("a name that is not there"));
                    for link in object.links().into_iter().flatten().take(8) {
                        self.keep("follow", 0, || group.object(&link.name()));
                    }
                }
                Object::NamedType(_) => {}
            }
        }
        self.keep("netCDF", 0, || file.root().and_then(|root| NetcdfGroup::of(&root)));
    }

    fn dataset(&mut self, file: &File, dataset: &Dataset) {
        let size = u64::from(dataset.datatype().size);
        self.keep("manifest", 0, || dataset.manifest());
        self.keep("dims", 0, || dataset.dims());
        if dataset.chunk_shape().is_some() {
            self.keep("raw chunk", 0, || dataset.read_chunk_raw(&vec![0; dataset.shape().len()]));
        }
        let whole = dataset.len().saturating_mul(size);
        if whole <= WHOLE {
            self.keep("bytes", whole, || dataset.read_bytes());
            self.keep("value", whole, || dataset.read_value());
            self.keep("text", whole, || dataset.read::<String>());
            self.keep("numbers", 8 * dataset.len(), || dataset.conversion(Conversion::Saturating).read::<f64>());
            self.keep("integers", 4 * dataset.len(), || dataset.read::<i32>());
            self.keep("lists", 24 * dataset.len(), || dataset.read::<Vec<f32>>());
            self.keep("references", 0, || {
                for reference in dataset.read::<Option<Reference>>()?.iter().flatten().take(20) {
                    let _ = reference.region(file).and_then(|region| region.read_value());
                }
                Ok(())
            });
            self.keep("rows", whole, || dataset.rows::<f32>(2).take(3).try_for_each(|rows| rows.map(drop)));
            self.keep("every second", whole, || dataset.select(s![Index::Ellipsis, ..;-2]).read_value());
        }
        // The middle of what may be vast.
        let middle: Vec<u64> = dataset.shape().iter().map(|n| n / 2).collect();
        let count: Vec<u64> = dataset.shape().iter().zip(&middle).map(|(n, at)| (n - at).min(2)).collect();
        let asked = count.iter().product::<u64>().saturating_mul(size);
        if asked <= WHOLE {
            self.keep("part", asked, || dataset.select(Block::new(&middle, &count)).read_bytes());
        }
    }
}
