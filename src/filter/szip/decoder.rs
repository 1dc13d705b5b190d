//! Undoes the adaptive entropy coding: blocks of samples, most significant bit first. CCSDS 121.0-B.
//!
//! ```text
//! identifier | reference sample, in the first block of a line of differences | body
//! all zeros, 0: a run of zero blocks     all zeros, 1: second extension, two samples per code
//! k + 1: quotients by 2^k, then remainders of k bits     all ones: samples as they are
//! ```

use super::Coding;
use crate::error::{Error, Result};
use crate::filter::bits::BitReader;

/// Fills `to` with the samples of `coded`, in the dataset's byte order.
pub(super) fn decode(coding: Coding, coded: &[u8], to: &mut [u8], big_endian: bool) -> Result<()> {
    let mut line = Line { coding, bits: BitReader::new(coded), samples: vec![0; coding.interval()] };
    let width = coding.width();
    // Lines that need no padding are whole intervals all the same.
    for to in to.chunks_mut(coding.line * width) {
        let count = to.len() / width;
        line.decode(count)?;
        store(&line.samples[..count], to, width, big_endian);
    }
    Ok(())
}

fn store(samples: &[u32], to: &mut [u8], width: usize, big_endian: bool) {
    match (width, big_endian) {
        (1, _) => to.iter_mut().zip(samples).for_each(|(to, s)| *to = s.to_le_bytes()[0]),
        (2, false) => to.as_chunks_mut().0.iter_mut().zip(samples).for_each(|(to, s)| {
            let [low, high, ..] = s.to_le_bytes();
            *to = [low, high];
        }),
        (2, true) => to.as_chunks_mut().0.iter_mut().zip(samples).for_each(|(to, s)| {
            let [low, high, ..] = s.to_le_bytes();
            *to = [high, low];
        }),
        (_, false) => to.as_chunks_mut().0.iter_mut().zip(samples).for_each(|(to, s)| *to = s.to_le_bytes()),
        (_, true) => to.as_chunks_mut().0.iter_mut().zip(samples).for_each(|(to, s)| *to = s.to_be_bytes()),
    }
}

/// One line of samples, between two reference samples.
struct Line<'a> {
    coding: Coding,
    bits: BitReader<'a>,
    samples: Vec<u32>,
}

impl Line<'_> {
    /// Decodes the blocks that hold the first `count` samples.
    fn decode(&mut self, count: usize) -> Result<()> {
        let block = self.coding.block;
        let blocks = self.coding.interval() / block;
        let mut index = 0;
        while index * block < count {
            index += self.block(index, blocks)?;
        }
        if self.coding.differences {
            add_up(&mut self.samples[..count], self.coding.largest());
        }
        Ok(())
    }

    /// Decodes one block, or a run of zero blocks; returns how many.
    fn block(&mut self, index: usize, blocks: usize) -> Result<usize> {
        let Coding { bits: width, block, .. } = self.coding;
        let identifier_bits = self.coding.identifier_bits();
        let raw = (1 << identifier_bits) - 1;
        let identifier = self.number(identifier_bits);
        let extended = identifier == 0 && self.number(1) == 1;
        let referenced = self.coding.differences && index == 0;
        let start = index * block;
        let mut first = start;
        if referenced && identifier != raw {
            self.samples[start] = self.number(width);
            first += 1;
        }
        let mut run = 1;
        if identifier == 0 && !extended {
            run = self.zero_blocks(index, blocks)?;
            self.samples[first..start + run * block].fill(0);
        } else if identifier == 0 {
            second_extension(&mut self.bits, &mut self.samples[start..start + block], first - start)?;
        } else if identifier == raw {
            for sample in &mut self.samples[start..start + block] {
                *sample = low(self.bits.take_unchecked(width));
            }
        } else {
            split_samples(&mut self.bits, &mut self.samples[first..start + block], identifier - 1)?;
        }
        self.bits.check()?;
        Ok(run)
    }

    fn number(&mut self, count: u32) -> u32 {
        low(self.bits.take_unchecked(count))
    }

    fn zero_blocks(&mut self, index: usize, blocks: usize) -> Result<usize> {
        let left = blocks - index;
        let count = match crate::filter::size(self.bits.unary()?) + 1 {
            5 => left.min(64 - index % 64),
            n if n > 5 => n - 1,
            n => n,
        };
        if count <= left {
            return Ok(count);
        }
        Err(Error::corrupt(format!("a run of {count} zero blocks, {left} are left in the line")))
    }
}

fn low(bits: u64) -> u32 {
    let [a, b, c, d, ..] = bits.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The quotients of all samples by 2^k in unary, then all remainders.
fn split_samples(bits: &mut BitReader<'_>, samples: &mut [u32], k: u32) -> Result<()> {
    let mut done = 0;
    while done < samples.len() {
        let mut window = bits.window();
        let mut used = 0;
        for sample in &mut samples[done..] {
            let zeros = window.leading_zeros();
            if used + zeros >= BitReader::WINDOW {
                break;
            }
            *sample = zeros << k;
            window <<= zeros + 1;
            used += zeros + 1;
            done += 1;
        }
        bits.skip(used);
        if used == 0 {
            samples[done] = bits.unary()? << k;
            done += 1;
        }
    }
    if k > 0 {
        for sample in samples {
            *sample |= low(bits.take_unchecked(k));
        }
    }
    Ok(())
}

/// Each code stands for two samples: m = (a + b)(a + b + 1) / 2 + b. A reference sample takes the place of an a.
fn second_extension(bits: &mut BitReader<'_>, samples: &mut [u32], first: usize) -> Result<()> {
    let mut at = first;
    while at < samples.len() {
        let m = bits.unary()?;
        let sum = (u64::from(m) * 8 + 1).isqrt().saturating_sub(1) / 2;
        let second = u64::from(m) - sum * (sum + 1) / 2;
        if at.is_multiple_of(2) {
            samples[at] = low(sum - second);
            at += 1;
        }
        samples[at] = low(second);
        at += 1;
    }
    Ok(())
}

/// Replaces mapped differences by samples between 0 and `largest`. The first one is a sample already.
fn add_up(samples: &mut [u32], largest: u32) {
    let Some((&mut first, rest)) = samples.split_first_mut() else { return };
    let mut x = first;
    let middle = largest / 2;
    for sample in rest {
        let d = *sample;
        let half = d / 2 + (d & 1);
        let room = x.min(largest.wrapping_sub(x));
        x = if half <= room {
            if d & 1 == 0 { x.wrapping_add(half) } else { x.wrapping_sub(half) }
        } else if x <= middle {
            d
        } else {
            largest.wrapping_sub(d)
        } & largest;
        *sample = x;
    }
}
