//! Shuffle with AVX2, where the processor has it: networks that interleave registers, 32 elements at a time.
//!
//! A byte of element i of plane j is to go from place (j, i) to place (i, j). Taking bytes in turn from the first and
//! the second half of all registers moves the highest bit of every place to the lowest, so that as many turns as j has
//! bits bring j behind i; and back, bytes are first brought together within a register. Elements whose size is no power
//! of two go by columns of 16, 8 or 4 bytes, of which the last one overlaps the one before.
//!
//! Unsafe, as the compiler makes no such networks from safe code: at 64 KiB this is two to six times as fast.

use std::arch::x86_64::*;

/// Elements that one step works on.
const STEP: usize = 32;

/// Fills `to` with elements from element `first` of `stored` on, as far as whole steps go; says how many elements that
/// were. None without AVX2.
pub(super) fn unshuffle(stored: &[u8], element: usize, first: usize, to: &mut [u8]) -> usize {
    let (plane, count) = (stored.len() / element, to.len() / element);
    assert!(first + count <= plane, "elements {first} and {count} more, of {plane}");
    if element < 2 || count < STEP || !is_x86_feature_detected!("avx2") {
        return 0;
    }
    // SAFETY: the processor has AVX2. Both slices hold whole elements, so that all planes have bytes up to `count` from
    // `first` on, and `to` has `count` elements.
    unsafe {
        let stored = stored.as_ptr().add(first);
        match element {
            2 => unshuffle_columns::<2>(stored, plane, element, to.as_mut_ptr(), count),
            3..8 => unshuffle_columns::<4>(stored, plane, element, to.as_mut_ptr(), count),
            8..16 => unshuffle_columns::<8>(stored, plane, element, to.as_mut_ptr(), count),
            _ => unshuffle_columns::<16>(stored, plane, element, to.as_mut_ptr(), count),
        }
    }
}

/// Splits the elements of `plain` into the planes of `to`, as far as whole steps go; says how many elements that were.
/// None without AVX2.
pub(super) fn shuffle(plain: &[u8], element: usize, to: &mut [u8]) -> usize {
    assert_eq!(plain.len(), to.len());
    if !can_shuffle(plain, element) {
        return 0;
    }
    // SAFETY: the processor has AVX2, and both slices hold the same whole elements, at least one step.
    unsafe { shuffle_to(plain, element, to.as_mut_ptr()) }
}

/// Appends the planes of the elements in `plain` to `output`, which is not filled with zeros for that. `false` without
/// AVX2: nothing was done.
pub(super) fn append_shuffled(plain: &[u8], element: usize, output: &mut Vec<u8>) -> bool {
    if !can_shuffle(plain, element) {
        return false;
    }
    output.reserve(plain.len());
    let count = plain.len() / element;
    let to = output.spare_capacity_mut().as_mut_ptr().cast::<u8>();
    // SAFETY: the processor has AVX2; there is room for as many bytes, and all of them are written: whole steps, then
    // the rest of each plane.
    unsafe {
        let done = shuffle_to(plain, element, to);
        for (place, from) in (0..element).flat_map(|j| (done..count).map(move |i| (j * count + i, i * element + j))) {
            to.add(place).write(plain[from]);
        }
        output.set_len(output.len() + count * element);
    }
    true
}

fn can_shuffle(plain: &[u8], element: usize) -> bool {
    element >= 2 && plain.len() / element > STEP && is_x86_feature_detected!("avx2")
}

/// # Safety
///
/// The processor has AVX2; `plain` holds more than a step of whole elements, and `to` takes as many bytes.
unsafe fn shuffle_to(plain: &[u8], element: usize, to: *mut u8) -> usize {
    let (plain, count) = (plain.as_ptr(), plain.len() / element);
    // SAFETY: the caller's.
    unsafe {
        match element {
            2 => shuffle_columns::<2>(plain, element, to, count),
            3..8 => shuffle_columns::<4>(plain, element, to, count),
            8..16 => shuffle_columns::<8>(plain, element, to, count),
            _ => shuffle_columns::<16>(plain, element, to, count),
        }
    }
}

