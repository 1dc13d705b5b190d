//! The symbols of a deflate block, away from the ends of input and output.
//!
//! Unsafe for speed (see `wild.rs`): one check per turn allows three look-ups of literals, a match, and two refills.
//! Where the processor has BMI2, its instructions are used, as shifts by a variable count are most of the work.

use super::bits::Reader;
use super::entry::CODE_SHIFT;
use super::tables::{self, END, LITERAL, SUBTABLE, Tables};
use super::undefined;
use crate::error::Result;
use crate::filter::lz::too_far;
use crate::filter::size;
use crate::filter::wild::{self, repeat};

/// Room that a turn may need: three literals, the longest match, and slack.
pub(super) const ROOM: usize = 3 + LONGEST + wild::SLACK;
/// The longest match.
const LONGEST: usize = 258;
/// Input that a turn may read: a word for each of two refills.
const INPUT: usize = 16;

/// Why the loop stopped.
enum Stop {
    /// Near the end of the input, or of the room.
    Room,
    /// The block has ended.
    End,
    Undefined,
    /// A match from this far back.
    TooFar(usize),
}

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
    if at >= limit || reader.at + INPUT > reader.input.len() {
        return Ok((at, false));
    }
    // SAFETY: there is such input and such room.
    let (at, stop) = unsafe { fastest(reader, tables, to, at, limit) };
    match stop {
        Stop::Room => Ok((at, false)),
        Stop::End => Ok((at, true)),
        Stop::Undefined => Err(undefined()),
        Stop::TooFar(distance) => Err(too_far(distance, at)),
    }
}

/// # Safety
///
/// As for [`run`].
unsafe fn fastest(reader: &mut Reader<'_>, tables: &Tables, to: &mut [u8], at: usize, limit: usize) -> (usize, Stop) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi2") {
        // SAFETY: the processor has BMI2, and the rest is the caller's.
        return unsafe { run_bmi2(reader, tables, to, at, limit) };
    }
    // SAFETY: the caller's.
    unsafe { run(reader, tables, to, at, limit, Plain) }
}

/// # Safety
///
/// As for [`run`], and the processor has BMI2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
unsafe fn run_bmi2(reader: &mut Reader<'_>, tables: &Tables, to: &mut [u8], at: usize, limit: usize) -> (usize, Stop) {
    // SAFETY: the caller's.
    unsafe { run(reader, tables, to, at, limit, Bmi) }
}

/// Bits of a word that an entry tells of.
trait Bits {
    /// As many of the lowest bits as the entry drops.
    fn low(&self, word: u64, entry: u32) -> u64;

    /// The [`LITERAL_BITS`](tables::LITERAL_BITS) bits after those of the code of `literal`, an entry.
    fn after(&self, word: u64, literal: u32) -> usize;
}

struct Plain;

impl Bits for Plain {
    #[inline(always)]
    fn low(&self, word: u64, entry: u32) -> u64 {
        word & !u64::MAX.wrapping_shl(entry)
    }

    #[inline(always)]
    fn after(&self, word: u64, literal: u32) -> usize {
        tables::index(word.wrapping_shr(literal), tables::LITERAL_BITS)
    }
}

/// An instruction each, where there is BMI2: entries are made for them.
#[cfg(target_arch = "x86_64")]
struct Bmi;

#[cfg(target_arch = "x86_64")]
impl Bits for Bmi {
    #[inline(always)]
    fn low(&self, word: u64, entry: u32) -> u64 {
        // SAFETY: the processor has BMI2.
        unsafe { std::arch::x86_64::_bzhi_u64(word, entry) }
    }

    #[inline(always)]
    fn after(&self, word: u64, literal: u32) -> usize {
        // SAFETY: the processor has BMI1.
        let bits = unsafe { std::arch::x86_64::_bextr2_u64(word, u64::from(literal)) };
        // There are fewer than 16, on a machine of 64 bits.
        usize::try_from(bits).unwrap_or(0)
    }
}

/// The bit buffer in registers. Bits above `count` may be those of the next byte already.
#[derive(Clone, Copy)]
struct Window {
    buffer: u64,
    /// Only the low six bits count: entries are subtracted as they are.
    count: u32,
    /// The next byte to go to the buffer.
    at: *const u8,
}

impl Window {
    /// Fills the buffer to at least 56 bits.
    ///
    /// # Safety
    ///
    /// There are 8 bytes of input.
    #[inline(always)]
    unsafe fn refill(&mut self) {
        // SAFETY: the caller has these bytes.
        unsafe {
            let word = u64::from_le(self.at.cast::<u64>().read_unaligned());
            self.buffer |= word.wrapping_shl(self.count);
            self.at = self.at.add(7).sub(size(self.count >> 3 & 7));
        }
        self.count |= 56;
    }

    /// Drops the codes of `entry`.
    #[inline(always)]
    fn skip(&mut self, entry: u32) {
        self.buffer = self.buffer.wrapping_shr(entry);
        self.count = self.count.wrapping_sub(entry);
    }

