//! Any bytes through the decoder of VBZ.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(32020, data));
