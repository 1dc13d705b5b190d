//! The data sets: float32 and int16 as instruments and models give them, raw and shuffled.

use crate::random::Random;

/// One chunk of one kind of data.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) element: usize,
    pub(crate) bytes: Vec<u8>,
}

/// Between 0 and 1.
fn fraction(random: &mut Random) -> f32 {
    f32::from(u16::try_from(random.next() >> 48).unwrap_or(0)) / 65_536.0
}

/// A field that changes slowly, in steps of 1/64.
fn smooth(len: usize) -> Vec<u8> {
    let (mut random, mut value, mut slope) = (Random::new(1), 280.0f32, 0.0f32);
    let mut next = || {
        slope = slope * 0.98 + (fraction(&mut random) - 0.5) * 0.02;
        value += slope + (280.0 - value) * 0.001;
        ((value * 64.0).round() / 64.0).to_le_bytes()
    };
    (0..len / 4).flat_map(|_| next()).collect()
}

/// The same with noise in all bits of the mantissa.
fn noisy(len: usize) -> Vec<u8> {
    let mut random = Random::new(2);
    let field = smooth(len);
    let values = field.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    values.flat_map(|value| (value + fraction(&mut random)).to_le_bytes()).collect()
}

/// Counts that are small, with rare spikes.
fn counts(len: usize) -> Vec<u8> {
    let mut random = Random::new(3);
    let mut next = || {
        let bits = random.next();
        let spike = bits.is_multiple_of(500);
        let small = u16::try_from((bits >> 20 & 0xff).count_ones()).unwrap_or(0);
        let large = u16::try_from(bits >> 40 & 0xfff).unwrap_or(0);
        (if spike { large } else { small }).to_le_bytes()
    };
    (0..len / 2).flat_map(|_| next()).collect()
}

/// All kinds, in chunks of `len` bytes, as they are.
pub(crate) fn raw(len: usize) -> Vec<Set> {
    vec![
        Set { name: "f32", element: 4, bytes: smooth(len) },
        Set { name: "f32 noisy", element: 4, bytes: noisy(len) },
        Set { name: "i16", element: 2, bytes: counts(len) },
    ]
}

/// The same, raw and with their bytes shuffled.
pub(crate) fn all(len: usize) -> Vec<Set> {
    let names = ["f32 shuffled", "f32 noisy shuffled", "i16 shuffled"];
    let mut sets = raw(len);
    for (i, name) in names.into_iter().enumerate() {
        let (element, plain) = (sets[i].element, &sets[i].bytes);
        let bytes = (0..element).flat_map(|j| plain.iter().skip(j).step_by(element).copied()).collect();
        sets.push(Set { name, element, bytes });
    }
    sets
}
