//! Object headers: the messages that make up an object. Specification IV.A.1 and IV.A.2.q (continuation blocks).
//!
//! A header is a prefix and a first block of messages; continuation blocks elsewhere hold more. A message stays bytes
//! until somebody asks what it says, so that one that we do not understand spoils nothing else.

use bytes::Bytes;

use crate::error::Result;
use crate::wire::{Origin, Structure, Walk, lookup3};

/// The prefix of an object header and its first block of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectHeader {
    /// What version 1 and version 2 have of their own.
    pub prefix: Prefix,
    /// The messages of the first block.
    pub messages: Messages,
}

/// What stands before the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Version 1.
    V1 {
        /// Number of messages in all blocks; readers find the messages without it.
        message_count: u16,
        /// Number of hard links to the object.
        reference_count: u32,
        /// Nonzero reserved bytes.
        reserved: [Vec<u8>; 2],
    },
    /// Version 2.
    V2 {
        /// Bits 0 and 1 width of the block size, 2 attribute creation order tracked, 3 indexed, 4 phase change values
        /// stored, 5 times stored.
        flags: u8,
        /// Access, modification, change and birth time in seconds since 1970.
        times: Option<[u32; 4]>,
        /// Largest number of attributes in compact, smallest in dense storage.
        attribute_phase: Option<(u16, u16)>,
    },
}

/// A block of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// The messages in file order, those of type nil included.
    pub list: Vec<HeaderMessage>,
    /// Bytes after the last message, too few for another.
    pub gap: Vec<u8>,
}

/// A message with its frame, its data not yet understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderMessage {
    /// The message type.
    pub kind: u16,
    /// Bit 0 constant, 1 shared, 2 may not be shared, 3 fail on writing if unknown, 4 mark if unknown and modified,
    /// 5 was modified by somebody who did not know it, 6 may be shared, 7 fail always if unknown.
    pub flags: u8,
    /// Creation order, in version 2 headers that track it.
    pub creation_order: Option<u16>,
    /// Reserved bytes of version 1.
    pub reserved: [u8; 3],
    /// Where the data begin.
    pub origin: Origin,
    /// The data, in version 1 headers with their padding.
    pub data: Bytes,
}

impl HeaderMessage {
    /// Whether the data say where the message is rather than what.
    pub fn is_shared(&self) -> bool {
        self.flags & 2 != 0
    }
}

/// How messages are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Version 1: eight bytes, data padded to eight.
    V1,
    /// Version 2 without creation order: four bytes.
    V2,
    /// Version 2 with creation order: six bytes.
    V2Ordered,
}

impl Framing {
    fn size(self) -> usize {
        match self {
            Framing::V1 => 8,
            Framing::V2 => 4,
            Framing::V2Ordered => 6,
        }
    }
}

impl ObjectHeader {
    /// How the messages of this header and of its continuation blocks are framed.
    pub fn framing(&self) -> Framing {
        match &self.prefix {
            Prefix::V1 { .. } => Framing::V1,
            Prefix::V2 { flags, .. } => framing(*flags),
        }
    }

    fn v1(&self) -> (u16, u32, &[Vec<u8>; 2]) {
        match &self.prefix {
            Prefix::V1 { message_count, reference_count, reserved } => (*message_count, *reference_count, reserved),
            Prefix::V2 { .. } => unreachable!("because the walk asks only in version 1"),
        }
    }

    fn v2(&self) -> (u8, [u32; 4], (u16, u16)) {
        match &self.prefix {
            Prefix::V2 { flags, times, attribute_phase } => {
                (*flags, times.unwrap_or_default(), attribute_phase.unwrap_or_default())
            }
            Prefix::V1 { .. } => unreachable!("because the walk asks only in version 2"),
        }
    }
}

fn framing(flags: u8) -> Framing {
    if flags & 4 != 0 { Framing::V2Ordered } else { Framing::V2 }
}

impl Structure for ObjectHeader {
    const NAME: &'static str = "object header";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        let is_v2 = w.begins_with(b"OHDR", |h| matches!(h.prefix, Prefix::V2 { .. }));
        if is_v2 { walk_v2(w) } else { walk_v1(w) }
    }

    fn first_read(_: crate::wire::Sizes, _: ()) -> usize {
        512
    }
}

