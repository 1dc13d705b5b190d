//! Szip, filter 4: adaptive entropy coding of samples, CCSDS 121.0-B, behind a little-endian 32-bit plain size.
//!
//! Client values: option mask, pixels per block J, bits per pixel, pixels per scanline P. Numbers of 32 and 64 bits
//! are first split into byte planes and coded as 8-bit samples. A scanline is ceil(P / J) blocks; if P is not a
//! multiple of J, each line is padded to whole blocks before coding.

mod decoder;
mod encoder;

use byteorder::{ByteOrder, LittleEndian};

use super::scratch::with_buffer;
use super::shuffle::{shuffle, unshuffle};
use super::{Filter, Output, check_claim, ends_early, expansion, size};
use crate::error::{Error, Result};

const NEAREST_NEIGHBOUR: u32 = 32;
const MOST_SIGNIFICANT_FIRST: u32 = 16;
/// More blocks than any writer puts into a reference interval.
const LONGEST_INTERVAL: usize = 4096;

/// The coder's parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Szip {
    coding: Coding,
    /// Bytes per pixel that are split into planes; 1 if none are.
    planes: usize,
    big_endian: bool,
}

/// How samples are coded.
#[derive(Clone, Copy, Debug)]
struct Coding {
    /// Bits per sample, 1 to 32.
    bits: u32,
    /// Samples per block, J.
    block: usize,
    /// Samples per line, P.
    line: usize,
    /// Whether samples are coded as differences from the one before.
    differences: bool,
}

impl Coding {
    /// Samples of a line that is padded to whole blocks: the interval between two reference samples.
    fn interval(self) -> usize {
        self.line.div_ceil(self.block) * self.block
    }

    /// Bits of a block's identifier.
    fn identifier_bits(self) -> u32 {
        match self.bits {
            ..=8 => 3,
            9..=16 => 4,
            _ => 5,
        }
    }

    fn largest(self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    /// Bytes of a sample.
    fn width(self) -> usize {
        match self.bits {
            ..=8 => 1,
            9..=16 => 2,
            _ => 4,
        }
    }
}

impl Szip {
    pub(super) fn new(client_data: &[u32]) -> Result<Self> {
        let &[mask, block, pixel_bits, line, ..] = client_data else {
            return Err(Error::corrupt(format!("has {} client values, 4 are needed", client_data.len())));
        };
        let (bits, planes) = match pixel_bits {
            32 => (8, 4),
            64 => (8, 8),
            1..=24 => (pixel_bits, 1),
            _ => return Err(Error::corrupt(format!("{pixel_bits} bits per pixel, 1 to 24, 32 or 64 are allowed"))),
        };
        let (block, line) = (size(block), size(line));
        if !(2..=32).contains(&block) || block % 2 == 1 {
            return Err(Error::corrupt(format!("{block} pixels per block, an even number up to 32 is needed")));
        }
        if line == 0 || line.div_ceil(block) > LONGEST_INTERVAL {
            return Err(Error::corrupt(format!("{line} pixels per scanline in blocks of {block}")));
        }
        let differences = mask & NEAREST_NEIGHBOUR != 0;
        let big_endian = mask & MOST_SIGNIFICANT_FIRST != 0;
        Ok(Szip { coding: Coding { bits, block, line, differences }, planes, big_endian })
    }

