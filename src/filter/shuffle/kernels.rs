//! The loops of shuffle, written so that the compiler turns them into vectors where the element has 2, 4, 8 or 16
//! bytes; other sizes go by tiles that stay in the first cache.

use std::array;

#[cfg(target_arch = "x86_64")]
use super::x86 as accelerated;

/// Where there are no instructions of the processor's own to be used.
#[cfg(not(target_arch = "x86_64"))]
mod accelerated {
    pub(super) fn unshuffle(_: &[u8], _: usize, _: usize, _: &mut [u8]) -> usize {
        0
    }

    pub(super) fn shuffle(_: &[u8], _: usize, _: &mut [u8]) -> usize {
        0
    }

    pub(super) fn append_shuffled(_: &[u8], _: usize, _: &mut Vec<u8>) -> bool {
        false
    }
}

/// The planes that whole elements of `E` bytes were split into, each from element `first` on.
fn planes<const E: usize>(stored: &[u8], first: usize, count: usize) -> [&[u8]; E] {
    let plane = stored.len() / E;
    array::from_fn(|j| &stored[j * plane + first..][..count])
}

/// Takes bytes in turn from `low` and `high`.
#[inline(always)]
fn interleave(low: &[u8], high: &[u8], to: &mut [u8]) {
    for (place, (low, high)) in to.as_chunks_mut::<2>().0.iter_mut().zip(low.iter().zip(high)) {
        *place = (u16::from(*low) | u16::from(*high) << 8).to_le_bytes();
    }
}

/// Puts bytes in turn to `low` and `high`.
#[inline(always)]
fn separate(from: &[u8], low: &mut [u8], high: &mut [u8]) {
    let pairs = from.as_chunks::<2>().0;
    // As numbers, not as arrays: only so does the compiler make vectors of the loops.
    low.iter_mut().zip(pairs).for_each(|(place, pair)| *place = (u16::from_le_bytes(*pair) & 0xff).to_le_bytes()[0]);
    high.iter_mut().zip(pairs).for_each(|(place, pair)| *place = (u16::from_le_bytes(*pair) >> 8).to_le_bytes()[0]);
}

/// Bytes that the stages of the staged kernels work on at a time, in the first cache.
const STAGED: usize = 4096;

/// Elements of 4, 8 or 16 bytes: the two halves of all planes are interleaved byte by byte, as often as `E` is a power
/// of two. The first stage pairs planes 0 and E / 2, 1 and E / 2 + 1, …, and the last leaves the bytes in order.
fn unshuffle_staged<const E: usize>(stored: &[u8], first: usize, to: &mut [u8]) {
    let plane = stored.len() / E;
    let (mut one, mut other) = ([0; STAGED], [0; STAGED]);
    for (tile, to) in to.chunks_mut(STAGED).enumerate() {
        let (start, count) = (first + tile * (STAGED / E), to.len() / E);
        let (mut from, mut into) = (&mut one[..to.len()], &mut other[..to.len()]);
        for (j, pair) in from.chunks_exact_mut(2 * count).enumerate() {
            let part = |j: usize| &stored[j * plane + start..][..count];
            interleave(part(j), part(j + E / 2), pair);
        }
        for _ in 2..E.trailing_zeros() {
            let (low, high) = from.split_at(from.len() / 2);
            interleave(low, high, into);
            std::mem::swap(&mut from, &mut into);
        }
        let (low, high) = from.split_at(from.len() / 2);
        interleave(low, high, to);
    }
}

fn shuffle_staged<const E: usize>(plain: &[u8], to: &mut [u8]) {
    let plane = plain.len() / E;
    let (mut one, mut other) = ([0; STAGED], [0; STAGED]);
    for (tile, plain) in plain.chunks(STAGED).enumerate() {
        let (start, count) = (tile * (STAGED / E), plain.len() / E);
        let (mut from, mut into) = (&mut one[..plain.len()], &mut other[..plain.len()]);
        let (low, high) = from.split_at_mut(plain.len() / 2);
        separate(plain, low, high);
        for _ in 2..E.trailing_zeros() {
            let (low, high) = into.split_at_mut(plain.len() / 2);
            separate(from, low, high);
            std::mem::swap(&mut from, &mut into);
        }
        for (j, pair) in from.chunks_exact(2 * count).enumerate() {
            let (before, after) = to.split_at_mut((j + E / 2) * plane);
            separate(pair, &mut before[j * plane + start..][..count], &mut after[start..][..count]);
        }
    }
}

