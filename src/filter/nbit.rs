//! N-bit, filter 5: only the significant bits of every element, most significant bit first, with no alignment.
//!
//! Client values: their number, 1 if nothing is to be done, elements per chunk, and a tree of types, each a class
//! code and its parameters: 1 atomic (size, order, precision, offset), 2 array (total size, base), 3 compound (total
//! size, number of members, then offset and type of each), 4 anything else (size). Bits that no type covers are zero
//! after decoding.

use super::bits::{BitReader, BitWriter};
use super::{Bound, ChunkInfo, Filter, Output, size};
use crate::error::{Error, ErrorKind, Result};

/// Types nest at most this deep.
const DEEPEST: usize = 64;

/// The packing of one type of element.
#[derive(Clone, Debug)]
pub(super) struct NBit {
    /// `None` if the bytes pass through.
    packing: Option<Packing>,
}

#[derive(Clone, Debug)]
struct Packing {
    elements: usize,
    element_size: usize,
    element_bits: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Atomic(Atomic),
    Bytes(usize),
    Array { count: usize, base_size: usize, base: Box<Kind> },
    Compound(Vec<(usize, Kind)>),
}

#[derive(Clone, Copy, Debug)]
struct Atomic {
    size: usize,
    big_endian: bool,
    precision: u32,
    offset: u32,
}

impl NBit {
    pub(super) fn new(client_data: &[u32], chunk: ChunkInfo) -> Result<Self> {
        let mut tree = Tree { values: client_data, at: 1 };
        if tree.next()? == 1 {
            return Ok(NBit { packing: None });
        }
        let elements = size(tree.next()?);
        let (kind, element_size) = tree.kind(0)?;
        if elements.checked_mul(element_size) != Some(chunk.bytes) {
            let what = format!("packs {elements} elements of {element_size} bytes, a chunk has {} bytes", chunk.bytes);
            return Err(Error::corrupt(what));
        }
        let element_bits = kind.bits().ok_or_else(|| Error::corrupt("an element has too many bits"))?;
        Ok(NBit { packing: Some(Packing { elements, element_size, element_bits, kind }) })
    }
}

/// The client values, taken one after the other.
struct Tree<'a> {
    values: &'a [u32],
    at: usize,
}

impl Tree<'_> {
    fn next(&mut self) -> Result<u32> {
        let value = self.values.get(self.at).copied();
        self.at += 1;
        value.ok_or_else(|| Error::corrupt(format!("has {} client values, more are needed", self.values.len())))
    }

    /// The next type and its size.
    fn kind(&mut self, depth: usize) -> Result<(Kind, usize)> {
        if depth > DEEPEST {
            return Err(Error::new(ErrorKind::Limit, format!("types nest deeper than {DEEPEST} levels")));
        }
        let class = self.next()?;
        let total = size(self.next()?);
        if total == 0 {
            return Err(Error::corrupt("a type has no bytes"));
        }
        let kind = match class {
            1 => Kind::Atomic(self.atomic(total)?),
            2 => self.array(total, depth)?,
            3 => self.compound(total, depth)?,
            4 => Kind::Bytes(total),
            _ => return Err(Error::corrupt(format!("class {class} of a type, 1 to 4 are known"))),
        };
        Ok((kind, total))
    }

    fn atomic(&mut self, size: usize) -> Result<Atomic> {
        let (order, precision, offset) = (self.next()?, self.next()?, self.next()?);
        let fits = precision > 0 && u64::from(precision) + u64::from(offset) <= 8 * (size as u64);
        if !fits || order > 1 {
            let what = format!("{size} bytes of order {order} with {precision} bits at {offset}");
            return Err(Error::corrupt(what));
        }
        Ok(Atomic { size, big_endian: order == 1, precision, offset })
    }

    fn array(&mut self, total: usize, depth: usize) -> Result<Kind> {
        let (base, base_size) = self.kind(depth + 1)?;
        if let Kind::Bytes(_) = base {
            return Ok(Kind::Bytes(total));
        }
        if !total.is_multiple_of(base_size) {
            return Err(Error::corrupt(format!("an array of {total} bytes of elements of {base_size} bytes")));
        }
        Ok(Kind::Array { count: total / base_size, base_size, base: Box::new(base) })
    }

    fn compound(&mut self, total: usize, depth: usize) -> Result<Kind> {
        let count = self.next()?;
        let mut members = Vec::new();
        for _ in 0..count {
            let offset = size(self.next()?);
            let (kind, member_size) = self.kind(depth + 1)?;
            if offset.checked_add(member_size).is_none_or(|end| end > total) {
                let what = format!("a member of {member_size} bytes at {offset} of a compound of {total} bytes");
                return Err(Error::corrupt(what));
            }
            members.push((offset, kind));
        }
        if members.is_empty() {
            return Err(Error::corrupt("a compound has no members"));
        }
        Ok(Kind::Compound(members))
    }
}

