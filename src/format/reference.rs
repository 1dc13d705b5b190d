//! References: elements of datasets and attributes that point at objects, regions of datasets, or attributes.
//! Specification VIII.B (revised, since HDF5 1.12) and VIII.C (old).
//!
//! ```text
//! old:     object address                                   or a global heap id ──> object address, selection
//! revised: type, flags, token                               to an object of the same file
//!          type, flags, size, global heap id ──> token, [file], [selection or attribute name]
//! ```

use super::encoded_selection::EncodedSelection;
use super::global_heap::GlobalHeapId;
use crate::error::Result;
use crate::wire::{Addr, Sizes, Structure, Walk};

/// The largest token.
const MAX_TOKEN: u8 = 16;
const EXTERNAL: u8 = 1;

/// An old object reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectReference {
    /// The object's header; undefined, or 0 in many files, if it points at nothing.
    pub object: Option<Addr>,
}

impl ObjectReference {
    /// The object's header, `None` if the reference points at nothing.
    pub fn target(self) -> Option<Addr> {
        self.object.filter(|addr| addr.0 != 0)
    }
}

/// What an old region reference points at in the global heap. The element itself is a [`GlobalHeapId`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionReference {
    /// The dataset's object header.
    pub object: Addr,
    /// The region.
    pub selection: EncodedSelection,
}

/// What kind of thing a revised reference points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// Nothing: type 0.
    Null,
    /// An object: type 2.
    Object,
    /// A region of a dataset: type 3.
    Region,
    /// An attribute: type 4.
    Attribute,
}

/// An element of a revised reference datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceElement {
    /// What it points at.
    pub kind: ReferenceKind,
    /// Bit 0: into another file.
    pub flags: u8,
    /// The reference itself, or where it is.
    pub contents: Contents,
    /// What stands after it in the element, unless it is zero.
    pub slack: Vec<u8>,
}

/// A revised reference, or where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The token of an object in the same file.
    Token(Vec<u8>),
    /// A [`ReferenceBlock`] in the global heap.
    Heap {
        /// Bytes in the block.
        size: u32,
        /// Where it is.
        id: GlobalHeapId,
    },
}

/// What a revised reference points at, if it does not fit into the element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceBlock {
    /// The object's token.
    pub token: Vec<u8>,
    /// The file, if it is another one.
    pub file: Option<Vec<u8>>,
    /// What of the object.
    pub target: Target,
}

/// What of an object a revised reference points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The object.
    Object,
    /// A region of the dataset.
    Region {
        /// Bytes in the encoded selection.
        size: u32,
        /// The dataset's rank.
        rank: u32,
        /// The region.
        selection: EncodedSelection,
        /// What stands after it, unless it is zero.
        slack: Vec<u8>,
    },
    /// The attribute of this name.
    Attribute(Vec<u8>),
}

/// What a [`ReferenceBlock`] depends on; the element says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockContext {
    /// What the reference points at.
    pub kind: ReferenceKind,
    /// Flags of the element.
    pub flags: u8,
}

/// The address of an object header that a token holds: what tokens are in HDF5 files. `None` for the undefined address,
/// for 0, and for tokens of another width.
pub fn token_address(token: &[u8], sizes: Sizes) -> Option<Addr> {
    if token.len() != usize::from(sizes.offsets) {
        return None;
    }
    ObjectReference::decode(token, Addr(0), sizes, ()).ok()?.target()
}

impl ReferenceKind {
    fn number(self) -> u8 {
        match self {
            ReferenceKind::Null => 0,
            ReferenceKind::Object => 2,
            ReferenceKind::Region => 3,
            ReferenceKind::Attribute => 4,
        }
    }
}

impl ReferenceElement {
    /// What the block in the global heap depends on.
    pub fn block_context(&self) -> BlockContext {
        BlockContext { kind: self.kind, flags: self.flags }
    }

    fn token(&self) -> &[u8] {
        match &self.contents {
            Contents::Token(token) => token,
            Contents::Heap { .. } => &[],
        }
    }

    fn heap(&self) -> (u32, &GlobalHeapId) {
        const NOWHERE: GlobalHeapId = GlobalHeapId { collection: None, index: 0 };
        match &self.contents {
            Contents::Token(_) => (0, &NOWHERE),
            Contents::Heap { size, id } => (*size, id),
        }
    }
}

impl ReferenceBlock {
    fn region(&self) -> (u32, u32, Option<&EncodedSelection>, &[u8]) {
        match &self.target {
            Target::Region { size, rank, selection, slack } => (*size, *rank, Some(selection), slack),
            Target::Object | Target::Attribute(_) => (0, 0, None, &[]),
        }
    }

    fn selection(&self) -> &EncodedSelection {
        self.region().2.expect("because the walk asks only for regions")
    }

