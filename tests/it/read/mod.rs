//! Reading: what other libraries read, read here, and by many threads at once.

mod expectations;
mod missing;
mod scripts;
mod threads;
