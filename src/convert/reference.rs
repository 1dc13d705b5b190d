//! References: values that point at objects, regions of datasets, and attributes.

use std::fmt;

use super::decoder::Decoder;
use super::encoder::Encoder;
use super::h5type::{H5Type, mismatch};
use super::heaps::Heaps;
use super::notation::text;
use super::number::Conversion;
use crate::error::{Error, Result};
use crate::format::encoded_selection::EncodedSelection;
use crate::format::global_heap::GlobalHeapId;
use crate::format::message::datatype::{Class, Datatype, ReferenceKind as Stored};
use crate::format::reference::{
    Contents, ObjectReference, ReferenceBlock, ReferenceElement, ReferenceKind, RegionReference, Target, token_address,
};
use crate::object::heap;
use crate::wire::{Addr, Sizes, Structure};

/// A reference: it points at an object, a region of a dataset, an attribute, or at nothing.
///
/// [`Reference::follow`], [`Reference::region`] and [`Reference::attribute`] give what it points at.
#[derive(Clone, Debug, Eq)]
pub struct Reference {
    /// The file, if it is another one.
    file: Option<Box<str>>,
    /// The header of the object.
    object: Option<Addr>,
    part: Part,
    /// A path of the object, if somebody looked for one.
    path: Option<Box<str>>,
}

/// References are equal that point at the same thing, whether or not its path is known.
impl PartialEq for Reference {
    fn eq(&self, other: &Self) -> bool {
        (&self.file, self.object, &self.part) == (&other.file, other.object, &other.part)
    }
}

/// What of an object a reference points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// A region of the dataset.
    Region(Box<EncodedSelection>),
    /// The attribute of this name.
    Attribute(String),
}

impl Reference {
    /// A reference to nothing.
    pub const NULL: Reference = Reference { file: None, object: None, part: Part::Whole, path: None };

    /// A reference to the object whose header is at `addr`.
    pub(crate) fn to(addr: Addr) -> Reference {
        Reference { object: Some(addr), ..Reference::NULL }
    }

    /// Whether it points at nothing.
    pub fn is_null(&self) -> bool {
        self.object.is_none()
    }

    /// The address of the object's header, in its file.
    pub fn address(&self) -> Option<Addr> {
        self.object
    }

    /// The name of the file that it points into, if that is another one than its own.
    pub fn file_name(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The path of the object, if one was looked for ([`Tree::name_references`](crate::inspect::Tree::name_references)):
    /// references hold addresses.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    pub(crate) fn set_path(&mut self, path: Option<String>) {
        self.path = path.map(String::into_boxed_str);
    }

    pub(crate) fn part(&self) -> &Part {
        &self.part
    }

    fn old_object(stored: &[u8], heaps: &Heaps<'_>) -> Result<Reference> {
        let loaded = &heaps.container().loaded;
        let reference = ObjectReference::decode(stored, Addr(0), loaded.sizes(), ())?;
        loaded.decoded_part(&reference, stored, Addr(0), ());
        Ok(Reference { object: reference.target(), ..Reference::NULL })
    }

    fn old_region(stored: &[u8], heaps: &Heaps<'_>) -> Result<Reference> {
        if stored.iter().all(|&byte| byte == 0) {
            return Ok(Reference::NULL);
        }
        let (container, sizes) = (heaps.container(), heaps.container().loaded.sizes());
        let id = GlobalHeapId::decode(stored, Addr(0), sizes, ())?;
        let Some(block) = container.run(|scope| heap::global(scope, id))? else { return Ok(Reference::NULL) };
        heaps.pay(block.len())?;
        let (region, used) = RegionReference::decode_shared(&block, Addr(0), sizes, ())?;
        container.loaded.decoded_part(&region, &block[..used], Addr(0), ());
        Ok(Reference { object: Some(region.object), part: Part::Region(Box::new(region.selection)), ..Reference::NULL })
    }

