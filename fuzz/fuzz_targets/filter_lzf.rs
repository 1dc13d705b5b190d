//! Any bytes through the decoder of lzf.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(32000, data));
