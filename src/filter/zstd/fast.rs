//! The loop over the sequences of a block.
//!
//! Unsafe for speed (see `wild.rs`): one check a sequence allows both of its copies to write past their end. Where the
//! processor has BMI2, the same code is compiled for it, as shifts by a variable count are much of the work.

use super::bits::Backwards;
use super::bytes::Bytes;
use super::literals::Text;
use super::sequences::{Entry, Sequences};
use crate::error::{Error, Result};
use crate::filter::lz::{copy_literals, copy_match};
use crate::filter::wild::{SLACK, copy, literals, repeat};
use crate::filter::{ends_early, size};

/// Bits that there are after a refill.
const REFILLED: u32 = 56;
/// Bits that the next three states may take.
const STATES: u32 = 26;

/// Decodes the block of these literals, and of the sequences after them, to `to[at..]`; gives where it ends.
pub(super) fn block(
    sequences: &mut Sequences,
    block: &mut Bytes<'_>,
    text: Text<'_>,
    to: &mut [u8],
    mut at: usize,
) -> Result<usize> {
    let mut used = 0;
    let count = sequences.read(block)?;
    if count > 0 {
        let bits = Backwards::new(block.input, block.at)?;
        (used, at) = decode(sequences, bits, count, text, to, at)?;
    }
    copy_literals(text.bytes, used, to, at, text.len - used)?;
    Ok(at + text.len - used)
}

/// Decodes `count` sequences to `to[at..]`; gives how many literals they took, and where they end.
fn decode(
    sequences: &mut Sequences,
    bits: Backwards<'_>,
    count: usize,
    text: Text<'_>,
    to: &mut [u8],
    at: usize,
) -> Result<(usize, usize)> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi2") {
        // SAFETY: the processor has BMI2.
        return unsafe { decode_bmi2(sequences, bits, count, text, to, at) };
    }
    run(sequences, bits, count, text, to, at)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
fn decode_bmi2(
    sequences: &mut Sequences,
    bits: Backwards<'_>,
    count: usize,
    text: Text<'_>,
    to: &mut [u8],
    at: usize,
) -> Result<(usize, usize)> {
    run(sequences, bits, count, text, to, at)
}

/// The bits of [`Backwards`] in registers.
struct Window<'a> {
    input: &'a [u8],
    /// The 8 bytes from `at` on.
    word: u64,
    at: usize,
    /// Bits of the word that were not read yet, the lowest ones, fewer than 64.
    left: u32,
}

impl<'a> Window<'a> {
    fn new(bits: &Backwards<'a>) -> Result<Self> {
        // Where a whole word is left, the one a byte above has the same bits.
        let whole = bits.left / 64;
        let at = bits.at + size(whole);
        let word = bits.input.get(at..).and_then(<[u8]>::first_chunk::<8>).ok_or_else(ends_early)?;
        Ok(Window { input: bits.input, word: u64::from_le_bytes(*word), at, left: bits.left - 8 * whole })
    }

    /// Fills the word to at least [`REFILLED`] bits. `false` if the input has no such bytes: then too many were read.
    #[inline(always)]
    fn refill(&mut self) -> bool {
        let Some(at) = self.at.checked_sub(size((63 - (self.left & 63)) / 8)) else { return false };
        // SAFETY: there were 8 bytes from `at` on when it was set first, and it only falls.
        let word = unsafe { self.input.as_ptr().add(at).cast::<u64>().read_unaligned() };
        (self.word, self.at) = (u64::from_le(word), at);
        self.left |= 56;
        true
    }

    /// The next `count` bits, of those that a refill left.
    #[inline(always)]
    fn take(&mut self, count: u32) -> u64 {
        self.left = self.left.wrapping_sub(count);
        self.word.wrapping_shr(self.left) & ((1 << count) - 1)
    }

    /// The numbers of a sequence: a distance, the length of a match, how many literals.
    #[inline(always)]
    fn numbers(&mut self, [l, d, m]: [Entry; 3]) -> Option<[usize; 3]> {
        let extra = l.extra_of_three(d, m);
        if extra > REFILLED - STATES {
            return self.long_numbers([l, d, m]);
        }
        // All that they take goes at once, so that nothing waits for one after the other.
        let left = self.left.wrapping_sub(extra);
        let distance = d.value(self.take(d.extra()));
        let len = m.value(self.take(m.extra()));
        let literals = l.value(self.take(l.extra()));
        self.left = left;
        Some([distance, len, literals])
    }

