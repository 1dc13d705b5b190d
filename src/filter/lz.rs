//! What the LZ77 formats share: copies for decoders, and a greedy search for matches for encoders.

use super::{ends_early, size};
use crate::error::{Error, Result};

/// Bytes that the fast copies take at a time.
const STEP: usize = 16;

pub(super) fn too_long() -> Error {
    Error::corrupt("the stream gives more bytes than are expected")
}

#[cold]
fn too_far(distance: usize, at: usize) -> Error {
    Error::corrupt(format!("a match reaches {distance} bytes back, only {at} are there"))
}

/// Copies `len` bytes from `input` at `from` to `to` at `at`. May write up to 16 bytes of what comes next.
#[inline]
pub(super) fn copy_literals(input: &[u8], from: usize, to: &mut [u8], at: usize, len: usize) -> Result<()> {
    if len <= STEP
        && let Some(bytes) = input.get(from..).and_then(<[u8]>::first_chunk::<STEP>)
        && let Some(place) = to.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<STEP>)
    {
        *place = *bytes;
        return Ok(());
    }
    let bytes = input.get(from..).and_then(|rest| rest.get(..len)).ok_or_else(ends_early)?;
    to.get_mut(at..).and_then(|rest| rest.get_mut(..len)).ok_or_else(too_long)?.copy_from_slice(bytes);
    Ok(())
}

/// Repeats, at `to[at..at + len]`, what stands `distance` bytes before. May write up to 32 bytes of what comes next.
#[inline]
pub(super) fn copy_match(to: &mut [u8], at: usize, distance: usize, len: usize) -> Result<()> {
    if distance > at || distance == 0 {
        return Err(too_far(distance, at));
    }
    let room = to.len() - at;
    if distance >= STEP && len <= 2 * STEP && room >= 2 * STEP {
        let from = at - distance;
        to.copy_within(from..from + STEP, at);
        if len > STEP {
            to.copy_within(from + STEP..from + 2 * STEP, at + STEP);
        }
        return Ok(());
    }
    if len > room {
        return Err(too_long());
    }
    if distance >= len {
        to.copy_within(at - distance..at - distance + len, at);
    } else if distance == 1 {
        let value = to[at - 1];
        to[at..at + len].fill(value);
    } else {
        repeat_back(to, at, distance, len);
    }
    Ok(())
}

/// An overlapping match: the pattern doubles with every copy.
fn repeat_back(to: &mut [u8], at: usize, distance: usize, len: usize) {
    let start = at - distance;
    let mut done = 0;
    while done < len {
        let step = (distance + done).min(len - done);
        to.copy_within(start..start + step, at + done);
        done += step;
    }
}

/// What a format allows its matches to be.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// How far back a match may reach.
    pub(super) longest_distance: usize,
    /// How long a match may be.
    pub(super) longest_match: usize,
    /// Bytes at the end that no match may cover.
    pub(super) plain_end: usize,
    /// No match starts in this many bytes at the end.
    pub(super) plain_start: usize,
    /// Bits of the table of recent positions.
    pub(super) table_bits: u32,
    /// After 2 to this power of places without a match, every second place is tried, and so on.
    pub(super) patience: u32,
    /// How many earlier positions are tried per place.
    pub(super) depth: usize,
}

/// A match and the literals before it.
pub(super) struct Sequence<'a> {
    pub(super) literals: &'a [u8],
    pub(super) len: usize,
    pub(super) distance: usize,
}

const SHORTEST: usize = 4;
const NOWHERE: u32 = u32::MAX;

