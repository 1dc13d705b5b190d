//! The adaptive entropy coder: per block, whichever form is shortest. CCSDS 121.0-B; see the decoder for the forms.

use super::Coding;
use crate::filter::bits::BitWriter;

/// Appends the coded form of the samples in `plain`.
pub(super) fn encode(coding: Coding, plain: &[u8], big_endian: bool, output: &mut Vec<u8>) {
    let mut writer = BitWriter::new(output);
    let mut samples = vec![0; coding.interval()];
    for line in plain.chunks(coding.line * coding.width()) {
        let count = load(line, coding, big_endian, &mut samples);
        // Lines that fill their blocks end where the data end, others are padded to the whole interval.
        let padded = !coding.line.is_multiple_of(coding.block);
        let used = if padded { samples.len() } else { count.next_multiple_of(coding.block) };
        let last = if coding.differences { samples[count - 1] } else { 0 };
        samples[count..used].fill(last);
        if coding.differences {
            differences(&mut samples[..used], coding.largest());
        }
        encode_line(coding, &samples[..used], &mut writer);
    }
    writer.finish();
}

/// Takes samples from `line`; returns how many.
fn load(line: &[u8], coding: Coding, big_endian: bool, samples: &mut [u32]) -> usize {
    let width = coding.width();
    let mut count = 0;
    for (bytes, sample) in line.chunks_exact(width).zip(samples) {
        let mut word = [0; 4];
        word[..width].copy_from_slice(bytes);
        if big_endian {
            word[..width].reverse();
        }
        *sample = u32::from_le_bytes(word) & coding.largest();
        count += 1;
    }
    count
}

/// Replaces samples by mapped differences, but for the first.
fn differences(samples: &mut [u32], largest: u32) {
    let mut previous = samples[0];
    for sample in &mut samples[1..] {
        let (x, next) = (previous, *sample);
        let room = x.min(largest - x);
        let distance = next.abs_diff(x);
        *sample = if distance > room {
            if x <= largest / 2 { next } else { largest - next }
        } else if next >= x {
            2 * distance
        } else {
            2 * distance - 1
        };
        previous = next;
    }
}

fn encode_line(coding: Coding, samples: &[u32], writer: &mut BitWriter<'_>) {
    let blocks = samples.len() / coding.block;
    let mut index = 0;
    while index < blocks {
        let reference = coding.differences && index == 0;
        let block = &samples[index * coding.block..][..coding.block];
        let body = &block[usize::from(reference)..];
        if body.iter().any(|&s| s != 0) {
            encode_block(coding, block, reference, writer);
            index += 1;
            continue;
        }
        let segment = (index / 64 + 1) * 64;
        let rest = samples[(index + 1) * coding.block..].chunks_exact(coding.block);
        let zeros = 1 + rest.take(segment.min(blocks) - index - 1).take_while(|b| b.iter().all(|&s| s == 0)).count();
        writer.put(0, coding.identifier_bits() + 1);
        if reference {
            writer.put(u64::from(block[0]), coding.bits);
        }
        // The end is that of the segment or the interval, which a last line without padding does not reach.
        let ends = index + zeros == segment || (index + zeros) * coding.block == coding.interval();
        let code = match zeros {
            ..5 => zeros,
            _ if ends => 5,
            _ => zeros + 1,
        };
        writer.unary(u32::try_from(code - 1).unwrap_or(0));
        index += zeros;
    }
}

fn encode_block(coding: Coding, block: &[u32], reference: bool, writer: &mut BitWriter<'_>) {
    let identifier_bits = coding.identifier_bits();
    let body = &block[usize::from(reference)..];
    let raw_bits = u64::from(coding.bits) * body.len() as u64;
    let largest_k = ((1 << identifier_bits) - 3).min(coding.bits);
    let (k, split_bits) =
        (0..=largest_k).map(|k| (k, split_cost(body, k))).min_by_key(|&(_, cost)| cost).unwrap_or((0, u64::MAX));
    let extended_bits = 1 + extension_cost(block, reference);
    let shortest = raw_bits.min(split_bits).min(extended_bits);
    if shortest == raw_bits {
        writer.put((1 << identifier_bits) - 1, identifier_bits);
        block.iter().for_each(|&s| writer.put(u64::from(s), coding.bits));
        return;
    }
    if shortest == extended_bits {
        writer.put(1, identifier_bits + 1);
    } else {
        writer.put(u64::from(k) + 1, identifier_bits);
    }
    if reference {
        writer.put(u64::from(block[0]), coding.bits);
    }
    if shortest == extended_bits {
        pairs(block, reference).for_each(|(a, b)| writer.unary(u32::try_from(code_of(a, b)).unwrap_or(0)));
    } else {
        body.iter().for_each(|&s| writer.unary(s >> k));
        body.iter().for_each(|&s| writer.put(u64::from(s), k));
    }
}

fn split_cost(body: &[u32], k: u32) -> u64 {
    body.iter().map(|&s| u64::from(s >> k) + 1 + u64::from(k)).sum()
}

/// The pairs of the second extension; a reference sample counts as 0.
fn pairs(block: &[u32], reference: bool) -> impl Iterator<Item = (u64, u64)> {
    block.chunks_exact(2).enumerate().map(move |(i, pair)| {
        let first = if reference && i == 0 { 0 } else { pair[0] };
        (u64::from(first), u64::from(pair[1]))
    })
}

fn code_of(a: u64, b: u64) -> u64 {
    (a + b) * (a + b + 1) / 2 + b
}

fn extension_cost(block: &[u32], reference: bool) -> u64 {
    // Large samples are left to the other forms, which also keeps the codes small.
    pairs(block, reference).map(|(a, b)| if a + b > 64 { 1 << 32 } else { code_of(a, b) + 1 }).sum()
}
