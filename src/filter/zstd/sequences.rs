//! The sequences of a block: how many literals, then how long a match, from how far back. RFC 8878, 3.1.1.3.2 and 3.1.1.4.

use super::bits::Backwards;
use super::bytes::Bytes;
use super::fse::{Counts, State};
use crate::error::{Error, Result};
use crate::filter::ends_early;

/// The tables, which a later block may use again, and the last three distances.
#[derive(Default)]
pub(super) struct Sequences {
    pub(super) literals: Table,
    pub(super) distances: Table,
    pub(super) matches: Table,
    pub(super) recent: [usize; 3],
}

/// Bits of the largest table.
const MOST_BITS: u32 = 9;
const MOST_STATES: usize = 1 << MOST_BITS;

/// A number that a state gives, less what follows it in extra bits, and how the next state is found: in one word, as
/// three of them are at hand all the time.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry(u64);

impl Entry {
    fn new((base, extra): (u32, u8), state: State) -> Self {
        let State { bits, base: next, .. } = state;
        Entry(u64::from(base) << 32 | u64::from(next) << 16 | u64::from(bits) << 8 | u64::from(extra))
    }

    /// How many extra bits the number has.
    #[inline(always)]
    pub(super) fn extra(self) -> u32 {
        let [extra, ..] = self.0.to_le_bytes();
        u32::from(extra)
    }

    /// How many extra bits these three numbers have: fewer than a byte can count.
    #[inline(always)]
    pub(super) fn extra_of_three(self, second: Entry, third: Entry) -> u32 {
        Entry(self.0.wrapping_add(second.0).wrapping_add(third.0)).extra()
    }

    /// The number, from its extra bits.
    #[inline(always)]
    pub(super) fn value(self, extra: u64) -> usize {
        number((self.0 >> 32) + extra)
    }

    /// How many bits lead to the next state.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        let [_, bits, ..] = self.0.to_le_bytes();
        u32::from(bits)
    }

    /// The next state, from these bits.
    #[inline(always)]
    pub(super) fn next(self, bits: u64) -> usize {
        number((self.0 >> 16 & 0xffff) + bits) % MOST_STATES
    }
}

/// States of one of the three numbers of a sequence.
pub(super) struct Table {
    pub(super) entries: [Entry; MOST_STATES],
    /// Bits of the first state; `None` if there is no table yet.
    bits: Option<u32>,
}

impl Default for Table {
    fn default() -> Self {
        Table { entries: [Entry::default(); MOST_STATES], bits: None }
    }
}

/// What the format says of one of the three numbers.
struct Kind {
    /// Base and number of extra bits of each symbol.
    code: fn(u8) -> (u32, u8),
    symbols: usize,
    most_bits: u32,
    usual_bits: u32,
    usual: &'static [i16],
}

const LITERALS: Kind = Kind {
    code: |symbol| {
        const LONG: [(u32, u8); 20] = [
            (16, 1),
            (18, 1),
            (20, 1),
            (22, 1),
            (24, 2),
            (28, 2),
            (32, 3),
            (40, 3),
            (48, 4),
            (64, 6),
            (128, 7),
            (256, 8),
            (512, 9),
            (1024, 10),
            (2048, 11),
            (4096, 12),
            (8192, 13),
            (16_384, 14),
            (32_768, 15),
            (65_536, 16),
        ];
        symbol.checked_sub(16).map_or((u32::from(symbol), 0), |long| LONG[usize::from(long)])
    },
    symbols: 36,
    most_bits: 9,
    usual_bits: 6,
    usual: &[
        4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
    ],
};

