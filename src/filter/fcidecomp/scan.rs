//! A scan of JPEG-LS: one component, line by line. ITU-T T.87, annex A.
//!
//! A sample is predicted from its neighbours: a to the left, b above, c left of b, d right of b. The differences among them
//! choose a context, which says how the error of the prediction is coded; where there are none, a run of a begins.

use crate::error::{Error, Result};
use crate::filter::ends_early;

/// What a scan is decoded with.
pub(super) struct Coding {
    /// The largest sample.
    pub(super) largest: i32,
    /// By how much samples may be wrong.
    pub(super) near: i32,
    pub(super) thresholds: Thresholds,
    /// After how many samples the statistics of a context are halved.
    pub(super) reset: i32,
}

/// Where classes of differences begin.
pub(super) struct Thresholds([i32; 3]);

impl Thresholds {
    /// Those that are wanted; the usual ones where that is 0 (T.87, C.2.4.1.1).
    pub(super) fn new(largest: i32, near: i32, wanted: [i32; 3]) -> Result<Self> {
        let usual = if largest >= 128 {
            let factor = (largest.min(4095) + 128) / 256;
            [factor + 2 + 3 * near, factor * 4 + 3 + 5 * near, factor * 17 + 4 + 7 * near]
        } else {
            let factor = 256 / (largest + 1);
            [(3 / factor + 3 * near).max(2), (7 / factor + 5 * near).max(3), (21 / factor + 7 * near).max(4)]
        };
        let (mut found, mut least) = ([0; 3], near + 1);
        for ((own, usual), wanted) in found.iter_mut().zip(usual).zip(wanted) {
            *own = match wanted {
                0 if usual > largest || usual < least => least,
                0 => usual,
                wanted if wanted < least || wanted > largest => {
                    return Err(Error::corrupt(format!("threshold {wanted}, {least} to {largest} make sense")));
                }
                wanted => wanted,
            };
            least = *own;
        }
        Ok(Thresholds(found))
    }

    /// The class of a difference, -4 to 4.
    fn class(&self, difference: i32, near: i32) -> i32 {
        let size = difference.abs();
        let class = i32::from(size > near) + self.0.iter().map(|&t| i32::from(size >= t)).sum::<i32>();
        if difference < 0 { -class } else { class }
    }
}

/// Bits, the most significant first.
struct Bits<'a> {
    input: &'a [u8],
    at: usize,
    /// The next bits stand highest.
    buffer: u64,
    count: u32,
    /// Whether the byte before was 0xff: then only seven bits of the next one count.
    stuffed: bool,
}

impl Bits<'_> {
    /// Fills the buffer to more than 48 bits, or as far as there are bytes of the scan.
    fn refill(&mut self) {
        while self.count <= 48 {
            let Some(&byte) = self.input.get(self.at) else { return };
            if self.stuffed && byte >= 0x80 {
                // A marker.
                return;
            }
            let bits = if self.stuffed { 7 } else { 8 };
            self.buffer |= u64::from(byte) << (64 - self.count - bits);
            self.count += bits;
            self.stuffed = byte == 0xff;
            self.at += 1;
        }
    }

    fn take(&mut self, count: u32) -> Result<i32> {
        if count == 0 {
            return Ok(0);
        }
        if self.count < count {
            self.refill();
            if self.count < count {
                return Err(ends_early());
            }
        }
        let value = self.buffer >> (64 - count);
        self.buffer <<= count;
        self.count -= count;
        i32::try_from(value).map_err(|_| ends_early())
    }

    /// How many zeros stand before the next one, which is taken too.
    fn zeros(&mut self) -> Result<i32> {
        let mut zeros = 0;
        loop {
            self.refill();
            let run = self.buffer.leading_zeros().min(self.count);
            zeros += run;
            self.buffer = self.buffer.checked_shl(run).unwrap_or(0);
            self.count -= run;
            if self.count > 0 {
                self.take(1)?;
                return Ok(zeros.cast_signed());
            }
            if run == 0 {
                return Err(ends_early());
            }
        }
    }

    /// Where the marker after the scan stands.
    fn end(mut self) -> usize {
        let mut before = usize::MAX;
        while self.at != before {
            before = self.at;
            (self.buffer, self.count) = (0, 0);
            self.refill();
        }
        // The byte 0xff of the marker has been taken for one of the scan.
        self.at - usize::from(self.stuffed)
    }
}

