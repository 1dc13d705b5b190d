//! The whole header of an object: the messages of all its blocks, and what they say with sharing resolved.

use std::collections::HashSet;
use std::fmt;

use bytes::Bytes;

use super::container::Scope;
use super::{Step, heap};
use crate::error::Error;
use crate::format::message::continuation::ContinuationInfo;
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::Datatype;
use crate::format::message::link_info::LinkInfo;
use crate::format::message::nil::Nil;
use crate::format::message::reference_count::ReferenceCount;
use crate::format::message::shared::{Shared, SharedPlace};
use crate::format::message::symbol_table::SymbolTable;
use crate::format::message::{HeaderMessageBody, Message};
use crate::format::object_header::{Block, Continuation, HeaderMessage, ObjectHeader, Prefix};
use crate::storage::{Observer, Seen};
use crate::wire::{Addr, Structure};

/// An object's header.
#[derive(Clone, Debug)]
pub struct Header {
    /// Where it is; the object's identity.
    pub addr: Addr,
    /// What stands before the messages.
    pub prefix: Prefix,
    /// The messages of all blocks, without those of type nil.
    pub messages: Vec<HeaderMessage>,
}

/// What kind of object a header makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// A group.
    Group,
    /// A dataset.
    Dataset,
    /// A committed datatype.
    NamedType,
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ObjectKind::Group => "group",
            ObjectKind::Dataset => "dataset",
            ObjectKind::NamedType => "datatype",
        })
    }
}

/// A message says, by this bit, that who does not know it must not open the object.
const FAIL_IF_UNKNOWN: u8 = 0x80;

impl Header {
    /// Loads the header at `addr` with all its continuation blocks.
    pub fn load(scope: Scope<'_>, addr: Addr) -> Step<Header> {
        let first: ObjectHeader = scope.view.load(addr, ())?;
        let framing = first.framing();
        let mut header = Header { addr, prefix: first.prefix, messages: first.messages.list };
        let mut next = header.settle(scope, 0)?;
        let mut seen = HashSet::new();
        while !next.is_empty() {
            for block in &next {
                if !seen.insert(block.block) {
                    return Err(
                        Error::corrupt(format!("continuation blocks of the header at {addr} form a cycle")).into()
                    );
                }
            }
            let blocks = scope.view.each(&next, |at| {
                let size = usize::try_from(at.size).map_err(|_| Error::limit("a continuation block is too large"))?;
                scope.view.load::<Continuation>(at.block, Block { framing, size })
            })?;
            next = Vec::new();
            header.messages.reserve_exact(blocks.iter().map(|block| block.messages.list.len()).sum());
            for block in blocks {
                let known = header.messages.len();
                header.messages.extend(block.messages.list);
                next.extend(header.settle(scope, known)?);
            }
        }
        // Headers stay as long as their objects.
        header.messages.shrink_to_fit();
        Ok(header)
    }

    /// Drops what is no message from number `from` on, and gives the continuations that were there.
    fn settle(&mut self, scope: Scope<'_>, from: usize) -> Step<Vec<ContinuationInfo>> {
        let mut continuations = Vec::new();
        for message in &self.messages[from..] {
            if let Some(observer) = scope.container.loaded.observer() {
                show_message(observer, scope, message);
            }
            match message.kind {
                ContinuationInfo::KIND => {
                    let sizes = scope.view.sizes();
                    let next = ContinuationInfo::decode(&message.data, message.origin.0, sizes, ())?;
                    if next.size == 0 {
                        let what = format!("the continuation message at {} leads to no bytes", message.origin.0);
                        return Err(Error::corrupt(what).into());
                    }
                    continuations.push(next);
                }
                kind if message.flags & FAIL_IF_UNKNOWN != 0 && !Message::is_known(kind) => {
                    let what =
                        format!("header message type {kind:#x} at {} is not known and must be", message.origin.0);
                    return Err(Error::unsupported(what).into());
                }
                _ => {}
            }
        }
        self.messages.retain(|m| !matches!(m.kind, Nil::KIND | ContinuationInfo::KIND));
        Ok(continuations)
    }

    /// Whether there is a message of this type.
    pub fn has<M: HeaderMessageBody>(&self) -> bool {
        self.messages.iter().any(|m| m.kind == M::KIND)
    }

    /// What the first message of this type says, if there is one.
    pub fn message<M: HeaderMessageBody>(&self, scope: Scope<'_>) -> Step<Option<M>> {
        self.messages.iter().find(|m| m.kind == M::KIND).map(|m| decode(scope, m)).transpose()
    }

    /// What the first message of this type says; an error if there is none.
    pub fn expect<M: HeaderMessageBody>(&self, scope: Scope<'_>) -> Step<M> {
        let missing = || Error::corrupt(format!("the object header at {} has no {}", self.addr, M::NAME));
        Ok(self.message(scope)?.ok_or_else(missing)?)
    }

