//! What reading needs besides the plan.

use super::sources::SourceTable;
use crate::filter::Pipeline;
use crate::manifest::Chunks;

/// What reading needs besides the plan.
#[derive(Debug)]
pub struct Reading<'a> {
    /// Where the bytes are.
    pub sources: SourceTable<'a>,
    /// One element that stands for what is stored nowhere; zeros if absent.
    pub fill: Option<&'a [u8]>,
    /// The chunks that the plan was made from, if the data are chunked.
    pub chunks: Option<&'a Chunks>,
    /// The filters.
    pub pipeline: Option<&'a Pipeline>,
    /// Whether chunks that reach over the edge are stored without filters.
    pub partial_unfiltered: bool,
    /// Threads of the current pool that may work at the same time.
    pub threads: usize,
}
