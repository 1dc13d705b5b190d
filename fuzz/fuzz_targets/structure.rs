//! What a message decodes to is encoded to what decodes to the same again.
#![no_main]

use hdfive::format::message::Message;
use hdfive::wire::{Addr, Sizes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [kind, rest @ ..] = data else { return };
    let (kind, data) = (u16::from(kind % 26), bytes::Bytes::copy_from_slice(rest));
    let Ok(message) = Message::decode(kind, &data, Addr(0), Sizes::EIGHT) else { return };
    let encoded = message.encode(Addr(0), Sizes::EIGHT).expect("what was decoded can be encoded");
    assert_eq!(encoded, rest[..encoded.len()]);
});
