//! Counts what the whole process holds, on whatever thread it was allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn add(size: usize) {
    let held = HELD.fetch_add(size, Ordering::Relaxed) + size;
    MOST.fetch_max(held, Ordering::Relaxed);
}

fn subtract(size: usize) {
    HELD.fetch_sub(size, Ordering::Relaxed);
}

// SAFETY: everything is handed on to the system's allocator; the counters are no memory of the heap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        subtract(layout.size());
        // SAFETY: the caller's.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // As if both were there at once, which may be.
        add(size);
        subtract(layout.size());
        // SAFETY: the caller's.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What a piece of work held, in bytes beyond those that were held before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// At once, at most.
    pub(crate) most: usize,
    /// At the end: its result.
    pub(crate) result: usize,
}

/// What `work` gives, and what memory it held. Nobody else may be at work.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (T, Memory) {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = work();
    let beyond = |bytes: &AtomicUsize| bytes.load(Ordering::Relaxed).saturating_sub(before);
    let memory = Memory { most: beyond(&MOST), result: beyond(&HELD) };
    (result, memory)
}
