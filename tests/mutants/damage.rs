//! Damage, in the manner of `../shared/oracle/mutate.py`: the same seed gives the same bytes.

/// A small generator of repeatable random numbers (splitmix64).
pub(crate) struct Random(u64);

impl Random {
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

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % (bound.max(1) as u64)).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[7]
    }
}

/// Damages a file in one place, a fourth of the time in up to four.
pub(crate) fn damage(file: &mut Vec<u8>, random: &mut Random) {
    let places = if random.below(4) == 0 { 1 + random.below(4) } else { 1 };
    for _ in 0..places {
        if !file.is_empty() {
            once(file, random);
        }
    }
}

fn once(file: &mut Vec<u8>, random: &mut Random) {
    let len = file.len();
    // Metadata is mostly at the front, and around signatures.
    let at = match random.below(3) {
        0 => random.below(len),
        1 => random.below(len.min(2048)),
        _ => near_signature(file, random).unwrap_or(0).min(len - 1),
    };
    match random.below(9) {
        0 if random.below(4) == 0 => file.truncate(at),
        1 if random.below(4) == 0 => {
            file.truncate(at);
            file.extend((0..200).map(|_| random.byte()));
        }
        0..=2 => file[at] ^= 1 << random.below(8),
        3 => file[at] = random.byte(),
        4 => {
            let width = 2 << random.below(3);
            file[at..(at + width).min(len)].fill(0xff);
        }
        5 => {
            let width = 1 + random.below(64);
            file[at..(at + width).min(len)].fill(0);
        }
        6 => {
            // A part of the file over another part.
            let width = 1 + random.below(len.min(256));
            let (from, to) = (random.below(len - width + 1), random.below(len - width + 1));
            file.copy_within(from..from + width, to);
        }
        _ => {
            // A small number, or an address in the file, in an aligned field.
            let width: usize = 2 << random.below(3);
            let at = at - at % width;
            let value = match random.below(3) {
                0 => u64::try_from(random.below(len)).unwrap(),
                _ => random.next() >> (1 + random.below(63)),
            };
            let end = (at + width).min(len);
            file[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
        }
    }
}

/// A place up to 64 bytes after four letters, as most structures begin with some.
fn near_signature(file: &[u8], random: &mut Random) -> Option<usize> {
    let start = random.below(file.len());
    let is_letter = |byte: &u8| byte.is_ascii_uppercase();
    let found = file[start..].windows(4).position(|four| four.iter().all(is_letter))?;
    Some(start + found + 4 + random.below(60))
}
