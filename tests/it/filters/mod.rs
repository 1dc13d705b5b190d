//! Filters, from files that other programs wrote.

mod plain;
mod vectors;
