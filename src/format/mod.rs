//! What each on-disk structure looks like: one file each, with one page of the same name in `format-spec/`.
//! Nothing here reads a file or follows an address.
//!
//! | structure | file | specification | signature |
//! |---|---|---|---|
//! | superblock | `superblock` | II.A | `\x89HDF\r\n\x1a\n` |
//! | driver information block | `driver_info` | II.B | |
//! | metadata cache image | `metadata_cache_image` | IV.A.2 | `MDCI` |
//! | version 1 B-tree node | `btree_v1` | III.A.1 | `TREE` |
//! | version 2 B-tree header, nodes, records | `btree_v2` | III.A.2 | `BTHD`, `BTIN`, `BTLF` |
//! | symbol table node and entry | `symbol_table` | III.B, III.C | `SNOD` |
//! | local heap | `local_heap` | III.D | `HEAP` |
//! | global heap collection | `global_heap` | III.E | `GCOL` |
//! | mappings of a virtual dataset | `virtual_mapping` | III.F | |
//! | fractal heap header, direct and indirect block, heap id | `fractal_heap` | III.G | `FRHP`, `FHDB`, `FHIB` |
//! | free-space manager header, section information | `free_space` | III.H | `FSHD`, `FSSE` |
//! | shared message table, list, record | `shared_message_table` | III.I | `SMTB`, `SMLI` |
//! | object header, continuation block | `object_header` | IV.A.1, IV.A.2.q | `OHDR`, `OCHK` |
//! | header messages | `message` | IV.A.2 | |
//! | fixed array header, data block | `fixed_array` | VII.C | `FAHD`, `FADB` |
//! | extensible array header, index block, super block, data block | `extensible_array` | VII.D | `EAHD`, `EAIB`, `EASB`, `EADB` |
//! | element and page of fixed and extensible arrays | `chunk_element` | VII.C, VII.D | |
//! | selection of a dataspace | `encoded_selection` | VIII.A | |
//! | reference | `reference` | VIII.B, VIII.C | |

pub mod btree_v1;
pub mod btree_v2;
pub mod chunk_element;
pub mod driver_info;
pub mod encoded_selection;
pub mod extensible_array;
pub mod fixed_array;
pub mod fractal_heap;
pub mod free_space;
pub mod global_heap;
pub mod local_heap;
pub mod message;
pub mod metadata_cache_image;
pub mod object_header;
#[cfg(test)]
mod pages;
pub mod reference;
pub mod shared_message_table;
pub mod superblock;
pub mod symbol_table;
pub mod virtual_mapping;