    /// Drops the code of a literal, and gives the entry of what follows it.
    ///
    /// # Safety
    ///
    /// `literal` is the entry of a literal.
    #[inline(always)]
    unsafe fn pass(&mut self, literal: u32, tables: &Tables, bits: &impl Bits) -> u32 {
        // SAFETY: entries of literals ask for as many bits as a first look-up takes, and the table has all of those.
        let entry = unsafe { *tables.literals.get_unchecked(bits.after(self.buffer, literal)) };
        self.skip(literal);
        entry
    }

    /// The number that `entry` stands for, with the extra bits after its code; drops both.
    #[inline(always)]
    fn value(&mut self, entry: u32, bits: &impl Bits) -> usize {
        let [a, b, c, d, ..] = bits.low(self.buffer, entry).wrapping_shr(entry >> CODE_SHIFT).to_le_bytes();
        self.skip(entry);
        size((entry >> 16) + u32::from_le_bytes([a, b, c, d]))
    }
}

/// # Safety
///
/// At first there are [`INPUT`] bytes of input, and [`ROOM`] bytes after `limit`, which is not reached.
#[inline(always)]
unsafe fn run(
    reader: &mut Reader<'_>,
    tables: &Tables,
    to: &mut [u8],
    at: usize,
    limit: usize,
    bits: impl Bits,
) -> (usize, Stop) {
    let (input, base) = (reader.input.as_ptr(), to.as_mut_ptr());
    // SAFETY: both limits lie within their slices.
    let (input_limit, limit) = unsafe { (input.add(reader.input.len() - INPUT), base.add(limit)) };
    // SAFETY: the reader stands within its input, and `at` within `to`.
    let (mut out, from) = unsafe { (base.add(at), input.add(reader.at)) };
    let mut window = Window { buffer: reader.buffer, count: reader.count, at: from };
    let mut entry = tables.literal(window.buffer);
    // The entry is that of the next bits, looked up before its turn, so that the copy of a match does not wait for it. It
    // does not wait for a refill either: one leaves all 64 bits right, and no turn takes more than 48 of them.
    //
    // SAFETY: `pass` is given entries of literals. A turn writes at most `ROOM` bytes from `limit` on, and reads at most `INPUT` bytes of the input.
    let stop = unsafe {
        loop {
            if entry & LITERAL != 0 {
                // Three entries take at most 33 bits.
                out = put_literal(out, entry);
                entry = window.pass(entry, tables, &bits);
                if entry & LITERAL != 0 {
                    out = put_literal(out, entry);
                    entry = window.pass(entry, tables, &bits);
                    if entry & LITERAL != 0 {
                        out = put_literal(out, entry);
                        entry = window.pass(entry, tables, &bits);
                        window.refill();
                        if out >= limit || window.at > input_limit {
                            break Stop::Room;
                        }
                        continue;
                    }
                }
                window.refill();
            }
            if entry & (SUBTABLE | END) != 0 {
                if entry & SUBTABLE != 0 {
                    window.skip(tables::LITERAL_BITS);
                    entry = tables.literal_below(entry, window.buffer);
                    if entry & SUBTABLE != 0 {
                        break Stop::Undefined;
                    }
                }
                if entry & LITERAL != 0 {
                    out = put_literal(out, entry);
                    entry = window.pass(entry, tables, &bits);
                    window.refill();
                    if out >= limit || window.at > input_limit {
                        break Stop::Room;
                    }
                    continue;
                }
                if entry & END != 0 {
                    window.skip(entry);
                    break Stop::End;
                }
            }
            let len = window.value(entry, &bits);
            entry = tables.distance(window.buffer);
            if entry & SUBTABLE != 0 {
                window.skip(tables::DISTANCE_BITS);
                entry = tables.distance_below(entry, window.buffer);
                if entry & SUBTABLE != 0 {
                    break Stop::Undefined;
                }
            }
            let distance = window.value(entry, &bits);
            entry = tables.literal(window.buffer);
            window.refill();
            if distance > out.addr() - base.addr() {
                break Stop::TooFar(distance);
            }
            repeat(out, distance, len);
            out = out.add(len);
            if out >= limit || window.at > input_limit {
                break Stop::Room;
            }
        }
    };
    (reader.buffer, reader.count, reader.at) = (window.buffer, window.count, window.at.addr() - input.addr());
    (out.addr() - base.addr(), stop)
}

/// Writes the literal of an entry; says where the next byte goes.
///
/// # Safety
///
/// There is a byte at `out`.
#[inline(always)]
unsafe fn put_literal(out: *mut u8, entry: u32) -> *mut u8 {
    let [_, _, literal, _] = entry.to_le_bytes();
    // SAFETY: the caller has this byte.
    unsafe {
        out.write(literal);
        out.add(1)
    }
}
