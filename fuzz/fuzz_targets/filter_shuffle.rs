//! Any bytes through the decoder of shuffle.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(2, data));
