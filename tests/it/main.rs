//! Integration tests.

mod stage;
