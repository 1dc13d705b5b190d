//! Local heaps: texts, one after the other. Specification III.D.

use crate::error::Result;
use crate::format::local_heap::{LocalHeap, NO_FREE_BLOCK};
use crate::wire::Addr;
use crate::wire::place::{Place, place, place_bytes};

/// The data segment of a local heap. It begins with an empty text.
pub(super) struct Segment(Vec<u8>);

impl Default for Segment {
    fn default() -> Self {
        Segment(vec![0; 8])
    }
}

impl Segment {
    /// Adds a text, and says its position.
    pub(super) fn add(&mut self, text: &[u8]) -> u64 {
        let position = self.0.len();
        self.0.extend_from_slice(text);
        self.0.resize((self.0.len() + 1).next_multiple_of(8), 0);
        position as u64
    }

    /// Places the heap, and says where its header is.
    pub(super) fn place(self, space: &mut dyn Place) -> Result<Addr> {
        let segment_size = self.0.len() as u64;
        let segment = place_bytes(space, self.0)?;
        let heap = LocalHeap { reserved: Vec::new(), segment_size, free_list: NO_FREE_BLOCK, segment };
        place(space, &heap, ())
    }
}

/// Places a heap of these texts, and says where it is and where in it each of them.
pub(crate) fn place_texts(space: &mut dyn Place, texts: &[Vec<u8>]) -> Result<(Addr, Vec<u64>)> {
    let mut segment = Segment::default();
    let positions = texts.iter().map(|text| segment.add(text)).collect();
    Ok((segment.place(space)?, positions))
}
