//! The reader: from a manifest and a selection to a plan, and from the plan to elements in the caller's memory.

mod place;
mod planner;
mod rows;
mod run;

pub use place::{fill, place};
pub use planner::{plan, tiles};
pub use run::{Reading, SourceTable};
