//! Random numbers that are the same in every run, and damage with them.
#![allow(dead_code, reason = "who uses it needs a part of it")]
#![allow(clippy::unwrap_used, reason = "numbers below a bound fit its type")]

/// A small generator: Steele, Lea and Flood's SplitMix.
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Numbers that depend on `text` only.
    pub(crate) fn of(text: &str) -> Self {
        Random(text.bytes().fold(0, |state, byte| Random(state ^ u64::from(byte)).next()))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Below `bound`.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(((self.next() >> 32) * u64::from(bound)) >> 32).unwrap()
    }

    /// Below `bound`, or 0.
    pub(crate) fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[7]
    }

    /// Changes `bytes` in one to four places; a third of the time near the start, where headers are.
    pub(crate) fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.index(4) {
            if bytes.is_empty() {
                bytes.push(self.byte());
                continue;
            }
            let near = if self.index(3) == 0 { bytes.len().min(40) } else { bytes.len() };
            let at = self.index(near);
            match self.index(7) {
                0 => bytes[at] ^= 1 << self.index(8),
                1 => bytes[at] = self.byte(),
                2 => bytes.truncate(at),
                3 => drop(bytes.remove(at)),
                4 => bytes.insert(at, self.byte()),
                _ => {
                    let value = [0, 0xff, 0x7f, 0x80][self.index(4)];
                    let end = (at + 1 + self.index(8)).min(bytes.len());
                    bytes[at..end].fill(value);
                }
            }
        }
    }
}