impl Kind {
    fn bits(&self) -> Option<usize> {
        match self {
            Kind::Atomic(atomic) => Some(size(atomic.precision)),
            Kind::Bytes(len) => len.checked_mul(8),
            Kind::Array { count, base, .. } => base.bits()?.checked_mul(*count),
            Kind::Compound(members) => members.iter().try_fold(0usize, |sum, (_, m)| sum.checked_add(m.bits()?)),
        }
    }

    /// Fills `to`, one value of this type, all zeros before.
    fn unpack(&self, bits: &mut BitReader<'_>, to: &mut [u8]) -> Result<()> {
        match self {
            Kind::Atomic(atomic) if atomic.size <= 8 => {
                let value = bits.take(atomic.precision)?;
                atomic.store(value, &mut to[..atomic.size]);
            }
            Kind::Atomic(atomic) => {
                for (at, count, shift) in atomic.parts() {
                    to[at] = (bits.take(count)? << shift).to_le_bytes()[0];
                }
            }
            Kind::Bytes(len) => {
                for byte in &mut to[..*len] {
                    *byte = bits.take(8)?.to_le_bytes()[0];
                }
            }
            Kind::Array { count, base_size, base } => {
                for item in to.chunks_exact_mut(*base_size).take(*count) {
                    base.unpack(bits, item)?;
                }
            }
            Kind::Compound(members) => {
                for (offset, member) in members {
                    member.unpack(bits, &mut to[*offset..])?;
                }
            }
        }
        Ok(())
    }

    fn pack(&self, from: &[u8], bits: &mut BitWriter<'_>) {
        match self {
            Kind::Atomic(atomic) if atomic.size <= 8 => bits.put(atomic.load(&from[..atomic.size]), atomic.precision),
            Kind::Atomic(atomic) => {
                atomic.parts().for_each(|(at, count, shift)| bits.put(u64::from(from[at] >> shift), count));
            }
            Kind::Bytes(len) => from[..*len].iter().for_each(|&byte| bits.put(u64::from(byte), 8)),
            Kind::Array { count, base_size, base } => {
                from.chunks_exact(*base_size).take(*count).for_each(|item| base.pack(item, bits));
            }
            Kind::Compound(members) => {
                members.iter().for_each(|(offset, member)| member.pack(&from[*offset..], bits));
            }
        }
    }
}

impl Atomic {
    #[inline]
    fn store(self, value: u64, to: &mut [u8]) {
        let value = value << self.offset;
        if self.big_endian {
            to.copy_from_slice(&value.to_be_bytes()[8 - self.size..]);
        } else {
            to.copy_from_slice(&value.to_le_bytes()[..self.size]);
        }
    }

    #[inline]
    fn load(self, from: &[u8]) -> u64 {
        let mut word = [0; 8];
        word[..self.size].copy_from_slice(from);
        if self.big_endian {
            word[..self.size].reverse();
        }
        u64::from_le_bytes(word) >> self.offset
    }

