//! Any bytes through the decoder of snappy.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(32003, data));
