//! Bzip2, filter 307: the chunk is one bzip2 stream. Client value 0 is the block size, 1 to 9 times 100 kB.
//!
//! By the crate `bzip2` on `libbz2-rs-sys`, which is Rust only.

use ::bzip2::{Action, Compress, Compression, Decompress, Status};

use super::{Filter, Output, ends_early};
use crate::error::{Error, Result};

/// Bzip2 with one block size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bzip2 {
    level: u32,
}

impl Bzip2 {
    pub(super) fn new(client_data: &[u32]) -> Self {
        Bzip2 { level: client_data.first().map_or(9, |&level| level.clamp(1, 9)) }
    }
}

fn moved(before: u64, after: u64) -> usize {
    usize::try_from(after - before).unwrap_or(usize::MAX)
}

impl Filter for Bzip2 {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let mut decoder = Decompress::new(false);
        let mut taken = 0;
        loop {
            // The size is not stored, so a vector grows with what the input may give at a usual ratio.
            let wanted = match output.expected() {
                Some(expected) => expected - output.written(),
                None => (input.len() - taken).saturating_mul(8).max(64 << 10).min(output.room()),
            };
            let mut beyond = [0; 1];
            let full = wanted == 0;
            let place = match output.slice(wanted)? {
                Some(to) if !full => to,
                _ => &mut beyond[..],
            };
            let (before_in, before_out) = (decoder.total_in(), decoder.total_out());
            let status = decoder.decompress(&input[taken..], place).map_err(|e| Error::corrupt(e.to_string()))?;
            let (used, gain) = (moved(before_in, decoder.total_in()), moved(before_out, decoder.total_out()));
            taken += used;
            if full && gain > 0 {
                return Err(Error::corrupt("the stream gives more bytes than are allowed"));
            }
            output.give_back(wanted - if full { 0 } else { gain });
            match status {
                Status::StreamEnd => return Ok(()),
                _ if used == 0 && gain == 0 => return Err(ends_early()),
                _ => {}
            }
        }
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let mut encoder = Compress::new(Compression::new(self.level), 0);
        let mut taken = 0;
        loop {
            output.reserve((input.len() - taken) / 2 + 1024);
            let before = encoder.total_in();
            let status = encoder.compress_vec(&input[taken..], output, Action::Finish);
            taken += moved(before, encoder.total_in());
            match status {
                Ok(Status::StreamEnd) => return Ok(true),
                Ok(_) => {}
                Err(error) => return Err(Error::invalid(error.to_string())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    #[test]
    fn every_level_comes_back() {
        let mut random = Random::new(25);
        for level in 1..10 {
            for len in [0, 1, 5003, 140_001] {
                round_trip(&Bzip2::new(&[level]), &random.bytes(len)).unwrap();
            }
        }
    }

    #[test]
    fn short_and_damaged_streams_are_errors() {
        let plain: Vec<u8> = (0..3001u32).map(|i| (i / 7 % 50).to_le_bytes()[0]).collect();
        let filter = Bzip2::new(&[9]);
        let stored = round_trip(&filter, &plain).unwrap();
        for len in 0..stored.len() {
            let mut back = vec![0; plain.len()];
            assert!(filter.decode(&stored[..len], &mut Output::exact(&mut back)).is_err(), "cut to {len}");
        }
        survives_damage(&filter, &stored, plain.len(), 500);
    }
}
