//! Any bytes through the decoder of fletcher32.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(3, data));
