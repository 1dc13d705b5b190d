//! Adler-32: the sum of the bytes plus 1, and the sum of those sums, both modulo 65521. RFC 1950.
//!
//! Unsafe, as AVX2 has instructions for such sums.

const MODULUS: u64 = 65_521;
const LANES: usize = 32;

/// The checksum so far.
pub(super) struct Adler32 {
    first: u64,
    second: u64,
}

/// One way to sum up rows of bytes.
#[derive(Clone, Copy)]
struct Kernel {
    /// How many rows its numbers bear.
    rows: usize,
    /// The sum of the bytes, and the sum of the running sums.
    sums: fn(&[[u8; LANES]]) -> (u64, u64),
}

/// For every processor: 255 · 22 · 23 / 2 < 2¹⁶.
const PLAIN: Kernel = Kernel { rows: 22, sums: lanes };

/// The best that this processor has.
fn kernel() -> Kernel {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return Kernel { rows: 512, sums: |rows| unsafe { lanes_avx2(rows) } };
    }
    PLAIN
}

impl Adler32 {
    pub(super) fn new() -> Self {
        Adler32 { first: 1, second: 0 }
    }

    pub(super) fn value(&self) -> u32 {
        u32::try_from(self.second << 16 | self.first).unwrap_or(0)
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.update_by(kernel(), bytes);
    }

    fn update_by(&mut self, kernel: Kernel, bytes: &[u8]) {
        let (rows, rest) = bytes.as_chunks::<LANES>();
        for block in rows.chunks(kernel.rows) {
            let (sum, weighted) = (kernel.sums)(block);
            self.second = (self.second + self.first * (block.len() * LANES) as u64 + weighted) % MODULUS;
            self.first = (self.first + sum) % MODULUS;
        }
        for &byte in rest {
            self.first += u64::from(byte);
            self.second += self.first;
        }
        self.first %= MODULUS;
        self.second %= MODULUS;
    }
}

/// Sums by the instructions for sums of bytes. A byte counts 32 to 1 times in its own row, by its lane, and 32 times for every
/// row after.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lanes_avx2(rows: &[[u8; LANES]]) -> (u64, u64) {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_add_epi64, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
        _mm256_sad_epu8, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_storeu_si256,
    };
    // SAFETY: these are 32 bytes.
    let load = |row: &[u8; LANES]| unsafe { _mm256_loadu_si256(row.as_ptr().cast()) };
    let words = |lanes: __m256i| {
        let mut words = [0u64; 4];
        // SAFETY: these are 32 bytes.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), lanes) };
        words
    };
    let (zero, ones) = (_mm256_setzero_si256(), _mm256_set1_epi16(1));
    let weights = load(&std::array::from_fn(|lane| (LANES - lane).to_le_bytes()[0]));
    let (mut sums, mut before, mut within) = (zero, zero, zero);
    for row in rows {
        let row = load(row);
        before = _mm256_add_epi64(before, sums);
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(row, zero));
        within = _mm256_add_epi32(within, _mm256_madd_epi16(_mm256_maddubs_epi16(row, weights), ones));
    }
    let within: u64 = words(within).iter().map(|word| (word & 0xffff_ffff) + (word >> 32)).sum();
    (words(sums).iter().sum(), words(before).iter().sum::<u64>() * LANES as u64 + within)
}

/// Sums in independent lanes, of which the compiler makes vectors.
#[inline(always)]
fn lanes(block: &[[u8; LANES]]) -> (u64, u64) {
    let mut sums = [0u16; LANES];
    let mut running = [0u16; LANES];
    for row in block {
        for lane in 0..LANES {
            sums[lane] += u16::from(row[lane]);
            running[lane] += sums[lane];
        }
    }
    // A byte in lane l of row r is part of LANES * (rows - r) - l running sums.
    let (mut sum, mut weighted, mut less) = (0u32, 0u32, 0u32);
    for ((&s, &r), lane) in sums.iter().zip(&running).zip(0u32..) {
        sum += u32::from(s);
        weighted += u32::from(r);
        less += u32::from(s) * lane;
    }
    (u64::from(sum), u64::from(weighted) * (LANES as u64) - u64::from(less))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::Random;

    #[test]
    fn lanes_give_what_the_definition_gives() {
        let mut random = Random::new(70);
        for len in (0..100).chain([704, 705, 5003, 40_000]) {
            for bytes in [random.bytes(len), vec![0xff; len]] {
                let (mut a, mut b) = (1u32, 0u32);
                for &byte in &bytes {
                    a = (a + u32::from(byte)) % 65_521;
                    b = (b + a) % 65_521;
                }
                for kernel in [PLAIN, kernel()] {
                    let mut adler = Adler32::new();
                    let middle = len / 3;
                    adler.update_by(kernel, &bytes[..middle]);
                    adler.update_by(kernel, &bytes[middle..]);
                    assert_eq!(adler.value(), b << 16 | a, "{len} bytes");
                }
            }
        }
    }
}