/// What is known of the errors in a context.
#[derive(Clone, Copy)]
struct Context {
    /// Sum of sizes.
    sizes: i32,
    /// Sum, less what was corrected.
    bias: i32,
    correction: i32,
    count: i32,
    /// Of contexts that end runs: how many errors were negative.
    negative: i32,
}

impl Context {
    /// How many low bits an error has, where its size is about `sizes` over the count.
    fn low_bits(self, sizes: i32) -> u32 {
        let mut bits = 0;
        while i64::from(self.count) << bits < i64::from(sizes) {
            bits += 1;
        }
        bits.min(24)
    }

    fn halve(&mut self, reset: i32) {
        if self.count == reset {
            self.sizes >>= 1;
            self.bias >>= 1;
            self.count >>= 1;
            self.negative >>= 1;
        }
        self.count += 1;
    }
}

/// Contexts of samples: classes of three differences, of which the first that is not 0 is positive.
const REGULAR: usize = 365;
/// How many bits the lengths of runs have, by how long the runs before were.
const RUN_BITS: [u32; 32] =
    [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15];

struct Decoder<'a> {
    bits: Bits<'a>,
    coding: &'a Coding,
    /// How many values an error may have.
    range: i32,
    /// Bits of an error.
    error_bits: u32,
    /// Bits of the longest code.
    limit: i32,
    contexts: [Context; REGULAR],
    ends: [Context; 2],
    run: usize,
}

/// Decodes a component whose lines have `width` samples, which fill `to`: bytes, or `wide` u16 in little-endian order.
/// Gives how many bytes of `input` the scan has.
pub(super) fn decode(input: &[u8], coding: &Coding, width: usize, wide: bool, to: &mut [u8]) -> Result<usize> {
    let mut decoder = Decoder::new(input, coding);
    // A line has its left neighbour before it, and its right one after it.
    let (mut above, mut line) = (vec![0; width + 2], vec![0; width + 2]);
    for to in to.chunks_exact_mut(if wide { 2 * width } else { width }) {
        above[width + 1] = above[width];
        line[0] = above[1];
        decoder.line(&above, &mut line)?;
        if wide {
            for (place, &sample) in to.as_chunks_mut::<2>().0.iter_mut().zip(&line[1..]) {
                *place = u16::try_from(sample).unwrap_or(u16::MAX).to_le_bytes();
            }
        } else {
            for (place, &sample) in to.iter_mut().zip(&line[1..]) {
                *place = u8::try_from(sample).unwrap_or(u8::MAX);
            }
        }
        std::mem::swap(&mut above, &mut line);
    }
    Ok(decoder.bits.end())
}

impl<'a> Decoder<'a> {
    fn new(input: &'a [u8], coding: &'a Coding) -> Self {
        let Coding { largest, near, .. } = *coding;
        let range = if near == 0 { largest + 1 } else { (largest + 2 * near) / (2 * near + 1) + 1 };
        let bits_of = |values: i32| i32::BITS - (values - 1).leading_zeros();
        let sample_bits = bits_of(largest + 1).max(2);
        let limit = 2 * (sample_bits + sample_bits.max(8));
        let sizes = ((range + 32) / 64).max(2);
        let fresh = Context { sizes, bias: 0, correction: 0, count: 1, negative: 0 };
        Decoder {
            bits: Bits { input, at: 0, buffer: 0, count: 0, stuffed: false },
            coding,
            range,
            error_bits: bits_of(range),
            limit: limit.cast_signed(),
            contexts: [fresh; REGULAR],
            ends: [fresh; 2],
            run: 0,
        }
    }

    /// Decodes a line. Sample x stands at x + 1, in both.
    fn line(&mut self, above: &[i32], line: &mut [i32]) -> Result<()> {
        let end = line.len() - 1;
        let mut x = 1;
        while x < end {
            let (a, b, c, d) = (line[x - 1], above[x], above[x - 1], above[x + 1]);
            let class = |difference| self.coding.thresholds.class(difference, self.coding.near);
            let classes = 81 * class(d - b) + 9 * class(b - c) + class(c - a);
            if classes != 0 {
                line[x] = self.sample(classes, a, b, c)?;
                x += 1;
                continue;
            }
            let len = self.run(end - x)?;
            line[x..x + len].fill(a);
            x += len;
            if x < end {
                line[x] = self.end_of_run(a, above[x])?;
                self.run = self.run.saturating_sub(1);
                x += 1;
            }
        }
        Ok(())
    }

