//! Any bytes through the decoder of szip.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(4, data));