const MATCHES: Kind = Kind {
    code: |symbol| {
        const LONG: [(u32, u8); 21] = [
            (35, 1),
            (37, 1),
            (39, 1),
            (41, 1),
            (43, 2),
            (47, 2),
            (51, 3),
            (59, 3),
            (67, 4),
            (83, 4),
            (99, 5),
            (131, 7),
            (259, 8),
            (515, 9),
            (1027, 10),
            (2051, 11),
            (4099, 12),
            (8195, 13),
            (16_387, 14),
            (32_771, 15),
            (65_539, 16),
        ];
        symbol.checked_sub(32).map_or((u32::from(symbol) + 3, 0), |long| LONG[usize::from(long)])
    },
    symbols: 53,
    most_bits: 9,
    usual_bits: 6,
    usual: &[
        1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
    ],
};

/// Distances have 3 added; the smaller numbers stand for recent ones, and are kept as they are.
const DISTANCES: Kind = Kind {
    code: |symbol| if symbol > 1 { ((1 << symbol) - 3, symbol) } else { (1 << symbol, symbol) },
    symbols: 32,
    most_bits: 8,
    usual_bits: 5,
    usual: &[1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
};

impl Table {
    /// Makes the table of a block as `mode` says.
    fn read(&mut self, mode: usize, kind: &Kind, block: &mut Bytes<'_>) -> Result<()> {
        let counts = match mode {
            0 => Counts::new(kind.usual_bits, kind.usual),
            1 => {
                let symbol = block.take(1)?[0];
                if usize::from(symbol) >= kind.symbols {
                    return Err(Error::corrupt(format!("symbol {symbol} of sequences, there are {}", kind.symbols)));
                }
                self.entries[0] = Entry::new((kind.code)(symbol), State::default());
                self.bits = Some(0);
                return Ok(());
            }
            2 => Counts::read(block, kind.symbols, kind.most_bits)?,
            _ if self.bits.is_some() => return Ok(()),
            _ => return Err(Error::corrupt("sequences in the states of a block before, and there are none")),
        };
        self.bits = None;
        let mut states = [State::default(); MOST_STATES];
        for (entry, state) in self.entries.iter_mut().zip(counts.states(&mut states)?) {
            *entry = Entry::new((kind.code)(state.symbol), *state);
        }
        self.bits = Some(counts.bits);
        Ok(())
    }
}

impl Sequences {
    /// Begins a frame: tables are not kept, and the format says which distances are recent.
    pub(super) fn begin(&mut self) {
        (self.literals.bits, self.distances.bits, self.matches.bits) = (None, None, None);
        self.recent = [1, 4, 8];
    }

    /// Reads how many sequences follow the literals, and their tables.
    pub(super) fn read(&mut self, block: &mut Bytes<'_>) -> Result<usize> {
        let count = match block.number(1)? {
            short @ 0..128 => short,
            255 => block.number(2)? + 0x7f00,
            high => (high - 128) << 8 | block.number(1)?,
        };
        if count > 0 {
            let modes = block.number(1)?;
            if modes & 3 != 0 {
                return Err(Error::unsupported(format!(
                    "modes of sequences {modes:#04x}, their reserved bits are set"
                )));
            }
            self.literals.read(modes >> 6, &LITERALS, block)?;
            self.distances.read(modes >> 4 & 3, &DISTANCES, block)?;
            self.matches.read(modes >> 2 & 3, &MATCHES, block)?;
        } else if block.at != block.input.len() {
            return Err(Error::corrupt("a block that goes on after its literals, and has no sequences"));
        }
        Ok(count)
    }

    /// The entries of the states that the stream begins with: of literals, of distances, of matches.
    pub(super) fn first(&self, bits: &mut Backwards<'_>) -> Result<[Entry; 3]> {
        let mut entries = [Entry::default(); 3];
        for (entry, table) in entries.iter_mut().zip([&self.literals, &self.distances, &self.matches]) {
            if !bits.refill() {
                return Err(ends_early());
            }
            *entry = table.entries[number(bits.take(table.bits.unwrap_or(0))) % MOST_STATES];
        }
        Ok(entries)
    }
}

#[inline(always)]
fn number(bits: u64) -> usize {
    usize::try_from(bits).unwrap_or(usize::MAX)
}
