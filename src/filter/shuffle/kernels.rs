//! The loops of shuffle. Elements of 2, 4, 8 and 16 bytes are put together as one number, which the compiler turns
//! into vectors; other sizes go by tiles that stay in the first cache.

use std::array;

/// The planes that whole elements of `E` bytes were split into, each from element `first` on.
fn planes<const E: usize>(stored: &[u8], first: usize, count: usize) -> [&[u8]; E] {
    let plane = stored.len() / E;
    array::from_fn(|j| &stored[j * plane + first..][..count])
}

macro_rules! integer_kernels {
    ($unshuffle:ident, $shuffle:ident, $number:ty, $size:literal) => {
        fn $unshuffle(stored: &[u8], first: usize, to: &mut [u8]) {
            let to = to.as_chunks_mut::<$size>().0;
            let planes: [&[u8]; $size] = planes(stored, first, to.len());
            for (i, element) in to.iter_mut().enumerate() {
                let mut number: $number = 0;
                for (j, plane) in planes.iter().enumerate() {
                    number |= <$number>::from(plane[i]) << (8 * j);
                }
                *element = number.to_le_bytes();
            }
        }

        fn $shuffle(plain: &[u8], to: &mut [u8]) {
            let plain = plain.as_chunks::<$size>().0;
            for (j, plane) in to.chunks_exact_mut(plain.len()).enumerate() {
                for (byte, element) in plane.iter_mut().zip(plain) {
                    *byte = (<$number>::from_le_bytes(*element) >> (8 * j)).to_le_bytes()[0];
                }
            }
        }
    };
}

integer_kernels!(unshuffle_2, shuffle_2, u16, 2);
integer_kernels!(unshuffle_4, shuffle_4, u32, 4);
integer_kernels!(unshuffle_8, shuffle_8, u64, 8);
integer_kernels!(unshuffle_16, shuffle_16, u128, 16);

fn unshuffle_small<const E: usize>(stored: &[u8], first: usize, to: &mut [u8]) {
    let to = to.as_chunks_mut::<E>().0;
    let planes: [&[u8]; E] = planes(stored, first, to.len());
    for (i, element) in to.iter_mut().enumerate() {
        *element = array::from_fn(|j| planes[j][i]);
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

fn shuffle_any(plain: &[u8], element: usize, to: &mut [u8]) {
    let plane = plain.len() / element;
    for (tile, from) in plain.chunks(TILE * element).enumerate() {
        for j in 0..element {
            let to = &mut to[j * plane + tile * TILE..][..from.len() / element];
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
    match element {
        2 => unshuffle_2(stored, first, to),
        3 => unshuffle_small::<3>(stored, first, to),
        4 => unshuffle_4(stored, first, to),
        5 => unshuffle_small::<5>(stored, first, to),
        6 => unshuffle_small::<6>(stored, first, to),
        7 => unshuffle_small::<7>(stored, first, to),
        8 => unshuffle_8(stored, first, to),
        12 => unshuffle_small::<12>(stored, first, to),
        16 => unshuffle_16(stored, first, to),
        _ => unshuffle_any(stored, element, first, to),
    }
}

/// Splits whole elements of `element` bytes into the planes of `to`, which has the same length.
pub(in crate::filter) fn shuffle(plain: &[u8], element: usize, to: &mut [u8]) {
    if plain.is_empty() {
        return;
    }
    match element {
        2 => shuffle_2(plain, to),
        4 => shuffle_4(plain, to),
        8 => shuffle_8(plain, to),
        16 => shuffle_16(plain, to),
        _ => shuffle_any(plain, element, to),
    }
}
