//! The way from stored elements to values of a Rust type: found once for a datatype, gone for every element.

use super::heaps::Heaps;
use super::notation::short;
use crate::error::{Error, Result};
use crate::format::message::datatype::Datatype;

type One<T> = Box<dyn Fn(&[u8], &Heaps<'_>) -> Result<T> + Send + Sync>;
type Bulk<T> = Box<dyn Fn(&[u8], &mut [T]) -> Result<()> + Send + Sync>;
/// So many values to decode into, where any bytes are a value.
type Room<T> = fn(usize) -> Option<Vec<T>>;

/// The way from stored elements of a datatype to values of `T`.
pub struct Decoder<T> {
    size: usize,
    is_alike: bool,
    one: One<T>,
    bulk: Option<(Room<T>, Bulk<T>)>,
}

impl<T> Decoder<T> {
    /// A way for elements of `stored`: what `one` makes of the bytes of each.
    ///
    /// Errors are `Corrupt` for elements of 0 bytes, `Limit` for elements larger than memory.
    pub fn new(
        stored: &Datatype,
        one: impl Fn(&[u8], &Heaps<'_>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Self> {
        let size = usize::try_from(stored.size).map_err(|_| Error::limit("an element is larger than memory"))?;
        if size == 0 {
            return Err(Error::corrupt(format!("an element of {} has 0 bytes", short(stored))));
        }
        Ok(Decoder { size, is_alike: false, one: Box::new(one), bulk: None })
    }

    /// With a faster way for many elements at once, into values of `room`. `is_alike` says that stored elements are, byte for byte, what
    /// values are in memory.
    pub(crate) fn with_bulk(
        mut self,
        is_alike: bool,
        room: Room<T>,
        bulk: impl Fn(&[u8], &mut [T]) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.is_alike = is_alike;
        self.bulk = Some((room, Box::new(bulk)));
        self
    }

    /// Bytes of a stored element.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Whether stored elements are, byte for byte, what values are in memory.
    pub(crate) fn is_alike(&self) -> bool {
        self.is_alike
    }

    /// Whether many elements are decoded faster than one by one.
    pub(crate) fn has_bulk(&self) -> bool {
        self.bulk.is_some()
    }

    /// The values of many elements, which lie in no heap, if there is a faster way for them.
    pub(crate) fn decode_many(&self, stored: &[u8], values: &mut [T]) -> Result<()> {
        match &self.bulk {
            Some((_, bulk)) => bulk(stored, values),
            None => Err(Error::invalid("these elements are decoded one by one")),
        }
    }

    /// The value of one element.
    pub fn decode(&self, element: &[u8], heaps: &Heaps<'_>) -> Result<T> {
        (self.one)(element, heaps)
    }

    /// The values of all elements in `stored`.
    pub fn decode_all(&self, stored: &[u8], heaps: &Heaps<'_>) -> Result<Vec<T>> {
        let count = stored.len() / self.size;
        if let Some(mut values) = self.bulk.as_ref().and_then(|(room, _)| room(count)) {
            self.decode_into(&stored[..count * self.size], &mut values, heaps)?;
            return Ok(values);
        }
        stored.chunks_exact(self.size).map(|element| self.decode(element, heaps)).collect()
    }

    /// The values of the elements in `stored`, which are as many as `values` has room for.
    pub fn decode_into(&self, stored: &[u8], values: &mut [T], heaps: &Heaps<'_>) -> Result<()> {
        if let Some((_, bulk)) = &self.bulk {
            return bulk(stored, values);
        }
        for (value, element) in values.iter_mut().zip(stored.chunks_exact(self.size)) {
            *value = self.decode(element, heaps)?;
        }
        Ok(())
    }
}

impl<T> std::fmt::Debug for Decoder<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Decoder {{ size: {}, is_alike: {} }}", self.size, self.is_alike)
    }
}
