//! Deflate, filter 1: the chunk is one zlib stream. RFC 1950 and 1951; client value 0 is the level.
//!
//! Bytes after the end of the stream are ignored, as libhdf5 does. The adler32 is checked.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::inflate::inflate;
use super::{Filter, Output, ends_early, expansion};
use crate::error::{Error, Result};

/// Deflate at a level from 0 to 9.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deflate {
    level: u32,
}

impl Deflate {
    pub(super) fn new(client_data: &[u32]) -> Self {
        Deflate { level: client_data.first().map_or(6, |&level| level.min(9)) }
    }
}

thread_local! {
    static INFLATER: RefCell<Decompress> = RefCell::new(Decompress::new(true));
}

impl Filter for Deflate {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let Some(expected) = output.expected() else {
            return INFLATER.with(|inflater| inflate_growing(&mut inflater.borrow_mut(), input, output));
        };
        match output.slice(expected - output.written())? {
            Some(to) => inflate(input, to),
            None => Err(Error::invalid("deflate does not decode to a scattered output")),
        }
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_mul(expansion::DEFLATE)
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        zlib_compress(self.level, input, output)?;
        Ok(true)
    }
}

/// Appends `input` as a zlib stream.
///
/// The fastest level of the encoder gives up a fifth of the size that users of zlib's level 1 expect; its second
/// level is near zlib's first, so 1 is taken for 2.
pub(super) fn zlib_compress(level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let level = if level == 1 { 2 } else { level };
    let mut compress = Compress::new(Compression::new(level), true);
    let mut taken = 0;
    loop {
        output.reserve((input.len() - taken) / 2 + 1024);
        let before = compress.total_in();
        let status = compress.compress_vec(&input[taken..], output, FlushCompress::Finish);
        taken += moved(before, compress.total_in());
        match status {
            Ok(Status::StreamEnd) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(Error::invalid(error.to_string())),
        }
    }
}

fn moved(before: u64, after: u64) -> usize {
    usize::try_from(after - before).unwrap_or(usize::MAX)
}

/// Inflates where the size is not known: another filter that changes it stands before this one.
fn inflate_growing(inflater: &mut Decompress, input: &[u8], output: &mut Output<'_>) -> Result<()> {
    inflater.reset(true);
    let mut taken = 0;
    loop {
        let wanted = (input.len() - taken).saturating_mul(4).max(4096).min(output.room());
        let mut beyond = [0; 1];
        let (before_in, before_out) = (inflater.total_in(), inflater.total_out());
        let full = wanted == 0;
        let place = match output.slice(wanted)? {
            Some(to) if !full => to,
            _ => &mut beyond[..],
        };
        let status = step(inflater, &input[taken..], place)?;
        taken += moved(before_in, inflater.total_in());
        let gain = moved(before_out, inflater.total_out());
        if full && gain > 0 {
            return Err(Error::corrupt("the stream gives more bytes than are allowed"));
        }
        output.give_back(wanted - if full { 0 } else { gain });
        match status {
            Status::StreamEnd => return Ok(()),
            _ if gain == 0 && before_in == inflater.total_in() => return Err(ends_early()),
            _ => {}
        }
    }
}

fn step(inflater: &mut Decompress, input: &[u8], to: &mut [u8]) -> Result<Status> {
    inflater.decompress(input, to, FlushDecompress::Finish).map_err(|error| {
        let what = error.message().unwrap_or("not a zlib stream");
        Error::corrupt(what.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    #[test]
    fn every_level_gives_the_same_bytes_back() {
        let mut random = Random::new(1);
        for level in 0..10 {
            for len in [0, 1, 2, 100, 5003, 70_001] {
                let plain = random.bytes(len);
                let mut stored = round_trip(&Deflate::new(&[level]), &plain).unwrap();
                stored.extend_from_slice(b"trailing");
                let mut grown = Vec::new();
                Deflate::new(&[]).decode(&stored, &mut Output::growing(&mut grown, len)).unwrap();
                assert_eq!(grown, plain);
            }
        }
    }

    #[test]
    fn short_long_and_damaged_streams_are_errors() {
        let plain = Random::new(2).bytes(3001);
        let filter = Deflate::new(&[6]);
        let stored = round_trip(&filter, &plain).unwrap();
        for len in 0..stored.len() {
            let mut slice = vec![0; plain.len()];
            assert!(filter.decode(&stored[..len], &mut Output::exact(&mut slice)).is_err(), "cut to {len}");
            let mut grown = Vec::new();
            assert!(filter.decode(&stored[..len], &mut Output::growing(&mut grown, 4000)).is_err());
        }
        for len in [3000, 3002] {
            let mut slice = vec![0; len];
            assert!(filter.decode(&stored, &mut Output::exact(&mut slice)).is_err());
        }
        assert!(filter.decode(&stored, &mut Output::growing(&mut Vec::new(), 3000)).is_err());
        survives_damage(&filter, &stored, plain.len(), 5000);
    }
}
