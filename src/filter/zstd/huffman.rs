//! Huffman codes of literals: a look-up of eleven bits gives a symbol, or two where both of their codes are short. Four
//! streams are decoded side by side, as the look-ups of one wait for each other.
//!
//! Unsafe for speed: one check allows five look-ups of each stream. Where the processor has BMI2, the same code is compiled
//! for it, as shifts by a variable count are most of the work.

use super::bits::Backwards;
use super::bytes::Bytes;
use crate::error::{Error, Result};
use crate::filter::{ends_early, size};

/// Bits of the longest code.
pub(super) const LONGEST: usize = 11;
const LOOKUP: u32 = 11;

/// What sequences of eleven bits begin with.
pub(super) struct Codes {
    /// A symbol, in the upper byte, and the bits of its code.
    single: [u16; 1 << LOOKUP],
    /// From the lowest byte up: the bits of the codes of one or two symbols, the symbols, and how many there are.
    pairs: [u32; 1 << LOOKUP],
    has_pairs: bool,
}

impl Default for Codes {
    fn default() -> Self {
        Codes { single: [0; 1 << LOOKUP], pairs: [0; 1 << LOOKUP], has_pairs: false }
    }
}

impl Codes {
    /// Fills the table from the first `count` weights; the one after them follows from those. A symbol of weight w has
    /// 2^(w-1) shares of the codes.
    pub(super) fn fill(&mut self, weights: &mut [u8; 256], count: usize) -> Result<()> {
        let mut of_weight = [0usize; LONGEST + 2];
        let mut sum = 0u32;
        for &weight in &weights[..count] {
            if usize::from(weight) > LONGEST {
                return Err(Error::corrupt(format!("a symbol of weight {weight}")));
            }
            of_weight[usize::from(weight)] += 1;
            sum += (1 << weight) >> 1;
        }
        let longest = sum.checked_ilog2().ok_or_else(|| Error::corrupt("weights that are all 0"))? + 1;
        let left = (1 << longest) - sum;
        if longest > LOOKUP || !left.is_power_of_two() {
            return Err(Error::corrupt(format!(
                "weights that leave {left} of {} shares for the last",
                1u64 << longest
            )));
        }
        let last = left.ilog2() + 1;
        weights[count] = last.to_le_bytes()[0];
        of_weight[size(last)] += 1;
        if of_weight[1] < 2 || of_weight[1] % 2 == 1 {
            return Err(Error::corrupt(format!("{} symbols of weight 1", of_weight[1])));
        }
        let mut starts = [0usize; LONGEST + 2];
        let per_share = LOOKUP - longest;
        for weight in 1..=size(longest) {
            starts[weight + 1] = starts[weight] + (of_weight[weight] << (weight - 1) << per_share);
        }
        for (&weight, symbol) in weights[..=count].iter().zip(0u16..) {
            if weight == 0 {
                continue;
            }
            let start = &mut starts[usize::from(weight)];
            let shares = 1usize << (weight - 1) << per_share;
            let len = u16::try_from(longest).unwrap_or(0) + 1 - u16::from(weight);
            self.single[*start..][..shares].fill(symbol << 8 | len);
            *start += shares;
        }
        self.has_pairs = false;
        Ok(())
    }

    /// Fills the table of pairs from that of single symbols.
    fn pair(&mut self) {
        const MASK: usize = (1 << LOOKUP) - 1;
        for (i, (pair, &entry)) in self.pairs.iter_mut().zip(&self.single).enumerate() {
            let [len, symbol] = entry.to_le_bytes();
            let [more, second] = self.single[i << len & MASK].to_le_bytes();
            *pair = if u32::from(len + more) <= LOOKUP {
                u32::from_le_bytes([len + more, symbol, second, 2])
            } else {
                u32::from_le_bytes([len, symbol, 0, 1])
            };
        }
        self.has_pairs = true;
    }
}

/// Decodes the stream `input[start..]`, which fills `to`.
pub(super) fn one(codes: &Codes, input: &[u8], start: usize, to: &mut [u8]) -> Result<()> {
    let bits = Backwards::new(input, start)?;
    rest(codes, bits, to)
}

/// Symbols that a refill has bits for.
const TURN: usize = 5;

/// Decodes symbols that fill `to`, with which the stream has to end.
fn rest(codes: &Codes, mut bits: Backwards<'_>, to: &mut [u8]) -> Result<()> {
    for part in to.chunks_mut(TURN) {
        if !bits.refill() {
            return Err(ends_early());
        }
        for place in part {
            let [len, symbol] = codes.single[usize::try_from(bits.peek(LOOKUP)).unwrap_or(0)].to_le_bytes();
            *place = symbol;
            bits.skip(u32::from(len));
        }
    }
    bits.finish()
}

/// Whether it pays to fill the table of pairs: for many literals, and for fewer if their codes are short.
fn pays(literals: usize, stored: usize) -> bool {
    let bits = stored.saturating_mul(8) / literals.max(1);
    literals >= 32 << 10 && bits < 7 || literals >= 4 << 10 && bits < 5
}

