//! Every file of the corpus.

mod against_libhdf5;
mod checked;
mod remote;
mod written_alike;
