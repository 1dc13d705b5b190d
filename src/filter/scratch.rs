//! Buffers that decoders need for a moment, kept per thread so that a chunk does not pay for fresh memory.

use std::cell::RefCell;

/// Larger buffers are not kept.
const KEPT: usize = 16 << 20;

thread_local! {
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` with `len` bytes of any content.
pub(super) fn with_buffer<T>(len: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut buffer = BUFFERS.with(|b| b.borrow_mut().pop()).unwrap_or_default();
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    let result = work(&mut buffer[..len]);
    if buffer.len() <= KEPT {
        BUFFERS.with(|b| b.borrow_mut().push(buffer));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_nest_and_have_the_wanted_length() {
        with_buffer(10, |outer| {
            outer.fill(1);
            with_buffer(20, |inner| assert_eq!(inner.len(), 20));
            assert_eq!(outer, [1; 10]);
        });
    }
}