    fn sample(&mut self, classes: i32, a: i32, b: i32, c: i32) -> Result<i32> {
        let sign = classes.signum();
        let at = usize::try_from(classes.abs()).unwrap_or(0);
        let predicted = match c {
            c if c >= a.max(b) => a.min(b),
            c if c <= a.min(b) => a.max(b),
            c => a + b - c,
        };
        let context = self.contexts[at];
        let predicted = (predicted + sign * context.correction).clamp(0, self.coding.largest);
        let low = context.low_bits(context.sizes);
        let mapped = self.error(low, self.limit)?;
        // Where errors are mostly negative and have no low bits, negative ones have the smaller codes.
        let turned = self.coding.near == 0 && low == 0 && 2 * context.bias <= -context.count;
        let error = match (mapped & 1 == 1, turned) {
            (false, false) | (true, true) => mapped >> 1,
            (true, false) | (false, true) => -(mapped >> 1) - 1,
        };
        let step = 2 * self.coding.near + 1;
        let context = &mut self.contexts[at];
        context.bias += error * step;
        context.sizes = context.sizes.saturating_add(error.abs());
        context.halve(self.coding.reset);
        if context.bias <= -context.count {
            context.bias = (context.bias + context.count).max(1 - context.count);
            context.correction = (context.correction - 1).max(-128);
        } else if context.bias > 0 {
            context.bias = (context.bias - context.count).min(0);
            context.correction = (context.correction + 1).min(127);
        }
        Ok(self.corrected(predicted, sign * error))
    }

    /// The sample whose prediction is wrong by `error`.
    fn corrected(&self, predicted: i32, error: i32) -> i32 {
        let Coding { largest, near, .. } = *self.coding;
        let step = 2 * near + 1;
        let mut sample = predicted + error * step;
        if sample < -near {
            sample += self.range * step;
        } else if sample > largest + near {
            sample -= self.range * step;
        }
        sample.clamp(0, largest)
    }

    /// The number that an error is mapped to: zeros that count its upper part, then `low` bits; or all of it, less 1, after
    /// as many zeros as the longest code leaves room for.
    fn error(&mut self, low: u32, limit: i32) -> Result<i32> {
        let zeros = self.bits.zeros()?;
        let most = limit - self.error_bits.cast_signed() - 1;
        if zeros > most {
            return Err(Error::corrupt(format!("{zeros} zeros before an error, {most} are the most")));
        }
        let error =
            if zeros < most { zeros << low | self.bits.take(low)? } else { self.bits.take(self.error_bits)? + 1 };
        if error > 2 * self.range {
            return Err(Error::corrupt(format!("error {error} of a prediction, there are {} values", self.range)));
        }
        Ok(error)
    }

    /// The length of a run, at most `left`.
    fn run(&mut self, left: usize) -> Result<usize> {
        let mut len = 0;
        while self.bits.take(1)? == 1 {
            let whole = 1 << RUN_BITS[self.run];
            if left - len < whole {
                return Ok(left);
            }
            len += whole;
            self.run = (self.run + 1).min(RUN_BITS.len() - 1);
            if len == left {
                return Ok(left);
            }
        }
        let rest = usize::try_from(self.bits.take(RUN_BITS[self.run])?).unwrap_or(usize::MAX);
        if rest >= left - len {
            return Err(Error::corrupt(format!("a run of {} samples, {left} are left of the line", len + rest)));
        }
        Ok(len + rest)
    }

    /// The sample that ends a run.
    fn end_of_run(&mut self, a: i32, b: i32) -> Result<i32> {
        let same = (a - b).abs() <= self.coding.near;
        let kind = i32::from(same);
        let context = self.ends[usize::from(same)];
        let low = context.low_bits(if same { context.sizes + (context.count >> 1) } else { context.sizes });
        let mapped = self.error(low, self.limit - RUN_BITS[self.run].cast_signed() - 1)?;
        let odd = (mapped + kind) & 1;
        let size = (mapped + kind + odd) / 2;
        let likely_negative = low != 0 || 2 * context.negative >= context.count;
        let error = if likely_negative == (odd == 1) { -size } else { size };
        let context = &mut self.ends[usize::from(same)];
        context.negative += i32::from(error < 0);
        context.sizes = context.sizes.saturating_add((mapped + 1 - kind) >> 1);
        context.halve(self.coding.reset);
        Ok(match same {
            true => self.corrected(a, error),
            false => self.corrected(b, if a > b { -error } else { error }),
        })
    }
}