    /// The object's kind.
    pub fn kind(&self) -> Result<ObjectKind, Error> {
        if self.has::<SymbolTable>() || self.has::<LinkInfo>() {
            return Ok(ObjectKind::Group);
        }
        match (self.has::<Datatype>(), self.has::<Dataspace>()) {
            (true, true) => Ok(ObjectKind::Dataset),
            (true, false) => Ok(ObjectKind::NamedType),
            (false, _) => {
                let what = format!("the object at {} is no group, dataset or committed datatype", self.addr);
                Err(Error::unsupported(what))
            }
        }
    }

    /// The header's version.
    pub fn version(&self) -> u8 {
        match self.prefix {
            Prefix::V1 { .. } => 1,
            Prefix::V2 { .. } => 2,
        }
    }

    /// Whether creation order of attributes is tracked, and whether it is indexed.
    pub fn attribute_order(&self) -> (bool, bool) {
        match self.prefix {
            Prefix::V1 { .. } => (false, false),
            Prefix::V2 { flags, .. } => (flags & 4 != 0, flags & 8 != 0),
        }
    }

    /// How many hard links lead to the object.
    pub fn reference_count(&self, scope: Scope<'_>) -> Step<u32> {
        match self.prefix {
            Prefix::V1 { reference_count, .. } => Ok(reference_count),
            Prefix::V2 { .. } => Ok(self.message::<ReferenceCount>(scope)?.map_or(1, |r| r.count)),
        }
    }

    /// Where the committed datatype is that the message of type `M` refers to, if it does.
    pub fn committed<M: HeaderMessageBody>(&self, scope: Scope<'_>) -> Step<Option<Addr>> {
        let Some(message) = self.messages.iter().find(|m| m.kind == M::KIND && m.is_shared()) else { return Ok(None) };
        match Shared::decode(&message.data, message.origin.0, scope.view.sizes(), ())?.place {
            SharedPlace::Committed { header, .. } => Ok(Some(header)),
            SharedPlace::Heap(_) => Ok(None),
        }
    }
}

/// What a header message says, wherever it is.
pub fn decode<M: HeaderMessageBody>(scope: Scope<'_>, message: &HeaderMessage) -> Step<M> {
    if message.is_shared() {
        let shared = Shared::decode(&message.data, message.origin.0, scope.view.sizes(), ())?;
        return resolve(scope, &shared);
    }
    decode_body(scope, &message.data, message.origin.0)
}

/// What the data of a message say.
pub fn decode_body<M: HeaderMessageBody>(scope: Scope<'_>, data: &Bytes, addr: Addr) -> Step<M> {
    let (body, used) = M::decode_shared(data, addr, scope.view.sizes(), M::CONTEXT).map_err(Error::sealed)?;
    scope.container.loaded.decoded_part(&body, &data[..used], addr, M::CONTEXT);
    Ok(body)
}

/// Shows what a message says, whether or not anybody asks for it.
fn show_message(observer: &dyn Observer, scope: Scope<'_>, message: &HeaderMessage) {
    let (sizes, addr) = (scope.view.sizes(), message.origin.0);
    if message.is_shared() {
        if let Ok((shared, used)) = Shared::decode_shared(&message.data, addr, sizes, ()) {
            scope.container.loaded.decoded_part(&shared, &message.data[..used], addr, ());
        }
    } else if let Ok(body) = Message::decode(message.kind, &message.data, addr, sizes) {
        let encode = || body.encode(addr, sizes);
        // What follows is padding, which the message's frame keeps.
        let used = encode().map_or(0, |encoded| encoded.len().min(message.data.len()));
        let bytes = &message.data[..used];
        let describe = || Message::describe(message.kind, bytes, addr, sizes);
        observer.see(&Seen::part(Message::name(message.kind), addr, bytes, &encode, &describe));
    }
}

/// The message that a shared one stands for.
pub fn resolve<M: HeaderMessageBody>(scope: Scope<'_>, shared: &Shared) -> Step<M> {
    match shared.place {
        SharedPlace::Committed { header: addr, .. } => {
            let header = Header::load(scope, addr)?;
            let found = header.messages.iter().find(|m| m.kind == M::KIND && !m.is_shared());
            let Some(message) = found else {
                let what = format!("the object header at {addr} has no {} that could be shared", M::NAME);
                return Err(Error::corrupt(what).into());
            };
            decode_body(scope, &message.data, message.origin.0)
        }
        SharedPlace::Heap(id) => {
            let (data, addr) = heap::shared_message(scope, M::KIND, &id)?;
            decode_body(scope, &data, addr)
        }
    }
}