fn walk_v1(w: &mut Walk<'_, '_, ObjectHeader>) -> Result<ObjectHeader> {
    w.version(|_| 1, 1..=1)?;
    let reserved = w.reserved(1, |h| &h.v1().2[0])?;
    let message_count = w.u16("total number of header messages", |h| h.v1().0)?;
    let reference_count = w.u32("object reference count", |h| h.v1().1)?;
    let size = w.count("object header size", 4, |h| h.messages.size(Framing::V1))?;
    let reserved_2 = w.reserved(4, |h| &h.v1().2[1])?;
    let messages = w.nest(|h| &h.messages, Block { framing: Framing::V1, size })?;
    let reserved = [reserved, reserved_2];
    Ok(ObjectHeader { prefix: Prefix::V1 { message_count, reference_count, reserved }, messages })
}

fn walk_v2(w: &mut Walk<'_, '_, ObjectHeader>) -> Result<ObjectHeader> {
    w.signature(b"OHDR")?;
    w.version(|_| 2, 2..=2)?;
    let flags = w.u8("flags", |h| h.v2().0)?;
    if flags & 0xc0 != 0 {
        return w.unsupported("flags", format!("flags are {flags:#04x}, bits 6 and 7 are not known"));
    }
    let mut times = None;
    if flags & 0x20 != 0 {
        times = Some([
            w.u32("access time", |h| h.v2().1[0])?,
            w.u32("modification time", |h| h.v2().1[1])?,
            w.u32("change time", |h| h.v2().1[2])?,
            w.u32("birth time", |h| h.v2().1[3])?,
        ]);
    }
    let mut attribute_phase = None;
    if flags & 0x10 != 0 {
        let compact = w.u16("maximum number of compact attributes", |h| h.v2().2.0)?;
        let dense = w.u16("minimum number of dense attributes", |h| h.v2().2.1)?;
        attribute_phase = Some((compact, dense));
    }
    let framing = framing(flags);
    let size = w.count("size of chunk 0", 1 << (flags & 3), |h| h.messages.size(framing))?;
    let messages = w.nest(|h| &h.messages, Block { framing, size })?;
    w.checksum(lookup3)?;
    Ok(ObjectHeader { prefix: Prefix::V2 { flags, times, attribute_phase }, messages })
}

/// How a block of messages is framed, and how many bytes it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// How its messages are framed.
    pub framing: Framing,
    /// Bytes of all messages and the gap.
    pub size: usize,
}

impl Messages {
    /// Bytes of all messages and the gap.
    pub fn size(&self, framing: Framing) -> usize {
        Self::size_of(&self.list, framing) + self.gap.len()
    }

    /// Bytes of messages without a gap.
    pub fn size_of(list: &[HeaderMessage], framing: Framing) -> usize {
        list.iter().map(|message| framing.size() + message.data.len()).sum()
    }
}

impl Structure for Messages {
    const NAME: &'static str = "object header messages";
    type Context = Block;

    fn walk(w: &mut Walk<'_, '_, Self>, block: Block) -> Result<Self> {
        // Room for messages of a usual size, as far as bytes are there.
        let mut list = Vec::with_capacity((block.size.min(w.left()) / (block.framing.size() + 16)).clamp(4, 16));
        let mut start = 0;
        loop {
            let more = match w.is_reading() {
                true => block.size - start >= block.framing.size(),
                false => w.has(|m| list.len() < m.list.len()),
            };
            if !more {
                break;
            }
            let room = block.size - start;
            let message: HeaderMessage = w.nest(|m| &m.list[list.len()], (block.framing, room))?;
            start = w.position();
            list.push(message);
        }
        let gap = w.bytes("gap", block.size - start, |m| &m.gap)?;
        Ok(Messages { list, gap })
    }
}

impl Structure for HeaderMessage {
    const NAME: &'static str = "object header message";
    type Context = (Framing, usize); // and how many bytes the block has left

    fn walk(w: &mut Walk<'_, '_, Self>, (framing, room): (Framing, usize)) -> Result<Self> {
        let kind_width = if framing == Framing::V1 { 2 } else { 1 };
        let kind = w.uint("message type", kind_width, |m| m.kind.into())?;
        let size = w.count("size of message data", 2, |m| m.data.len())?;
        let flags = w.u8("message flags", |m| m.flags)?;
        let reserved = if framing == Framing::V1 { w.array("reserved", |m| &m.reserved)? } else { [0; 3] };
        let mut creation_order = None;
        if framing == Framing::V2Ordered {
            creation_order = Some(w.u16("creation order", |m| m.creation_order.unwrap_or(0))?);
        }
        if size > room - framing.size() {
            let what = format!("message data have {size} bytes, the block has {} left", room - framing.size());
            return w.corrupt("size of message data", what);
        }
        let origin = w.origin();
        let data = w.payload("message data", size, |m| &m.data)?;
        let kind = u16::try_from(kind).expect("because at most two bytes were read");
        Ok(HeaderMessage { kind, flags, creation_order, reserved, origin, data })
    }
}