/// Takes groups of `SIZE` bytes in turn from the first and the second half of the registers.
#[target_feature(enable = "avx2")]
#[inline]
fn interleave<const SIZE: usize, const E: usize>(from: [__m256i; E]) -> [__m256i; E] {
    let mut to = from;
    for k in 0..E / 2 {
        let (a, b) = (from[k], from[k + E / 2]);
        (to[2 * k], to[2 * k + 1]) = match SIZE {
            1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
            2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
            4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
            _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
        };
    }
    to
}

/// The first columns of all tiles of `E` columns.
fn tiles<const E: usize>(element: usize) -> impl Iterator<Item = usize> {
    (0..element.div_ceil(E)).map(move |tile| (tile * E).min(element.saturating_sub(E)))
}

/// How many steps there are. Elements of 3 bytes are taken as 4, and so the last one is left out.
fn steps<const E: usize>(element: usize, count: usize) -> usize {
    if element < E { (count - 1) / STEP } else { count / STEP }
}

/// # Safety
///
/// From `stored` on there are `count` bytes in each of `element` planes, `plane` bytes apart; `to` takes `count`
/// elements of `element` bytes, at least `E`, or 3 of 4.
#[target_feature(enable = "avx2")]
unsafe fn unshuffle_columns<const E: usize>(
    stored: *const u8,
    plane: usize,
    element: usize,
    to: *mut u8,
    count: usize,
) -> usize {
    let steps = steps::<E>(element, count);
    // Elements of `E` bytes end with a step that overlaps the one before, so that none are left.
    let last = if element == E { Some(count - STEP) } else { None };
    for i in (0..steps).map(|step| step * STEP).chain(last.filter(|last| last % STEP > 0)) {
        for column in tiles::<E>(element) {
            // SAFETY: plane `column + j` has bytes up to `count`.
            let rows = unsafe { columns::<E>(stored.add(column * plane + i), plane, element) };
            // SAFETY: elements `i` to `i + STEP` lie within `to`, and columns up to `column + E` within an element.
            unsafe {
                if element == E {
                    store_side_by_side(rows, to.add(i * E));
                } else {
                    store_columns(rows, to.add(i * element + column), element);
                }
            }
        }
    }
    if element == E { count } else { steps * STEP }
}

/// A step of `E` planes, or fewer, with the bytes of each element together.
///
/// # Safety
///
/// From `stored` on there are `STEP` bytes in each of `element` planes, `plane` bytes apart.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn columns<const E: usize>(stored: *const u8, plane: usize, element: usize) -> [__m256i; E] {
    let mut rows = [_mm256_setzero_si256(); E];
    if E < 16 {
        for (j, row) in rows.iter_mut().take(element).enumerate() {
            // SAFETY: the caller's.
            *row = unsafe { _mm256_loadu_si256(stored.add(j * plane).cast()) };
        }
        for _ in 0..E.trailing_zeros() {
            rows = interleave::<1, E>(rows);
        }
        return rows;
    }
    // Half of the planes after the other: there are no more than 16 registers.
    // SAFETY: there are at least as many planes.
    let (low, high) = unsafe { (columns::<8>(stored, plane, 8), columns::<8>(stored.add(8 * plane), plane, 8)) };
    for ((pair, low), high) in rows.as_chunks_mut::<2>().0.iter_mut().zip(low).zip(high) {
        *pair = [_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high)];
    }
    rows
}

/// # Safety
///
/// `to` takes `STEP` elements of `E` bytes.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store_side_by_side<const E: usize>(rows: [__m256i; E], to: *mut u8) {
    for (pair, at) in rows.as_chunks::<2>().0.iter().zip((0..).step_by(32)) {
        // SAFETY: the lower halves are the first 16 elements, the upper ones the last 16.
        unsafe {
            _mm256_storeu_si256(to.add(at).cast(), _mm256_permute2x128_si256::<0x20>(pair[0], pair[1]));
            _mm256_storeu_si256(to.add(16 * E + at).cast(), _mm256_permute2x128_si256::<0x31>(pair[0], pair[1]));
        }
    }
}

