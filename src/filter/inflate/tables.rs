//! From code lengths to tables that are looked up with the next bits of the stream.
//!
//! ```text
//! entry    payload 16 | literal 1 | subtable 1 | end 1 | length of the (first) code 4 | pair 1 | 2 | bits to drop 6
//! ```
//! The payload is one or two literals, the base of a length or distance, or where a subtable begins. Two literals whose
//! codes fit one look-up share an entry.

use super::bits::Bits;
use super::entry::{FIRST_SHIFT, total_len};
use crate::error::{Error, Result};
use crate::filter::size;

/// Bits of a first look-up.
pub(super) const LITERAL_BITS: u32 = 11;
pub(super) const DISTANCE_BITS: u32 = 8;
const PRECODE_BITS: u32 = 7;

pub(super) const LITERAL: u32 = 1 << 15;
pub(super) const SUBTABLE: u32 = 1 << 14;
/// The end of the block, or with `PAIR` a code that is not defined.
pub(super) const END: u32 = 1 << 13;
pub(super) const PAIR: u32 = 1 << 8;
const PAYLOAD_SHIFT: u32 = 16;
const UNDEFINED: u32 = END | PAIR;

/// Entries that the codes of any 288 literals and lengths, or 32 distances, may need with their subtables.
const LITERAL_ENTRIES: usize = 2400;
const DISTANCE_ENTRIES: usize = 512;

const LONGEST: usize = 15;

/// The tables of a block.
pub(super) struct Tables {
    literals: [u32; LITERAL_ENTRIES],
    distances: [u32; DISTANCE_ENTRIES],
    /// Whether the tables are those of fixed blocks.
    fixed: bool,
}

impl Default for Tables {
    fn default() -> Self {
        Tables { literals: [UNDEFINED; LITERAL_ENTRIES], distances: [0; DISTANCE_ENTRIES], fixed: false }
    }
}

fn index(buffer: u64, bits: u32) -> usize {
    usize::from(u16::from_le_bytes([buffer.to_le_bytes()[0], buffer.to_le_bytes()[1]]) & ((1 << bits) - 1))
}

impl Tables {
    #[inline(always)]
    pub(super) fn literal(&self, buffer: u64) -> u32 {
        self.literals[index(buffer, LITERAL_BITS)]
    }

    #[inline(always)]
    pub(super) fn distance(&self, buffer: u64) -> u32 {
        self.distances[index(buffer, DISTANCE_BITS)]
    }

    /// The entry of the subtable that `entry` points to.
    #[inline]
    pub(super) fn literal_below(&self, entry: u32, buffer: u64) -> u32 {
        let at = size(entry >> PAYLOAD_SHIFT) + index(buffer, total_len(entry));
        self.literals.get(at).copied().unwrap_or(UNDEFINED)
    }

    #[inline]
    pub(super) fn distance_below(&self, entry: u32, buffer: u64) -> u32 {
        let at = size(entry >> PAYLOAD_SHIFT) + index(buffer, total_len(entry));
        self.distances.get(at).copied().unwrap_or(0)
    }

    /// The codes of fixed blocks.
    pub(super) fn fixed(&mut self) -> Result<()> {
        if self.fixed {
            return Ok(());
        }
        let mut lengths = [8; 288];
        lengths[144..256].fill(9);
        lengths[256..280].fill(7);
        self.build(&lengths, &[5; 32])?;
        self.fixed = true;
        Ok(())
    }

    /// The codes that a dynamic block begins with.
    pub(super) fn read(&mut self, bits: &mut Bits<'_>) -> Result<()> {
        const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
        let (literals, distances) = (size(bits.take(5)) + 257, size(bits.take(5)) + 1);
        let count = size(bits.take(4)) + 4;
        if literals > 286 || distances > 30 {
            return Err(Error::corrupt(format!("{literals} codes of literals and {distances} of distances")));
        }
        let mut lengths = [0u8; 19];
        for &symbol in &ORDER[..count] {
            lengths[symbol] = bits.take(3).to_le_bytes()[0];
        }
        let mut precode = [0; 1 << PRECODE_BITS];
        let code = Code::new(&lengths)?;
        if !code.complete {
            return Err(Error::corrupt("code lengths whose codes are incomplete"));
        }
        code.fill(&mut precode, PRECODE_BITS, 0, |symbol| symbol << PAYLOAD_SHIFT)?;
        let mut lengths = [0u8; 286 + 30];
        read_lengths(bits, &precode, &mut lengths[..literals + distances])?;
        bits.check()?;
        if lengths[256] == 0 {
            return Err(Error::corrupt("a block without a code for its end"));
        }
        let (first, second) = lengths[..literals + distances].split_at(literals);
        self.fixed = false;
        self.build(first, second)
    }

