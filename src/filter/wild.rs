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
        if distance >= 16 {
            let mut done = 0;
            loop {
                copy::<16>(from.add(done), to.add(done));
                copy::<16>(from.add(done + 16), to.add(done + 16));
                done += 32;
                if done >= len {
                    break;
                }
            }
        } else if distance >= 8 {
            let mut done = 0;
            while done < len {
                copy::<8>(from.add(done), to.add(done));
                copy::<8>(from.add(done + 8), to.add(done + 8));
                done += 16;
            }
        } else {
            repeat_near(to, distance, len);
        }
    }
}

/// [`repeat`] from less than 8 bytes before.
///
/// # Safety
///
/// As for [`repeat`].
#[inline]
unsafe fn repeat_near(to: *mut u8, distance: usize, len: usize) {
    // SAFETY: the first 16 bytes are within the slack; every other step starts before `len`.
    unsafe {
        let from = to.sub(distance).cast_const();
        if distance == 1 {
            if len > 64 {
                return to.write_bytes(from.read(), len);
            }
            let pattern = [from.read(); 16];
            let mut done = 0;
            while done < len {
                to.add(done).cast::<[u8; 16]>().write(pattern);
                done += 16;
            }
            return;
        }
        for i in 0..8 {
            to.add(i).write(from.add(i).read());
        }
        // A multiple of the distance that is at least 8 repeats the same.
        let back = distance * 8usize.div_ceil(distance);
        let mut done = 8;
        while done < len {
            copy::<8>(to.add(done).sub(back).cast_const(), to.add(done));
            done += 8;
        }
    }
}
