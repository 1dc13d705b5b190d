//! Global heap collections: variable-length data, region references, mappings of virtual datasets. Specification III.E.
//!
//! ```text
//! header | object 1 | object 2 | ... | object 0: free space
//!          index, reference count, size, data padded to 8
//! ```
//! Signature `GCOL`. A place in the global heap is the address of a collection and the index of an object in it.

use bytes::Bytes;

use crate::error::Result;
use crate::wire::{Addr, Sizes, Structure, Walk};

const ALIGNMENT: usize = 8;

/// A collection: objects that are found by their index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
    /// Bytes the whole collection takes.
    pub size: u64,
    /// Nonzero padding after the header, where lengths are narrow.
    pub padding: Vec<u8>,
    /// What is left at the end and too small for another object; empty if it is zero.
    pub rest: Vec<u8>,
    objects: Vec<Object>,
    /// Index and position in `objects`, sorted by index.
    order: Vec<(u16, usize)>,
}

/// One object of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// What references call it; 0 is free space.
    pub index: u16,
    /// How many references there are, as far as writers count them.
    pub reference_count: u16,
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
    /// The stored size: bytes of data, or, for free space, all bytes including this header.
    pub size: u64,
    /// Nonzero padding between header and data, where lengths are narrow.
    pub header_padding: Vec<u8>,
    /// The bytes, without padding.
    pub data: Bytes,
    /// Nonzero padding.
    pub padding: Vec<u8>,
}

/// Where something stands in the global heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GlobalHeapId {
    /// The collection; undefined, or 0 in many files, where there is nothing.
    pub collection: Option<Addr>,
    /// The object in it; 0 where there is nothing.
    pub index: u32,
}

impl Collection {
    /// A collection of `size` bytes that holds `objects`, which must leave no space unless the last one is free space.
    pub fn new(size: u64, objects: Vec<Object>) -> Self {
        let order = order(&objects);
        Collection { reserved: Vec::new(), size, padding: Vec::new(), rest: Vec::new(), objects, order }
    }

    /// All objects in file order, free space included.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The object that references call `index`; the last one if several claim it.
    pub fn object(&self, index: u16) -> Option<&Object> {
        let after = self.order.partition_point(|&(i, _)| i <= index);
        let &(found, position) = self.order.get(after.checked_sub(1)?)?;
        (found == index && index != 0).then(|| &self.objects[position])
    }

    /// Bytes the collection's header takes.
    pub fn header_size(sizes: Sizes) -> usize {
        (8 + usize::from(sizes.lengths)).next_multiple_of(ALIGNMENT)
    }
}

impl Object {
    /// An object with data.
    pub fn new(index: u16, reference_count: u16, data: Bytes) -> Self {
        let size = u64::try_from(data.len()).unwrap_or(u64::MAX);
        Object {
            index,
            reference_count,
            reserved: Vec::new(),
            size,
            header_padding: Vec::new(),
            data,
            padding: Vec::new(),
        }
    }

    /// Free space of `size` bytes, the header included.
    pub fn free(size: usize, sizes: Sizes) -> Self {
        let data = Bytes::from(vec![0; size.saturating_sub(8 + usize::from(sizes.lengths))]);
        Object { size: u64::try_from(size).unwrap_or(u64::MAX), ..Object::new(0, 0, data) }
    }

    /// Bytes an object's header takes.
    pub fn header_size(sizes: Sizes) -> usize {
        (8 + usize::from(sizes.lengths)).next_multiple_of(ALIGNMENT)
    }

    /// Bytes that an object of so many bytes of data takes.
    pub fn taken(size: usize, sizes: Sizes) -> usize {
        Object::header_size(sizes) + size.next_multiple_of(ALIGNMENT)
    }
}

/// A collection that is encoded as it grows: bytes are what the collection of the same objects encodes to, of which a
/// test makes sure. Millions of strings would take too long otherwise.
#[derive(Debug)]
pub struct Filling {
    bytes: Vec<u8>,
    size: usize,
    sizes: Sizes,
    /// Index of the last object.
    last: u16,
}

impl Filling {
    /// A collection of `size` bytes without objects.
    pub fn new(size: usize, sizes: Sizes) -> Result<Filling> {
        let header = Collection::header_size(sizes);
        let mut bytes = Vec::with_capacity(size);
        let empty = Collection::new(u64::try_from(size).unwrap_or(u64::MAX), Vec::new());
        bytes.extend_from_slice(empty.encode(Addr(0), sizes, ())?.get(..header).unwrap_or_default());
        Ok(Filling { bytes, size, sizes, last: 0 })
    }

    /// Adds an object, and gives its index; `None` if there is no room for it, or no index.
    pub fn push(&mut self, data: &[u8]) -> Option<u16> {
        let taken = Object::taken(data.len(), self.sizes);
        if taken > self.size - self.bytes.len() {
            return None;
        }
        self.last = self.last.checked_add(1)?;
        let (start, lengths) = (self.bytes.len(), usize::from(self.sizes.lengths));
        self.bytes.extend_from_slice(&self.last.to_le_bytes());
        self.bytes.extend_from_slice(&[0; 6]);
        let size = u64::try_from(data.len()).unwrap_or(u64::MAX).to_le_bytes();
        self.bytes.extend_from_slice(size.get(..lengths).unwrap_or(&size));
        self.bytes.resize(start + Object::header_size(self.sizes), 0);
        self.bytes.extend_from_slice(data);
        self.bytes.resize(start + taken, 0);
        Some(self.last)
    }

