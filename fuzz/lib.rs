//! What the targets share: a mutator of whole files that repairs their checksums, and a run of one decoder.

use std::sync::Arc;

use hdfive::filter::{ChunkInfo, Output, Registry};
use hdfive::format::message::filter_pipeline::FilterDescription;

#[path = "../tests/mutants/everything.rs"]
pub mod everything;
#[path = "../tests/mutants/repair.rs"]
mod repair;

/// Rounds of repair: a structure may be found only when another has its checksum.
const ROUNDS: usize = 3;

/// Changes the first `size` bytes of `data`, a file, as libFuzzer does, and puts checksums right; gives the new size.
pub fn mutate(data: &mut [u8], size: usize, most: usize) -> usize {
    let size = libfuzzer_sys::fuzzer_mutate(data, size, most);
    for _ in 0..ROUNDS {
        let bytes = bytes::Bytes::copy_from_slice(&data[..size]);
        let open = |options: &hdfive::OpenOptions| {
            let limits = hdfive::Limits { result: 16 << 20, chunk: 16 << 20, ..Default::default() };
            options.clone().limits(limits).open_source(Arc::new(hdfive::storage::MemorySource::new(bytes.clone())), "")
        };
        if repair::repair(&mut data[..size], &everything::structures(open)) == 0 {
            break;
        }
    }
    size
}

/// Client values that are taken from the input.
const MOST_VALUES: usize = 24;

/// Configures the filter `id` from the first bytes of `data`, and decodes the others: to a slice, to a vector, in part.
///
/// ```text
/// plain size u16 | element size | number of client values | values, a byte each, or a byte 255 and a u32 | stored bytes
/// ```
pub fn decode(id: u16, data: &[u8]) {
    let [low, high, element, count, rest @ ..] = data else { return };
    let plain = usize::from(u16::from_le_bytes([*low, *high]));
    let (mut client_data, mut rest) = (Vec::new(), rest);
    for _ in 0..usize::from(*count) % (MOST_VALUES + 1) {
        let Some((value, after)) = value(rest) else { return };
        client_data.push(value);
        rest = after;
    }
    let description = FilterDescription { id, stored_name: Vec::new(), flags: 0, client_data, padding: Vec::new() };
    let chunk = ChunkInfo { bytes: plain, element_size: usize::from(*element).max(1) };
    let Ok(filter) = Registry::default().configure(&description, chunk) else { return };
    let mut slice = vec![0; plain];
    let mut output = Output::exact(&mut slice);
    let exact = filter.decode(rest, &mut output).and_then(|()| output.finish()).is_ok();
    assert!(!exact || plain <= filter.decoded_bound(rest.len()), "more than so many bytes can give");
    let mut grown = Vec::new();
    let _ = filter.decode(rest, &mut Output::growing(&mut grown, plain));
    assert!(grown.len() <= plain);
    let mut part = vec![0; plain - plain / 3];
    let in_part = filter.decode_range(rest, plain, plain / 3..plain, &mut Output::exact(&mut part));
    if exact && in_part.is_ok_and(|done| done) {
        assert_eq!(part, slice[plain / 3..], "a part differs from that of the whole");
    }
}

fn value(data: &[u8]) -> Option<(u32, &[u8])> {
    match data {
        [255, a, b, c, d, rest @ ..] => Some((u32::from_le_bytes([*a, *b, *c, *d]), rest)),
        [255, ..] | [] => None,
        [small, rest @ ..] => Some((u32::from(*small), rest)),
    }
}
