//! Fletcher32, filter 3: four bytes after the chunk, the checksum over big-endian 16-bit words, little-endian.
//!
//! Both sums use end-around carry: a half is 0 only if its sum is exactly 0, otherwise between 1 and 65535. Files
//! from before HDF5 1.6.3 may hold the bytes of each half swapped.
//!
//! Unsafe, as the loop is compiled for AVX2 too, which makes it twice as fast.

use byteorder::{ByteOrder, LittleEndian};

use super::{Bound, Filter, Output};
use crate::error::{Error, Result};

/// The checksum of everything before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fletcher32;

impl Filter for Fletcher32 {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let Some((plain, stored)) = input.split_last_chunk::<4>() else {
            return Err(Error::corrupt(format!("{} bytes, a checksum alone has 4", input.len())));
        };
        let stored = LittleEndian::read_u32(stored);
        let mut sums = Sums::default();
        // Each piece is written while it is still in the first cache.
        for piece in plain.chunks(PIECE) {
            sums.update(piece);
            output.write(piece)?;
        }
        let found = sums.value();
        let swapped = found.swap_bytes().rotate_left(16);
        if stored != found && stored != swapped {
            return Err(Error::corrupt(format!("checksum is {stored:#010x}, bytes give {found:#010x}")));
        }
        Ok(())
    }

    fn decodes_in_order(&self) -> bool {
        true
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_sub(4)
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        Bound::Exactly(plain.saturating_add(4))
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        output.extend_from_slice(input);
        output.extend_from_slice(&fletcher32(input).to_le_bytes());
        Ok(true)
    }
}

const LANES: usize = 32;
/// Rows of lanes that 32-bit sums of sums can take: 65535 · 361 · 362 / 2 < 2³².
const ROWS: usize = 360;

/// Bytes of a piece: whole rows.
const PIECE: usize = ROWS * 2 * LANES;

/// The checksum of `bytes`.
fn fletcher32(bytes: &[u8]) -> u32 {
    let mut sums = Sums::default();
    sums.update(bytes);
    sums.value()
}

/// The sum of the words so far, and the sum of those sums.
#[derive(Default)]
struct Sums {
    first: u64,
    second: u64,
}

impl Sums {
    /// Takes more bytes. Only the last may be an odd number.
    fn update(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while rest.len() >= 2 * LANES {
            let rows = (rest.len() / (2 * LANES)).min(ROWS);
            let (block, after) = rest.split_at(rows * 2 * LANES);
            rest = after;
            let (sum, weighted) = block_sums(block);
            self.second = fold(self.second + self.first * (rows * LANES) as u64 + weighted);
            self.first = fold(self.first + sum);
        }
        let (pairs, odd) = rest.as_chunks::<2>();
        for pair in pairs.iter().copied().chain(odd.first().map(|&last| [last, 0])) {
            self.first += u64::from(u16::from_be_bytes(pair));
            self.second += self.first;
        }
        (self.first, self.second) = (fold(self.first), fold(self.second));
    }

    fn value(&self) -> u32 {
        let half = |sum| u32::try_from(sum).unwrap_or(0);
        half(self.second) << 16 | half(self.first)
    }
}

/// The sum of the words of whole rows, and the sum of the running sums.
fn block_sums(block: &[u8]) -> (u64, u64) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { lanes_avx2(block) };
    }
    lanes(block)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lanes_avx2(block: &[u8]) -> (u64, u64) {
    lanes(block)
}

/// [`block_sums`] in independent lanes, of which the compiler makes vectors.
#[inline(always)]
fn lanes(block: &[u8]) -> (u64, u64) {
    let mut sums = [0u32; LANES];
    let mut running = [0u32; LANES];
    for row in block.as_chunks::<{ 2 * LANES }>().0 {
        for lane in 0..LANES {
            sums[lane] += u32::from(u16::from_be_bytes([row[2 * lane], row[2 * lane + 1]]));
            running[lane] += sums[lane];
        }
    }
    // A word in lane l of row r is part of LANES * (rows - r) - l running sums.
    let (mut sum, mut weighted) = (0, 0);
    for ((&s, &r), lane) in sums.iter().zip(&running).zip(0u64..) {
        sum += u64::from(s);
        weighted += u64::from(r) * (LANES as u64) - u64::from(s) * lane;
    }
    (sum, weighted)
}

/// End-around carry down to 16 bits.
fn fold(sum: u64) -> u64 {
    if sum == 0 { 0 } else { (sum - 1) % 65535 + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    /// The definition, word by word.
    fn plainly(bytes: &[u8]) -> u32 {
        let (mut first, mut second) = (0u128, 0u128);
        for pair in bytes.chunks(2) {
            first += u128::from(pair[0]) * 256 + u128::from(*pair.get(1).unwrap_or(&0));
            second += first;
        }
        let half = |v: u128| u32::try_from(if v == 0 { 0 } else { (v - 1) % 65535 + 1 }).unwrap();
        half(second) << 16 | half(first)
    }

    #[test]
    fn lanes_give_what_the_definition_gives() {
        let mut random = Random::new(3);
        for len in (0..200).chain([722, 23_039, 23_040, 23_041, 50_001]) {
            for bytes in [random.bytes(len), vec![0xff; len], vec![0; len]] {
                assert_eq!(fletcher32(&bytes), plainly(&bytes), "{len} bytes");
            }
        }
    }

    #[test]
    fn both_byte_orders_pass_and_damage_does_not() {
        let plain = Random::new(4).bytes(2001);
        let mut stored = round_trip(&Fletcher32, &plain).unwrap();
        let at = plain.len();
        stored.swap(at, at + 1);
        stored.swap(at + 2, at + 3);
        let mut grown = Vec::new();
        Fletcher32.decode(&stored, &mut Output::growing(&mut grown, 3000)).unwrap();
        assert_eq!(grown, plain);
        stored[77] ^= 1;
        let error = Fletcher32.decode(&stored, &mut Output::growing(&mut grown, 3000)).unwrap_err();
        assert!(error.message().starts_with("checksum is 0x"), "{error}");
        assert!(Fletcher32.decode(&[1, 2, 3], &mut Output::growing(&mut grown, 3000)).is_err());
        survives_damage(&Fletcher32, &stored, at, 5000);
    }
}
