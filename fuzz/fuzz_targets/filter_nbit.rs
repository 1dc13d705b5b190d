//! Any bytes through the decoder of nbit.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hdfive_fuzz::decode(5, data));
