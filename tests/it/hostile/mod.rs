//! Files that want to harm their reader. Each file here opens with its story; `testdata/hostile/hostile.py` makes them.

mod chunk_layouts;
mod claimed_chunks;
mod common_messages;
mod conversion_buffers;
mod cut_short;
mod cycle_of_continuations;
mod cycle_of_links;
mod cycle_of_tree_nodes;
mod cycle_of_virtual_datasets;
mod dataspace_product;
mod datatype_arithmetic;
mod deep_datatype;
mod equal_children;
mod files_outside;
mod filter_lengths;
mod free_space;
mod header_of_nothing;
mod heap_offsets;
mod many_elements;
mod name_flood;
mod shared_with_itself;
mod short_message;
mod tree_order;
mod typed;

use std::time::{Duration, Instant};

use hdfive::{Error, File, MissingSources, OpenOptions};

use crate::support::testdata;

/// The longest that any of this may take on a slow and busy machine.
const LONGEST: Duration = Duration::from_secs(20);

fn open(name: &str) -> File {
    let options = OpenOptions::new().missing_sources(MissingSources::Fill);
    options.open(testdata("hostile").join(name)).unwrap()
}

/// The error that `job` must end with, soon.
fn error<T>(job: impl FnOnce() -> hdfive::Result<T>) -> Error {
    let start = Instant::now();
    let result = job();
    assert!(start.elapsed() < LONGEST, "it took {:?}", start.elapsed());
    match result {
        Ok(_) => panic!("there is no error"),
        Err(error) => error,
    }
}
