//! Any bytes are read in all the ways there are, or end in errors.
#![no_main]

use std::sync::Arc;

use hdfive::Result;
use hdfive::storage::MemorySource;
use hdfive_fuzz::everything::{self, Watch};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

/// Nobody looks on.
struct Unwatched;

impl Watch for Unwatched {
    fn job<T>(&mut self, _: &str, _: u64, job: impl FnOnce() -> Result<T>) -> Result<T> {
        job()
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, _seed: u32| {
    hdfive_fuzz::mutate(data, size, max_size)
});

fuzz_target!(|data: &[u8]| {
    let bytes = bytes::Bytes::copy_from_slice(data);
    everything::read(
        |options| {
            let limits = hdfive::Limits { result: 16 << 20, chunk: 16 << 20, ..Default::default() };
            options.clone().limits(limits).open_source(Arc::new(MemorySource::new(bytes.clone())), "fuzz")
        },
        &mut Unwatched,
    );
});