    fn attribute(&self) -> &[u8] {
        match &self.target {
            Target::Attribute(name) => name,
            Target::Object | Target::Region { .. } => &[],
        }
    }
}

impl Structure for ObjectReference {
    const NAME: &'static str = "object reference";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        Ok(ObjectReference { object: w.offset("object address", |r| r.object)? })
    }

    fn first_read(sizes: Sizes, (): ()) -> usize {
        sizes.offsets.into()
    }
}

impl Structure for RegionReference {
    const NAME: &'static str = "dataset region reference";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let object = w.address("object address", |r| r.object)?;
        let selection = w.nest(|r| &r.selection, ())?;
        Ok(RegionReference { object, selection })
    }
}

impl Structure for ReferenceElement {
    const NAME: &'static str = "reference header";
    type Context = usize; // the size of an element

    fn walk(w: &mut Walk<'_, '_, Self>, size: usize) -> Result<Self> {
        let contents = |w: &mut Walk<'_, '_, Self>| {
            let kind = match w.u8("reference type", |r| r.kind.number())? {
                0 => ReferenceKind::Null,
                2 => ReferenceKind::Object,
                3 => ReferenceKind::Region,
                4 => ReferenceKind::Attribute,
                other => return w.unsupported("reference type", format!("type is {other}, 0 and 2 to 4 are known")),
            };
            let flags = w.u8("flags", |r| r.flags)?;
            if kind == ReferenceKind::Object && flags & EXTERNAL == 0 {
                let token = walk_token(w, ReferenceElement::token)?;
                return Ok((kind, flags, Contents::Token(token)));
            }
            let size = w.u32("size", |r| r.heap().0)?;
            let id = w.nest(|r| r.heap().1, ())?;
            Ok((kind, flags, Contents::Heap { size, id }))
        };
        let ((kind, flags, contents), slack) = w.boxed("unused", size, |r| &r.slack, contents)?;
        Ok(ReferenceElement { kind, flags, contents, slack })
    }

    fn first_read(_: Sizes, size: usize) -> usize {
        size
    }
}

impl Structure for ReferenceBlock {
    const NAME: &'static str = "reference block";
    type Context = BlockContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: BlockContext) -> Result<Self> {
        let token = walk_token(w, |r| &r.token)?;
        let file = if cx.flags & EXTERNAL == 0 {
            None
        } else {
            let fields = ["length of external file name", "external file name"];
            Some(walk_name(w, fields, |r| r.file.as_deref().unwrap_or_default())?)
        };
        let target = match cx.kind {
            ReferenceKind::Null => return w.corrupt("token", "a reference to nothing has no block"),
            ReferenceKind::Object => Target::Object,
            ReferenceKind::Region => {
                let size = w.u32("size of dataspace selection", |r| r.region().0)?;
                let rank = w.u32("rank of dataspace selection", |r| r.region().1)?;
                let (selection, slack) =
                    w.boxed("unused", size as usize, |r| r.region().3, |w| w.nest(|r| r.selection(), ()))?;
                Target::Region { size, rank, selection, slack }
            }
            ReferenceKind::Attribute => {
                let fields = ["length of attribute name", "attribute name"];
                Target::Attribute(walk_name(w, fields, ReferenceBlock::attribute)?)
            }
        };
        Ok(ReferenceBlock { token, file, target })
    }
}

fn walk_token<T>(w: &mut Walk<'_, '_, T>, get: impl Fn(&T) -> &[u8]) -> Result<Vec<u8>> {
    let size = w.uint("token size", 1, |t| u64::try_from(get(t).len()).unwrap_or(u64::MAX))?;
    match u8::try_from(size) {
        Ok(size @ 0..=MAX_TOKEN) => w.bytes("token", size.into(), |t| get(t)),
        _ => w.corrupt("token size", format!("size is {size}, at most {MAX_TOKEN} is possible")),
    }
}

