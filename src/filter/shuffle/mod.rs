//! Shuffle, filter 2: byte j of every element, for j from 0 up. Client value 0 is the element size.
//!
//! ```text
//! plain    a0 a1 a2 a3  b0 b1 b2 b3  c0 c1 c2 c3  r
//! stored   a0 b0 c0  a1 b1 c1  a2 b2 c2  a3 b3 c3  r
//! ```
//! Bytes past the last whole element stay where they are. Undoing it can go into the rows of an array, piece by piece.

mod kernels;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the processor's own instructions; measured")]
mod x86;

use std::ops::Range;

pub(super) use kernels::{shuffle, unshuffle};

use super::scratch::with_buffer;
use super::{Bound, Filter, Output};
use crate::error::{Error, Result};

/// Shuffle of elements of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shuffle {
    element: usize,
}

/// Elements are put together in pieces of about this many bytes where they do not go to one slice: short enough for the
/// first cache, long enough for whole lines of it to be read of every plane. Faster than straight into the rows of an array,
/// which are often short.
const PIECE: usize = 16384;

impl Shuffle {
    pub(super) fn new(client_data: &[u32]) -> Result<Self> {
        match client_data.first() {
            Some(&element) if element > 0 => Ok(Shuffle { element: super::size(element) }),
            Some(_) => Err(Error::corrupt("client value 0, the element size, is 0")),
            None => Err(Error::corrupt("has no client value, the element size")),
        }
    }

    /// How many whole elements `len` bytes have; 0 if shuffling does nothing.
    fn elements(self, len: usize) -> usize {
        let count = len / self.element;
        if self.element == 1 || count == 1 { 0 } else { count }
    }

    /// Writes bytes `range` of the plain form of `input`.
    fn write_range(self, input: &[u8], range: Range<usize>, output: &mut Output<'_>) -> Result<()> {
        let element = self.element;
        let count = self.elements(input.len());
        let whole = count * element;
        let end = range.end.min(whole);
        let mut at = range.start;
        if at < end {
            let per_piece = (PIECE / element).max(1);
            with_buffer(per_piece.min(count) * element, |piece| -> Result<()> {
                while at < end {
                    let first = at / element;
                    let elements = end.div_ceil(element).min(first + per_piece) - first;
                    let piece = &mut piece[..elements * element];
                    unshuffle(&input[..whole], element, first, piece);
                    let start = first * element;
                    let until = end.min(start + piece.len());
                    output.write(&piece[at - start..until - start])?;
                    at = until;
                }
                Ok(())
            })?;
        }
        if range.end > whole { output.write(&input[range.start.max(whole)..range.end]) } else { Ok(()) }
    }
}

impl Filter for Shuffle {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let whole = self.elements(input.len()) * self.element;
        match output.slice(input.len())? {
            Some(to) => {
                unshuffle(&input[..whole], self.element, 0, &mut to[..whole]);
                to[whole..].copy_from_slice(&input[whole..]);
                Ok(())
            }
            None => self.write_range(input, 0..input.len(), output),
        }
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

    fn decode_range(&self, input: &[u8], plain: usize, range: Range<usize>, output: &mut Output<'_>) -> Result<bool> {
        if input.len() != plain {
            return Err(Error::corrupt(format!("{} bytes are stored, {plain} are expected", input.len())));
        }
        self.write_range(input, range, output)?;
        Ok(true)
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let whole = self.elements(input.len()) * self.element;
        output.reserve(input.len());
        kernels::append_shuffled(&input[..whole], self.element, output);
        output.extend_from_slice(&input[whole..]);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Scatter;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    #[derive(Default)]
    struct Rows(Vec<u8>);

    impl Scatter for Rows {
        fn put(&mut self, position: usize, bytes: &[u8]) {
            assert_eq!(position, self.0.len());
            self.0.extend_from_slice(bytes);
        }
    }

    fn plainly(plain: &[u8], element: usize) -> Vec<u8> {
        let count = plain.len() / element;
        let mut stored: Vec<u8> = (0..element).flat_map(|j| (0..count).map(move |i| plain[i * element + j])).collect();
        stored.extend_from_slice(&plain[count * element..]);
        stored
    }

    #[test]
    fn every_element_size_gives_what_the_definition_gives() {
        let mut random = Random::new(7);
        for element in (1..35).chain([64, 300, 5000]) {
            for count in [0, 1, 2, 31, 64, 67, 300] {
                let rest = random.index(element);
                let plain = random.bytes(element * count + rest);
                let filter = Shuffle { element };
                let stored = round_trip(&filter, &plain).unwrap();
                assert!(stored == plainly(&plain, element), "{count} elements of {element} bytes");
                let whole = count * element;
                let (mut planes, mut back) = (vec![0; whole], vec![0; whole]);
                if count > 0 {
                    kernels::shuffle_portably(&plain[..whole], element, &mut planes);
                    kernels::unshuffle_portably(&planes, element, 0, &mut back);
                    assert!(planes == plainly(&plain[..whole], element) && back == plain[..whole]);
                }
                let mut rows = Rows::default();
                filter.decode(&stored, &mut Output::scattered(&mut rows, plain.len())).unwrap();
                assert!(rows.0 == plain, "scattered: {count} elements of {element} bytes");
                let from = random.index(plain.len() + 1);
                let to = from + random.index(plain.len() - from + 1);
                let mut part = vec![0; to - from];
                assert!(filter.decode_range(&stored, plain.len(), from..to, &mut Output::exact(&mut part)).unwrap());
                assert!(part == plain[from..to]);
            }
        }
    }

    #[test]
    fn an_element_size_of_zero_is_an_error() {
        assert!(Shuffle::new(&[0]).is_err());
        assert!(Shuffle::new(&[]).is_err());
        survives_damage(&Shuffle { element: 7 }, &[5; 100], 100, 5000);
    }
}
