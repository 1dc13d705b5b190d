//! Any bytes through the decoder of JPEG.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(32019, data));
