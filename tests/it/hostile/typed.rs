//! Whatever is in a file, reading it as values, texts, numbers and references gives these or an error.

use hdfive::inspect::Tree;
use hdfive::netcdf::NetcdfGroup;
use hdfive::{Conversion, Dataset, File, Limits, Object, OpenOptions, Reference, Result, s};

use crate::support;

/// Reads a dataset in every way there is; gives how many of them went well.
fn read(file: &File, dataset: &Dataset) -> usize {
    let part = dataset.select(s![hdfive::selection::Index::Ellipsis, ..;-2]);
    let references = || -> Result<()> {
        for reference in part.read::<Option<Reference>>()?.iter().flatten().take(20) {
            let _ = reference.region(file).and_then(|region| region.read_value());
        }
        Ok(())
    };
    let ways = [
        dataset.read_value().map(|value| drop(value.to_string())),
        dataset.read::<String>().map(drop),
        dataset.conversion(Conversion::Saturating).read::<f64>().map(drop),
        dataset.select(s![..;2]).read::<i32>().map(drop),
        part.read::<Vec<f32>>().map(drop),
        part.read::<[u8; 4]>().map(drop),
        part.read::<num_complex::Complex<f64>>().map(drop),
        part.read_value().map(drop),
        references(),
        dataset.dims().map(drop),
        dataset.rows::<f32>(100).take(10).try_for_each(|rows| rows.map(drop)),
        dataset.read_chunk_raw(&vec![0; dataset.shape().len()]).map(drop),
    ];
    ways.into_iter().filter(Result::is_ok).count()
}

fn all(file: &File) -> usize {
    let mut well = 0;
    let Ok(tree) = Tree::walk(file) else { return 0 };
    for object in tree.objects.iter().filter_map(|object| object.object.as_ref().ok()) {
        for attribute in object.attributes().into_iter().flatten().flatten() {
            let shown = file.show(&attribute).map(drop);
            let ways = [shown, attribute.read_value().map(drop), attribute.read::<String>().map(drop)];
            well += ways.into_iter().filter(Result::is_ok).count();
        }
        if let Object::Dataset(dataset) = object {
            well += read(file, dataset);
        }
    }
    let _ = file.root().and_then(|root| NetcdfGroup::of(&root));
    well
}

#[test]
fn typed_reading_of_bad_files_ends_in_values_or_errors() {
    let mut files = support::files(&support::testdata("hostile"), &|path| path.extension().is_some_and(|e| e == "h5"));
    if let Some(corpus) = support::corpus("typed reading of bad files") {
        files.extend(support::files(&corpus.join("bad"), &|path| path.extension().is_some_and(|e| e != "jsonl")));
    }
    let options = OpenOptions::new().limits(Limits { result: 16 << 20, ..Limits::default() });
    let well = support::in_parallel(&files, |path| options.open(path).map_or(0, |file| all(&file)));
    // A good part of bad files is good.
    assert!(well.iter().sum::<usize>() > 20, "of {} files nothing could be read", files.len());
}
