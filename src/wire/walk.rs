//! A structure lists its fields once, in file order, as a function over a [`Walk`]; the tape below decides whether they
//! are read, written, counted or described. Reading takes each value from the bytes and ignores the getter; writing
//! asks the getter. Both return the value, so versions, flags and counts are plain `if`, `match` and `for`.

use bytes::Bytes;

use super::tape::{Column, Placed, Spot, Tape};
use super::{Addr, Origin, Sizes};
use crate::error::{Error, Result};

/// One on-disk structure.
pub trait Structure: Sized + Send + Sync {
    /// The name the specification gives it.
    const NAME: &'static str;
    /// What its layout depends on besides the file's sizes (rank, record type, a header's parameters).
    type Context: Copy + Send + Sync;

    /// Lists the fields in file order.
    fn walk(w: &mut Walk<'_, '_, Self>, cx: Self::Context) -> Result<Self>;

    /// How many bytes are worth loading at first; decoding asks for more where it needs more.
    fn first_read(_sizes: Sizes, _cx: Self::Context) -> usize {
        256
    }

    /// Decodes the structure at the start of `bytes`, which begin at `addr`. Bytes after it are left alone.
    fn decode(bytes: &[u8], addr: Addr, sizes: Sizes, cx: Self::Context) -> Result<Self> {
        let mut tape = Tape::read(bytes, None, addr.0, sizes);
        Self::walk(&mut Walk::over(&mut tape, None), cx)
    }

    /// As `decode`, with payload shared rather than copied; also says how many bytes the structure takes.
    fn decode_shared(bytes: &Bytes, addr: Addr, sizes: Sizes, cx: Self::Context) -> Result<(Self, usize)> {
        let mut tape = Tape::read(bytes, Some(bytes), addr.0, sizes);
        let value = Self::walk(&mut Walk::over(&mut tape, None), cx)?;
        Ok((value, tape.position()))
    }

    /// Reads by another walk than [`Structure::walk`]: one that takes long lists in bulk. A test says that both agree.
    fn read_with<X>(
        bytes: &[u8],
        addr: Addr,
        sizes: Sizes,
        walk: impl FnOnce(&mut Walk<'_, '_, Self>) -> Result<X>,
    ) -> Result<X> {
        let mut tape = Tape::read(bytes, None, addr.0, sizes);
        walk(&mut Walk::over(&mut tape, None))
    }

    /// The bytes of the structure when it stands at `addr`.
    fn encode(&self, addr: Addr, sizes: Sizes, cx: Self::Context) -> Result<Vec<u8>> {
        // Most structures are small; growing from nothing would take several steps.
        let mut out = Vec::with_capacity(64);
        let mut tape = Tape::write(&mut out, addr.0, sizes);
        Self::walk(&mut Walk::over(&mut tape, Some(self)), cx)?;
        Ok(out)
    }

    /// How many bytes the structure takes. Widths are file-wide, so the addresses in it do not matter.
    fn size(&self, sizes: Sizes, cx: Self::Context) -> Result<usize> {
        self.encode(Addr(0), sizes, cx).map(|bytes| bytes.len())
    }

    /// Every field with its place, as far as the bytes can be read, and the error that ended the reading.
    fn describe(bytes: &[u8], addr: Addr, sizes: Sizes, cx: Self::Context) -> (Vec<Placed>, Option<Error>) {
        let mut log = Vec::new();
        let mut tape = Tape::read(bytes, None, addr.0, sizes).logged(&mut log);
        let result = Self::walk(&mut Walk::over(&mut tape, None), cx);
        (log, result.err())
    }
}

/// A walk over the fields of a `T`: reading when there is no value yet, writing when there is one.
pub struct Walk<'w, 'b, T> {
    tape: &'w mut Tape<'b>,
    value: Option<&'w T>,
    start: usize,
    name: &'static str,
}

impl<'w, 'b, T: Structure> Walk<'w, 'b, T> {
    fn over(tape: &'w mut Tape<'b>, value: Option<&'w T>) -> Self {
        let start = tape.position();
        Walk { tape, value, start, name: T::NAME }
    }
}

