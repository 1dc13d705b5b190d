//! Every file of the corpus.

mod against_libhdf5;
mod remote;
mod written_alike;