/// A continuation block: more messages of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// The messages.
    pub messages: Messages,
}

impl Structure for Continuation {
    const NAME: &'static str = "object header continuation block";
    type Context = Block; // with the size of the whole block

    fn walk(w: &mut Walk<'_, '_, Self>, block: Block) -> Result<Self> {
        if block.framing == Framing::V1 {
            return Ok(Continuation { messages: w.nest(|c| &c.messages, block)? });
        }
        let Some(size) = block.size.checked_sub(8) else {
            return w.corrupt("signature", format!("the block has {} bytes, fewer than 8", block.size));
        };
        w.signature(b"OCHK")?;
        let messages = w.nest(|c| &c.messages, Block { size, ..block })?;
        w.checksum(lookup3)?;
        Ok(Continuation { messages })
    }

    fn first_read(_: crate::wire::Sizes, block: Block) -> usize {
        block.size
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{continuation, object_header};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn messages(framing: Framing) -> BoxedStrategy<Messages> {
        let message = (0u16..30, any::<u8>(), vec(any::<u8>(), 0..5), any::<u16>()).prop_map(
            move |(kind, flags, data, order)| {
                let data = if framing == Framing::V1 { data.repeat(8) } else { data };
                let creation_order = (framing == Framing::V2Ordered).then_some(order);
                HeaderMessage {
                    kind,
                    flags,
                    creation_order,
                    reserved: [0; 3],
                    origin: Origin::default(),
                    data: data.into(),
                }
            },
        );
        let gap = if framing == Framing::V1 { 0..1usize } else { 0..4 };
        (vec(message, 0..5), gap).prop_map(|(list, gap)| Messages { list, gap: vec![0; gap] }).boxed()
    }

    /// Any header of either version.
    pub fn object_header() -> BoxedStrategy<ObjectHeader> {
        let v1 = (any::<u16>(), any::<u32>(), messages(Framing::V1)).prop_map(
            |(message_count, reference_count, messages)| {
                let reserved = [Vec::new(), Vec::new()];
                ObjectHeader { prefix: Prefix::V1 { message_count, reference_count, reserved }, messages }
            },
        );
        let v2 = (0u8..64, any::<[u32; 4]>(), any::<(u16, u16)>()).prop_flat_map(|(flags, times, phase)| {
            messages(framing(flags)).prop_map(move |messages| {
                let flags = if messages.size(framing(flags)) > 255 { flags | 1 } else { flags };
                let times = (flags & 0x20 != 0).then_some(times);
                let attribute_phase = (flags & 0x10 != 0).then_some(phase);
                ObjectHeader { prefix: Prefix::V2 { flags, times, attribute_phase }, messages }
            })
        });
        prop_oneof![v1, v2].boxed()
    }

    /// Any continuation block of any header.
    pub fn continuation() -> BoxedStrategy<(Continuation, Block)> {
        let framing = prop_oneof![Just(Framing::V1), Just(Framing::V2), Just(Framing::V2Ordered)];
        framing
            .prop_flat_map(|framing| {
                messages(framing).prop_map(move |messages| {
                    let extra = if framing == Framing::V1 { 0 } else { 8 };
                    let size = messages.size(framing) + extra;
                    (Continuation { messages }, Block { framing, size })
                })
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Addr, laws};

    #[test]
    fn laws_hold() {
        laws::hold::<ObjectHeader>(|_| object_header().prop_map(|h| (h, ())).boxed());
        laws::hold::<Continuation>(|_| continuation());
    }

    #[test]
    fn a_flipped_bit_is_found_by_the_checksum() {
        let header = ObjectHeader {
            prefix: Prefix::V2 { flags: 0, times: None, attribute_phase: None },
            messages: Messages { list: Vec::new(), gap: vec![0, 0] },
        };
        let mut bytes = header.encode(Addr(0), crate::wire::Sizes::EIGHT, ()).unwrap();
        bytes[7] ^= 0x10;
        let error = ObjectHeader::decode(&bytes, Addr(0x60), crate::wire::Sizes::EIGHT, ()).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Corrupt);
        assert!(error.to_string().contains("checksum is"), "{error}");
    }
}
