//! Every structure that is met in the corpus is written as it was read.

use std::collections::BTreeMap;
use std::sync::Arc;

use hdfive::storage::Witness;

use crate::support::documents::{self, Expected};
use crate::support::{corpus, in_parallel};

#[test]
fn every_structure_of_the_corpus_is_encoded_to_the_bytes_it_was_decoded_from() {
    let Some(corpus) = corpus("structures of the corpus, encoded again") else { return };
    let all = documents::expected(&corpus);
    let good: Vec<&Expected> = all.iter().filter(|expected| !expected.is_bad()).collect();
    let witnesses: Vec<(&str, Arc<Witness>)> = in_parallel(&good, |expected| {
        let witness = Arc::new(Witness::default());
        // What cannot be opened has shown what it has.
        let _ = expected.ours(&documents::options().witness(Arc::clone(&witness)));
        (expected.name.as_str(), witness)
    });
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut wrong: Vec<String> = Vec::new();
    for (name, witness) in &witnesses {
        for (structure, count) in witness.seen() {
            *seen.entry(structure).or_default() += count;
        }
        for mismatch in witness.mismatches() {
            wrong.push(format!("{} at {}, {name}: {}", mismatch.structure, mismatch.addr, mismatch.what));
        }
    }
    wrong.sort();
    wrong.dedup();
    let total: u64 = seen.values().sum();
    assert!(wrong.is_empty(), "{} of {total} structures are written otherwise:\n{}", wrong.len(), wrong.join("\n"));
    if std::env::var_os("HDFIVE_CORPUS").is_none() {
        assert!(seen.len() > 50 && total > 100_000, "too few structures were met: {seen:#?}");
    }
}
