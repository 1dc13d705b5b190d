//! Every source keeps to the same rules.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hdfive::storage::counting::CountingSource;
use hdfive::storage::http::{HttpOptions, HttpSource};
use hdfive::storage::pieces::{Piece, Pieces};
use hdfive::storage::{FileSource, IoProfile, MemorySource, conformance};

use super::server::{Fault, Server};
use crate::support::scratch;

fn content() -> Vec<u8> {
    (0..100_000u32).flat_map(|n| u8::try_from(n * 31 / 7 % 253)).collect()
}

#[test]
fn memory_and_files_are_sources() {
    conformance::check(&MemorySource::new(content()), &content());
    conformance::check(&MemorySource::new(Vec::new()), &[]);
    conformance::check(&CountingSource::new(content()), &content());
    let path = scratch("conformance").join("x");
    std::fs::write(&path, content()).unwrap();
    conformance::check(&FileSource::open(&path).unwrap(), &content());
    let piece = |start: usize, end: usize| Piece {
        start: start as u64,
        source: Arc::new(MemorySource::new(content()[start..end].to_vec())),
    };
    conformance::check(&Pieces::new(vec![piece(0, 4000), piece(4000, 100_000)]).unwrap(), &content());
}

#[test]
fn what_is_behind_a_server_is_a_source() {
    let small = IoProfile {
        read_ahead: 1000,
        latency: Duration::from_millis(1),
        bandwidth: 9_000_000,
        connections: 4,
        ..IoProfile::REMOTE
    };
    for profile in [small, IoProfile::REMOTE] {
        let options = HttpOptions::new().profile(profile).attempts(4, Duration::from_millis(1));
        let open = |server: &Server| HttpSource::open(&server.url("/x.h5"), options.clone()).unwrap();
        conformance::check(&open(&Server::of([("/x.h5".to_owned(), content())])), &content());
        // Every answer breaks off once.
        let broken = Mutex::new(HashSet::new());
        let breaks = Server::faulty(content(), move |_, request| {
            broken.lock().unwrap().insert(request.range.map(|(_, last)| last)).then_some(Fault::Short(700))
        });
        conformance::check(&open(&breaks), &content());
        let whole = Server::faulty(content(), |number, _| (number > 3).then_some(Fault::Whole));
        conformance::check(&open(&whole), &content());
    }
}
