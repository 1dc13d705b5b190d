//! Staged arrays: recorded traces, random operations beside a plain array, and the text of plans.

mod model;
mod plans;
mod recorded;
mod trace;
