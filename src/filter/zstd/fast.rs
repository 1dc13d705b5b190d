//! The loop over the sequences of a block.
//!
//! Unsafe for speed (see `wild.rs`): one check a sequence allows both of its copies to write past their end. Where the
//! processor has BMI2, the same code is compiled for it, as shifts by a variable count are much of the work.

use super::bits::{Backwards, REFILLED};
use super::bytes::Bytes;
use super::literals::Text;
use super::sequences::Sequences;
use crate::error::{Error, Result};
use crate::filter::ends_early;
use crate::filter::lz::{copy_literals, copy_match};
use crate::filter::wild::{SLACK, copy, literals, repeat};

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
    let Sequences { literals: of_literals, distances, matches, recent } = sequences;
    let [mut first, mut second, mut third] = *recent;
    let mut used = 0;
    while count > 0 {
        count -= 1;
        if !bits.refill() {
            return Err(ends_early());
        }
        let long = d.extra() + m.extra() + l.extra() > REFILLED - STATES;
        let distance = d.value(bits.take(d.extra()));
        if long && !bits.refill() {
            return Err(ends_early());
        }
        let len = m.value(bits.take(m.extra()));
        let literals = l.value(bits.take(l.extra()));
        if long && !bits.refill() {
            return Err(ends_early());
        }
        let distance = if d.extra() > 1 {
            (first, second, third) = (distance, first, second);
            distance
        } else {
            // One of the recent distances, which becomes the most recent one; after no literals, those after the first.
            match distance + usize::from(literals == 0) {
                1 => {}
                2 => (first, second) = (second, first),
                3 => (first, second, third) = (third, first, second),
                _ => (first, second, third) = (first.wrapping_sub(1), first, second),
            }
            first
        };
        if count > 0 {
            l = of_literals.entries[l.next(bits.take(l.bits()))];
            m = matches.entries[m.next(bits.take(m.bits()))];
            d = distances.entries[d.next(bits.take(d.bits()))];
        }
        let start = at + literals;
        let fits = start + len + SLACK <= to.len() && used + literals + SLACK <= text.bytes.len();
        if fits && distance <= start && distance > 0 && literals <= text.len - used {
            // SAFETY: there are as many literals, `distance` bytes before the match, and room for both, all with slack.
            unsafe { place(text.bytes.as_ptr().add(used), literals, to.as_mut_ptr().add(at), len, distance) };
        } else {
            exactly(text, used, literals, to, at, len, distance)?;
        }
        used += literals;
        at = start + len;
    }
    *recent = [first, second, third];
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
