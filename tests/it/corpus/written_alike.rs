//! Every structure that is met in the corpus is written as it was read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hdfive::storage::{Observer, Seen};

use crate::support::documents::{self, Expected};
use crate::support::{corpus, in_parallel};

/// Encodes again whatever is decoded, counts it, and says what came out otherwise than it was.
#[derive(Debug, Default)]
struct Witness {
    seen: Mutex<BTreeMap<&'static str, u64>>,
    wrong: Mutex<Vec<String>>,
}

impl Observer for Witness {
    fn see(&self, seen: &Seen<'_>) {
        *self.seen.lock().unwrap().entry(seen.structure).or_default() += 1;
        let what = match seen.encode() {
            Ok(encoded) if encoded == seen.bytes => return,
            Ok(encoded) => {
                let same = encoded.iter().zip(seen.bytes).position(|(a, b)| a != b);
                let at = same.unwrap_or(encoded.len().min(seen.bytes.len()));
                let near = |bytes: &[u8]| {
                    let near: String = bytes.iter().skip(at).take(16).map(|b| format!("{b:02x}")).collect();
                    format!("{near} ({} bytes)", bytes.len())
                };
                format!("at {at:#x} is {}, is written as {}", near(seen.bytes), near(&encoded))
            }
            Err(error) => format!("cannot be written: {error}"),
        };
        self.wrong.lock().unwrap().push(format!("{} at {}: {what}", seen.structure, seen.addr));
    }
}

#[test]
fn every_structure_of_the_corpus_is_encoded_to_the_bytes_it_was_decoded_from() {
    let Some(corpus) = corpus("structures of the corpus, encoded again") else { return };
    let all = documents::expected(&corpus);
    let good: Vec<&Expected> = all.iter().filter(|expected| !expected.is_bad()).collect();
    let witnesses: Vec<(&str, Arc<Witness>)> = in_parallel(&good, |expected| {
        let witness = Arc::new(Witness::default());
        // What cannot be opened has shown what it has.
        let _ = expected.ours(&documents::options().observer(Arc::clone(&witness) as _));
        (expected.name.as_str(), witness)
    });
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut wrong: Vec<String> = Vec::new();
    for (name, witness) in &witnesses {
        for (structure, count) in &*witness.seen.lock().unwrap() {
            *seen.entry(structure).or_default() += count;
        }
        wrong.extend(witness.wrong.lock().unwrap().iter().map(|what| format!("{name}: {what}")));
    }
    wrong.sort();
    wrong.dedup();
    let total: u64 = seen.values().sum();
    assert!(wrong.is_empty(), "{} of {total} structures are written otherwise:\n{}", wrong.len(), wrong.join("\n"));
    if std::env::var_os("HDFIVE_CORPUS").is_none() {
        assert!(seen.len() > 50 && total > 100_000, "too few structures were met: {seen:#?}");
    }
}
