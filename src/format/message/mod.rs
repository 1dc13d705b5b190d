//! The messages of object headers, one file each, and the table of their type numbers. Specification IV.A.2.

pub mod attribute;
pub mod attribute_info;
pub mod bogus;
pub mod btree_k;
pub mod cache_image;
pub mod comment;
pub mod continuation;
pub mod data_layout;
pub mod dataspace;
pub mod datatype;
pub mod driver_info;
pub mod external_files;
pub mod file_space_info;
pub mod fill_value;
pub mod filter_pipeline;
pub mod group_info;
pub mod link;
pub mod link_info;
pub mod modification_time;
pub mod nil;
pub mod reference_count;
pub mod shared;
pub mod shared_message_table;
pub mod symbol_table;

use bytes::Bytes;

use crate::error::Result;
use crate::wire::{Addr, Placed, Sizes, Structure};

/// A structure that stands in an object header as a message.
pub trait HeaderMessageBody: Structure {
    /// The message type.
    const KIND: u16;
    /// What decoding a whole message takes besides the bytes.
    const CONTEXT: Self::Context;
}

/// The one table of messages: type number, variant, structure.
macro_rules! messages {
    ($($kind:literal $variant:ident $body:ty, $context:expr;)*) => {
        $(impl HeaderMessageBody for $body {
            const KIND: u16 = $kind;
            const CONTEXT: Self::Context = $context;
        })*

        /// Any message, decoded.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "each variant has the name of its structure")]
        pub enum Message {
            $($variant($body),)*
            /// A type that this version does not know.
            Unknown { kind: u16, data: Bytes },
        }

        impl Message {
            /// Decodes the data of a message of type `kind` that is not shared.
            pub fn decode(kind: u16, data: &Bytes, addr: Addr, sizes: Sizes) -> Result<Message> {
                Ok(match kind {
                    $($kind => Message::$variant(<$body>::decode_shared(data, addr, sizes, $context)?.0),)*
                    kind => Message::Unknown { kind, data: data.clone() },
                })
            }

            /// The data of the message, without padding.
            pub fn encode(&self, addr: Addr, sizes: Sizes) -> Result<Vec<u8>> {
                match self {
                    $(Message::$variant(body) => body.encode(addr, sizes, $context),)*
                    Message::Unknown { data, .. } => Ok(data.to_vec()),
                }
            }

            /// The fields of the data of a message of type `kind` that is not shared.
            pub fn describe(kind: u16, data: &[u8], addr: Addr, sizes: Sizes) -> Vec<Placed> {
                match kind {
                    $($kind => <$body>::describe(data, addr, sizes, $context).0,)*
                    _ => Vec::new(),
                }
            }

            /// Whether this version knows messages of type `kind`.
            pub fn is_known(kind: u16) -> bool {
                [$($kind),*].contains(&kind)
            }

            /// The name of a message type in the specification.
            pub fn name(kind: u16) -> &'static str {
                match kind {
                    $($kind => <$body>::NAME,)*
                    _ => "unknown message",
                }
            }
        }
    };
}

messages! {
    0x00 Nil nil::Nil, ();
    0x01 Dataspace dataspace::Dataspace, ();
    0x02 LinkInfo link_info::LinkInfo, ();
    0x03 Datatype datatype::Datatype, datatype::Level::TOP;
    0x04 OldFillValue fill_value::OldFillValue, ();
    0x05 FillValue fill_value::FillValue, ();
    0x06 Link link::Link, ();
    0x07 ExternalFiles external_files::ExternalFiles, ();
    0x08 DataLayout data_layout::DataLayout, ();
    0x09 Bogus bogus::Bogus, ();
    0x0a GroupInfo group_info::GroupInfo, ();
    0x0b FilterPipeline filter_pipeline::FilterPipeline, ();
    0x0c Attribute attribute::Attribute, ();
    0x0d Comment comment::Comment, ();
    0x0e OldModificationTime modification_time::OldModificationTime, ();
    0x0f SharedMessageTable shared_message_table::SharedMessageTableInfo, ();
    0x10 Continuation continuation::ContinuationInfo, ();
    0x11 SymbolTable symbol_table::SymbolTable, ();
    0x12 ModificationTime modification_time::ModificationTime, ();
    0x13 BTreeK btree_k::BTreeK, ();
    0x14 DriverInfo driver_info::DriverInfo, ();
    0x15 AttributeInfo attribute_info::AttributeInfo, ();
    0x16 ReferenceCount reference_count::ReferenceCount, ();
    0x17 FileSpaceInfo file_space_info::FileSpaceInfo, ();
    0x18 CacheImage cache_image::CacheImageInfo, ();
}
