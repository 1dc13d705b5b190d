//! Entries of tables: what a reader of bits needs to know of one.

/// Where the length of the code stands.
pub(super) const CODE_SHIFT: u32 = 8;

/// How many bits an entry drops.
#[inline(always)]
pub(super) fn total_len(entry: u32) -> u32 {
    entry & 63
}

/// The length of the code of a length or distance.
#[inline(always)]
pub(super) fn code_len(entry: u32) -> u32 {
    entry >> CODE_SHIFT & 15
}