impl<'w, 'b, T> Walk<'w, 'b, T> {
    /// The file's widths.
    pub fn sizes(&self) -> Sizes {
        self.tape.sizes
    }

    /// Uses other widths from here on (the superblock states the widths of its own later fields).
    pub fn set_sizes(&mut self, sizes: Sizes) {
        self.tape.sizes = sizes;
    }

    /// Bytes since the structure began.
    pub fn position(&self) -> usize {
        self.tape.position() - self.start
    }

    /// Whether bytes are read; a walk asks only to bound a list whose size stands in bytes.
    pub fn is_reading(&self) -> bool {
        self.tape.is_reading()
    }

    /// The value that is written, `None` when reading; for lists whose size stands in bytes.
    pub fn writing(&self) -> Option<&'w T> {
        self.value
    }

    /// Bytes that are left to read in this box; 0 when writing.
    pub fn left(&self) -> usize {
        self.tape.left()
    }

    /// Where in the file the next field begins.
    pub fn addr(&self) -> Addr {
        Addr(self.tape.base.saturating_add(u64::try_from(self.tape.position()).unwrap_or(u64::MAX)))
    }

    /// Where the next field begins, for a value that remembers it.
    pub fn origin(&self) -> Origin {
        Origin(self.addr())
    }

    /// Whether the bytes begin with `letters`, which are not consumed; when writing, what `get` says.
    pub fn begins_with(&self, letters: &[u8], get: impl FnOnce(&T) -> bool) -> bool {
        if self.is_reading() { self.tape.ahead().starts_with(letters) } else { get(self.value()) }
    }

    /// Asks the value that is written; `false` when reading.
    pub fn has(&self, get: impl FnOnce(&T) -> bool) -> bool {
        self.value.is_some_and(get)
    }

    fn spot(&self, field: &'static str) -> Spot {
        Spot { structure: self.name, field, position: self.tape.position() }
    }

    fn value(&self) -> &'w T {
        self.value.expect("because a walk that writes is over a value")
    }

    /// Says that the value just walked contradicts the format.
    pub fn corrupt<X>(&self, field: &'static str, what: impl Into<std::borrow::Cow<'static, str>>) -> Result<X> {
        Err(self.tape.fail(self.spot(field), Error::corrupt(what)))
    }

    /// Says that the value just walked is one that this version does not know.
    pub fn unsupported<X>(&self, field: &'static str, what: impl Into<std::borrow::Cow<'static, str>>) -> Result<X> {
        Err(self.tape.fail(self.spot(field), Error::unsupported(what)))
    }

    /// An unsigned number of `width` bytes.
    #[inline]
    pub fn uint(&mut self, field: &'static str, width: u8, get: impl FnOnce(&T) -> u64) -> Result<u64> {
        let (spot, value) = (self.spot(field), self.value);
        self.tape.uint(spot, width, || get(value.expect("because a walk that writes is over a value")))
    }

    /// An unsigned number of one byte.
    #[inline]
    pub fn u8(&mut self, field: &'static str, get: impl FnOnce(&T) -> u8) -> Result<u8> {
        let value = self.uint(field, 1, |t| get(t).into())?;
        Ok(u8::try_from(value).expect("because one byte was read"))
    }

    /// An unsigned number of two bytes.
    #[inline]
    pub fn u16(&mut self, field: &'static str, get: impl FnOnce(&T) -> u16) -> Result<u16> {
        let value = self.uint(field, 2, |t| get(t).into())?;
        Ok(u16::try_from(value).expect("because two bytes were read"))
    }

    /// An unsigned number of four bytes.
    #[inline]
    pub fn u32(&mut self, field: &'static str, get: impl FnOnce(&T) -> u32) -> Result<u32> {
        let value = self.uint(field, 4, |t| get(t).into())?;
        Ok(u32::try_from(value).expect("because four bytes were read"))
    }

    /// An unsigned number of eight bytes.
    #[inline]
    pub fn u64(&mut self, field: &'static str, get: impl FnOnce(&T) -> u64) -> Result<u64> {
        self.uint(field, 8, get)
    }

    /// A count or size of `width` bytes that the machine must be able to hold. What it counts is still to be seen:
    /// never allocate by it.
    pub fn count(&mut self, field: &'static str, width: u8, get: impl FnOnce(&T) -> usize) -> Result<usize> {
        let spot = self.spot(field);
        let value = self.uint(field, width, |t| u64::try_from(get(t)).unwrap_or(u64::MAX))?;
        usize::try_from(value)
            .map_err(|_| self.tape.fail(spot, Error::limit(format!("{value} is more than this machine can address"))))
    }

    /// A length: a number as wide as the file's lengths.
    pub fn length(&mut self, field: &'static str, get: impl FnOnce(&T) -> u64) -> Result<u64> {
        self.uint(field, self.tape.sizes.lengths, get)
    }

    /// A length in which all ones means "unlimited" or "undefined".
    pub fn length_or_none(&mut self, field: &'static str, get: impl FnOnce(&T) -> Option<u64>) -> Result<Option<u64>> {
        let width = self.tape.sizes.lengths;
        self.uint_or_none(field, width, get)
    }

    /// A number of `width` bytes in which all ones means "none".
    pub fn uint_or_none(
        &mut self,
        field: &'static str,
        width: u8,
        get: impl FnOnce(&T) -> Option<u64>,
    ) -> Result<Option<u64>> {
        let (spot, value) = (self.spot(field), self.value);
        self.tape.offset(spot, width, || get(value.expect("because a walk that writes is over a value")))
    }

    /// An address, `None` for the undefined one.
    #[inline]
    pub fn offset(&mut self, field: &'static str, get: impl FnOnce(&T) -> Option<Addr>) -> Result<Option<Addr>> {
        let width = self.tape.sizes.offsets;
        Ok(self.uint_or_none(field, width, |t| get(t).map(|a| a.0))?.map(Addr))
    }

    /// An address that must be defined.
    #[inline]
    pub fn address(&mut self, field: &'static str, get: impl FnOnce(&T) -> Addr) -> Result<Addr> {
        let spot = self.spot(field);
        match self.offset(field, |t| Some(get(t)))? {
            Some(addr) => Ok(addr),
            None => Err(self.tape.fail(spot, Error::corrupt("the address is undefined"))),
        }
    }

    /// `len` bytes as they are.
    pub fn bytes(&mut self, field: &'static str, len: usize, get: impl FnOnce(&T) -> &[u8]) -> Result<Vec<u8>> {
        if let Some(found) = self.tape.take_plain(len) {
            return Ok(found.to_vec());
        }
        let (spot, value) = (self.spot(field), self.value);
        match self.tape.raw(spot, len, |out| out.extend_from_slice(get(value.expect("because writing"))))? {
            Some(found) => Ok(found.to_vec()),
            None => Ok(Vec::new()),
        }
    }

    /// As many bytes as the array holds.
    pub fn array<const N: usize>(&mut self, field: &'static str, get: impl FnOnce(&T) -> &[u8; N]) -> Result<[u8; N]> {
        if let Some(found) = self.tape.take_plain(N) {
            return Ok(found.try_into().expect("because as many bytes were taken"));
        }
        let spot = self.spot(field);
        let mut array = self.value.map_or([0; N], |t| *get(t));
        if let Some(found) = self.tape.raw(spot, N, |out| out.extend_from_slice(&array))? {
            array.copy_from_slice(found);
        }
        Ok(array)
    }

    /// `len` bytes of payload, shared with what was loaded rather than copied.
    pub fn payload<'x>(
        &mut self,
        field: &'static str,
        len: usize,
        get: impl FnOnce(&'w T) -> &'x Bytes,
    ) -> Result<Bytes>
    where
        T: 'x,
    {
        if let Some(found) = self.tape.take_plain(len) {
            return Ok(self.tape.shared(found));
        }
        let (spot, value) = (self.spot(field), self.value);
        match self.tape.raw(spot, len, |out| out.extend_from_slice(get(value.expect("because writing"))))? {
            Some(found) => Ok(self.tape.shared(found)),
            None => Ok(Bytes::new()),
        }
    }

    /// Payload whose size the value knows better than the file: when writing only.
    pub fn payload_of_any_size(&mut self, field: &'static str, get: impl FnOnce(&T) -> &Bytes) -> Result<Bytes> {
        let payload = get(self.value());
        self.payload(field, payload.len(), |_| payload)
    }

    /// Bytes up to a NUL, which is not part of the value.
    pub fn c_string(&mut self, field: &'static str, get: impl FnOnce(&T) -> &[u8]) -> Result<Vec<u8>> {
        let spot = self.spot(field);
        let text = if self.is_reading() {
            let ahead = self.tape.ahead();
            match ahead.iter().position(|&b| b == 0) {
                Some(end) => ahead[..end].to_vec(),
                None => {
                    let seen = u64::try_from(ahead.len()).unwrap_or(u64::MAX);
                    return Err(self.tape.fail(spot, Error::short(seen.saturating_add(1), seen)));
                }
            }
        } else {
            let text = get(self.value());
            if text.contains(&0) {
                return Err(self.tape.fail(spot, Error::invalid("a NUL stands inside the text")));
            }
            text.to_vec()
        };
        self.tape.raw(spot, text.len() + 1, |out| {
            out.extend_from_slice(&text);
            out.push(0);
        })?;
        Ok(text)
    }

    /// A field that holds one value only.
    #[inline]
    pub fn constant(&mut self, field: &'static str, width: u8, value: u64) -> Result<()> {
        let spot = self.spot(field);
        let found = self.uint(field, width, |_| value)?;
        if found == value {
            return Ok(());
        }
        Err(self.tape.fail(spot, Error::corrupt(format!("value is {found}, must be {value}"))))
    }

    /// A one-byte version number; one that is not in `known` is unsupported.
    pub fn version(&mut self, get: impl FnOnce(&T) -> u8, known: std::ops::RangeInclusive<u8>) -> Result<u8> {
        let spot = self.spot("version");
        let version = self.u8("version", get)?;
        if known.contains(&version) {
            return Ok(version);
        }
        let what = if known.start() == known.end() {
            format!("version is {version}, only {} is known", known.start())
        } else {
            format!("version is {version}, {} to {} are known", known.start(), known.end())
        };
        Err(self.tape.fail(spot, Error::unsupported(what)))
    }

    /// The letters a structure begins with.
    pub fn signature(&mut self, letters: &'static [u8]) -> Result<()> {
        let spot = self.spot("signature");
        match self.tape.raw(spot, letters.len(), |out| out.extend_from_slice(letters))? {
            Some(found) if found != letters => {
                let what = format!(
                    "signature is {:?}, must be {:?}",
                    found.escape_ascii().to_string(),
                    letters.escape_ascii().to_string()
                );
                Err(self.tape.fail(spot, Error::corrupt(what)))
            }
            _ => Ok(()),
        }
    }

    /// Bytes that should be zero. Others are kept, so that what was read is written back alike; all zero gives none.
    pub fn reserved(&mut self, len: usize, get: impl FnOnce(&T) -> &[u8]) -> Result<Vec<u8>> {
        self.slack("reserved", len, get)
    }

    /// As `reserved`, for padding and unused space that has another name.
    pub fn slack(&mut self, field: &'static str, len: usize, get: impl FnOnce(&T) -> &[u8]) -> Result<Vec<u8>> {
        if len == 0 {
            return Ok(Vec::new());
        }
        if let Some(found) = self.tape.take_plain(len) {
            return Ok(kept(found));
        }
        let (spot, value) = (self.spot(field), self.value);
        let found = self.tape.raw(spot, len, |out| {
            let kept = get(value.expect("because writing"));
            if kept.is_empty() {
                out.resize(out.len() + len, 0);
            } else {
                out.extend_from_slice(kept);
            }
        })?;
        Ok(found.map_or_else(Vec::new, kept))
    }

    /// A structure inside this one.
    #[inline]
    pub fn nest<U: Structure>(&mut self, get: impl FnOnce(&T) -> &U, cx: U::Context) -> Result<U> {
        let value = self.value.map(get);
        U::walk(&mut Walk::over(self.tape, value), cx)
    }

    /// `count` structures, one after the other.
    pub fn each<U: Structure>(&mut self, count: usize, get: impl Fn(&T) -> &[U], cx: U::Context) -> Result<Vec<U>> {
        let mut all = Vec::new(); // grows with the bytes that are there, not with the count that is claimed
        for i in 0..count {
            all.push(self.nest(|t| &get(t)[i], cx)?);
        }
        Ok(all)
    }

    /// `count` numbers of `width` bytes, one after the other, in one call.
    pub fn uints(
        &mut self,
        field: &'static str,
        width: u8,
        count: usize,
        get: impl Fn(&T) -> &[u64],
    ) -> Result<Vec<u64>> {
        let mut all = Vec::new();
        for i in 0..count {
            all.push(self.uint(field, width, |t| get(t)[i])?);
        }
        Ok(all)
    }

    /// Whether bytes are read and nobody wants to see each field, so that long lists may be taken by `rows`.
    pub fn is_bulk(&self) -> bool {
        self.tape.is_plain()
    }

    /// `count` rows of numbers in one call, for lists that are too long for a walk; reading only. An undefined address
    /// comes as `u64::MAX`.
    pub fn rows(
        &mut self,
        field: &'static str,
        columns: &[Column],
        count: usize,
        each: impl FnMut(&[u64]),
    ) -> Result<()> {
        let spot = self.spot(field);
        self.tape.rows(spot, columns, count, each)
    }

    /// `count` addresses, one after the other, in one call.
    pub fn offsets(
        &mut self,
        field: &'static str,
        count: usize,
        get: impl Fn(&T) -> &[Option<Addr>],
    ) -> Result<Vec<Option<Addr>>> {
        let mut all = Vec::new();
        for i in 0..count {
            all.push(self.offset(field, |t| get(t)[i])?);
        }
        Ok(all)
    }

    /// A box of `len` bytes: what is walked inside may not leave it, and what it does not use is slack that is kept.
    pub fn boxed<X>(
        &mut self,
        slack: &'static str,
        len: usize,
        get_slack: impl FnOnce(&T) -> &[u8],
        inside: impl FnOnce(&mut Self) -> Result<X>,
    ) -> Result<(X, Vec<u8>)> {
        let spot = self.spot(slack);
        let end = spot.position.saturating_add(len);
        let all = self.tape.narrow(len);
        if all.is_none() && self.is_reading() {
            let left = u64::try_from(self.tape.left()).unwrap_or(u64::MAX);
            return Err(self.tape.fail(spot, Error::short(u64::try_from(len).unwrap_or(u64::MAX), left)));
        }
        let result = inside(self);
        if let Some(all) = all {
            self.tape.reopen(all);
        }
        let value = match result {
            Ok(value) => value,
            // More bytes after the box would not help.
            Err(error) if error.short_of() > 0 => return Err(error.sealed()),
            Err(error) => return Err(error),
        };
        match end.checked_sub(self.tape.position()) {
            Some(rest) => Ok((value, self.slack(slack, rest, get_slack)?)),
            None => Err(self.tape.fail(spot, Error::invalid(format!("the contents are larger than {len} bytes")))),
        }
    }

    /// The checksum over everything since the structure began: verified on reading, filled in on writing.
    pub fn checksum(&mut self, hash: fn(&[u8]) -> u32) -> Result<()> {
        let spot = self.spot("checksum");
        let computed = hash(self.tape.since(self.start));
        let stored = self.u32("checksum", |_| computed)?;
        self.same_checksum(spot, stored, computed)
    }

    /// A checksum over the whole structure, itself taken as zero; `rest` walks what comes after it.
    pub fn checksum_within<X>(
        &mut self,
        hash: fn(&[u8]) -> u32,
        rest: impl FnOnce(&mut Self) -> Result<X>,
    ) -> Result<X> {
        let spot = self.spot("checksum");
        let stored = self.u32("checksum", |_| 0)?;
        let result = rest(self)?;
        let mut all = self.tape.since(self.start).to_vec();
        let at = spot.position - self.start;
        all[at..at + 4].fill(0);
        let computed = hash(&all);
        if self.is_reading() {
            self.same_checksum(spot, stored, computed)?;
        }
        self.tape.patch(spot.position, computed);
        Ok(result)
    }

    fn same_checksum(&self, spot: Spot, stored: u32, computed: u32) -> Result<()> {
        if stored == computed {
            return Ok(());
        }
        let what = format!("checksum is {stored:#010x}, bytes give {computed:#010x}");
        Err(self.tape.fail(spot, Error::corrupt(what)))
    }
}

