//! Any bytes through the decoder of JPEG-LS.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(32018, data));
