//! What each on-disk structure looks like: one file each, with one page of the same name in `format-spec/`.
//! Nothing here reads a file or follows an address.

pub mod message;
pub mod object_header;
pub mod superblock;
pub mod symbol_table;
