//! The table of shared header messages, and the lists and records that find them. Specification III.I.
//!
//! ```text
//! table: one index for each group of message types ──> list of records, or version 2 B-tree of type 7
//!                                                  ──> fractal heap of the messages
//! ```
//! Signatures `SMTB` and `SMLI`.

use super::btree_v2;
use crate::error::Result;
use crate::wire::{Addr, Sizes, Structure, Walk, lookup3};

/// The table. How many indexes it has stands in the shared message table message of the superblock extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMessageTable {
    /// The indexes.
    pub indexes: Vec<Index>,
}

/// How messages of some types are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// What `index` points at.
    pub kind: IndexKind,
    /// One bit for each type of message: 0 dataspace, 1 datatype, 2 fill value, 3 filter pipeline, 4 attribute, by the
    /// number of the type.
    pub message_types: u16,
    /// Bytes of the smallest message that is shared.
    pub min_size: u32,
    /// With more messages than this, the index becomes a B-tree.
    pub list_max: u16,
    /// With fewer messages than this, the index becomes a list.
    pub tree_min: u16,
    /// Messages in the index.
    pub count: u16,
    /// The list or the B-tree; undefined if there are no messages.
    pub index: Option<Addr>,
    /// The fractal heap of the messages; undefined if there are none.
    pub heap: Option<Addr>,
}

/// What an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// A [`MessageList`].
    List,
    /// A version 2 B-tree of [`MessageRecord`]s.
    BTree,
}

/// A list of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageList {
    /// The records.
    pub records: Vec<MessageRecord>,
    /// What stands after the checksum, unless it is zero.
    pub slack: Vec<u8>,
}

/// What a list depends on. [`Index::list_context`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListContext {
    count: usize,
    max: usize,
}

/// A shared message. Type 7 of version 2 B-tree records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    /// lookup3 of the encoded message.
    pub hash: u32,
    /// Where it is.
    pub location: MessageLocation,
    /// What stands after it, unless it is zero.
    pub slack: Vec<u8>,
}

/// Where a shared message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageLocation {
    /// In the index's fractal heap.
    Heap {
        /// How many headers share it.
        reference_count: u32,
        /// Where in the heap.
        heap_id: [u8; 8],
    },
    /// In the only object header that has it so far.
    Header {
        /// Nonzero reserved bytes.
        reserved: Vec<u8>,
        /// The message's type.
        message_type: u8,
        /// The message's creation index in the header.
        creation_index: u16,
        /// The header.
        object_header: Addr,
    },
}

impl Index {
    /// What the index's list depends on.
    pub fn list_context(&self) -> ListContext {
        ListContext { count: self.count.into(), max: self.list_max.max(self.count).into() }
    }
}

impl MessageRecord {
    fn is_in_header(&self) -> bool {
        matches!(self.location, MessageLocation::Header { .. })
    }

    fn heap(&self) -> (u32, &[u8; 8]) {
        match &self.location {
            MessageLocation::Heap { reference_count, heap_id } => (*reference_count, heap_id),
            MessageLocation::Header { .. } => (0, &[0; 8]),
        }
    }

    fn header(&self) -> (&[u8], u8, u16, Addr) {
        match &self.location {
            MessageLocation::Header { reserved, message_type, creation_index, object_header } => {
                (reserved, *message_type, *creation_index, *object_header)
            }
            MessageLocation::Heap { .. } => (&[], 0, 0, Addr(0)),
        }
    }
}

impl btree_v2::Record for MessageRecord {
    const TYPE: u8 = 7;

    fn width(sizes: Sizes, (): ()) -> usize {
        5 + (4 + usize::from(sizes.offsets)).max(12)
    }
}

impl Structure for SharedMessageTable {
    const NAME: &'static str = "shared object header message table";
    type Context = u8; // the number of indexes

    fn walk(w: &mut Walk<'_, '_, Self>, count: u8) -> Result<Self> {
        w.signature(b"SMTB")?;
        let indexes = w.each(count.into(), |t| &t.indexes, ())?;
        w.checksum(lookup3)?;
        Ok(SharedMessageTable { indexes })
    }

    fn first_read(sizes: Sizes, count: u8) -> usize {
        8 + usize::from(count) * (14 + 2 * usize::from(sizes.offsets))
    }
}

impl Structure for Index {
    const NAME: &'static str = "shared message index";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        w.version(|_| 0, 0..=0)?;
        let kind = match w.u8("index type", |i| u8::from(i.kind == IndexKind::BTree))? {
            0 => IndexKind::List,
            1 => IndexKind::BTree,
            other => return w.unsupported("index type", format!("type is {other}, 0 and 1 are known")),
        };
        let message_types = w.u16("message type flags", |i| i.message_types)?;
        let min_size = w.u32("minimum message size", |i| i.min_size)?;
        let list_max = w.u16("list cutoff", |i| i.list_max)?;
        let tree_min = w.u16("v2 B-tree cutoff", |i| i.tree_min)?;
        let count = w.u16("number of messages", |i| i.count)?;
        let index = w.offset("index address", |i| i.index)?;
        let heap = w.offset("fractal heap address", |i| i.heap)?;
        Ok(Index { kind, message_types, min_size, list_max, tree_min, count, index, heap })
    }
}

impl Structure for MessageList {
    const NAME: &'static str = "shared message record list";
    type Context = ListContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: ListContext) -> Result<Self> {
        let size = Self::first_read(w.sizes(), cx);
        let (records, slack) = w.boxed(
            "unused",
            size,
            |l| &l.slack,
            |w| {
                w.signature(b"SMLI")?;
                let records = w.each(cx.count, |l| &l.records, ())?;
                w.checksum(lookup3)?;
                Ok(records)
            },
        )?;
        Ok(MessageList { records, slack })
    }

    fn first_read(sizes: Sizes, cx: ListContext) -> usize {
        8 + cx.max * <MessageRecord as btree_v2::Record>::width(sizes, ())
    }
}

