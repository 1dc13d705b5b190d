//! Adler-32: the sum of the bytes plus 1, and the sum of those sums, both modulo 65521. RFC 1950.
//!
//! Unsafe, as the loop is compiled for AVX2 too, which makes it twice as fast.

const MODULUS: u64 = 65_521;
const LANES: usize = 32;
/// Rows of lanes that 16-bit sums of sums can take: 255 · 22 · 23 / 2 < 2¹⁶.
const ROWS: usize = 22;

/// The checksum so far.
pub(super) struct Adler32 {
    first: u64,
    second: u64,
}

impl Adler32 {
    pub(super) fn new() -> Self {
        Adler32 { first: 1, second: 0 }
    }

    pub(super) fn value(&self) -> u32 {
        u32::try_from(self.second << 16 | self.first).unwrap_or(0)
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        let (rows, rest) = bytes.as_chunks::<LANES>();
        for block in rows.chunks(ROWS) {
            let (sum, weighted) = block_sums(block);
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

/// The sum of the bytes, and the sum of the running sums.
fn block_sums(block: &[[u8; LANES]]) -> (u64, u64) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { lanes_avx2(block) };
    }
    lanes(block)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lanes_avx2(block: &[[u8; LANES]]) -> (u64, u64) {
    lanes(block)
}

/// [`block_sums`] in independent lanes, of which the compiler makes vectors.
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
                let mut adler = Adler32::new();
                let middle = len / 3;
                adler.update(&bytes[..middle]);
                adler.update(&bytes[middle..]);
                assert_eq!(adler.value(), b << 16 | a, "{len} bytes");
            }
        }
    }
}