    /// The collection; what is left of it is free space.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        let left = self.size - self.bytes.len();
        if left >= Object::header_size(self.sizes) {
            self.bytes.extend_from_slice(&Object::free(left, self.sizes).encode(Addr(0), self.sizes, ())?);
        }
        self.bytes.resize(self.size, 0);
        Ok(self.bytes)
    }
}

impl GlobalHeapId {
    /// The bytes where addresses have eight, which are those that its walk gives.
    pub fn wide(self) -> [u8; 12] {
        let [a, b, c, d, e, f, g, h] = self.collection.map_or(u64::MAX, |addr| addr.0).to_le_bytes();
        let [i, j, k, l] = self.index.to_le_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }
}

impl Structure for GlobalHeapId {
    const NAME: &'static str = "global heap id";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let collection = w.offset("collection address", |i| i.collection)?;
        let index = w.u32("object index", |i| i.index)?;
        Ok(GlobalHeapId { collection, index })
    }

    fn first_read(sizes: Sizes, (): ()) -> usize {
        usize::from(sizes.offsets) + 4
    }
}

fn order(objects: &[Object]) -> Vec<(u16, usize)> {
    let mut order: Vec<_> = objects.iter().enumerate().map(|(i, o)| (o.index, i)).collect();
    order.sort_unstable();
    order
}

impl Structure for Collection {
    const NAME: &'static str = "global heap collection";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        w.signature(b"GCOL")?;
        w.version(|_| 1, 1..=1)?;
        let reserved = w.reserved(3, |c| &c.reserved)?;
        let size = w.length("collection size", |c| c.size)?;
        let header = Collection::header_size(w.sizes());
        let padding = w.slack("padding", header - w.position(), |c| &c.padding)?;
        let Some(room) = usize::try_from(size).ok().and_then(|s| s.checked_sub(header)) else {
            return w.corrupt("collection size", format!("size is {size}, the header alone takes {header}"));
        };
        let (objects, rest) = w.boxed(
            "unused",
            room,
            |c| &c.rest,
            |w| {
                let (mut objects, mut count) = (Vec::new(), 0);
                while more(w, count) {
                    objects.push(w.nest(|c| &c.objects[count], ())?);
                    count += 1;
                }
                Ok(objects)
            },
        )?;
        let order = order(&objects);
        Ok(Collection { reserved, size, padding, rest, objects, order })
    }

    fn first_read(_: Sizes, (): ()) -> usize {
        4096
    }
}

/// Whether another object follows: when reading, as long as there is space for one.
fn more(w: &Walk<'_, '_, Collection>, count: usize) -> bool {
    match w.writing() {
        Some(collection) => count < collection.objects.len(),
        None => w.left() >= Object::header_size(w.sizes()),
    }
}

impl Structure for Object {
    const NAME: &'static str = "global heap object";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let index = w.u16("heap object index", |o| o.index)?;
        let reference_count = w.u16("reference count", |o| o.reference_count)?;
        let reserved = w.reserved(4, |o| &o.reserved)?;
        let size = w.length("object size", |o| o.size)?;
        let header = Object::header_size(w.sizes());
        if index == 0 {
            // Free space ends the collection. Where its size makes no sense, everything that is left is free.
            let sensible = usize::try_from(size).ok().and_then(|s| s.checked_sub(w.position()));
            let left = match w.writing() {
                Some(object) => object.data.len(),
                None => sensible.filter(|&s| s + w.position() >= header && s <= w.left()).unwrap_or(w.left()),
            };
            let data = w.payload("free space", left, |o| &o.data)?;
            return Ok(Object {
                index,
                reference_count,
                reserved,
                size,
                header_padding: Vec::new(),
                data,
                padding: Vec::new(),
            });
        }
        let padding = header - w.position();
        let header_padding = w.slack("padding", padding, |o| &o.header_padding)?;
        let Ok(len) = usize::try_from(size) else {
            return w.corrupt("object size", format!("size is {size}, more than the collection has"));
        };
        let data = w.payload("object data", len, |o| &o.data)?;
        let padding = w.slack("padding", len.wrapping_neg() % ALIGNMENT, |o| &o.padding)?;
        Ok(Object { index, reference_count, reserved, size, header_padding, data, padding })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{collection, global_heap_id};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    /// Any place in the global heap.
    pub fn global_heap_id(sizes: Sizes) -> BoxedStrategy<GlobalHeapId> {
        (proptest::option::of(laws::addr(sizes)), any::<u32>())
            .prop_map(|(collection, index)| GlobalHeapId { collection, index })
            .boxed()
    }

