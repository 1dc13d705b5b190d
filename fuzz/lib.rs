//! What the targets of the decoders share.

use hdfive::filter::{ChunkInfo, Output, Registry};
use hdfive::format::message::filter_pipeline::FilterDescription;

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