/// Cuts `input` into sequences; gives the literals that are left at the end.
pub(super) fn sequences<'a>(input: &'a [u8], rules: Rules, mut emit: impl FnMut(Sequence<'a>)) -> &'a [u8] {
    let mut search = Search::new(input, rules);
    let last_start = input.len().saturating_sub(rules.plain_start.max(rules.plain_end + SHORTEST));
    let end = input.len() - rules.plain_end.min(input.len());
    let (mut at, mut literals, mut misses) = (0, 0, 0usize);
    while at < last_start {
        let Some((mut len, mut distance)) = search.find(at, end) else {
            misses += 1;
            at += 1 + (misses >> rules.patience);
            continue;
        };
        // Where time may be spent, the next place may have a longer one.
        while rules.depth > 1 && at + 1 < last_start {
            match search.find(at + 1, end) {
                Some((longer, other)) if longer > len + 1 => (at, len, distance) = (at + 1, longer, other),
                _ => break,
            }
        }
        let found = at;
        while at > literals && at > distance && input[at - 1] == input[at - 1 - distance] && len < rules.longest_match {
            at -= 1;
            len += 1;
        }
        emit(Sequence { literals: &input[literals..at], len, distance });
        let next = at + len;
        search.note_inside(found, next.min(last_start));
        at = next;
        literals = next;
        misses = 0;
    }
    &input[literals..]
}

struct Search<'a> {
    input: &'a [u8],
    rules: Rules,
    /// The latest position of each hash.
    table: Vec<u32>,
    /// For each position, the one before with the same hash; empty if only one is tried.
    chain: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(input: &'a [u8], rules: Rules) -> Self {
        let bits = rules.table_bits.min(usize::BITS - input.len().leading_zeros()).max(8);
        let chain = if rules.depth > 1 { vec![NOWHERE; input.len()] } else { Vec::new() };
        Search { input, rules: Rules { table_bits: bits, ..rules }, table: vec![NOWHERE; 1 << bits], chain }
    }

    #[inline]
    fn four(&self, at: usize) -> u32 {
        self.input.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |four| u32::from_le_bytes(*four))
    }

    #[inline]
    fn note(&mut self, at: usize, four: u32) -> u32 {
        let slot = size(four.wrapping_mul(0x9e37_79b1) >> (32 - self.rules.table_bits));
        let here = u32::try_from(at).unwrap_or(NOWHERE);
        let before = std::mem::replace(&mut self.table[slot], here);
        if let Some(link) = self.chain.get_mut(at)
            && before != here
        {
            *link = before;
        }
        before
    }

    fn note_inside(&mut self, start: usize, end: usize) {
        if self.rules.depth > 1 {
            for at in start + 1..end {
                self.note(at, self.four(at));
            }
        } else if end > start + 2 {
            self.note(end - 2, self.four(end - 2));
        }
    }

    /// The longest match for the bytes at `at` that is found, and its distance.
    #[inline]
    fn find(&mut self, at: usize, end: usize) -> Option<(usize, usize)> {
        let four = self.four(at);
        let mut candidate = self.note(at, four);
        if candidate == u32::try_from(at).unwrap_or(NOWHERE) {
            candidate = self.chain.get(at).copied().unwrap_or(NOWHERE);
        }
        let mut best = None;
        for _ in 0..self.rules.depth {
            let from = size(candidate);
            if candidate == NOWHERE || from >= at || at - from > self.rules.longest_distance {
                break;
            }
            if self.four(from) == four {
                let len = self.same(from, at, end);
                if best.is_none_or(|(longest, _)| len > longest) {
                    best = Some((len, at - from));
                }
            }
            candidate = self.chain.get(from).copied().unwrap_or(NOWHERE);
        }
        best
    }

    /// How many bytes at two places are the same; the first four are known to be.
    #[inline]
    fn same(&self, from: usize, at: usize, end: usize) -> usize {
        let limit = (end - at).min(self.rules.longest_match);
        let (old, new) = (&self.input[from..from + limit], &self.input[at..at + limit]);
        let mut len = 0;
        for (a, b) in old.as_chunks::<8>().0.iter().zip(new.as_chunks::<8>().0) {
            let different = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
            if different != 0 {
                return len + size(different.trailing_zeros() / 8);
            }
            len += 8;
        }
        len + old[len..].iter().zip(&new[len..]).take_while(|(a, b)| a == b).count()
    }
}
