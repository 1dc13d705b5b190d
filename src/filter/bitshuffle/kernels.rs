//! Transposes bits: elements of `e` bytes to 8·e rows of bits and back, by way of byte planes.
//!
//! Row 8·j + b holds bit b of byte j of every element; element i is bit i mod 8 of byte i / 8 of the row.

use crate::filter::scratch::with_buffer;
use crate::filter::shuffle::{shuffle, unshuffle};

/// Transposes an 8×8 matrix of bits, a row per byte.
#[inline]
fn transpose(mut rows: u64) -> u64 {
    let swapped = (rows ^ rows >> 7) & 0x00aa_00aa_00aa_00aa;
    rows ^= swapped ^ swapped << 7;
    let swapped = (rows ^ rows >> 14) & 0x0000_cccc_0000_cccc;
    rows ^= swapped ^ swapped << 14;
    let swapped = (rows ^ rows >> 28) & 0x0000_0000_f0f0_f0f0;
    rows ^ swapped ^ swapped << 28
}

/// Lanes that are worked on side by side, which the compiler turns into vectors.
const LANES: usize = 2;
/// Bytes of a row that one step takes, and of a plane that it gives.
const ROW_STEP: usize = 8 * LANES;
const PLANE_STEP: usize = 8 * ROW_STEP;

type Words = [u64; LANES];

/// Swaps, between words `DISTANCE` apart, the parts whose place has and has not this bit: one stage of a transposition.
#[inline(always)]
fn swap<const DISTANCE: usize>(words: &mut [Words; 8], shift: u32, mask: u64) {
    for i in (0..8).filter(|i| i & DISTANCE == 0) {
        let (a, b) = (words[i], words[i + DISTANCE]);
        let swapped: Words = std::array::from_fn(|lane| (a[lane] >> shift ^ b[lane]) & mask);
        words[i + DISTANCE] = std::array::from_fn(|lane| b[lane] ^ swapped[lane]);
        words[i] = std::array::from_fn(|lane| a[lane] ^ swapped[lane] << shift);
    }
}

/// Transposes the bits at each place of a byte over eight words.
#[inline(always)]
fn swap_bits(words: &mut [Words; 8]) {
    swap::<1>(words, 1, 0x5555_5555_5555_5555);
    swap::<2>(words, 2, 0x3333_3333_3333_3333);
    swap::<4>(words, 4, 0x0f0f_0f0f_0f0f_0f0f);
}

/// Transposes the bytes of eight words.
#[inline(always)]
fn swap_bytes(words: &mut [Words; 8]) {
    swap::<1>(words, 8, 0x00ff_00ff_00ff_00ff);
    swap::<2>(words, 16, 0x0000_ffff_0000_ffff);
    swap::<4>(words, 32, 0x0000_0000_ffff_ffff);
}

/// The word at the start of `bytes`; 0 where there is none.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight))
}

/// One plane of bytes from its eight rows of bits.
fn plane_from_rows(rows: &[u8], plane: &mut [u8]) {
    let len = rows.len() / 8;
    let rows: [&[u8]; 8] = std::array::from_fn(|b| &rows[b * len..][..len]);
    let (steps, rest) = plane.as_chunks_mut::<PLANE_STEP>();
    let stepped = steps.len() * ROW_STEP;
    for (step, start) in steps.iter_mut().zip((0..).step_by(ROW_STEP)) {
        let part: [&[u8]; 8] = std::array::from_fn(|b| &rows[b][start..start + ROW_STEP]);
        let mut words = std::array::from_fn(|b| std::array::from_fn(|lane| word(&part[b][8 * lane..])));
        swap_bits(&mut words);
        swap_bytes(&mut words);
        for (place, i) in step.as_chunks_mut::<8>().0.iter_mut().zip(0..) {
            *place = words[i % 8][i / 8].to_le_bytes();
        }
    }
    for (eight, i) in rest.as_chunks_mut::<8>().0.iter_mut().zip(stepped..len) {
        let gathered = u64::from_le_bytes(std::array::from_fn(|b| rows[b][i]));
        *eight = transpose(gathered).to_le_bytes();
    }
}

fn rows_from_plane(plane: &[u8], rows: &mut [u8]) {
    let len = rows.len() / 8;
    let (steps, rest) = plane.as_chunks::<PLANE_STEP>();
    let stepped = steps.len() * ROW_STEP;
    for (step, start) in steps.iter().zip((0..).step_by(ROW_STEP)) {
        let mut words = std::array::from_fn(|i| std::array::from_fn(|lane| word(&step[64 * lane + 8 * i..])));
        swap_bytes(&mut words);
        swap_bits(&mut words);
        for (b, word) in words.iter().enumerate() {
            let row = &mut rows[b * len + start..][..ROW_STEP];
            row.as_chunks_mut().0.iter_mut().zip(word).for_each(|(place, lane)| *place = lane.to_le_bytes());
        }
    }
    for (eight, i) in rest.as_chunks::<8>().0.iter().zip(stepped..) {
        let bits = transpose(u64::from_le_bytes(*eight)).to_le_bytes();
        for (b, byte) in bits.into_iter().enumerate() {
            rows[b * len + i] = byte;
        }
    }
}

/// Fills `to` with the elements whose rows of bits are `stored`. Both hold a multiple of 8 elements of `element` bytes.
pub(in crate::filter) fn bit_unshuffle(stored: &[u8], element: usize, to: &mut [u8]) {
    let plane = stored.len() / element;
    if plane == 0 {
        return;
    }
    if element == 1 {
        return plane_from_rows(stored, to);
    }
    with_buffer(stored.len(), |planes| {
        for (rows, plane) in stored.chunks_exact(plane).zip(planes.chunks_exact_mut(plane)) {
            plane_from_rows(rows, plane);
        }
        unshuffle(planes, element, 0, to);
    });
}

/// Fills `to` with the rows of bits of the elements in `plain`.
pub(in crate::filter) fn bit_shuffle(plain: &[u8], element: usize, to: &mut [u8]) {
    let plane = plain.len() / element;
    if plane == 0 {
        return;
    }
    if element == 1 {
        return rows_from_plane(plain, to);
    }
    with_buffer(plain.len(), |planes| {
        shuffle(plain, element, planes);
        for (plane, rows) in planes.chunks_exact(plane).zip(to.chunks_exact_mut(plane)) {
            rows_from_plane(plane, rows);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::Random;

    /// The definition, bit by bit.
    fn plainly(plain: &[u8], element: usize) -> Vec<u8> {
        let count = plain.len() / element;
        let mut rows = vec![0; plain.len()];
        for i in 0..count {
            for j in 0..element {
                for b in 0..8 {
                    let bit = plain[i * element + j] >> b & 1;
                    rows[(8 * j + b) * count / 8 + i / 8] |= bit << (i % 8);
                }
            }
        }
        rows
    }

    #[test]
    fn every_element_size_gives_what_the_definition_gives() {
        let mut random = Random::new(30);
        for element in (1..20).chain([33, 300]) {
            for count in [0, 8, 16, 64, 136, 400] {
                let plain: Vec<u8> = (0..element * count).map(|_| random.byte()).collect();
                let (mut rows, mut back) = (vec![0; plain.len()], vec![0; plain.len()]);
                bit_shuffle(&plain, element, &mut rows);
                assert!(rows == plainly(&plain, element), "{count} elements of {element} bytes");
                bit_unshuffle(&rows, element, &mut back);
                assert!(back == plain, "{count} elements of {element} bytes");
            }
        }
    }
}