    /// The bytes that hold significant bits, from the most significant one down: where each stands, how many of its
    /// bits count, and how many below them do not.
    fn parts(self) -> impl Iterator<Item = (usize, u32, u32)> {
        let (first, end) = (size(self.offset), size(self.offset) + size(self.precision));
        (first / 8..end.div_ceil(8)).rev().map(move |byte| {
            let (low, high) = (first.max(8 * byte), end.min(8 * byte + 8));
            let at = if self.big_endian { self.size - 1 - byte } else { byte };
            let few = |n: usize| u32::try_from(n).unwrap_or(0);
            (at, few(high - low), few(low - 8 * byte))
        })
    }

    /// Fills `to` with atomics that stand side by side. The bits were checked to be there.
    fn unpack_all(self, bits: &mut BitReader<'_>, to: &mut [u8]) {
        match (self.size, self.big_endian) {
            (1, _) => self.unpack_sized::<1>(bits, to, |v| [v.to_le_bytes()[0]]),
            (2, false) => self.unpack_sized::<2>(bits, to, |v| low(v.to_le_bytes())),
            (4, false) => self.unpack_sized::<4>(bits, to, |v| low(v.to_le_bytes())),
            (8, false) => self.unpack_sized::<8>(bits, to, u64::to_le_bytes),
            (2, true) => self.unpack_sized::<2>(bits, to, |v| high(v.to_be_bytes())),
            (4, true) => self.unpack_sized::<4>(bits, to, |v| high(v.to_be_bytes())),
            (8, true) => self.unpack_sized::<8>(bits, to, u64::to_be_bytes),
            _ => {
                for item in to.chunks_exact_mut(self.size) {
                    self.store(bits.take_unchecked(self.precision), item);
                }
            }
        }
    }

    #[inline]
    fn unpack_sized<const N: usize>(self, bits: &mut BitReader<'_>, to: &mut [u8], bytes: impl Fn(u64) -> [u8; N]) {
        let items = to.as_chunks_mut::<N>().0;
        let count = items.len();
        let mut items = items.iter_mut();
        bits.each(self.precision, count, |value| {
            if let Some(item) = items.next() {
                *item = bytes(value << self.offset);
            }
        });
    }
}

/// The first bytes of a little-endian number.
fn low<const N: usize>(word: [u8; 8]) -> [u8; N] {
    std::array::from_fn(|i| word[i])
}

/// The last bytes of a big-endian number.
fn high<const N: usize>(word: [u8; 8]) -> [u8; N] {
    std::array::from_fn(|i| word[8 - N + i])
}