    fn decode_samples(&self, coded: &[u8], to: &mut [u8]) -> Result<()> {
        decoder::decode(self.coding, coded, to, self.big_endian && self.planes == 1)
    }
}

impl Filter for Szip {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let Some((header, coded)) = input.split_first_chunk::<4>() else { return Err(ends_early()) };
        let plain = size(LittleEndian::read_u32(header));
        check_claim(plain, output)?;
        if !plain.is_multiple_of(self.coding.width()) {
            return Err(Error::corrupt(format!("{plain} bytes are no whole samples")));
        }
        let Some(to) = output.slice(plain)? else {
            return Err(Error::invalid("szip does not decode to a scattered output"));
        };
        if self.planes == 1 {
            return self.decode_samples(coded, to);
        }
        with_buffer(plain, |samples| {
            self.decode_samples(coded, samples)?;
            let whole = plain / self.planes * self.planes;
            unshuffle(&samples[..whole], self.planes, 0, &mut to[..whole]);
            to[whole..].copy_from_slice(&samples[whole..]);
            Ok(())
        })
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_mul(expansion::SZIP)
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let Ok(plain) = u32::try_from(input.len()) else { return Ok(false) };
        // Behind a compressor there may be other bytes than whole pixels, which the C library does not take.
        if !input.len().is_multiple_of(self.coding.width() * self.planes) {
            return Ok(false);
        }
        let start = output.len();
        output.extend_from_slice(&plain.to_le_bytes());
        if self.planes == 1 {
            encoder::encode(self.coding, input, self.big_endian, output);
        } else {
            with_buffer(input.len(), |samples| {
                shuffle(input, self.planes, samples);
                encoder::encode(self.coding, samples, false, output);
            });
        }
        Ok(output.len() - start < input.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    /// Samples of `bits` bits that walk up and down, rest, or jump.
    fn samples(random: &mut Random, bits: u32, count: usize, big_endian: bool) -> Vec<u8> {
        let step = 1u64 << random.below(bits.min(20));
        let mut value = 0u64;
        let mut bytes = Vec::new();
        for _ in 0..count {
            if random.below(4) > 0 {
                value = (value + random.next() % (2 * step)).wrapping_sub(step / 2) & (u64::MAX >> (64 - bits));
            }
            let number = value.to_le_bytes();
            let width = if bits <= 8 {
                1
            } else if bits <= 16 {
                2
            } else {
                4
            };
            if big_endian { bytes.extend(number[..width].iter().rev()) } else { bytes.extend(&number[..width]) }
        }
        bytes
    }

    #[test]
    fn every_width_and_block_size_comes_back() {
        let mut random = Random::new(12);
        let mut shrunk = 0;
        for bits in (1..=24).chain([32, 64]) {
            for mask in [141, 169, 177, 149] {
                for (block, line) in [(8, 128), (2, 7), (32, 33), (10, 1000), (16, 16 * 70)] {
                    let filter = Szip::new(&[mask, block, bits, line]).unwrap();
                    let count = 1 + random.index(3000);
                    let plain = if bits > 24 {
                        let mut plain = random.bytes(count * size(bits / 8));
                        if random.below(2) == 0 {
                            plain.fill(0);
                        }
                        plain
                    } else {
                        samples(&mut random, bits, count, mask & 16 != 0)
                    };
                    shrunk += usize::from(round_trip(&filter, &plain).is_some());
                }
            }
        }
        assert!(shrunk > 300, "only {shrunk} of 520 shrank");
    }

    #[test]
    fn short_and_damaged_streams_are_errors() {
        let mut random = Random::new(13);
        for bits in [7, 16, 32] {
            let filter = Szip::new(&[169, 16, bits, 300]).unwrap();
            let plain = if bits == 32 {
                (0..800u32).flat_map(|i| (i * 3).to_le_bytes()).collect()
            } else {
                samples(&mut random, bits, 2000, false)
            };
            let stored = round_trip(&filter, &plain).unwrap();
            // What follows the last sample is padding of its line.
            for len in 0..stored.len() - 12 {
                assert!(filter.decode(&stored[..len], &mut Output::exact(&mut vec![0; plain.len()])).is_err());
            }
            survives_damage(&filter, &stored, plain.len(), 5000);
        }
    }

    #[test]
    fn parameters_out_of_range_are_errors() {
        for values in [&[0, 8, 8][..], &[0, 7, 8, 16], &[0, 0, 8, 16], &[0, 34, 8, 16], &[0, 8, 25, 16], &[0, 8, 8, 0]]
        {
            assert!(Szip::new(values).is_err(), "{values:?}");
        }
    }
}
