//! Snappy, filter 32003: the chunk is one raw snappy block, which begins with its plain size. By the crate `snap`.

use super::{Bound, Filter, Output, check_claim, expansion};
use crate::error::{Error, Result};

/// Snappy has no parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Snappy;

fn corrupt(error: &snap::Error) -> Error {
    Error::corrupt(error.to_string())
}

/// Decodes `input`, which has to fill `to`.
pub(super) fn decode(input: &[u8], to: &mut [u8]) -> Result<()> {
    let len = snap::raw::Decoder::new().decompress(input, to).map_err(|e| corrupt(&e))?;
    if len == to.len() {
        return Ok(());
    }
    Err(Error::corrupt(format!("the stream gives {len} bytes, {} are expected", to.len())))
}

/// Appends `input` as a block.
pub(super) fn encode(input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let start = output.len();
    output.resize(start + snap::raw::max_compress_len(input.len()), 0);
    let encoded = snap::raw::Encoder::new().compress(input, &mut output[start..]);
    let len = encoded.map_err(|error| Error::invalid(error.to_string()))?;
    output.truncate(start + len);
    Ok(())
}

impl Filter for Snappy {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let plain = snap::raw::decompress_len(input).map_err(|e| corrupt(&e))?;
        check_claim(plain, output)?;
        match output.slice(plain)? {
            Some(to) => decode(input, to),
            None => Err(Error::invalid("snappy does not decode to a scattered output")),
        }
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_mul(expansion::SNAPPY)
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        Bound::AtMost(snap::raw::max_compress_len(plain).max(Bound::of_codec(plain).bytes()))
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        if u32::try_from(input.len()).is_err() {
            return Ok(false);
        }
        encode(input, output)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    #[test]
    fn what_is_encoded_is_decoded_and_damage_is_survived() {
        let mut random = Random::new(24);
        for len in [1, 2, 100, 5003, 100_001] {
            let plain = random.bytes(len);
            let stored = round_trip(&Snappy, &plain).unwrap();
            survives_damage(&Snappy, &stored, plain.len(), 500);
        }
    }
}
