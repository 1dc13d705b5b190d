//! The symbols of a deflate block, away from the ends of input and output.
//!
//! Unsafe for speed (see `wild.rs`): one check per turn allows three look-ups of literals, a match, and two refills.
//! Where the processor has BMI2, the same code is compiled for it, as shifts by a variable count are most of the work.

use super::bits::{Reader, value};
use super::tables::{self, END, LITERAL, PAIR, SUBTABLE, Tables};
use super::undefined;
use crate::error::Result;
use crate::filter::lz::too_far;
use crate::filter::size;
use crate::filter::wild::{self, repeat};

/// Room that a turn may need: three times two literals, the longest match, and slack.
pub(super) const ROOM: usize = 6 + LONGEST + wild::SLACK;
/// The longest match.
const LONGEST: usize = 258;
/// Input that a turn may read: a word for each of two refills.
const INPUT: usize = 16;

/// Decodes to `to[at..limit]`, while there are [`INPUT`] bytes left and `limit` is not reached; it is at least [`ROOM`]
/// before the end of `to`. The reader has at least 56 bits. Gives where it stopped, and whether that is the end of the
/// block.
pub(super) fn symbols(
    reader: &mut Reader<'_>,
    tables: &Tables,
    to: &mut [u8],
    at: usize,
    limit: usize,
) -> Result<(usize, bool)> {
    assert!(limit + ROOM <= to.len());
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi2") {
        // SAFETY: the processor has BMI2, and `limit` leaves the room.
        return unsafe { symbols_bmi2(reader, tables, to, at, limit) };
    }
    // SAFETY: `limit` leaves the room.
    unsafe { run(reader, tables, to, at, limit) }
}

/// # Safety
///
/// The processor has BMI2, and there are [`ROOM`] bytes after `limit`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
unsafe fn symbols_bmi2(
    reader: &mut Reader<'_>,
    tables: &Tables,
    to: &mut [u8],
    at: usize,
    limit: usize,
) -> Result<(usize, bool)> {
    // SAFETY: the caller's.
    unsafe { run(reader, tables, to, at, limit) }
}

/// The bit buffer in registers. Bits above `count` may be those of the next byte already.
#[derive(Clone, Copy)]
struct Window {
    buffer: u64,
    /// Only the low six bits count: entries are subtracted as they are.
    count: u32,
    /// The next byte to go to the buffer.
    at: usize,
}

impl Window {
    /// Fills the buffer to at least 56 bits.
    ///
    /// # Safety
    ///
    /// There are 8 bytes at `at` of `input`.
    #[inline(always)]
    unsafe fn refill(&mut self, input: *const u8) {
        // SAFETY: the caller has these bytes.
        let word = u64::from_le(unsafe { input.add(self.at).cast::<u64>().read_unaligned() });
        self.buffer |= word.wrapping_shl(self.count);
        self.at += size((63 - (self.count & 63)) / 8);
        self.count |= 56;
    }

    /// Drops the codes of `entry`.
    #[inline(always)]
    fn skip(&mut self, entry: u32) {
        self.buffer = self.buffer.wrapping_shr(entry);
        self.count = self.count.wrapping_sub(entry);
    }

    /// The number that `entry` stands for, with the extra bits after its code; drops both.
    #[inline(always)]
    fn value(&mut self, entry: u32) -> usize {
        let value = value(entry, self.buffer);
        self.skip(entry);
        value
    }
}

/// # Safety
///
/// There are [`ROOM`] bytes after `limit` in `to`.
#[inline(always)]
unsafe fn run(
    reader: &mut Reader<'_>,
    tables: &Tables,
    to: &mut [u8],
    mut out: usize,
    limit: usize,
) -> Result<(usize, bool)> {
    let (input, base) = (reader.input.as_ptr(), to.as_mut_ptr());
    let Some(input_limit) = reader.input.len().checked_sub(INPUT) else { return Ok((out, false)) };
    let mut window = Window { buffer: reader.buffer, count: reader.count, at: reader.at };
    let mut entry = tables.literal(window.buffer);
    // The entry is that of the next bits, looked up before its turn, so that the copy of a match does not wait for it. It
    // does not wait for a refill either: one leaves all 64 bits right, and no turn takes more than 48 of them.
    let ended = loop {
        if out >= limit || window.at > input_limit {
            break false;
        }
        // SAFETY: a turn writes at most `ROOM` bytes from `limit` on, and reads at most `INPUT` bytes of the input.
        unsafe {
            if entry & LITERAL != 0 {
                // Three entries take at most 33 bits.
                out = put_literals(base, out, entry);
                window.skip(entry);
                entry = tables.literal(window.buffer);
                if entry & LITERAL != 0 {
                    out = put_literals(base, out, entry);
                    window.skip(entry);
                    entry = tables.literal(window.buffer);
                    if entry & LITERAL != 0 {
                        out = put_literals(base, out, entry);
                        window.skip(entry);
                        entry = tables.literal(window.buffer);
                        window.refill(input);
                        continue;
                    }
                }
                window.refill(input);
            }
            if entry & (SUBTABLE | END) != 0 {
                if entry & SUBTABLE != 0 {
                    window.skip(tables::LITERAL_BITS);
                    entry = tables.literal_below(entry, window.buffer);
                }
                if entry & LITERAL != 0 {
                    out = put_literals(base, out, entry);
                    window.skip(entry);
                    entry = tables.literal(window.buffer);
                    window.refill(input);
                    continue;
                }
                if entry & END != 0 {
                    if entry & PAIR != 0 {
                        return Err(undefined());
                    }
                    window.skip(entry);
                    break true;
                }
            }
            let len = window.value(entry);
            entry = tables.distance(window.buffer);
            if entry & SUBTABLE != 0 {
                window.skip(tables::DISTANCE_BITS);
                entry = tables.distance_below(entry, window.buffer);
            }
            let distance = window.value(entry);
            entry = tables.literal(window.buffer);
            window.refill(input);
            if len > LONGEST {
                return Err(undefined());
            }
            if distance > out || distance == 0 {
                return Err(too_far(distance, out));
            }
            repeat(base.add(out), distance, len);
            out += len;
        }
    };
    (reader.buffer, reader.count, reader.at) = (window.buffer, window.count, window.at);
    Ok((out, ended))
}

/// Writes the two literals of an entry; says where the next byte goes, which is after one if there is only one.
///
/// # Safety
///
/// There are two bytes at `out` of `base`.
#[inline(always)]
unsafe fn put_literals(base: *mut u8, out: usize, entry: u32) -> usize {
    let [_, _, first, second] = entry.to_le_bytes();
    // SAFETY: the caller has these bytes.
    unsafe { base.add(out).cast::<[u8; 2]>().write([first, second]) };
    out + 1 + size(entry >> PAIR.trailing_zeros() & 1)
}
