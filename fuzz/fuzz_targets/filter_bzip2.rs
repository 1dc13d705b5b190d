//! Any bytes through the decoder of bzip2.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(307, data));