    fn build(&mut self, literals: &[u8], distances: &[u8]) -> Result<()> {
        Code::new(literals)?.fill(&mut self.literals, LITERAL_BITS, UNDEFINED, literal_entry)?;
        pair_literals(&mut self.literals);
        Code::new(distances)?.fill(&mut self.distances, DISTANCE_BITS, 0, distance_entry)
    }
}

/// Code lengths, run by run.
fn read_lengths(bits: &mut Bits<'_>, precode: &[u32; 1 << PRECODE_BITS], lengths: &mut [u8]) -> Result<()> {
    let mut at = 0;
    while at < lengths.len() {
        bits.refill();
        let entry = precode[index(bits.buffer, PRECODE_BITS)];
        bits.skip(total_len(entry));
        let (value, run) = match entry >> PAYLOAD_SHIFT {
            16 if at == 0 => return Err(Error::corrupt("a repeated code length before the first")),
            16 => (lengths[at - 1], 3 + bits.take(2)),
            17 => (0, 3 + bits.take(3)),
            18 => (0, 11 + bits.take(7)),
            symbol => (symbol.to_le_bytes()[0], 1),
        };
        let Some(run) = lengths.get_mut(at..at + size(run)) else {
            return Err(Error::corrupt("more code lengths than codes"));
        };
        run.fill(value);
        at += run.len();
    }
    Ok(())
}

/// Base and number of extra bits of the length symbols, from 257 on.
fn literal_entry(symbol: u32) -> u32 {
    match symbol {
        0..256 => LITERAL | symbol << PAYLOAD_SHIFT,
        256 => END,
        257..265 => (symbol - 254) << PAYLOAD_SHIFT,
        265..285 => {
            let extra = (symbol - 261) / 4;
            (3 + ((4 + (symbol - 261) % 4) << extra)) << PAYLOAD_SHIFT | extra
        }
        285 => 258 << PAYLOAD_SHIFT,
        _ => UNDEFINED,
    }
}

fn distance_entry(symbol: u32) -> u32 {
    match symbol {
        0..4 => (symbol + 1) << PAYLOAD_SHIFT,
        4..30 => {
            let extra = symbol / 2 - 1;
            (1 + ((2 + symbol % 2) << extra)) << PAYLOAD_SHIFT | extra
        }
        _ => 0,
    }
}

/// Puts a second literal into the entries whose first leaves enough bits for it.
fn pair_literals(table: &mut [u32]) {
    // From the last down: an entry's second literal is looked up further down, where nothing is paired yet.
    for i in (1..1usize << LITERAL_BITS).rev() {
        let entry = table[i];
        if entry & LITERAL == 0 {
            continue;
        }
        let first = total_len(entry);
        let next = table[i >> first];
        if next & LITERAL != 0 && first + total_len(next) <= LITERAL_BITS {
            let second = (next >> PAYLOAD_SHIFT & 0xff) << (PAYLOAD_SHIFT + 8);
            table[i] = (entry | second | PAIR) + total_len(next);
        }
    }
}

/// A canonical prefix code.
struct Code<'a> {
    lengths: &'a [u8],
    /// How many codes there are of each length.
    counts: [u32; LONGEST + 1],
    complete: bool,
}

impl<'a> Code<'a> {
    /// `Corrupt` if there are more codes than bits can tell apart, or fewer; but a single code, or none, may be.
    fn new(lengths: &'a [u8]) -> Result<Self> {
        let mut counts = [0u32; LONGEST + 1];
        for &len in lengths {
            counts[usize::from(len)] += 1;
        }
        counts[0] = 0;
        let longest = counts.iter().rposition(|&n| n > 0).unwrap_or(0);
        let mut left = 1i64;
        for &count in &counts[1..] {
            left = left * 2 - i64::from(count);
            if left < 0 {
                return Err(Error::corrupt("code lengths of too many codes"));
            }
        }
        if left > 0 && longest > 1 {
            return Err(Error::corrupt("code lengths whose codes are incomplete"));
        }
        Ok(Code { lengths, counts, complete: left == 0 })
    }

