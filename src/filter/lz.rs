//! What the LZ77 formats share: copies for decoders, and a greedy search for matches for encoders.

use super::{ends_early, size, wild};
use crate::error::{Error, Result};

pub(super) fn too_long() -> Error {
    Error::corrupt("the stream gives more bytes than are expected")
}

#[cold]
pub(super) fn too_far(distance: usize, at: usize) -> Error {
    Error::corrupt(format!("a match reaches {distance} bytes back, only {at} are there"))
}

/// Copies `len` bytes from `input` at `from` to `to` at `at`. May write some bytes of what comes next.
#[inline(always)]
pub(super) fn copy_literals(input: &[u8], from: usize, to: &mut [u8], at: usize, len: usize) -> Result<()> {
    if wild::copy_literals(input, from, to, at, len) {
        return Ok(());
    }
    let bytes = input.get(from..).and_then(|rest| rest.get(..len)).ok_or_else(ends_early)?;
    to.get_mut(at..).and_then(|rest| rest.get_mut(..len)).ok_or_else(too_long)?.copy_from_slice(bytes);
    Ok(())
}

/// Repeats, at `to[at..at + len]`, what stands `distance` bytes before. May write some bytes of what comes next.
#[inline(always)]
pub(super) fn copy_match(to: &mut [u8], at: usize, distance: usize, len: usize) -> Result<()> {
    if wild::copy_match(to, at, distance, len) { Ok(()) } else { copy_exactly(to, at, distance, len) }
}

/// A match that is wrong, or near the end.
#[cold]
#[inline(never)]
fn copy_exactly(to: &mut [u8], at: usize, distance: usize, len: usize) -> Result<()> {
    if distance > at || distance == 0 {
        return Err(too_far(distance, at));
    }
    if len > to.len() - at {
        return Err(too_long());
    }
    repeat_back(to, at, distance, len);
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
    /// How many bytes are looked up, 4 to 8: more find longer matches, fewer find more of them.
    pub(super) hashed: u32,
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
pub(super) fn sequences<'a>(input: &'a [u8], rules: Rules, emit: impl FnMut(Sequence<'a>)) -> &'a [u8] {
    let last_start = input.len().saturating_sub(rules.plain_start.max(rules.plain_end + SHORTEST + 1));
    let end = input.len() - rules.plain_end.min(input.len());
    let bits = rules.table_bits.min(usize::BITS - input.len().leading_zeros()).max(8);
    let rules = Rules { table_bits: bits, ..rules };
    if rules.depth > 1 {
        thorough(input, rules, last_start, end, emit)
    } else {
        greedy(input, rules, last_start, end, emit)
    }
}

/// The four bytes at `at`, and where a table of `bits` bits keeps them.
#[inline(always)]
fn probe(input: &[u8], at: usize, rules: &Rules) -> Option<(u32, usize)> {
    let eight = u64::from_le_bytes(*input.get(at..)?.first_chunk()?);
    let [a, b, c, d, ..] = eight.to_le_bytes();
    // Only the hashed bytes are left in the word, at its upper end.
    let hash = (eight << (64 - 8 * rules.hashed)).wrapping_mul(0x9e37_79b1_85eb_ca87) >> (64 - rules.table_bits);
    let [low, high, ..] = hash.to_le_bytes();
    Some((u32::from_le_bytes([a, b, c, d]), usize::from(u16::from_le_bytes([low, high]))))
}

/// Takes the first match that is found, trying one earlier position per place.
fn greedy<'a>(
    input: &'a [u8],
    rules: Rules,
    last_start: usize,
    end: usize,
    mut emit: impl FnMut(Sequence<'a>),
) -> &'a [u8] {
    // Position 0 stands for none: whatever is found there is compared all the same.
    let mut table = vec![0u32; 1 << rules.table_bits];
    let (mut at, mut literals, mut misses) = (1, 0, 1usize << rules.patience);
    while at < last_start {
        let Some((four, slot)) = probe(input, at, &rules) else { break };
        let here = u32::try_from(at).unwrap_or(0);
        let from = size(std::mem::replace(&mut table[slot], here));
        let old = input.get(from..).and_then(<[u8]>::first_chunk);
        if old.map(|old| u32::from_le_bytes(*old)) != Some(four) || at - from > rules.longest_distance || from >= at {
            at += misses >> rules.patience;
            misses += 1;
            continue;
        }
        let distance = at - from;
        let mut len = same(input, from, at, end, rules.longest_match);
        while at > literals && at > distance && input[at - 1] == input[at - 1 - distance] && len < rules.longest_match {
            at -= 1;
            len += 1;
        }
        emit(Sequence { literals: &input[literals..at], len, distance });
        at += len;
        literals = at;
        misses = 1 << rules.patience;
        if let Some((_, slot)) = probe(input, at - 2, &rules) {
            table[slot] = u32::try_from(at - 2).unwrap_or(0);
        }
    }
    &input[literals..]
}

/// Tries several earlier positions per place, and the next place too.
fn thorough<'a>(
    input: &'a [u8],
    rules: Rules,
    last_start: usize,
    end: usize,
    mut emit: impl FnMut(Sequence<'a>),
) -> &'a [u8] {
    let mut search = Search::new(input, rules);
    let (mut at, mut literals, mut misses) = (0, 0, 0usize);
    while at < last_start {
        let Some((mut len, mut distance)) = search.find(at, end) else {
            misses += 1;
            at += 1 + (misses >> rules.patience);
            continue;
        };
        while at + 1 < last_start {
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

/// How many bytes at two places are the same; the first four are known to be.
#[inline]
fn same(input: &[u8], from: usize, at: usize, end: usize, longest: usize) -> usize {
    let limit = (end - at).min(longest);
    let (old, new) = (&input[from..from + limit], &input[at..at + limit]);
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

struct Search<'a> {
    input: &'a [u8],
    rules: Rules,
    /// The latest position of each hash.
    table: Vec<u32>,
    /// For each position, the one before with the same hash.
    chain: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(input: &'a [u8], rules: Rules) -> Self {
        Search { input, rules, table: vec![NOWHERE; 1 << rules.table_bits], chain: vec![NOWHERE; input.len()] }
    }

    /// Notes the position and gives the one before with the same hash, and the four bytes.
    #[inline]
    fn note(&mut self, at: usize) -> (u32, u32) {
        let Some((four, slot)) = probe(self.input, at, &self.rules) else { return (NOWHERE, 0) };
        let here = u32::try_from(at).unwrap_or(NOWHERE);
        let before = std::mem::replace(&mut self.table[slot], here);
        if before == here {
            return (self.chain[at], four);
        }
        self.chain[at] = before;
        (before, four)
    }

    fn note_inside(&mut self, start: usize, end: usize) {
        for at in start + 1..end {
            self.note(at);
        }
    }

    /// The longest match for the bytes at `at` that is found, and its distance.
    fn find(&mut self, at: usize, end: usize) -> Option<(usize, usize)> {
        let (mut candidate, four) = self.note(at);
        let mut best = None;
        for _ in 0..self.rules.depth {
            let from = size(candidate);
            if candidate == NOWHERE || from >= at || at - from > self.rules.longest_distance {
                break;
            }
            let old = self.input.get(from..).and_then(<[u8]>::first_chunk);
            if old.map(|old| u32::from_le_bytes(*old)) == Some(four) {
                let len = same(self.input, from, at, end, self.rules.longest_match);
                if best.is_none_or(|(longest, _)| len > longest) {
                    best = Some((len, at - from));
                }
            }
            candidate = self.chain.get(from).copied().unwrap_or(NOWHERE);
        }
        best
    }
}
