//! Files behind a server that counts what is asked of it, and misbehaves if it is told to.

mod conformance;
mod faults;
mod same;
mod server;