    /// Any collection: objects, then free space or none, then a rest that is too small for anything.
    pub fn collection(sizes: Sizes) -> BoxedStrategy<Collection> {
        let data = vec(any::<u8>(), 0..30).prop_map(Bytes::from);
        let objects = vec((1u16.., any::<u16>(), data), 0..6);
        let (reserved, header) = (vec(1u8.., 3), Object::header_size(sizes));
        let free = prop_oneof![Just(0), (header..header + 30)];
        (objects, reserved, free, vec(1u8.., 0..8))
            .prop_map(move |(objects, reserved, free, rest)| {
                let mut objects: Vec<_> =
                    objects.into_iter().map(|(i, count, data)| Object::new(i, count, data)).collect();
                let mut size = Collection::header_size(sizes) + rest.len() + free;
                size += objects.iter().map(|o| header + o.data.len().next_multiple_of(ALIGNMENT)).sum::<usize>();
                if free > 0 {
                    objects.push(Object::free(free, sizes));
                }
                let size = u64::try_from(size).expect("because it is small");
                Collection { reserved, rest, ..Collection::new(size, objects) }
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<Collection>(|sizes| collection(sizes).prop_map(|c| (c, ())).boxed());
        laws::hold::<GlobalHeapId>(|sizes| global_heap_id(sizes).prop_map(|i| (i, ())).boxed());
    }

    fn bytes(objects: Vec<Object>, size: u64) -> Vec<u8> {
        Collection::new(size, objects).encode(Addr(0), Sizes::EIGHT, ()).unwrap()
    }

    #[test]
    fn objects_are_found_by_index_whatever_their_order() {
        let data = |text: &'static str| Bytes::from_static(text.as_bytes());
        let objects = vec![
            Object::new(7, 1, data("seven")),
            Object::new(2, 1, data("two")),
            Object::new(9, 1, data("first nine")),
            Object::new(9, 3, data("second nine")),
            Object::free(40, Sizes::EIGHT),
        ];
        let bytes = Bytes::from(bytes(objects, 16 + 24 + 24 + 32 + 32 + 40));
        let (heap, used) = Collection::decode_shared(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap();
        assert_eq!(used, bytes.len());
        let text = |index| heap.object(index).map(|o| o.data.clone());
        assert_eq!(text(2).unwrap(), "two");
        assert_eq!(text(7).unwrap(), "seven");
        assert_eq!(text(9).unwrap(), "second nine");
        assert_eq!((text(0), text(1), text(8), text(10)), (None, None, None, None));
        assert_eq!(heap.objects().len(), 5);
        assert!(bytes.as_ptr_range().contains(&text(2).unwrap().as_ptr()), "data are shared");
    }

    #[test]
    fn free_space_whose_size_makes_no_sense_takes_what_is_left() {
        for claimed in [0u64, 15, 41, u64::MAX] {
            let objects = vec![Object::new(1, 1, Bytes::from_static(b"x")), Object::free(40, Sizes::EIGHT)];
            let mut bytes = bytes(objects, 80);
            bytes[48..56].copy_from_slice(&claimed.to_le_bytes());
            let heap = Collection::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap();
            assert_eq!((heap.objects()[1].size, heap.objects()[1].data.len()), (claimed, 24));
            assert_eq!(heap.encode(Addr(0), Sizes::EIGHT, ()).unwrap(), bytes);
        }
    }

    #[test]
    fn a_collection_that_grows_is_encoded_as_it_would_be_when_full() {
        for sizes in laws::widths() {
            let data: Vec<Vec<u8>> = (0..20u8).map(|i| vec![i; usize::from(i)]).collect();
            let taken: usize = data.iter().map(|data| Object::taken(data.len(), sizes)).sum();
            for left in [0, 8, 64] {
                let size = Collection::header_size(sizes) + taken + left;
                let (mut filling, mut objects) = (Filling::new(size, sizes).unwrap(), Vec::new());
                for data in &data {
                    let index = filling.push(data).unwrap();
                    objects.push(Object::new(index, 0, data.clone().into()));
                }
                assert_eq!(filling.push(&[0; 100]), None);
                if left >= Object::header_size(sizes) {
                    objects.push(Object::free(left, sizes));
                }
                let whole = Collection::new(u64::try_from(size).unwrap(), objects).encode(Addr(0), sizes, ()).unwrap();
                assert!(filling.finish().unwrap() == whole, "{sizes:?}, {left} bytes left");
            }
        }
        let id = GlobalHeapId { collection: Some(Addr(0x0102_0304_0506_0708)), index: 0x0a0b_0c0d };
        assert_eq!(id.wide()[..], id.encode(Addr(0), Sizes::EIGHT, ()).unwrap());
    }

    #[test]
    fn an_object_larger_than_its_collection_is_corrupt() {
        let mut bytes = bytes(vec![Object::new(1, 1, Bytes::from_static(b"x"))], 40);
        bytes.extend_from_slice(&[0; 100]);
        bytes[24] = 9;
        let error = Collection::decode(&bytes, Addr(0x100), Sizes::EIGHT, ()).unwrap_err();
        let text = r#"needs 9 more bytes, 8 are left (global heap object, "object data", at 0x120)"#;
        assert_eq!((error.kind(), error.to_string(), error.short_of()), (ErrorKind::Corrupt, text.into(), 0));
    }
}
