//! Any bytes through the decoder of blosc.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(32001, data));