/// # Safety
///
/// `to` is the first of `STEP` places for `E` bytes, `stride` bytes apart; if that is less than `E`, one more byte follows.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store_columns<const E: usize>(rows: [__m256i; E], to: *mut u8, stride: usize) {
    // In the order of the elements, as what is written past the end of one is mended by the next.
    for start in [0, 16] {
        for (row, k) in rows.into_iter().zip(0..) {
            let half = if start == 0 { _mm256_castsi256_si128(row) } else { _mm256_extracti128_si256::<1>(row) };
            let first = start + k * (16 / E);
            // SAFETY: a half is 16 / E elements, one after the other.
            unsafe {
                match E {
                    16 => _mm_storeu_si128(to.add(first * stride).cast(), half),
                    8 => {
                        _mm_storel_epi64(to.add(first * stride).cast(), half);
                        _mm_storel_epi64(to.add((first + 1) * stride).cast(), _mm_unpackhi_epi64(half, half));
                    }
                    _ => {
                        to.add(first * stride).cast::<i32>().write_unaligned(_mm_extract_epi32::<0>(half));
                        to.add((first + 1) * stride).cast::<i32>().write_unaligned(_mm_extract_epi32::<1>(half));
                        to.add((first + 2) * stride).cast::<i32>().write_unaligned(_mm_extract_epi32::<2>(half));
                        to.add((first + 3) * stride).cast::<i32>().write_unaligned(_mm_extract_epi32::<3>(half));
                    }
                }
            }
        }
    }
}

/// # Safety
///
/// `plain` has, and `to` takes, `count` elements of `element` bytes, at least `E`, or 3 of 4.
#[target_feature(enable = "avx2")]
unsafe fn shuffle_columns<const E: usize>(plain: *const u8, element: usize, to: *mut u8, count: usize) -> usize {
    let steps = steps::<E>(element, count);
    // Brings bytes of the same place in an element together, in the order of the elements.
    let mut order = [0u8; 32];
    for (place, k) in order.iter_mut().zip(0u8..) {
        let (per, k) = (16 / E, usize::from(k % 16));
        *place = (k % per * E + k / per).to_le_bytes()[0];
    }
    // SAFETY: an array of 32 bytes.
    let order = unsafe { _mm256_loadu_si256(order.as_ptr().cast()) };
    for i in (0..steps).map(|step| step * STEP) {
        for column in tiles::<E>(element) {
            // SAFETY: elements `i` to `i + STEP` lie within `plain`, and columns up to `column + E` within an element.
            let mut rows = unsafe { load::<E>(plain.add(i * element + column), element) };
            if E < 16 {
                for row in &mut rows {
                    *row = _mm256_shuffle_epi8(*row, order);
                }
            }
            for _ in 0..E.trailing_zeros() {
                rows = match E {
                    2 => interleave::<8, E>(rows),
                    4 => interleave::<4, E>(rows),
                    8 => interleave::<2, E>(rows),
                    _ => interleave::<1, E>(rows),
                };
            }
            for (row, j) in rows.into_iter().take(element).zip(column..) {
                // SAFETY: plane `j` of `to` takes `count` bytes.
                unsafe { _mm256_storeu_si256(to.add(j * count + i).cast(), row) };
            }
        }
    }
    steps * STEP
}

/// `E` bytes of each of 32 elements, the first 16 elements in the lower halves.
///
/// # Safety
///
/// `plain` is the first of `STEP` places with `E` bytes, `stride` bytes apart; if that is less than `E`, one more byte follows.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load<const E: usize>(plain: *const u8, stride: usize) -> [__m256i; E] {
    let mut rows = [_mm256_setzero_si256(); E];
    for (row, k) in rows.iter_mut().zip(0..) {
        let first = k * (16 / E);
        // SAFETY: a half is 16 / E elements, one after the other.
        *row = unsafe {
            _mm256_set_m128i(load_half::<E>(plain, stride, first + 16), load_half::<E>(plain, stride, first))
        };
    }
    rows
}

/// `E` bytes of each of 16 / E elements.
///
/// # Safety
///
/// As for [`load`], from element `first` on.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load_half<const E: usize>(plain: *const u8, stride: usize, first: usize) -> __m128i {
    // SAFETY: the caller has these elements.
    unsafe {
        let at = |i: usize| plain.add((first + i) * stride);
        if E == 16 || stride == E {
            return _mm_loadu_si128(at(0).cast());
        }
        if E == 8 {
            return _mm_unpacklo_epi64(_mm_loadl_epi64(at(0).cast()), _mm_loadl_epi64(at(1).cast()));
        }
        let four = |i: usize| at(i).cast::<i32>().read_unaligned();
        _mm_set_epi32(four(3), four(2), four(1), four(0))
    }
}
