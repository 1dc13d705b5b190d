//! Frames that are decoded here and by zrip give the same bytes; so do those that zrip encodes.
#![no_main]

use hdfive::filter::{ChunkInfo, Output, Registry};
use hdfive::format::message::filter_pipeline::FilterDescription;
use libfuzzer_sys::fuzz_target;

/// Bytes that a frame may give.
const MOST: usize = 1 << 16;

fn ours(stored: &[u8]) -> Option<Vec<u8>> {
    let description =
        FilterDescription { id: 32015, stored_name: Vec::new(), flags: 0, client_data: vec![3], padding: Vec::new() };
    let filter = Registry::default().configure(&description, ChunkInfo { bytes: MOST, element_size: 1 });
    let mut plain = Vec::new();
    filter.expect("zstd is there").decode(stored, &mut Output::growing(&mut plain, MOST)).ok().map(|()| plain)
}

fuzz_target!(|data: &[u8]| {
    let mut theirs = Vec::new();
    let mut context = zrip::DecompressContext::new();
    if context.decompress_into_with_limit(data, &mut theirs, MOST).is_ok()
        && let Some(ours) = ours(data)
    {
        assert!(ours == theirs);
    }
    let level = [-7, -1, 1, 3, 4][data.len() % 5];
    let mut encoder = zrip::CompressContext::new(level).expect("a level");
    let stored = encoder.compress(data).expect("it encodes");
    assert!(data.len() > MOST || ours(&stored).as_deref() == Some(data));
});
