//! Entries of tables: what a reader of bits needs to know of one.

/// Where the length of the (first) code stands.
pub(super) const FIRST_SHIFT: u32 = 9;

/// How many bits an entry drops.
#[inline(always)]
pub(super) fn total_len(entry: u32) -> u32 {
    entry & 63
}

/// The length of the entry's code, or of its first one.
#[inline(always)]
pub(super) fn first_len(entry: u32) -> u32 {
    entry >> FIRST_SHIFT & 15
}
