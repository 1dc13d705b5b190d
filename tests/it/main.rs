//! Integration tests, in folders by capability.
//!
//! - `HDFIVE_CORPUS`: a folder of files with their `ORACLE.jsonl`; otherwise `../shared/corpus`, where it is there.
//! - `HDFIVE_FILTERS`: a folder of files behind filters with their `filters.json`; otherwise `../shared/oracle/filters`.
//! - `HDFIVE_TRIPLES`, `HDFIVE_SEED`: how many random selections are held against h5py, and which.
//! - `HDFIVE_BLESS=1`: takes new output of the command `h5` as what is expected.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../../src/cli/document.rs"]
mod document;
mod support;

mod architecture;
mod cli;
mod compared;
mod corpus;
mod filters;
mod hostile;
mod read;
mod refs;
mod remote;
mod stage;
mod typed;
mod write;