fn unshuffle_small<const E: usize>(stored: &[u8], first: usize, to: &mut [u8]) {
    let to = to.as_chunks_mut::<E>().0;
    let planes: [&[u8]; E] = planes(stored, first, to.len());
    for (i, element) in to.iter_mut().enumerate() {
        *element = array::from_fn(|j| planes[j][i]);
    }
}

fn shuffle_small<const E: usize>(plain: &[u8], to: &mut [u8]) {
    let plain = plain.as_chunks::<E>().0;
    for (j, plane) in to.chunks_exact_mut(plain.len()).enumerate() {
        for (place, element) in plane.iter_mut().zip(plain) {
            *place = element[j];
        }
    }
}

/// Elements per tile of the general loops.
const TILE: usize = 64;

fn unshuffle_any(stored: &[u8], element: usize, first: usize, to: &mut [u8]) {
    let plane = stored.len() / element;
    for (tile, to) in to.chunks_mut(TILE * element).enumerate() {
        let (start, count) = (first + tile * TILE, to.len() / element);
        for j in 0..element {
            let from = &stored[j * plane + start..][..count];
            for (byte, place) in from.iter().zip(to[j..].iter_mut().step_by(element)) {
                *place = *byte;
            }
        }
    }
}

/// From element `first` on.
fn shuffle_any(plain: &[u8], element: usize, first: usize, to: &mut [u8]) {
    let plane = plain.len() / element;
    for (tile, from) in plain[first * element..].chunks(TILE * element).enumerate() {
        for j in 0..element {
            let to = &mut to[j * plane + first + tile * TILE..][..from.len() / element];
            for (place, byte) in to.iter_mut().zip(from[j..].iter().step_by(element)) {
                *place = *byte;
            }
        }
    }
}

/// Fills `to` with whole elements from element `first` of `stored` on. Both hold whole elements of `element` bytes.
pub(in crate::filter) fn unshuffle(stored: &[u8], element: usize, first: usize, to: &mut [u8]) {
    if to.is_empty() {
        return;
    }
    let done = accelerated::unshuffle(stored, element, first, to);
    if done > 0 {
        return unshuffle_any(stored, element, first + done, &mut to[done * element..]);
    }
    unshuffle_portably(stored, element, first, to);
}

/// The same without instructions that not every processor has; there are elements.
pub(super) fn unshuffle_portably(stored: &[u8], element: usize, first: usize, to: &mut [u8]) {
    match element {
        2 => {
            let [low, high] = planes(stored, first, to.len() / 2);
            interleave(low, high, to);
        }
        3 => unshuffle_small::<3>(stored, first, to),
        4 => unshuffle_staged::<4>(stored, first, to),
        5 => unshuffle_small::<5>(stored, first, to),
        6 => unshuffle_small::<6>(stored, first, to),
        7 => unshuffle_small::<7>(stored, first, to),
        8 => unshuffle_staged::<8>(stored, first, to),
        12 => unshuffle_small::<12>(stored, first, to),
        16 => unshuffle_staged::<16>(stored, first, to),
        _ => unshuffle_any(stored, element, first, to),
    }
}

/// Splits whole elements of `element` bytes into the planes of `to`, which has the same length.
pub(in crate::filter) fn shuffle(plain: &[u8], element: usize, to: &mut [u8]) {
    if plain.is_empty() {
        return;
    }
    let done = accelerated::shuffle(plain, element, to);
    if done > 0 {
        return shuffle_any(plain, element, done, to);
    }
    shuffle_portably(plain, element, to);
}

/// Appends the planes of the elements in `plain` to `output`.
pub(super) fn append_shuffled(plain: &[u8], element: usize, output: &mut Vec<u8>) {
    if !accelerated::append_shuffled(plain, element, output) {
        let start = output.len();
        output.resize(start + plain.len(), 0);
        shuffle(plain, element, &mut output[start..]);
    }
}

/// The same without instructions that not every processor has; there are elements.
pub(super) fn shuffle_portably(plain: &[u8], element: usize, to: &mut [u8]) {
    match element {
        2 => {
            let (low, high) = to.split_at_mut(plain.len() / 2);
            separate(plain, low, high);
        }
        3 => shuffle_small::<3>(plain, to),
        4 => shuffle_staged::<4>(plain, to),
        8 => shuffle_staged::<8>(plain, to),
        16 => shuffle_staged::<16>(plain, to),
        _ => shuffle_any(plain, element, 0, to),
    }
}
