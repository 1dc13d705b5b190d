//! The reader: from a manifest and a selection to a plan, and from the plan to elements in the caller's memory.

mod ahead;
mod chunk;
pub(crate) mod lanes;
mod place;
mod planner;
mod reading;
mod rows;
mod run;
mod sources;

pub use place::{fill, place};
pub use planner::{plan, tiles};
pub use reading::Reading;
pub use sources::SourceTable;
