//! What the tests of the filters share: repeatable random numbers, damage, and the laws that every filter fulfils.

use super::{Bound, Filter, Output};

/// A small generator of repeatable random numbers (splitmix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(super) fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(((self.next() >> 32) * u64::from(bound)) >> 32).unwrap()
    }

    pub(super) fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(u32::try_from(bound).unwrap())).unwrap()
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[7]
    }

    /// `len` bytes of one of several kinds: runs, repeats, small numbers, a ramp, noise.
    pub(super) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let kind = self.below(6);
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            let run = 1 + self.index(40);
            let ramp = bytes.len().to_le_bytes()[0];
            match kind {
                0 => bytes.extend(std::iter::repeat_n(self.byte(), run)),
                1 if bytes.len() > 20 => {
                    let from = self.index(bytes.len() - 1);
                    let to = (from + run).min(bytes.len());
                    bytes.extend_from_within(from..to);
                }
                2 => bytes.extend([self.byte() & 3, 0, 0, 0]),
                3 => bytes.push(ramp),
                4 => bytes.push(0),
                _ => bytes.push(self.byte()),
            }
        }
        bytes.truncate(len);
        bytes
    }

    /// Changes `bytes` in one to four places.
    pub(super) fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(4) {
            if bytes.is_empty() {
                bytes.push(self.byte());
                continue;
            }
            let at = self.index(bytes.len());
            match self.below(7) {
                0 => bytes[at] ^= 1 << self.below(8),
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

/// Whether zstd encodes here: its crate's encoder is wrong on big-endian machines, and refused there.
pub(super) fn zstd_encodes() -> bool {
    cfg!(target_endian = "little")
}

/// Encodes and decodes `plain`: the same bytes come back, in the caller's slice and in a vector, within the bound.
pub(super) fn round_trip(filter: &dyn Filter, plain: &[u8]) -> Option<Vec<u8>> {
    let mut stored = Vec::new();
    if !filter.encode(plain, &mut stored).unwrap() {
        return None;
    }
    match filter.encoded_bound(plain.len()) {
        Bound::Exactly(n) => assert_eq!(stored.len(), n),
        Bound::AtMost(n) => assert!(stored.len() <= n, "{} bytes, bound {n}", stored.len()),
    }
    let mut slice = vec![0xaa; plain.len()];
    let mut output = Output::exact(&mut slice);
    filter.decode(&stored, &mut output).unwrap();
    output.finish().unwrap();
    assert!(slice == plain, "{filter:?} does not give the same bytes into a slice");
    let mut grown = Vec::new();
    let mut output = Output::growing(&mut grown, plain.len() + 100);
    filter.decode(&stored, &mut output).unwrap();
    assert!(grown == plain, "{filter:?} does not give the same bytes into a vector");
    Some(stored)
}

/// Decodes `count` damaged forms of `stored`, or `HDFIVE_DAMAGE` times as many. No panic is all that is asked.
pub(super) fn survives_damage(filter: &dyn Filter, stored: &[u8], plain: usize, count: u32) {
    let times = std::env::var("HDFIVE_DAMAGE").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    let count = count * times;
    let mut random = Random::new(u64::from(count) + 77);
    let mut slice = vec![0; plain];
    let mut grown = Vec::new();
    for _ in 0..count {
        let mut damaged = stored.to_vec();
        random.damage(&mut damaged);
        let _ = filter.decode(&damaged, &mut Output::exact(&mut slice));
        grown.clear();
        let _ = filter.decode(&damaged, &mut Output::growing(&mut grown, plain + 50));
        assert!(grown.len() <= plain + 50);
        let from = random.index(plain.max(1));
        let to = from + random.index(plain - from + 1);
        let _ = filter.decode_range(&damaged, plain, from..to, &mut Output::exact(&mut slice[..to - from]));
    }
}