    /// [`numbers`](Self::numbers) with more bits than one refill has.
    #[cold]
    #[inline(never)]
    fn long_numbers(&mut self, [l, d, m]: [Entry; 3]) -> Option<[usize; 3]> {
        let distance = d.value(self.take(d.extra()));
        let ended = !self.refill();
        let (len, literals) = (m.value(self.take(m.extra())), l.value(self.take(l.extra())));
        (!ended && self.refill()).then_some([distance, len, literals])
    }
}

#[inline(always)]
fn run(
    sequences: &mut Sequences,
    mut bits: Backwards<'_>,
    mut count: usize,
    text: Text<'_>,
    to: &mut [u8],
    mut at: usize,
) -> Result<(usize, usize)> {
    let [mut l, mut d, mut m] = sequences.first(&mut bits)?;
    let mut window = Window::new(&bits)?;
    let Sequences { literals: of_literals, distances, matches, recent } = sequences;
    let [mut first, mut second, mut third] = *recent;
    // Copies with slack end before these.
    let text_end = (text.bytes.len() + 1).saturating_sub(SLACK).min(text.len + 1);
    let end = (to.len() + 1).saturating_sub(SLACK);
    let mut used = 0;
    while count > 0 {
        count -= 1;
        if !window.refill() {
            return Err(ends_early());
        }
        let Some([distance, len, literals]) = window.numbers([l, d, m]) else { return Err(ends_early()) };
        let distance = if d.extra() > 1 {
            (first, second, third) = (distance, first, second);
            distance
        } else {
            // One of the recent distances, which becomes the most recent one; after no literals, those after the first.
            let which = distance + usize::from(literals == 0);
            if which > 1 {
                let found = if which == 2 { second } else { third };
                let found = if which > 3 { first.wrapping_sub(1) } else { found };
                third = if which == 2 { third } else { second };
                (first, second) = (found, first);
            }
            first
        };
        if count > 0 {
            l = of_literals.entries[l.next(window.take(l.bits()))];
            m = matches.entries[m.next(window.take(m.bits()))];
            d = distances.entries[d.next(window.take(d.bits()))];
        }
        let (start, taken) = (at + literals, used + literals);
        // A distance of 0 is too large for this.
        if taken < text_end && start + len < end && distance.wrapping_sub(1) < start {
            // SAFETY: there are as many literals, `distance` bytes before the match, and room for both, all with slack.
            unsafe { place(text.bytes.as_ptr().add(used), literals, to.as_mut_ptr().add(at), len, distance) };
        } else {
            exactly(text, used, literals, to, at, len, distance)?;
        }
        used = taken;
        at = start + len;
    }
    *recent = [first, second, third];
    (bits.at, bits.left) = (window.at, window.left);
    bits.finish()?;
    Ok((used, at))
}

/// Copies the literals of a sequence to `to`, and the match to what follows.
///
/// # Safety
///
/// There are `literals` bytes to read, `distance` bytes before the match, at least one, and room for both copies, all
/// with [`SLACK`].
#[inline(always)]
unsafe fn place(text: *const u8, count: usize, to: *mut u8, len: usize, distance: usize) {
    // SAFETY: the caller's.
    unsafe {
        copy::<16>(text, to);
        if count > 16 {
            literals(text, to, count);
        }
        let to = to.add(count);
        if distance >= 16 {
            let from = to.sub(distance).cast_const();
            copy::<16>(from, to);
            if len > 16 {
                repeat(to, distance, len);
            }
        } else {
            repeat(to, distance, len);
        }
    }
}

/// A sequence that is wrong, or near the end.
#[cold]
#[inline(never)]
fn exactly(
    text: Text<'_>,
    used: usize,
    literals: usize,
    to: &mut [u8],
    at: usize,
    len: usize,
    distance: usize,
) -> Result<()> {
    if literals > text.len - used {
        return Err(Error::corrupt(format!("sequences of more than the {} literals of their block", text.len)));
    }
    copy_literals(text.bytes, used, to, at, literals)?;
    copy_match(to, at + literals, distance, len)
}
