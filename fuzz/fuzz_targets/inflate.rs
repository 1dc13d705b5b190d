//! A zlib stream gives the same bytes here and by flate2, or is refused by both.
#![no_main]

use flate2::{Decompress, FlushDecompress, Status};
use hdfive::filter::{ChunkInfo, Output, Registry};
use hdfive::format::message::filter_pipeline::FilterDescription;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut theirs = vec![0; 1 << 16];
    let mut inflater = Decompress::new(true);
    let status = inflater.decompress(data, &mut theirs, FlushDecompress::Finish);
    let whole = status.is_ok_and(|status| status == Status::StreamEnd);
    let len = usize::try_from(inflater.total_out()).unwrap_or(0);
    let description =
        FilterDescription { id: 1, stored_name: Vec::new(), flags: 0, client_data: vec![6], padding: Vec::new() };
    let chunk = ChunkInfo { bytes: len, element_size: 1 };
    let filter = Registry::default().configure(&description, chunk).expect("deflate is there");
    let mut ours = vec![0; len];
    let decoded = filter.decode(data, &mut Output::exact(&mut ours)).is_ok();
    assert_eq!(decoded, whole);
    assert!(!whole || ours == theirs[..len]);
});
