//! Files of the corpus through a source that has nothing loaded at first and counts what is asked of it.

use std::sync::Arc;

use hdfive::inspect::Tree;
use hdfive::storage::counting::CountingSource;
use hdfive::storage::{FileSource, IoProfile, SharedSource};
use serde_json::Value;

use crate::support::documents::{self, Expected};
use crate::support::{corpus, in_parallel};

/// The document of a file by its source; names of other files in it are not followed.
fn document(expected: &Expected, source: SharedSource) -> Value {
    let opened = documents::options().open_source(source, "source");
    match opened.and_then(|file| documents::document(&file, &expected.path, None)) {
        Ok(document) => document,
        // How many bytes were at hand when some were missing is not the same.
        Err(error) => format!("{:?}", error.kind()).into(),
    }
}

#[test]
fn a_source_that_misses_everything_at_first_gives_the_same_document_as_a_file() {
    let Some(corpus) = corpus("the corpus through a source that misses everything") else { return };
    let all = documents::expected(&corpus);
    let single: Vec<&Expected> = all.iter().filter(|e| e.is_single_file()).collect();
    let differs = |expected: &&Expected| {
        let source = FileSource::open(&expected.path).unwrap_or_else(|e| panic!("{}: {e}", expected.name));
        let bytes = std::fs::read(&expected.path).unwrap_or_else(|e| panic!("{}: {e}", expected.name));
        let counting = CountingSource::new(bytes);
        document(expected, Arc::new(source)) != document(expected, Arc::new(counting))
    };
    let differing = in_parallel(&single, differs);
    let wrong: Vec<&str> =
        single.iter().zip(differing).filter_map(|(e, differs)| differs.then_some(e.name.as_str())).collect();
    assert!(wrong.is_empty(), "{} of {} documents differ:\n{}", wrong.len(), single.len(), wrong.join("\n"));
}

#[test]
fn walking_a_remote_file_of_many_objects_takes_few_batches() {
    let Some(corpus) = corpus("batches of the corpus") else { return };
    let all = documents::expected(&corpus);
    let objects = |e: &Expected| e.document["objects"].as_array().map_or(0, Vec::len);
    let many: Vec<&Expected> = all.iter().filter(|e| e.is_single_file() && !e.is_bad() && objects(e) > 100).collect();
    assert!(many.len() > 5 || std::env::var_os("HDFIVE_CORPUS").is_some());
    let report: Vec<(String, usize, u64, u64)> = in_parallel(&many, |expected| {
        let bytes = std::fs::read(&expected.path).unwrap();
        let blocks = bytes.len() as u64 / IoProfile::REMOTE.block + 1;
        let source = Arc::new(CountingSource::with_profile(bytes, IoProfile::REMOTE));
        let file = documents::options().open_source(source.clone(), "source").unwrap();
        let found = Tree::walk(&file).unwrap().objects.len();
        (expected.name.clone(), found, source.counts().batches, blocks)
    });
    let wrong: Vec<_> = report
        .iter()
        .filter(|(_, found, batches, blocks)| *batches > blocks + 8 || *batches > *found as u64 / 4)
        .collect();
    assert!(wrong.is_empty(), "name, objects, batches, blocks of the file:\n{wrong:#?}");
}

/// Links of a root group up to which looking at it must be cheap, and bytes of its attributes, which may lie in its
/// header.
const FEW: (usize, usize) = (20, 2 << 10);

#[test]
fn opening_a_local_file_and_listing_its_root_takes_little() {
    let Some(corpus) = corpus("what opening a file takes") else { return };
    let all = documents::expected(&corpus);
    let single: Vec<&Expected> = all.iter().filter(|e| e.is_single_file() && !e.is_bad()).collect();
    let looked = in_parallel(&single, |expected| {
        let bytes = std::fs::read(&expected.path).unwrap_or_else(|e| panic!("{}: {e}", expected.name));
        let source = Arc::new(CountingSource::with_profile(bytes, IoProfile::LOCAL));
        let file = documents::options().open_source(source.clone(), "source").ok()?;
        let root = file.root().ok()?;
        let links = root.links().ok()?.len();
        let counts = source.counts();
        let attributes: usize = root.attributes().ok()?.iter().flatten().map(|a| a.bytes().len() + 64).sum();
        (links <= FEW.0 && attributes <= FEW.1).then(|| (expected.name.clone(), counts))
    });
    let looked: Vec<_> = looked.into_iter().flatten().collect();
    assert!(looked.len() > single.len() / 2, "only {} of {} files were looked at", looked.len(), single.len());
    let dear: Vec<_> = looked.iter().filter(|(_, counts)| counts.ranges > 8 || counts.bytes > 16 << 10).collect();
    assert!(dear.is_empty(), "{} of {} files:\n{dear:#?}", dear.len(), looked.len());
}
