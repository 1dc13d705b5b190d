//! LZO, filter 305 (PyTables): one LZO1X block, then what PyTables adds to it. Client values: level, PyTables' format
//! version, kind of node; none of them is needed.
//!
//! ```text
//! block | adler32 of the plain bytes u32 | plain size u32      little-endian; files of PyTables before 0.5 end with the block
//! ```
//! What the steps of a block do depends on how many literals the step before ended with (s bits; 4 stands for a run):
//!
//! ```text
//! 0000nnnn                     after no literal: n + 3 literals
//! 0000ddss dddddddd            after 1 to 3: 2 bytes from d + 1 back
//!                              after a run: 3 bytes from d + 2049 back
//! 0001dnnn ddddddss dddddddd   n + 2 bytes from d + 16,384 back; where d is 0, the block ends
//! 001nnnnn ddddddss dddddddd   n + 2 bytes from d + 1 back
//! 01ndddss dddddddd            n + 3 bytes from d + 1 back
//! 1nndddss dddddddd            n + 5 bytes from d + 1 back
//! ```
//! A length n of 0 in the first, the fourth and the fifth goes on with bytes that are added, up to and with the first
//! that is not 0. A first byte above 17 starts the block with so many literals less 17.

use super::inflate::adler32;
use super::lz::{copy_literals, copy_match};
use super::{Filter, Output, ends_early, expansion, size};
use crate::error::{Error, Result};

/// LZO has no parameters that matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lzo;

/// The bytes that PyTables adds.
const TRAILER: usize = 8;
/// What a step after a run of literals counts as.
const AFTER_RUN: usize = 4;
/// How far back the long distances begin.
const FAR: usize = 16_384;

impl Filter for Lzo {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let wanted = output.room().min(self.decoded_bound(input.len()));
        let Some(to) = output.slice(wanted)? else {
            return Err(Error::invalid("lzo does not decode to a scattered output"));
        };
        let (used, len) = decode(input, to)?;
        check_trailer(&input[used..], &to[..len])?;
        output.give_back(wanted - len);
        Ok(())
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_mul(expansion::LZO)
    }
}

fn check_trailer(trailer: &[u8], plain: &[u8]) -> Result<()> {
    let Some((trailer, _)) = trailer.split_first_chunk::<TRAILER>() else { return Ok(()) };
    let [a, b, c, d, len @ ..] = *trailer;
    let (stored, claimed) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes(len));
    if size(claimed) != plain.len() {
        return Err(Error::corrupt(format!("the block gives {} bytes, {claimed} are claimed", plain.len())));
    }
    let found = adler32(plain);
    if stored == found {
        return Ok(());
    }
    Err(Error::corrupt(format!("checksum is {stored:#010x}, bytes give {found:#010x}")))
}

/// The bytes of a block, taken in order.
struct Steps<'a> {
    input: &'a [u8],
    at: usize,
}

impl Steps<'_> {
    fn byte(&mut self) -> Result<usize> {
        let byte = self.input.get(self.at).ok_or_else(ends_early)?;
        self.at += 1;
        Ok(usize::from(*byte))
    }

    /// A length of which `short` is in the step itself; `more` is added where it goes on.
    fn len(&mut self, short: usize, more: usize) -> Result<usize> {
        if short != 0 {
            return Ok(short);
        }
        let mut sum = more;
        loop {
            match self.byte()? {
                0 => sum += 255,
                last => return Ok(sum + last),
            }
        }
    }

    fn two(&mut self) -> Result<usize> {
        Ok(self.byte()? | self.byte()? << 8)
    }
}

/// Decodes the block at the start of `input` to `to`; gives how many bytes it has there and here.
fn decode(input: &[u8], to: &mut [u8]) -> Result<(usize, usize)> {
    let mut steps = Steps { input, at: 0 };
    let (mut at, mut before) = (0, 0);
    if let Some(&first @ 18..) = input.first() {
        let literals = usize::from(first) - 17;
        steps.at = 1;
        copy_literals(input, 1, to, 0, literals)?;
        steps.at += literals;
        (at, before) = (literals, literals.min(AFTER_RUN));
    }
    loop {
        let step = steps.byte()?;
        let (len, distance, literals) = match step {
            0..16 if before == 0 => {
                let len = steps.len(step, 15)? + 3;
                copy_literals(input, steps.at, to, at, len)?;
                steps.at += len;
                at += len;
                before = AFTER_RUN;
                continue;
            }
            0..16 => {
                let distance = (steps.byte()? << 2 | step >> 2) + 1;
                if before == AFTER_RUN { (3, distance + 2048, step & 3) } else { (2, distance, step & 3) }
            }
            16..32 => {
                let len = steps.len(step & 7, 7)? + 2;
                let two = steps.two()?;
                let distance = (step & 8) << 11 | two >> 2;
                if distance == 0 {
                    return Ok((steps.at, at));
                }
                (len, distance + FAR, two & 3)
            }
            32..64 => {
                let len = steps.len(step & 31, 31)? + 2;
                let two = steps.two()?;
                (len, (two >> 2) + 1, two & 3)
            }
            _ => ((step >> 5) + 1, (steps.byte()? << 3 | step >> 2 & 7) + 1, step & 3),
        };
        copy_match(to, at, distance, len)?;
        at += len;
        copy_literals(input, steps.at, to, at, literals)?;
        steps.at += literals;
        at += literals;
        before = literals;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::survives_damage;

    /// Seven literals, 20 bytes from 7 back, a literal, 2 bytes from 3 back, the end.
    const BLOCK: [u8; 18] = [24, 1, 2, 3, 4, 5, 6, 7, 32 | 18, 6 << 2 | 1, 0, 9, 2 << 2, 0, 17, 0, 0, 99];

    #[test]
    fn steps_of_a_block_do_what_the_format_says() {
        let mut plain: Vec<u8> = (0..27u8).map(|i| i % 7 + 1).collect();
        plain.extend([9, plain[25], plain[26]]);
        let mut to = [0; 40];
        assert_eq!(decode(&BLOCK, &mut to).unwrap(), (17, 30));
        assert_eq!(to[..30], plain);
        for len in 0..17 {
            assert!(decode(&BLOCK[..len], &mut to).is_err(), "cut to {len}");
        }
        assert!(decode(&BLOCK, &mut to[..29]).is_err());
        let mut with_trailer = BLOCK[..17].to_vec();
        with_trailer.extend(adler32(&plain).to_le_bytes());
        with_trailer.extend(30u32.to_le_bytes());
        Lzo.decode(&with_trailer, &mut Output::exact(&mut to[..30])).unwrap();
        with_trailer[18] ^= 1;
        assert!(Lzo.decode(&with_trailer, &mut Output::exact(&mut to[..30])).is_err());
        survives_damage(&Lzo, &BLOCK, 30, 20_000);
    }
}