    fn revised(stored: &[u8], heaps: &Heaps<'_>) -> Result<Reference> {
        let (container, sizes) = (heaps.container(), heaps.container().loaded.sizes());
        let element = ReferenceElement::decode(stored, Addr(0), sizes, stored.len())?;
        container.loaded.decoded_part(&element, stored, Addr(0), stored.len());
        if element.kind == ReferenceKind::Null {
            return Ok(Reference::NULL);
        }
        let block = match &element.contents {
            Contents::Token(token) => ReferenceBlock { token: token.clone(), file: None, target: Target::Object },
            Contents::Heap { id, .. } => {
                let block = container.run(|scope| heap::global(scope, *id))?;
                let block = block.ok_or_else(|| Error::corrupt("a reference names no object of the global heap"))?;
                heaps.pay(block.len())?;
                let context = element.block_context();
                let (decoded, used) = ReferenceBlock::decode_shared(&block, Addr(0), sizes, context)?;
                container.loaded.decoded_part(&decoded, &block[..used], Addr(0), context);
                decoded
            }
        };
        let part = match block.target {
            Target::Object => Part::Whole,
            Target::Region { selection, .. } => Part::Region(Box::new(selection)),
            Target::Attribute(name) => Part::Attribute(text(&name)),
        };
        let file = block.file.map(|name| text(&name).into_boxed_str());
        Ok(Reference { file, object: token_address(&block.token, sizes), part, path: None })
    }
}

impl H5Type for Reference {
    /// An old object reference, which every version of HDF5 knows, as it is where addresses have 8 bytes.
    fn type_descriptor() -> Datatype {
        let class = Class::Reference { kind: Stored::Object1, encoding: 0 };
        Datatype { version: 1, size: 8, class, unused_bits: 0 }
    }

    fn decoder(stored: &Datatype, _: Conversion) -> Result<Decoder<Self>> {
        match stored.class {
            Class::Reference { kind: Stored::Object1, .. } => Decoder::new(stored, Reference::old_object),
            Class::Reference { kind: Stored::Region1, .. } => Decoder::new(stored, Reference::old_region),
            Class::Reference { .. } => Decoder::new(stored, Reference::revised),
            _ => Err(mismatch::<Self>(stored)),
        }
    }

    /// To old references: of objects of the same file, and of regions of its datasets.
    fn encoder(stored: &Datatype, _: Conversion) -> Result<Encoder<Self>> {
        let kind = match stored.class {
            Class::Reference { kind: kind @ (Stored::Object1 | Stored::Region1), .. } => kind,
            _ => return Err(mismatch::<Self>(stored)),
        };
        Encoder::new(stored, move |value: &Self, element, heap| {
            let Some(object) = value.object else { return Ok(()) };
            let bytes = match (&value.part, kind, &value.file) {
                (Part::Whole, Stored::Object1, None) => {
                    ObjectReference { object: Some(object) }.encode(Addr(0), Sizes::EIGHT, ())?
                }
                (Part::Region(selection), Stored::Region1, None) => {
                    let region = RegionReference { object, selection: (**selection).clone() };
                    heap.store(&region.encode(Addr(0), Sizes::EIGHT, ())?)?.to_vec()
                }
                _ => return Err(Error::wrong_type(format!("old references point at no {value}"))),
            };
            element.copy_from_slice(&bytes);
            Ok(())
        })
    }
}

/// What it points at: `object at 0x320`, `region [0:2, 5:9] at 0x320`, `attribute "units" at 0x320`, `null`. Where the path
/// is known: `/lat`, `region [0:2, 5:9] of /lat`, `attribute "units" of /lat`.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(object) = self.object else { return f.write_str("null") };
        if let Some(path) = &self.path {
            return match &self.part {
                Part::Whole => f.write_str(path),
                Part::Region(region) => write!(f, "region {} of {path}", region.selection),
                Part::Attribute(name) => write!(f, "attribute {name:?} of {path}"),
            };
        }
        match &self.part {
            Part::Whole => write!(f, "object at {object}")?,
            Part::Region(region) => write!(f, "region {} at {object}", region.selection)?,
            Part::Attribute(name) => write!(f, "attribute {name:?} at {object}")?,
        }
        match &self.file {
            Some(file) => write!(f, " of {file}"),
            None => Ok(()),
        }
    }
}
