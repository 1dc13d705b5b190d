//! Copies that may write past their end, for decoders that have room there.
//!
//! Unsafe, as slices cost a check per step, and matches have few bytes: with these copies LZ4 and deflate decode a
//! third faster.

/// Bytes past its end that a copy may write.
pub(super) const SLACK: usize = 32;

/// Copies `len` bytes from `input` at `from` to `to` at `at`, if there are [`SLACK`] more on both sides.
#[inline(always)]
pub(super) fn copy_literals(input: &[u8], from: usize, to: &mut [u8], at: usize, len: usize) -> bool {
    let fits =
        |all: usize, start: usize| all.checked_sub(start).is_some_and(|left| left >= SLACK && left - SLACK >= len);
    if !fits(input.len(), from) || !fits(to.len(), at) {
        return false;
    }
    // SAFETY: there are `len + SLACK` bytes on both sides, and the slices do not overlap.
    unsafe { literals(input.as_ptr().add(from), to.as_mut_ptr().add(at), len) };
    true
}

/// Repeats, at `to[at..at + len]`, what stands `distance` bytes before, if that exists and there are [`SLACK`] bytes more.
#[inline(always)]
pub(super) fn copy_match(to: &mut [u8], at: usize, distance: usize, len: usize) -> bool {
    let fits = to.len().checked_sub(at).is_some_and(|left| left >= SLACK && left - SLACK >= len);
    if !fits || distance == 0 || distance > at {
        return false;
    }
    // SAFETY: there are `distance` bytes before `at`, and `len + SLACK` from there on.
    unsafe { repeat(to.as_mut_ptr().add(at), distance, len) };
    true
}

/// Copies `N` bytes.
///
/// # Safety
///
/// There are `N` bytes to read and to write. They may overlap: all are read before any is written.
#[inline(always)]
pub(super) unsafe fn copy<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller has these bytes; arrays of bytes have no alignment.
    unsafe { to.cast::<[u8; N]>().write(from.cast::<[u8; N]>().read()) }
}

/// Copies `len` bytes, and up to [`SLACK`] more.
///
/// # Safety
///
/// There are `len + SLACK` bytes to read and to write, which do not overlap.
#[inline(always)]
pub(super) unsafe fn literals(from: *const u8, to: *mut u8, len: usize) {
    let mut done = 0;
    loop {
        // SAFETY: `done` is at most `len`.
        unsafe { copy::<SLACK>(from.add(done), to.add(done)) };
        done += SLACK;
        if done >= len {
            break;
        }
    }
}

/// Repeats, at `to`, the `len` bytes that stand `distance` before, and writes up to [`SLACK`] more.
///
/// # Safety
///
/// There are `distance` bytes before `to`, at least one, and `len + SLACK` to write from there on.
#[inline(always)]
pub(super) unsafe fn repeat(to: *mut u8, distance: usize, len: usize) {
    // SAFETY: every step starts before `len`, and its source is `distance` bytes before.
    unsafe {
        let from = to.sub(distance).cast_const();
        if distance >= 8 {
            copy::<8>(from, to);
            copy::<8>(from.add(8), to.add(8));
            copy::<8>(from.add(16), to.add(16));
            copy::<8>(from.add(24), to.add(24));
            if len > 32 {
                repeat_long(to, distance, len);
            }
        } else {
            repeat_near(to, distance, len);
        }
    }
}

/// The rest of [`repeat`] after 32 bytes, from at least 8 bytes before.
///
/// # Safety
///
/// As for [`repeat`].
#[inline(always)]
unsafe fn repeat_long(to: *mut u8, distance: usize, len: usize) {
    // SAFETY: the caller's.
    unsafe {
        let from = to.sub(distance).cast_const();
        let mut done = 32;
        if distance >= 32 {
            while done < len {
                copy::<32>(from.add(done), to.add(done));
                done += 32;
            }
        } else {
            while done < len {
                copy::<8>(from.add(done), to.add(done));
                copy::<8>(from.add(done + 8), to.add(done + 8));
                done += 16;
            }
        }
    }
}

/// For distances below 8: which bytes of a word to repeat, what it is multiplied by to do so, and how far the next word
/// goes.
const NEAR: [(u64, u64, usize); 8] = {
    let mut near = [(0, 0, 8); 8];
    let mut distance = 1;
    while distance < 8 {
        let mut at = 0;
        while at < 8 {
            near[distance].1 |= 1 << (8 * at);
            at += distance;
        }
        near[distance].0 = u64::MAX >> (64 - 8 * distance);
        near[distance].2 = 8 - 8 % distance;
        distance += 1;
    }
    near
};

/// [`repeat`] from less than 8 bytes before.
///
/// # Safety
///
/// As for [`repeat`].
#[inline(always)]
unsafe fn repeat_near(to: *mut u8, distance: usize, len: usize) {
    // SAFETY: what is read lies before `to` and within the slack. Every step starts before `len`, or within the first 24
    // bytes.
    unsafe {
        let (mask, times, step) = NEAR[distance & 7];
        let word = u64::from_le(to.sub(distance).cast::<u64>().read_unaligned());
        let word = (word & mask).wrapping_mul(times).to_le();
        let put = |at: usize| to.add(at).cast::<u64>().write_unaligned(word);
        put(0);
        put(step);
        put(2 * step);
        put(3 * step);
        let mut done = 4 * step;
        if step == 8 {
            while done < len {
                to.add(done).cast::<[u64; 4]>().write_unaligned([word; 4]);
                done += 32;
            }
        } else {
            while done < len {
                put(done);
                done += step;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_of_all_distances_and_lengths_repeat_what_stands_before() {
        let before: Vec<u8> = (1..=80).collect();
        for distance in 1..=80 {
            for len in 1..=300 {
                let mut wanted = before.clone();
                (0..len).for_each(|_| wanted.push(wanted[wanted.len() - distance]));
                let mut to = before.clone();
                to.resize(80 + len + SLACK, 0xee);
                assert!(!copy_match(&mut to[..80 + len + SLACK - 1], 80, distance, len));
                assert!(copy_match(&mut to, 80, distance, len));
                assert!(to.starts_with(&wanted), "{len} bytes from {distance} before");
            }
        }
        assert!(!copy_match(&mut [0; 100], 8, 9, 3) && !copy_match(&mut [0; 100], 8, 0, 3));
    }
}
