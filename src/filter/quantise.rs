//! BitGroom, Granular BitRound and BitRound, filters 32022, 32023 and 32032: they round floats when they write, and
//! leave nothing to undo.
//!
//! Client values of BitRound: kept bits of the mantissa, size of a number, whether there is a fill value, its bits in
//! two values. The other two are written as they are read: unchanged.

use super::{Bound, Filter, Output, size};
use crate::error::Result;

/// A quantiser. `None` writes its input unchanged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantiser {
    round: Option<BitRound>,
}

#[derive(Clone, Copy, Debug)]
struct BitRound {
    kept_bits: u32,
    number_size: usize,
    fill: Option<u64>,
}

impl Quantiser {
    /// One that is undone only.
    pub(super) fn unchanged() -> Self {
        Quantiser { round: None }
    }

    /// BitRound, where the client values say enough.
    pub(super) fn bit_round(client_data: &[u32]) -> Self {
        let value = |at: usize| client_data.get(at).copied().unwrap_or(0);
        let number_size = size(value(1));
        let fill = (value(2) == 1).then(|| u64::from(value(4)) << 32 | u64::from(value(3)));
        let usable = matches!(number_size, 4 | 8) && !client_data.is_empty();
        Quantiser { round: usable.then_some(BitRound { kept_bits: value(0), number_size, fill }) }
    }
}

impl BitRound {
    /// Rounds half to even at the last kept bit; infinities, not-a-numbers and the fill value stay.
    fn round(self, bits: u64) -> u64 {
        let (mantissa, exponent) = if self.number_size == 4 { (23, 0xff << 23) } else { (52, 0x7ff << 52) };
        if self.kept_bits >= mantissa || bits & exponent == exponent || Some(bits) == self.fill {
            return bits;
        }
        let dropped = mantissa - self.kept_bits;
        let half = (1 << (dropped - 1)) - 1 + (bits >> dropped & 1);
        (bits + half) & !((1 << dropped) - 1)
    }
}

impl Filter for Quantiser {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        output.write(input)
    }

    fn decodes_in_order(&self) -> bool {
        true
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        Bound::Exactly(plain)
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let Some(round) = self.round else {
            output.extend_from_slice(input);
            return Ok(true);
        };
        let numbers = input.chunks_exact(round.number_size);
        let rest = numbers.remainder();
        for number in numbers {
            let mut word = [0; 8];
            word[..number.len()].copy_from_slice(number);
            let rounded = round.round(u64::from_le_bytes(word));
            output.extend_from_slice(&rounded.to_le_bytes()[..number.len()]);
        }
        output.extend_from_slice(rest);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::round_trip;

    #[test]
    fn bit_round_keeps_the_bits_it_says() {
        let filter = Quantiser::bit_round(&[3, 4, 1, 0x4640_e6b7, 0]);
        let plain: Vec<u8> = [1.0f32, 1.06, 1.1, -3.3, f32::INFINITY, f32::from_bits(0x4640_e6b7)]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        let mut stored = Vec::new();
        assert!(filter.encode(&plain, &mut stored).unwrap());
        let numbers: Vec<f32> = stored.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        assert_eq!(numbers, [1.0, 1.0, 1.125, -3.25, f32::INFINITY, f32::from_bits(0x4640_e6b7)]);
    }

    #[test]
    fn the_others_change_nothing() {
        round_trip(&Quantiser::unchanged(), &[1, 2, 3, 4, 5]).unwrap();
    }
}
