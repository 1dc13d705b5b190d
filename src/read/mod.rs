//! The reader: from a manifest and a selection to a plan, and from the plan to elements in the caller's memory.

mod place;
mod planner;
mod run;

pub use place::fill;
pub use planner::plan;
pub use run::{Reading, SourceTable};