impl Structure for MessageRecord {
    const NAME: &'static str = "shared message record";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let width = <Self as btree_v2::Record>::width(w.sizes(), ());
        let ((hash, location), slack) = w.boxed("unused", width, |r| &r.slack, walk_record)?;
        Ok(MessageRecord { hash, location, slack })
    }

    fn first_read(sizes: Sizes, (): ()) -> usize {
        <Self as btree_v2::Record>::width(sizes, ())
    }
}

fn walk_record(w: &mut Walk<'_, '_, MessageRecord>) -> Result<(u32, MessageLocation)> {
    let location = w.u8("message location", |r| r.is_in_header().into())?;
    let hash = w.u32("hash value", |r| r.hash)?;
    let location = match location {
        0 => {
            let reference_count = w.u32("reference count", |r| r.heap().0)?;
            let heap_id = w.array("fractal heap id", |r| r.heap().1)?;
            MessageLocation::Heap { reference_count, heap_id }
        }
        1 => {
            let reserved = w.reserved(1, |r| r.header().0)?;
            let message_type = w.u8("message type", |r| r.header().1)?;
            let creation_index = w.u16("creation index", |r| r.header().2)?;
            let object_header = w.address("object header address", |r| r.header().3)?;
            MessageLocation::Header { reserved, message_type, creation_index, object_header }
        }
        other => return w.unsupported("message location", format!("location is {other}, 0 and 1 are known")),
    };
    Ok((hash, location))
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{message_list, message_record, shared_message_table};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    /// Any table, with the number of its indexes.
    pub fn shared_message_table(sizes: Sizes) -> BoxedStrategy<(SharedMessageTable, u8)> {
        let kind = prop_oneof![Just(IndexKind::List), Just(IndexKind::BTree)];
        let addr = || option::of(laws::addr(sizes));
        let index = (kind, any::<[u16; 4]>(), any::<u32>(), addr(), addr()).prop_map(
            |(kind, [message_types, list_max, tree_min, count], min_size, index, heap)| Index {
                kind,
                message_types,
                min_size,
                list_max,
                tree_min,
                count,
                index,
                heap,
            },
        );
        vec(index, 0..5)
            .prop_map(|indexes| {
                let count = u8::try_from(indexes.len()).expect("because it is small");
                (SharedMessageTable { indexes }, count)
            })
            .boxed()
    }

    /// Any record.
    pub fn message_record(sizes: Sizes) -> BoxedStrategy<MessageRecord> {
        let heap = any::<(u32, [u8; 8])>()
            .prop_map(|(reference_count, heap_id)| MessageLocation::Heap { reference_count, heap_id });
        let header =
            (any::<(u8, u16)>(), laws::addr(sizes)).prop_map(|((message_type, creation_index), object_header)| {
                MessageLocation::Header { reserved: Vec::new(), message_type, creation_index, object_header }
            });
        (any::<u32>(), prop_oneof![heap, header], any::<u8>())
            .prop_map(move |(hash, location, filling)| {
                let mut record = MessageRecord { hash, location, slack: Vec::new() };
                let used = if record.is_in_header() { 9 + usize::from(sizes.offsets) } else { 17 };
                let unused = <MessageRecord as btree_v2::Record>::width(sizes, ()) - used;
                if filling > 0 {
                    record.slack = vec![filling; unused];
                }
                record
            })
            .boxed()
    }

    /// Any list, with its context.
    pub fn message_list(sizes: Sizes) -> BoxedStrategy<(MessageList, ListContext)> {
        (vec(message_record(sizes), 0..5), 0usize..3, any::<u8>())
            .prop_map(move |(records, more, filling)| {
                let cx = ListContext { count: records.len(), max: records.len() + more };
                let unused = more * <MessageRecord as btree_v2::Record>::width(sizes, ());
                let slack = if filling > 0 { vec![filling; unused] } else { Vec::new() };
                (MessageList { records, slack }, cx)
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<SharedMessageTable>(|sizes| {
            shared_message_table(sizes)
                .prop_map(move |(table, count)| {
                    assert_eq!(table.size(sizes, count).unwrap(), SharedMessageTable::first_read(sizes, count));
                    (table, count)
                })
                .boxed()
        });
        laws::hold::<MessageList>(message_list);
        laws::hold::<MessageRecord>(|sizes| message_record(sizes).prop_map(|r| (r, ())).boxed());
        laws::hold::<btree_v2::Node<MessageRecord>>(|sizes| btree_v2::node(sizes, (), message_record(sizes)));
    }

    #[test]
    fn a_bad_checksum_names_the_structure() {
        let list = MessageList { records: vec![], slack: vec![] };
        let cx = ListContext { count: 0, max: 2 };
        let mut bytes = list.encode(Addr(0), Sizes::EIGHT, cx).unwrap();
        bytes[5] ^= 1;
        let error = MessageList::decode(&bytes, Addr(0), Sizes::EIGHT, cx).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains(r#"(shared message record list, "checksum", at 0x4)"#), "{error}");
    }

    #[test]
    fn a_count_beyond_the_cutoff_makes_a_longer_list() {
        let index = Index {
            kind: IndexKind::List,
            message_types: 2,
            min_size: 50,
            list_max: 3,
            tree_min: 1,
            count: 5,
            index: None,
            heap: None,
        };
        assert_eq!(index.list_context(), ListContext { count: 5, max: 5 });
    }
}
