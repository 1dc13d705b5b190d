//! Staged arrays: recorded traces, random operations beside a plain array, and the text of plans.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod datasets;
mod failures;
mod kinds;
mod large;
mod model;
mod plans;
mod recorded;
mod trace;