impl Filter for NBit {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let Some(packing) = &self.packing else { return output.write(input) };
        let mut bits = BitReader::new(input);
        bits.check_left(packing.elements.checked_mul(packing.element_bits))?;
        let Some(to) = output.slice(packing.elements * packing.element_size)? else {
            return Err(Error::invalid("n-bit does not decode to a scattered output"));
        };
        if let Kind::Atomic(atomic) = packing.kind
            && atomic.size <= 8
            && atomic.precision <= BitReader::WINDOW
        {
            atomic.unpack_all(&mut bits, to);
            return Ok(());
        }
        to.fill(0);
        for element in to.chunks_exact_mut(packing.element_size) {
            packing.kind.unpack(&mut bits, element)?;
        }
        Ok(())
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        match &self.packing {
            None => stored,
            Some(p) => {
                let elements = stored.saturating_mul(8).checked_div(p.element_bits);
                elements.map_or(usize::MAX, |elements| elements.saturating_mul(p.element_size))
            }
        }
    }

    fn encoded_bound(&self, plain: usize) -> Bound {
        match &self.packing {
            None => Bound::Exactly(plain),
            // Writers count the byte that the last bit stands in, and one more.
            Some(p) => Bound::AtMost(p.elements.saturating_mul(p.element_bits).div_ceil(8).saturating_add(1)),
        }
    }

    fn encode(&self, input: &[u8], output: &mut Vec<u8>) -> Result<bool> {
        let Some(packing) = &self.packing else {
            output.extend_from_slice(input);
            return Ok(true);
        };
        if input.len() != packing.elements * packing.element_size {
            return Err(Error::invalid(format!("a chunk of {} bytes", input.len())));
        }
        let mut bits = BitWriter::new(output);
        input.chunks_exact(packing.element_size).for_each(|element| packing.kind.pack(element, &mut bits));
        bits.finish();
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::testing::{Random, round_trip, survives_damage};

    fn filter(tree: &[u32], elements: usize, element_size: usize) -> Result<NBit> {
        let mut values = vec![0, 0, u32::try_from(elements).unwrap()];
        values.extend_from_slice(tree);
        NBit::new(&values, ChunkInfo { bytes: elements * element_size, element_size })
    }

    #[test]
    fn every_atomic_comes_back_with_its_significant_bits() {
        let mut random = Random::new(8);
        for element_size in 1..=20u32 {
            for order in 0..2 {
                for _ in 0..30 {
                    let precision = 1 + random.below(8 * element_size);
                    let offset = random.below(8 * element_size - precision + 1);
                    let bytes = size(element_size);
                    let packed = filter(&[1, element_size, order, precision, offset], 37, bytes).unwrap();
                    let atomic = Atomic { size: bytes, big_endian: order == 1, precision, offset };
                    let mut plain = vec![0; 37 * bytes];
                    for item in plain.chunks_exact_mut(bytes) {
                        for (at, count, shift) in atomic.parts() {
                            item[at] = random.byte() >> (8 - count) << shift;
                        }
                    }
                    let stored = round_trip(&packed, &plain).unwrap();
                    assert_eq!(stored.len(), (37 * size(precision)).div_ceil(8));
                }
            }
        }
    }

    /// A compound of 16 bytes: 11 bits of a short, an array of three 7-bit bytes, 5 bytes as they are.
    const COMPOUND: [u32; 18] = [3, 16, 3, 0, 1, 2, 0, 11, 3, 3, 2, 3, 1, 1, 0, 7, 0, 8];

    #[test]
    fn compounds_arrays_and_other_types_nest() {
        let mut tree = COMPOUND.to_vec();
        tree.extend([4, 5]);
        let packed = filter(&tree, 41, 16).unwrap();
        let mut plain = vec![0; 41 * 16];
        let mut random = Random::new(9);
        for item in plain.chunks_exact_mut(16) {
            item[0] = random.byte() & 0xf8;
            item[1] = random.byte() & 0x3f;
            item[3..6].fill_with(|| random.byte() & 0x7f);
            item[8..13].fill_with(|| random.byte());
        }
        let stored = round_trip(&packed, &plain).unwrap();
        assert_eq!(stored.len(), (41 * (11 + 21 + 40usize)).div_ceil(8));
        assert!(packed.decode(&stored[..stored.len() - 1], &mut Output::exact(&mut plain)).is_err());
        survives_damage(&packed, &stored, plain.len(), 5000);
    }

    #[test]
    fn types_that_contradict_themselves_are_errors() {
        for tree in [
            &[1, 4, 0, 33, 0][..],
            &[1, 4, 0, 17, 16],
            &[1, 4, 2, 8, 0],
            &[1, 4, 0, 0, 0],
            &[1, 4, 0],
            &[2, 4, 1, 3, 0, 8, 0],
            &[3, 4, 1, 1, 1, 4, 0, 8, 0],
            &[3, 4, 0],
            &[5, 4],
            &[4, 0],
        ] {
            assert!(filter(tree, 10, 4).is_err(), "{tree:?}");
        }
        let deep: Vec<u32> = (0..30_000).flat_map(|_| [2, 4]).collect();
        assert_eq!(filter(&deep, 10, 4).unwrap_err().kind(), ErrorKind::Limit);
        assert!(filter(&[1, 4, 0, 8, 0], 10, 5).is_err());
    }

    #[test]
    fn damaged_client_values_never_panic() {
        let mut random = Random::new(10);
        for _ in 0..20_000 {
            let mut tree = COMPOUND.to_vec();
            tree.extend([4, 5]);
            for _ in 0..3 {
                let at = random.index(tree.len());
                tree[at] = if random.below(2) == 0 { random.below(20) } else { random.below(u32::MAX) };
            }
            if let Ok(packed) = filter(&tree, 5, 16) {
                let _ = packed.decode(&[0x5a; 45], &mut Output::exact(&mut [0; 80]));
            }
        }
    }
}