/// Slack as a value keeps it: nothing where all of it is zero.
#[inline]
fn kept(slack: &[u8]) -> Vec<u8> {
    if slack.iter().all(|&b| b == 0) { Vec::new() } else { slack.to_vec() }
}

/// The laws every structure obeys, as tests, and the numbers its random values are made of.
#[cfg(any(test, feature = "testing"))]
pub(crate) mod laws {
    #[cfg(test)]
    use std::fmt::Debug;

    use proptest::prelude::*;
    #[cfg(test)]
    use proptest::test_runner::{Config, TestRunner};

    use super::*;

    /// All pairs of widths.
    #[cfg(test)]
    pub(crate) fn widths() -> impl Iterator<Item = Sizes> {
        [2, 4, 8, 16].into_iter().flat_map(|offsets| [2, 4, 8, 16].map(|lengths| Sizes { offsets, lengths }))
    }

    /// An address that fits the widths.
    pub(crate) fn addr(sizes: Sizes) -> BoxedStrategy<Addr> {
        let top = if sizes.offsets >= 8 { u64::MAX - 1 } else { (1 << (8 * sizes.offsets)) - 2 };
        (0..=top).prop_map(Addr).boxed()
    }

    /// A length that fits the widths.
    pub(crate) fn length(sizes: Sizes) -> BoxedStrategy<u64> {
        let top = if sizes.lengths >= 8 { u64::MAX - 1 } else { (1 << (8 * sizes.lengths)) - 2 };
        (0..=top).boxed()
    }

