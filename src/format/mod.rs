//! What each on-disk structure looks like: one file each, with one page of the same name in `format-spec/`.
//! Nothing here reads a file or follows an address.
//!
//! | structure | file | specification | signature |
//! |---|---|---|---|
//! | superblock | `superblock` | II.A | `\x89HDF\r\n\x1a\n` |
//! | version 1 B-tree node | `btree_v1` | III.A.1 | `TREE` |
//! | version 2 B-tree header, nodes, records | `btree_v2` | III.A.2 | `BTHD`, `BTIN`, `BTLF` |
//! | symbol table node and entry | `symbol_table` | III.B, III.C | `SNOD` |
//! | local heap | `local_heap` | III.D | `HEAP` |
//! | global heap collection | `global_heap` | III.E | `GCOL` |
//! | fractal heap header, direct and indirect block, heap id | `fractal_heap` | III.G | `FRHP`, `FHDB`, `FHIB` |
//! | fixed array header, data block, page | `fixed_array` | VII.C | `FAHD`, `FADB` |
//! | extensible array header, index block, super block, data block | `extensible_array` | VII.D | `EAHD`, `EAIB`, `EASB`, `EADB` |
//! | element and page of fixed and extensible arrays | `chunk_element` | VII.C, VII.D | |
//! | header messages | `message` | IV.A.2 | |

pub mod btree_v1;
pub mod btree_v2;
pub mod chunk_element;
pub mod extensible_array;
pub mod fixed_array;
pub mod fractal_heap;
pub mod global_heap;
pub mod local_heap;
pub mod message;
pub mod object_header;
pub mod superblock;
pub mod symbol_table;
