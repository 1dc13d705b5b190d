//! Any bytes through the decoder of blosc2.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(32026, data));
