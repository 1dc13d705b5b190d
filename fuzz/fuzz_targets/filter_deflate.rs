//! Any bytes through the decoder of deflate.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(1, data));