/// Decodes four streams, of which the sizes of the first three stand before them. Each fills a quarter of `to`.
pub(super) fn four(codes: &mut Codes, section: &mut Bytes<'_>, to: &mut [u8]) -> Result<()> {
    let sizes = [section.number(2)?, section.number(2)?, section.number(2)?];
    let (mut starts, mut ends) = ([section.at; 4], [section.input.len(); 4]);
    for (i, size) in sizes.into_iter().enumerate() {
        ends[i] = starts[i] + size;
        starts[i + 1] = ends[i];
    }
    if !codes.has_pairs && pays(to.len(), section.input.len() - section.at) {
        codes.pair();
    }
    let quarter = to.len().div_ceil(4);
    if ends[2] > section.input.len() || to.len() < 3 * quarter {
        return Err(Error::corrupt(format!("four streams of {sizes:?} bytes and a rest, for {} literals", to.len())));
    }
    let mut lanes = [Backwards::new(section.input, section.at)?; 4];
    for ((lane, start), end) in lanes.iter_mut().zip(starts).zip(ends) {
        *lane = Backwards::new(&section.input[..end], start)?;
    }
    let mut parts = to.chunks_mut(quarter.max(1));
    let mut parts: [&mut [u8]; 4] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let done = together(codes, section.input, &mut lanes, &mut parts);
    for ((lane, part), done) in lanes.into_iter().zip(parts).zip(done) {
        rest(codes, lane, &mut part[done..])?;
    }
    Ok(())
}

/// Decodes from all four streams, as long as none of them comes near its start; says how many symbols of each.
fn together(codes: &Codes, input: &[u8], lanes: &mut [Backwards<'_>; 4], to: &mut [&mut [u8]; 4]) -> [usize; 4] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi2") {
        // SAFETY: the processor has BMI2.
        return unsafe { together_bmi2(codes, input, lanes, to) };
    }
    turns(codes, input, lanes, to)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
fn together_bmi2(codes: &Codes, input: &[u8], lanes: &mut [Backwards<'_>; 4], to: &mut [&mut [u8]; 4]) -> [usize; 4] {
    turns(codes, input, lanes, to)
}

#[inline(always)]
fn turns(codes: &Codes, input: &[u8], lanes: &mut [Backwards<'_>; 4], to: &mut [&mut [u8]; 4]) -> [usize; 4] {
    if codes.has_pairs {
        looked_up::<2>(input, lanes, to, |place, word| {
            let entry = codes.pairs[top(word)];
            let [_, first, second, count] = entry.to_le_bytes();
            // SAFETY: there is room for two symbols.
            unsafe { place.cast::<[u8; 2]>().write([first, second]) };
            (usize::from(count), entry)
        })
    } else {
        looked_up::<1>(input, lanes, to, |place, word| {
            let entry = codes.single[top(word)];
            let [_, symbol] = entry.to_le_bytes();
            // SAFETY: there is room for a symbol.
            unsafe { place.write(symbol) };
            (1, u32::from(entry))
        })
    }
}

/// What is looked up.
#[inline(always)]
fn top(word: u64) -> usize {
    usize::try_from(word >> (64 - LOOKUP)).unwrap_or(0)
}

/// Bytes that a turn may take of a stream.
const BYTES: usize = 7;

/// Decodes turns of look-ups, each of which gives up to `MOST` symbols: it is told where to write them, and gives how many
/// there are and, in the lowest six bits, how many bits they have.
#[inline(always)]
fn looked_up<const MOST: usize>(
    input: &[u8],
    lanes: &mut [Backwards<'_>; 4],
    to: &mut [&mut [u8]; 4],
    look_up: impl Fn(*mut u8, u64) -> (usize, u32),
) -> [usize; 4] {
    // The bits that come next stand highest; below them a one, so that trailing zeros tell how many were read.
    let (mut words, mut at) = (lanes.map(|lane| lane.marked()), lanes.map(|lane| lane.position()));
    let starts = lanes.map(|lane| lane.start());
    let mut places = to.each_mut().map(|part| part.as_mut_ptr_range());
    loop {
        let of_input = (0..4).map(|i| at[i].saturating_sub(starts[i]) / BYTES).min().unwrap_or(0);
        let of_output =
            places.iter().map(|place| (place.end.addr() - place.start.addr()) / (TURN * MOST)).min().unwrap_or(0);
        let turns = of_input.min(of_output);
        if turns == 0 {
            break;
        }
        for _ in 0..turns {
            for _ in 0..TURN {
                for lane in 0..4 {
                    let (count, len) = look_up(places[lane].start, words[lane]);
                    // SAFETY: every part has room for `MOST` symbols per look-up and turn.
                    places[lane].start = unsafe { places[lane].start.add(count) };
                    words[lane] = words[lane].wrapping_shl(len);
                }
            }
            for lane in 0..4 {
                let read = words[lane].trailing_zeros();
                at[lane] -= size(read / 8);
                // SAFETY: a turn takes at most `BYTES` of a stream that has as many per turn, and 8 before it.
                let word = u64::from_le(unsafe { input.as_ptr().add(at[lane]).cast::<u64>().read_unaligned() });
                words[lane] = (word | 1).wrapping_shl(read % 8);
            }
        }
    }
    for (lane, (word, at)) in lanes.iter_mut().zip(words.into_iter().zip(at)) {
        lane.go_on(at, word.trailing_zeros());
    }
    std::array::from_fn(|i| places[i].start.addr() - to[i].as_ptr().addr())
}