fn walk_name(
    w: &mut Walk<'_, '_, ReferenceBlock>,
    [length_field, field]: [&'static str; 2],
    get: impl Fn(&ReferenceBlock) -> &[u8],
) -> Result<Vec<u8>> {
    let length = w.count(length_field, 2, |r| get(r).len())?;
    w.bytes(field, length, |r| get(r))
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{object_reference, reference_block, reference_element, region_reference};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::super::encoded_selection::encoded_selection;
    use super::super::global_heap::global_heap_id;
    use super::*;
    use crate::wire::laws;

    /// Any old object reference.
    pub fn object_reference(sizes: Sizes) -> BoxedStrategy<ObjectReference> {
        option::of(laws::addr(sizes)).prop_map(|object| ObjectReference { object }).boxed()
    }

    /// Any old region reference.
    pub fn region_reference(sizes: Sizes) -> BoxedStrategy<RegionReference> {
        (laws::addr(sizes), encoded_selection())
            .prop_map(|(object, selection)| RegionReference { object, selection })
            .boxed()
    }

    fn kind() -> BoxedStrategy<ReferenceKind> {
        prop_oneof![
            Just(ReferenceKind::Null),
            Just(ReferenceKind::Object),
            Just(ReferenceKind::Region),
            Just(ReferenceKind::Attribute)
        ]
        .boxed()
    }

    fn token() -> BoxedStrategy<Vec<u8>> {
        vec(any::<u8>(), 0..=usize::from(MAX_TOKEN)).boxed()
    }

    /// Any revised reference, with the size of its element.
    pub fn reference_element(sizes: Sizes) -> BoxedStrategy<(ReferenceElement, usize)> {
        (kind(), any::<u8>(), token(), any::<u32>(), global_heap_id(sizes), 0usize..5, 1u8..)
            .prop_map(move |(kind, flags, token, size, id, more, filling)| {
                let inline = kind == ReferenceKind::Object && flags & EXTERNAL == 0;
                let used = if inline { 3 + token.len() } else { 10 + usize::from(sizes.offsets) };
                let contents = if inline { Contents::Token(token) } else { Contents::Heap { size, id } };
                (ReferenceElement { kind, flags, contents, slack: vec![filling; more] }, used + more)
            })
            .boxed()
    }

    /// Any block of a revised reference, with its context.
    pub fn reference_block(sizes: Sizes) -> BoxedStrategy<(ReferenceBlock, BlockContext)> {
        let region = (encoded_selection(), any::<u32>(), vec(1u8.., 0..4)).prop_map(move |(selection, rank, slack)| {
            let size = selection.size(sizes, ()).expect("because it is valid") + slack.len();
            Target::Region { size: u32::try_from(size).expect("because it is small"), rank, selection, slack }
        });
        let attribute = vec(any::<u8>(), 0..9).prop_map(Target::Attribute);
        let target = prop_oneof![Just(Target::Object), region, attribute];
        (token(), option::of(vec(any::<u8>(), 0..9)), target, any::<u8>())
            .prop_map(|(token, file, target, flags)| {
                let kind = match target {
                    Target::Object => ReferenceKind::Object,
                    Target::Region { .. } => ReferenceKind::Region,
                    Target::Attribute(_) => ReferenceKind::Attribute,
                };
                let flags = flags & !EXTERNAL | u8::from(file.is_some());
                (ReferenceBlock { token, file, target }, BlockContext { kind, flags })
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
        laws::hold::<ObjectReference>(|sizes| object_reference(sizes).prop_map(|r| (r, ())).boxed());
        laws::hold::<RegionReference>(|sizes| region_reference(sizes).prop_map(|r| (r, ())).boxed());
        laws::hold::<ReferenceElement>(reference_element);
        laws::hold::<ReferenceBlock>(reference_block);
    }

    #[test]
    fn references_to_nothing_have_no_target() {
        assert_eq!(ObjectReference { object: None }.target(), None);
        assert_eq!(ObjectReference { object: Some(Addr(0)) }.target(), None);
        assert_eq!(ObjectReference { object: Some(Addr(96)) }.target(), Some(Addr(96)));
        let element = ReferenceElement::decode(&[0; 18], Addr(0), Sizes::EIGHT, 18).unwrap();
        assert_eq!(element.kind, ReferenceKind::Null);
    }

    #[test]
    fn a_token_is_an_address() {
        let mut bytes = [0; 18];
        bytes[..5].copy_from_slice(&[2, 0, 8, 0x20, 3]);
        let element = ReferenceElement::decode(&bytes, Addr(0), Sizes::EIGHT, 18).unwrap();
        let Contents::Token(token) = &element.contents else { panic!("{element:?}") };
        assert_eq!(token_address(token, Sizes::EIGHT), Some(Addr(0x320)));
        assert_eq!(token_address(token, Sizes { offsets: 4, lengths: 4 }), None);
        assert_eq!(token_address(&[0xff; 8], Sizes::EIGHT), None);
    }

    #[test]
    fn types_and_tokens_that_are_not_known_are_errors() {
        let kind = |a, b, c| {
            let mut bytes = [0; 40];
            bytes[..3].copy_from_slice(&[a, b, c]);
            ReferenceElement::decode(&bytes, Addr(0), Sizes::EIGHT, 40).unwrap_err().kind()
        };
        assert_eq!(kind(1, 0, 0), ErrorKind::Unsupported);
        assert_eq!(kind(5, 0, 0), ErrorKind::Unsupported);
        assert_eq!(kind(2, 0, 17), ErrorKind::Corrupt);
    }
}
