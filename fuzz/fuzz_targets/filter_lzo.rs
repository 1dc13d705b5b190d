//! Any bytes through the decoder of lzo.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(305, data));