    /// Fills `table`, whose first look-up takes `bits` bits, with the entries of all symbols. An entry of a symbol
    /// comes with its number of extra bits.
    fn fill(&self, table: &mut [u32], bits: u32, undefined: u32, entry: impl Fn(u32) -> u32) -> Result<()> {
        if !self.complete {
            table[..1 << bits].fill(undefined);
        }
        let mut next = [0u32; LONGEST + 2];
        for len in 1..=LONGEST {
            next[len + 1] = (next[len] + self.counts[len]) << 1;
        }
        let mut free = 1usize << bits;
        let primary = (1usize << bits) - 1;
        let longer = self.counts[size(bits) + 1..].iter().any(|&n| n > 0);
        if longer {
            free = self.subtables(table, bits, next)?;
        }
        for (&len, symbol) in self.lengths.iter().zip(0u32..) {
            if len == 0 {
                continue;
            }
            let slot = &mut next[usize::from(len)];
            let len = u32::from(len);
            let code = size(slot.reverse_bits() >> (32 - len));
            *slot += 1;
            let base = entry(symbol);
            if len <= bits {
                let full = base + len + (len << FIRST_SHIFT);
                for place in table[code..=primary].iter_mut().step_by(1 << len) {
                    *place = full;
                }
            } else {
                let pointer = table[code & primary];
                let (start, below) = (size(pointer >> PAYLOAD_SHIFT), total_len(pointer));
                let len = len - bits;
                let full = base + len + (len << FIRST_SHIFT);
                let end = (start + (1 << below)).min(free);
                for place in table[start + (code >> bits)..end].iter_mut().step_by(1 << len) {
                    *place = full;
                }
            }
        }
        Ok(())
    }

    /// Lays out a subtable for each first look-up that does not settle a code; says where the last one ends.
    fn subtables(&self, table: &mut [u32], bits: u32, next: [u32; LONGEST + 2]) -> Result<usize> {
        let primary = (1u32 << bits) - 1;
        let mut free = 1usize << bits;
        // Codes of one prefix follow each other, the longest last; so the prefixes are met in order.
        let mut open: Option<(u32, u32)> = None;
        for ((&first, &count), len) in next.iter().zip(&self.counts).zip(0u32..).skip(size(bits) + 1) {
            for code in first..first + count {
                let prefix = code.reverse_bits() >> (32 - len) & primary;
                if let Some((old, below)) = open
                    && old != prefix
                {
                    free = point(table, old, below, free)?;
                }
                open = Some((prefix, len - bits));
            }
        }
        if let Some((old, below)) = open {
            free = point(table, old, below, free)?;
        }
        Ok(free)
    }
}

/// Points entry `prefix` to a subtable of `below` bits at `free`.
fn point(table: &mut [u32], prefix: u32, below: u32, free: usize) -> Result<usize> {
    let end = free + (1 << below);
    if end > table.len() {
        return Err(Error::corrupt("codes that need too many subtables"));
    }
    let start = u32::try_from(free).unwrap_or(0);
    table[size(prefix)] = SUBTABLE | start << PAYLOAD_SHIFT | below;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_distances_have_the_bases_of_the_format() {
        let parts = |entry: u32| (entry >> PAYLOAD_SHIFT, total_len(entry));
        assert_eq!(
            [257, 264, 265, 268, 269, 284, 285].map(|s| parts(literal_entry(s))),
            [(3, 0), (10, 0), (11, 1), (17, 1), (19, 2), (227, 5), (258, 0)]
        );
        assert_eq!(
            [0, 3, 4, 5, 28, 29].map(|s| parts(distance_entry(s))),
            [(1, 0), (4, 0), (5, 1), (7, 1), (16_385, 13), (24_577, 13)]
        );
    }

    #[test]
    fn impossible_codes_are_errors() {
        assert!(Code::new(&[1, 1, 1]).is_err());
        assert!(Code::new(&[2, 2]).is_err());
        assert!(Code::new(&[1, 0]).is_ok());
        assert!(Code::new(&[0, 0]).is_ok());
        assert!(Code::new(&[1, 2, 2]).is_ok_and(|code| code.complete));
    }
}
