//! Any bytes through the decoder of bitround.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(32032, data));