    /// Decode after encode is the value, encode after decode the bytes, `size` the length, and every prefix an error.
    #[cfg(test)]
    pub(crate) fn hold<S>(make: impl Fn(Sizes) -> BoxedStrategy<(S, S::Context)>)
    where
        S: Structure + Debug + PartialEq,
        S::Context: Debug,
    {
        for sizes in widths() {
            let mut runner = TestRunner::new_with_rng(
                Config { cases: 64, failure_persistence: None, ..Config::default() },
                proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
            );
            let checked = runner.run(&make(sizes), |(value, cx)| {
                let at = Addr(0x40);
                let bytes = value.encode(at, sizes, cx).map_err(|e| TestCaseError::fail(format!("encode: {e}")))?;
                let back = S::decode(&bytes, at, sizes, cx).map_err(|e| TestCaseError::fail(format!("decode: {e}")))?;
                prop_assert_eq!(&back, &value);
                prop_assert_eq!(back.encode(at, sizes, cx).unwrap(), bytes.clone());
                prop_assert_eq!(value.size(sizes, cx).unwrap(), bytes.len());
                let mut longer = bytes.clone();
                longer.extend_from_slice(&[0xa5; 9]);
                let (back, used) = S::decode_shared(&Bytes::from(longer), at, sizes, cx).unwrap();
                prop_assert_eq!((back, used), (value, bytes.len()));
                for cut in 0..bytes.len() {
                    let error = S::decode(&bytes[..cut], at, sizes, cx);
                    prop_assert!(error.is_err(), "{cut} of {} bytes are enough", bytes.len());
                }
                Ok(())
            });
            if let Err(e) = checked {
                panic!("{} with {sizes:?}: {e}", S::NAME);
            }
        }
    }
}
