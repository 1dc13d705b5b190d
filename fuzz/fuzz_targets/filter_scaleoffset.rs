//! Any bytes through the decoder of scaleoffset.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(6, data));
