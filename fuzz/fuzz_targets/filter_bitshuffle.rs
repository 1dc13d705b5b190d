//! Any bytes through the decoder of bitshuffle.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(32008, data));
