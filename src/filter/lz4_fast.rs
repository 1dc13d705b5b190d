//! The sequences of an LZ4 block, away from the ends of input and output.
//!
//! Unsafe for speed (see `wild.rs`): one check at the start of a sequence allows all the steps of a short one.

use super::wild::{SLACK, copy, literals, repeat};

/// Input that a sequence without further bytes for its lengths may be read from: token, literals and slack.
const INPUT: usize = 1 + 15 + SLACK;
/// Room that it may need: literals, a match of 18, and slack.
const ROOM: usize = 15 + 18 + SLACK;

/// Decodes sequences from `input[from..]` to `to[at..]`, as long as there are [`INPUT`] and [`ROOM`] bytes and nothing is
/// wrong. Gives where the next sequence starts on both sides.
pub(super) fn sequences(input: &[u8], to: &mut [u8], mut from: usize, mut at: usize) -> (usize, usize) {
    let base = to.as_mut_ptr();
    let (input_limit, limit) = (input.len().saturating_sub(INPUT), to.len().saturating_sub(ROOM));
    while from < input_limit && at < limit {
        // SAFETY: `from` is less than the length.
        let token = usize::from(unsafe { *input.get_unchecked(from) });
        let (mut next, mut run) = (from + 1, token >> 4);
        // SAFETY: for a short run the loop's condition leaves enough bytes on both sides; for a long one that is checked.
        unsafe {
            if run < 15 {
                copy::<16>(input.as_ptr().add(next), base.add(at));
            } else {
                let Some((more, end)) = longer(input, next) else { break };
                (next, run) = (end, run + more);
                if run + SLACK + 2 > input.len() - next || run + ROOM > to.len() - at {
                    break;
                }
                literals(input.as_ptr().add(next), base.add(at), run);
            }
        }
        let (next, start) = (next + run, at + run);
        // SAFETY: `next` and the byte after it lie within the slack of the literals.
        let distance = usize::from(u16::from_le(unsafe { input.as_ptr().add(next).cast::<u16>().read_unaligned() }));
        let (mut next, mut len) = (next + 2, (token & 15) + 4);
        if distance > start || distance == 0 {
            break;
        }
        // SAFETY: there are `distance` bytes before `start`, and room for `len` with slack: a short match by the loop's
        // condition, a long one by a check.
        unsafe {
            let place = base.add(start);
            if len < 19 && distance >= 8 {
                let source = place.sub(distance).cast_const();
                copy::<8>(source, place);
                copy::<8>(source.add(8), place.add(8));
                copy::<2>(source.add(16), place.add(16));
            } else {
                if len == 19 {
                    let Some((more, end)) = longer(input, next) else { break };
                    (next, len) = (end, len + more);
                    if len + SLACK > to.len() - start {
                        break;
                    }
                }
                repeat(place, distance, len);
            }
        }
        (from, at) = (next, start + len);
    }
    (from, at)
}

/// The rest of a length, and where it ends; `None` if the input ends before.
#[inline]
fn longer(input: &[u8], mut from: usize) -> Option<(usize, usize)> {
    let mut sum = 0usize;
    loop {
        let byte = *input.get(from)?;
        from += 1;
        sum += usize::from(byte);
        if byte != 255 {
            return Some((sum, from));
        }
    }
}
