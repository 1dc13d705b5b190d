//! Typed reading: what is read as Rust types, against h5py.

mod chunks;
mod conventions;
mod dimensions;
pub(crate) mod examples;
mod oracle;
mod references;
mod selections;
mod strings;
mod structs;
mod triples;
