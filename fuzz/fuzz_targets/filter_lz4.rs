//! Any bytes through the decoder of lz4.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(32004, data));
