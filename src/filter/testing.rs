//! What the tests of the filters share: repeatable random numbers, damage, and the laws that every filter fulfils.

use super::{Bound, Filter, Output};

#[path = "../../tests/support/random.rs"]
mod random;

pub(super) use random::Random;

impl Random {
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
    assert!(plain.len() <= filter.decoded_bound(stored.len()), "{filter:?} made {} of {}", stored.len(), plain.len());
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
        let mut output = Output::exact(&mut slice);
        if filter.decode(&damaged, &mut output).and_then(|()| output.finish()).is_ok() {
            assert!(plain <= filter.decoded_bound(damaged.len()), "{filter:?} made {plain} of {}", damaged.len());
        }
        grown.clear();
        let _ = filter.decode(&damaged, &mut Output::growing(&mut grown, plain + 50));
        assert!(grown.len() <= plain + 50);
        let from = random.index(plain.max(1));
        let to = from + random.index(plain - from + 1);
        let _ = filter.decode_range(&damaged, plain, from..to, &mut Output::exact(&mut slice[..to - from]));
    }
}
