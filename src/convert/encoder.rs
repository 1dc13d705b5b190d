//! The way from values of a Rust type to stored elements: found once for a datatype, gone for every value.

use std::borrow::Cow;

use super::notation::short;
use crate::error::{Error, Result};
use crate::format::global_heap::Object;
use crate::format::message::datatype::Datatype;
use crate::wire::Sizes;

/// Where what has no fixed size goes while elements are encoded: a file's global heap.
pub trait HeapSink {
    /// Stores the bytes of a sequence, and gives the id that the element keeps: address and number.
    fn store(&mut self, bytes: &[u8]) -> Result<[u8; 12]>;
}

/// Measures what would be stored.
#[derive(Debug, Default)]
pub(crate) struct Measure {
    /// Whether anything would be.
    pub(crate) stores: bool,
    /// How many bytes it would take, in a file whose lengths have eight bytes.
    pub(crate) taken: usize,
}

impl HeapSink for Measure {
    fn store(&mut self, bytes: &[u8]) -> Result<[u8; 12]> {
        self.stores = true;
        self.taken = self.taken.saturating_add(Object::taken(bytes.len(), Sizes::EIGHT));
        Ok([0; 12])
    }
}

type One<T> = Box<dyn Fn(&T, &mut [u8], &mut dyn HeapSink) -> Result<()> + Send + Sync>;
type Bulk<T> = Box<dyn Fn(&[T], &mut [u8]) -> Result<()> + Send + Sync>;
/// The bytes of values in memory.
type Bytes<T> = fn(&[T]) -> Option<&[u8]>;

/// The way from values of `T` to stored elements of a datatype.
pub struct Encoder<T> {
    size: usize,
    one: One<T>,
    bulk: Option<Bulk<T>>,
    /// Where stored elements are, byte for byte, what values are in memory.
    alike: Option<Bytes<T>>,
}

impl<T> Encoder<T> {
    /// A way to elements of `stored`: `one` writes each value to the bytes of its element, which are zeros before.
    ///
    /// Errors are `Limit` for elements larger than memory.
    pub fn new(
        stored: &Datatype,
        one: impl Fn(&T, &mut [u8], &mut dyn HeapSink) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Self> {
        let size = usize::try_from(stored.size).map_err(|_| Error::limit("an element is larger than memory"))?;
        if size == 0 {
            return Err(Error::invalid(format!("an element of {} has 0 bytes", short(stored))));
        }
        Ok(Encoder { size, one: Box::new(one), bulk: None, alike: None })
    }

    /// With a faster way for many values at once, and with none at all where elements are `alike`.
    pub(crate) fn with_bulk(
        mut self,
        alike: Option<Bytes<T>>,
        bulk: impl Fn(&[T], &mut [u8]) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.alike = alike;
        self.bulk = Some(Box::new(bulk));
        self
    }

    /// Bytes of a stored element.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether stored elements are, byte for byte, what values are in memory.
    pub(crate) fn is_alike(&self) -> bool {
        self.alike.is_some()
    }

    /// Whether many values are encoded faster than one by one, and without a heap.
    pub(crate) fn has_bulk(&self) -> bool {
        self.bulk.is_some()
    }

    /// Writes a value to the bytes of its element, which are zeros before.
    pub fn encode(&self, value: &T, element: &mut [u8], heap: &mut dyn HeapSink) -> Result<()> {
        (self.one)(value, element, heap)
    }

    /// Writes values that need no heap to the bytes of their elements, if there is a fast way.
    pub(crate) fn encode_many(&self, values: &[T], elements: &mut [u8]) -> Result<()> {
        match &self.bulk {
            Some(bulk) => bulk(values, elements),
            None => Err(Error::invalid("these values are encoded one by one")),
        }
    }

    /// The elements of `values`: their own memory where these are alike.
    pub fn encode_all<'v>(&self, values: &'v [T], heap: &mut dyn HeapSink) -> Result<Cow<'v, [u8]>> {
        if let Some(bytes) = self.alike.and_then(|bytes| bytes(values)) {
            return Ok(Cow::Borrowed(bytes));
        }
        let size = values.len().checked_mul(self.size).ok_or_else(|| Error::limit("elements larger than memory"))?;
        let mut elements = vec![0; size];
        match &self.bulk {
            Some(bulk) => bulk(values, &mut elements)?,
            None => self.encode_each(values, &mut elements, heap)?,
        }
        Ok(Cow::Owned(elements))
    }

    /// Writes values one by one to the bytes of their elements, which are zeros, or were written by another heap.
    pub(crate) fn encode_each(&self, values: &[T], elements: &mut [u8], heap: &mut dyn HeapSink) -> Result<()> {
        let mut pairs = values.iter().zip(elements.chunks_exact_mut(self.size));
        pairs.try_for_each(|(value, element)| self.encode(value, element, heap))
    }
}

impl<T> std::fmt::Debug for Encoder<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Encoder {{ size: {}, is_alike: {} }}", self.size, self.is_alike())
    }
}
