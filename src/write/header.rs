//! Object headers from their messages. Specification IV.A.1.

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::format::message::HeaderMessageBody;
use crate::format::message::continuation::ContinuationInfo;
use crate::format::object_header::{Block, Continuation, Framing, HeaderMessage, Messages, ObjectHeader, Prefix};
use crate::wire::place::{Place, place, place_at};
use crate::wire::{Addr, Origin, Sizes, Structure};

/// The flag of messages that never change.
const CONSTANT: u8 = 1;
/// The flag of messages whose data say where they are.
pub(super) const SHARED: u8 = 2;
/// The flag of messages that are not shared.
const NOT_SHARED: u8 = 4;
/// The flag of messages that are marked by who changes the file without knowing them.
const MARK: u8 = 16;
/// The largest message.
pub(crate) const MAX_MESSAGE: usize = 0xffff;

/// The messages of an object, in the order in which they will stand.
#[derive(Debug)]
pub struct HeaderBuilder {
    framing: Framing,
    flags: u8,
    reference_count: u32,
    list: Vec<HeaderMessage>,
}

impl HeaderBuilder {
    /// A header of version 1.
    pub fn v1(reference_count: u32) -> Self {
        HeaderBuilder { framing: Framing::V1, flags: 0, reference_count, list: Vec::new() }
    }

    /// A header of version 2, which tracks the creation order of attributes, and indexes it, as `order` says.
    pub fn v2(order: Option<bool>) -> Self {
        let (framing, flags) = match order {
            None => (Framing::V2, 0),
            Some(indexed) => (Framing::V2Ordered, 4 | u8::from(indexed) << 3),
        };
        HeaderBuilder { framing, flags, reference_count: 1, list: Vec::new() }
    }

    /// Adds a message.
    pub fn push<M: HeaderMessageBody>(&mut self, message: &M, sizes: Sizes) -> Result<()> {
        self.push_encoded(M::KIND, 0, message.encode(Addr(0), sizes, M::CONTEXT)?, None)
    }

    /// Adds a message that never changes.
    pub fn push_constant<M: HeaderMessageBody>(&mut self, message: &M, sizes: Sizes) -> Result<()> {
        self.push_encoded(M::KIND, CONSTANT, message.encode(Addr(0), sizes, M::CONTEXT)?, None)
    }

    /// Adds a message that is marked by who changes the file without knowing it.
    pub fn push_marked<M: HeaderMessageBody>(&mut self, message: &M, sizes: Sizes) -> Result<()> {
        self.push_encoded(M::KIND, NOT_SHARED | MARK, message.encode(Addr(0), sizes, M::CONTEXT)?, None)
    }

    /// Adds a message whose data are there, with the creation order that attributes have.
    pub fn push_encoded(&mut self, kind: u16, flags: u8, data: impl Into<Bytes>, order: Option<u16>) -> Result<()> {
        let mut data: Bytes = data.into();
        if self.framing == Framing::V1 && !data.len().is_multiple_of(8) {
            let mut padded = data.to_vec();
            padded.resize(data.len().next_multiple_of(8), 0);
            data = padded.into();
        }
        if data.len() > MAX_MESSAGE {
            return Err(Error::unsupported(format!(
                "a header message of {} bytes, {MAX_MESSAGE} are possible",
                data.len()
            )));
        }
        let creation_order = (self.framing == Framing::V2Ordered).then(|| order.unwrap_or(0));
        let origin = Origin::default();
        self.list.push(HeaderMessage { kind, flags, creation_order, reserved: [0; 3], origin, data });
        Ok(())
    }

    /// Bytes of a header that says only where its messages are.
    pub fn least_size(v1: bool, order: Option<bool>, sizes: Sizes) -> Result<u64> {
        let mut header = if v1 { HeaderBuilder::v1(1) } else { HeaderBuilder::v2(order) };
        header.push(&ContinuationInfo { block: Addr(0), size: 0 }, sizes)?;
        header.size(sizes)
    }

    /// Bytes of the header in one piece.
    pub fn size(&self, sizes: Sizes) -> Result<u64> {
        let size = Messages::size_of(&self.list, self.framing);
        let prefix = self.prefix(self.list.len(), size)?;
        let bare = ObjectHeader { prefix, messages: Messages::default() }.size(sizes, ())?;
        Ok((bare + size) as u64)
    }

    fn prefix(&self, count: usize, size: usize) -> Result<Prefix> {
        if self.framing == Framing::V1 {
            let message_count = u16::try_from(count).map_err(|_| Error::unsupported("more than 65,535 messages"))?;
            let (reference_count, reserved) = (self.reference_count, [Vec::new(), Vec::new()]);
            return Ok(Prefix::V1 { message_count, reference_count, reserved });
        }
        let width = match size {
            0..=0xff => 0,
            0x100..=0xffff => 1,
            _ => 2,
        };
        Ok(Prefix::V2 { flags: self.flags | width, times: None, attribute_phase: None })
    }

    /// Places the header, and says where.
    pub fn put(self, space: &mut dyn Place) -> Result<Addr> {
        place(space, &self.whole()?, ())
    }

    /// Puts the header at `addr`, where its whole size was reserved.
    pub fn put_at(self, space: &mut dyn Place, addr: Addr) -> Result<()> {
        place_at(space, addr, &self.whole()?, ())
    }

    fn whole(self) -> Result<ObjectHeader> {
        let prefix = self.prefix(self.list.len(), Messages::size_of(&self.list, self.framing))?;
        Ok(ObjectHeader { prefix, messages: Messages { list: self.list, gap: Vec::new() } })
    }

    /// Puts the header at `addr`, where only its least size was reserved: its messages stand elsewhere.
    pub fn put_continued(self, space: &mut dyn Place, addr: Addr) -> Result<()> {
        let (framing, count) = (self.framing, self.list.len() + 1);
        let mut first = HeaderBuilder { list: Vec::new(), ..self };
        let messages = Messages { list: self.list, gap: Vec::new() };
        let size = messages.size(framing) + if framing == Framing::V1 { 0 } else { 8 };
        let block = place(space, &Continuation { messages }, Block { framing, size })?;
        first.push(&ContinuationInfo { block, size: size as u64 }, space.sizes())?;
        let prefix = first.prefix(count, Messages::size_of(&first.list, framing))?;
        let messages = Messages { list: first.list, gap: Vec::new() };
        place_at(space, addr, &ObjectHeader { prefix, messages }, ())
    }
}
