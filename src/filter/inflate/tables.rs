//! From code lengths to tables that are looked up with the next bits of the stream.
//!
//! ```text
//! entry    literal 1 | payload 15 | end 1 | subtable 1 | 0 0 | length of the code 4 | 0 0 | bits to drop 6
//! ```
//! The payload is a literal, the base of a length or distance, or where a subtable begins. Bits to drop are those of the
//! code and the extra ones after it. Of literals the length of their code is known from that, so that they have the number
//! of bits of the next look-up in its place.

use super::bits::Bits;
use super::entry::{CODE_SHIFT, total_len};
use crate::error::{Error, Result};
use crate::filter::size;

/// Bits of a first look-up.
pub(super) const LITERAL_BITS: u32 = 11;
pub(super) const DISTANCE_BITS: u32 = 8;
const PRECODE_BITS: u32 = 7;

pub(super) const LITERAL: u32 = 1 << 31;
/// The end of the block.
pub(super) const END: u32 = 1 << 15;
pub(super) const SUBTABLE: u32 = 1 << 14;
const PAYLOAD_SHIFT: u32 = 16;
/// A code that is not defined. What a subtable gives has no other entries with [`SUBTABLE`].
const UNDEFINED: u32 = SUBTABLE | END;

/// Entries that the codes of any 288 literals and lengths, or 32 distances, may need with their subtables.
const LITERAL_ENTRIES: usize = 2400;
const DISTANCE_ENTRIES: usize = 512;

const LONGEST: usize = 15;
/// Literals and lengths.
const LITERAL_SYMBOLS: usize = 288;

/// The tables of a block.
pub(super) struct Tables {
    pub(super) literals: [u32; LITERAL_ENTRIES],
    distances: [u32; DISTANCE_ENTRIES],
    /// Whether the tables are those of fixed blocks.
    fixed: bool,
}

impl Default for Tables {
    fn default() -> Self {
        Tables { literals: [UNDEFINED; LITERAL_ENTRIES], distances: [UNDEFINED; DISTANCE_ENTRIES], fixed: false }
    }
}

/// The next bits, at most 16.
#[inline(always)]
pub(super) fn index(buffer: u64, bits: u32) -> usize {
    usize::from(u16::from_le_bytes([buffer.to_le_bytes()[0], buffer.to_le_bytes()[1]]) & ((1 << bits) - 1))
}

#[inline(always)]
fn below(table: &[u32], entry: u32, buffer: u64) -> u32 {
    if entry & END != 0 {
        return UNDEFINED;
    }
    let at = size(entry >> PAYLOAD_SHIFT) + index(buffer, total_len(entry));
    table.get(at).copied().unwrap_or(UNDEFINED)
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

    /// The entry of the subtable that `entry` points to; [`UNDEFINED`] if it points nowhere.
    #[inline]
    pub(super) fn literal_below(&self, entry: u32, buffer: u64) -> u32 {
        below(&self.literals, entry, buffer)
    }

    #[inline]
    pub(super) fn distance_below(&self, entry: u32, buffer: u64) -> u32 {
        below(&self.distances, entry, buffer)
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
        code.fill(&mut precode, PRECODE_BITS, &LENGTHS)?;
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
        Code::new(literals)?.fill(&mut self.literals, LITERAL_BITS, &LITERALS)?;
        Code::new(distances)?.fill(&mut self.distances, DISTANCE_BITS, &DISTANCES)
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

/// The entries of all symbols.
macro_rules! entries {
    ($entry:ident) => {{
        let (mut entries, mut symbol) = ([0; _], 0);
        while (symbol as usize) < entries.len() {
            entries[symbol as usize] = $entry(symbol);
            symbol += 1;
        }
        entries
    }};
}

/// The entry of a literal or length without its code: base and number of extra bits, from symbol 257 on.
const fn literal_entry(symbol: u32) -> u32 {
    match symbol {
        0..256 => LITERAL | symbol << PAYLOAD_SHIFT | LITERAL_BITS << CODE_SHIFT,
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

/// The entry of a distance without its code.
const fn distance_entry(symbol: u32) -> u32 {
    match symbol {
        0..4 => (symbol + 1) << PAYLOAD_SHIFT,
        4..30 => {
            let extra = symbol / 2 - 1;
            (1 + ((2 + symbol % 2) << extra)) << PAYLOAD_SHIFT | extra
        }
        _ => UNDEFINED,
    }
}

/// The entry of a code length without its code.
const fn length_entry(symbol: u32) -> u32 {
    symbol << PAYLOAD_SHIFT
}

/// The entries of all literals and lengths, of all distances, and of all code lengths, without their codes.
static LITERALS: [u32; LITERAL_SYMBOLS] = entries!(literal_entry);
static DISTANCES: [u32; 32] = entries!(distance_entry);
static LENGTHS: [u32; 19] = entries!(length_entry);

/// A canonical prefix code.
struct Code<'a> {
    lengths: &'a [u8],
    /// How many codes there are of each length.
    counts: [u16; LONGEST + 1],
    complete: bool,
}

impl<'a> Code<'a> {
    /// `Corrupt` if there are more codes than bits can tell apart, or fewer; but a single code, or none, may be.
    fn new(lengths: &'a [u8]) -> Result<Self> {
        let mut counts = [0u16; LONGEST + 1];
        for &len in lengths {
            counts[usize::from(len & 15)] += 1;
        }
        counts[0] = 0;
        let mut left = 1i32;
        for &count in &counts[1..] {
            left = left * 2 - i32::from(count);
            if left < 0 {
                return Err(Error::corrupt("code lengths of too many codes"));
            }
        }
        if left > 0 && counts[2..].iter().any(|&n| n > 0) {
            return Err(Error::corrupt("code lengths whose codes are incomplete"));
        }
        Ok(Code { lengths, counts, complete: left == 0 })
    }

    /// The symbols that have codes, in the order of their codes.
    fn sorted<'s>(&self, symbols: &'s mut [u16; LITERAL_SYMBOLS]) -> &'s [u16] {
        let mut next = [0u16; LONGEST + 2];
        // Those without a code go to the front.
        next[1] = u16::try_from(self.lengths.len()).unwrap_or(0) - self.counts.iter().sum::<u16>();
        let unused = usize::from(next[1]);
        for len in 1..=LONGEST {
            next[len + 1] = next[len] + self.counts[len];
        }
        for (&len, symbol) in self.lengths.iter().zip(0u16..) {
            let slot = &mut next[usize::from(len & 15)];
            if let Some(place) = symbols.get_mut(usize::from(*slot)) {
                *place = symbol;
            }
            *slot += 1;
        }
        &symbols[unused..self.lengths.len()]
    }

    /// Fills `table`, whose first look-up takes `bits` bits, with the `entries` of all symbols.
    fn fill(&self, table: &mut [u32], bits: u32, entries: &[u32]) -> Result<()> {
        if !self.complete {
            table[..1 << bits].fill(UNDEFINED);
            if let Some(symbol) = self.lengths.iter().position(|&len| len == 1) {
                table[..1 << bits].iter_mut().step_by(2).for_each(|place| *place = with_code(entries[symbol], 1));
            }
            return Ok(());
        }
        let mut symbols = [0; LITERAL_SYMBOLS];
        let mut symbols = self.sorted(&mut symbols);
        let mut code = 0;
        for len in 1..=bits {
            // What a bit less tells is the same for both values of this one.
            let half = 1 << (len - 1);
            table.copy_within(..half, half);
            let (some, rest) = symbols.split_at(usize::from(self.counts[size(len)]));
            for &symbol in some {
                table[code] = with_code(entries[usize::from(symbol)], len);
                code = next_code(code, len);
            }
            symbols = rest;
        }
        self.fill_below(table, bits, entries, symbols, code)
    }

    /// Fills the subtables, one for each first look-up that does not settle a code, with `symbols`, whose codes start with
    /// `code` and are longer than `bits`.
    fn fill_below(
        &self,
        table: &mut [u32],
        bits: u32,
        entries: &[u32],
        mut symbols: &[u16],
        mut code: usize,
    ) -> Result<()> {
        let primary = (1usize << bits) - 1;
        let (mut open, mut subtable) = (usize::MAX, 0..1 << bits);
        for len in bits + 1..=15 {
            let (some, rest) = symbols.split_at(usize::from(self.counts[size(len)]));
            for (&symbol, left) in some.iter().zip((0..=some.len()).rev()) {
                // Codes of one prefix follow each other.
                if code & primary != open {
                    open = code & primary;
                    let below = self.bits_below(len, bits, left);
                    subtable = subtable.end..subtable.end + (1 << below);
                    table[open] = SUBTABLE | u32::try_from(subtable.start).unwrap_or(0) << PAYLOAD_SHIFT | below;
                }
                let Some(places) = table.get_mut(subtable.clone()) else {
                    return Err(Error::corrupt("codes that need too many subtables"));
                };
                let entry = with_code(entries[usize::from(symbol)], len - bits);
                places.iter_mut().skip(code >> bits).step_by(1 << (len - bits)).for_each(|place| *place = entry);
                code = next_code(code, len);
            }
            symbols = rest;
        }
        Ok(())
    }

    /// How many bits are looked up in a subtable that starts with one of the last `left` codes of this length.
    fn bits_below(&self, len: u32, bits: u32, left: usize) -> u32 {
        let (mut below, mut codes) = (len - bits, left);
        while codes < 1 << below && size(bits + below) < LONGEST {
            below += 1;
            codes = codes * 2 + usize::from(self.counts[size(bits + below)]);
        }
        below
    }
}

/// The entry of a symbol, from that without a code.
fn with_code(entry: u32, len: u32) -> u32 {
    entry + len + if entry & LITERAL == 0 { len << CODE_SHIFT } else { 0 }
}

/// The code of `len` bits that follows `code`, both with their first bit lowest.
fn next_code(code: usize, len: u32) -> usize {
    // The last zero becomes a one, the ones after it zeros; what follows the last code is not asked for.
    let zeros = !code & ((1 << len) - 1);
    let bit = zeros.checked_ilog2().map_or(0, |at| 1usize << at);
    code & bit.wrapping_sub(1) | bit
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
