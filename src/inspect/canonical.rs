//! Elements in a canonical form that does not depend on byte order, padding, heaps or addresses, and their digest.
//!
//! Numbers are least significant byte first; strings, sequences and paths are preceded by their length in 8 bytes;
//! references are the canonical paths of what they lead to.

use sha2::{Digest as _, Sha256};

use super::tree::Tree;
use crate::convert::string::{Sequence, trim};
use crate::error::{Error, Result};
use crate::format::encoded_selection::{EncodedSelection, Selection};
use crate::format::global_heap::GlobalHeapId;
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::{ByteOrder, Class, Datatype, ReferenceKind as Class7, Text, array_count};
use crate::format::reference::{
    Contents, ObjectReference, ReferenceBlock, ReferenceElement, ReferenceKind, RegionReference, Target, token_address,
};
use crate::index::virtual_layout::{elements, unlimited_axis};
use crate::object::{Container, Header, heap};
use crate::wire::{Addr, Structure};

/// The SHA-256 of canonical elements, and how many bytes they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// 64 hexadecimal digits.
    pub sha256: String,
    /// Bytes of all canonical elements.
    pub bytes: u64,
}

/// Takes elements and gives their digest.
#[derive(Debug)]
pub struct Canonical<'a> {
    container: &'a Container,
    tree: &'a Tree,
    hash: Sha256,
    pending: Vec<u8>,
    bytes: u64,
}

/// How elements of a datatype become canonical. Made once per datatype.
#[derive(Debug)]
enum Form {
    AsIs(usize),
    Reversed(usize),
    Vax(usize),
    String(usize, Text),
    VariableString(usize),
    Sequence {
        size: usize,
        element: Box<Form>,
    },
    /// Members with their offsets; the size of the whole.
    Compound(usize, Vec<(usize, Form)>),
    Array(usize, Box<Form>),
    Object(usize),
    Region(usize),
    Revised(usize),
}

/// Selections of more elements than this are not listed one by one.
const MOST_LISTED: u64 = 65_536;
/// Canonical bytes of one dataset at most: elements of variable length may all name the same object.
const MOST_BYTES: u64 = 4 << 30;
/// Bytes that are gathered before they are hashed.
const GATHERED: usize = 64 << 10;

impl Form {
    fn of(datatype: &Datatype) -> Result<Form> {
        let size = usize::try_from(datatype.size).map_err(|_| Error::limit("an element is larger than memory"))?;
        Ok(match &datatype.class {
            Class::FixedPoint(number) => Self::number(size, number.bits.order),
            Class::FloatingPoint(number) => Self::number(size, number.bits.order),
            Class::BitField(bits) => Self::number(size, bits.order),
            Class::Time { order, .. } => Self::number(size, *order),
            Class::String(text) => Form::String(size, *text),
            Class::Opaque { .. } => Form::AsIs(size),
            Class::Compound(members) => {
                let mut forms = Vec::new();
                for member in members {
                    let form = Form::of(&member.datatype)?;
                    let shape = member.dimensions.as_ref().map_or(&[][..], |d| d.shape());
                    let form = if shape.is_empty() { form } else { Self::array(shape, form)? };
                    forms.push((usize::try_from(member.byte_offset).unwrap_or(usize::MAX), form));
                }
                Form::Compound(size, forms)
            }
            Class::Reference { kind: Class7::Object1, .. } => Form::Object(size),
            Class::Reference { kind: Class7::Region1, .. } => Form::Region(size),
            Class::Reference { .. } => Form::Revised(size),
            Class::Enumeration(names) => Form::of(&names.base)?,
            Class::VariableLength { text: Some(_), .. } => Form::VariableString(size),
            Class::VariableLength { text: None, base } => Form::Sequence { size, element: Box::new(Form::of(base)?) },
            Class::Array { shape, base, .. } => Self::array(shape, Form::of(base)?)?,
            Class::Complex { base, .. } => Form::Array(2, Box::new(Form::of(base)?)),
        })
    }

    fn number(size: usize, order: ByteOrder) -> Form {
        match order {
            ByteOrder::LittleEndian => Form::AsIs(size),
            ByteOrder::BigEndian => Form::Reversed(size),
            ByteOrder::Vax => Form::Vax(size),
        }
    }

    fn array(shape: &[u32], element: Form) -> Result<Form> {
        let count = usize::try_from(array_count(shape)?).map_err(|_| Error::limit("an array is larger than memory"))?;
        Ok(Form::Array(count, Box::new(element)))
    }

    /// Bytes of a stored element.
    fn size(&self) -> usize {
        match self {
            Form::AsIs(size) | Form::Reversed(size) | Form::Vax(size) | Form::String(size, _) => *size,
            Form::VariableString(size) | Form::Sequence { size, .. } | Form::Compound(size, _) => *size,
            Form::Object(size) | Form::Region(size) | Form::Revised(size) => *size,
            Form::Array(count, element) => count.saturating_mul(element.size()),
        }
    }
}

impl<'a> Canonical<'a> {
    /// For elements of the file whose tree is `tree`.
    pub fn new(file: &'a crate::File, tree: &'a Tree) -> Self {
        Canonical { container: file.container(), tree, hash: Sha256::new(), pending: Vec::new(), bytes: 0 }
    }

    /// Takes stored elements of `datatype`, one after the other.
    pub fn elements(&mut self, stored: &[u8], datatype: &Datatype) -> Result<()> {
        let form = Form::of(datatype)?;
        if let Form::AsIs(_) = form {
            self.flush();
            self.bytes += u64::try_from(stored.len()).unwrap_or(u64::MAX);
            self.hash.update(stored);
            return Ok(());
        }
        self.each(stored, &form)
    }

    /// Takes numbers of eight bytes.
    pub fn numbers(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|n| self.put(&n.to_le_bytes()));
    }

    /// The digest of everything taken.
    pub fn finish(mut self) -> Digest {
        self.flush();
        let sha256 = self.hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Digest { sha256, bytes: self.bytes }
    }

    fn each(&mut self, stored: &[u8], form: &Form) -> Result<()> {
        let size = form.size();
        if size == 0 {
            return Ok(());
        }
        for element in stored.chunks_exact(size) {
            self.element(element, form)?;
        }
        if self.bytes > MOST_BYTES {
            return Err(Error::limit(format!("the elements are more than {MOST_BYTES} canonical bytes")));
        }
        Ok(())
    }

    fn element(&mut self, stored: &[u8], form: &Form) -> Result<()> {
        match form {
            Form::AsIs(_) => self.put(stored),
            Form::Reversed(_) => {
                self.put(stored);
                let start = self.pending.len() - stored.len();
                self.pending[start..].reverse();
            }
            Form::Vax(_) => {
                let words: Vec<u8> = stored.chunks(2).rev().flatten().copied().collect();
                self.put(&words);
            }
            Form::String(_, text) => self.prefixed(trim(stored, *text)),
            Form::VariableString(_) => {
                let text = crate::convert::string::variable(stored, self.container)?;
                self.prefixed(&text);
            }
            Form::Sequence { element, .. } => {
                let sequence = Sequence::decode(stored, self.container)?;
                let bytes = sequence.bytes(element.size(), self.container)?.unwrap_or_default();
                let count = bytes.len().checked_div(element.size()).unwrap_or(0);
                self.length(count);
                self.each(&bytes, element)?;
            }
            Form::Compound(_, members) => {
                for (offset, member) in members {
                    let end = offset.saturating_add(member.size());
                    let part =
                        stored.get(*offset..end).ok_or_else(|| Error::corrupt("a member leaves its compound"))?;
                    self.element(part, member)?;
                }
            }
            Form::Array(_, element) => self.each(stored, element)?,
            Form::Object(_) => self.object(stored)?,
            Form::Region(_) => self.region(stored)?,
            Form::Revised(size) => self.revised(stored, *size)?,
        }
        Ok(())
    }

    /// Takes bytes, which are the last pending ones then, so that `element` may still turn them round.
    fn put(&mut self, bytes: &[u8]) {
        if self.pending.len() + bytes.len() > GATHERED {
            self.flush();
        }
        self.bytes = self.bytes.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        self.pending.extend_from_slice(bytes);
    }

    fn flush(&mut self) {
        self.hash.update(&self.pending);
        self.pending.clear();
    }

    fn length(&mut self, length: usize) {
        self.put(&u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes());
    }

    fn prefixed(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.put(bytes);
    }

    /// The canonical path of an object, `?` if no hard link leads to it.
    fn path(&mut self, addr: Option<Addr>) {
        let path = addr.and_then(|addr| self.tree.path(addr)).unwrap_or(b"?").to_vec();
        self.prefixed(super::notation::text(&path).as_bytes());
    }

    fn object(&mut self, stored: &[u8]) -> Result<()> {
        let reference = ObjectReference::decode(stored, Addr(0), self.container.loaded.sizes(), ())?;
        self.container.loaded.decoded_part(&reference, stored, Addr(0), ());
        match reference.target() {
            Some(addr) => self.path(Some(addr)),
            None => self.length(0),
        }
        Ok(())
    }

    fn region(&mut self, stored: &[u8]) -> Result<()> {
        let sizes = self.container.loaded.sizes();
        let nothing = stored.iter().all(|&b| b == 0);
        let id = GlobalHeapId::decode(stored, Addr(0), sizes, ())?;
        let block = if nothing { None } else { self.container.run(|scope| heap::global(scope, id))? };
        let Some(block) = block else {
            self.length(0);
            self.put(&[0]);
            return Ok(());
        };
        let region = RegionReference::decode_shared(&block, Addr(0), sizes, ());
        let region = region.map(|(region, used)| {
            self.container.loaded.decoded_part(&region, &block[..used], Addr(0), ());
            region
        });
        match region.and_then(|r| Ok((self.shape(r.object)?, r))) {
            Ok((shape, region)) => {
                self.path(Some(region.object));
                self.selection(&region.selection, &shape);
            }
            Err(_) => {
                self.prefixed(b"?");
                self.put(&[0]);
            }
        }
        Ok(())
    }

    fn revised(&mut self, stored: &[u8], size: usize) -> Result<()> {
        let sizes = self.container.loaded.sizes();
        let element = ReferenceElement::decode(stored, Addr(0), sizes, size)?;
        self.container.loaded.decoded_part(&element, stored, Addr(0), size);
        if element.kind == ReferenceKind::Null {
            // To libhdf5 a null one is a reference to an object that cannot be opened.
            self.prefixed(b"?");
            self.put(&[2]);
            return Ok(());
        }
        let (token, target) = match &element.contents {
            Contents::Token(token) => (token.clone(), Target::Object),
            Contents::Heap { id, .. } => {
                let block = self.container.run(|scope| heap::global(scope, *id))?;
                let block = block.ok_or_else(|| Error::corrupt("a reference names no object of the global heap"))?;
                let context = element.block_context();
                let (decoded, used) = ReferenceBlock::decode_shared(&block, Addr(0), sizes, context)?;
                self.container.loaded.decoded_part(&decoded, &block[..used], Addr(0), context);
                (decoded.token, decoded.target)
            }
        };
        let addr = token_address(&token, sizes);
        self.path(addr);
        match target {
            Target::Object => self.put(&[2]),
            Target::Attribute(name) => {
                self.put(&[4]);
                self.prefixed(&name);
            }
            Target::Region { selection, .. } => match addr.map(|addr| self.shape(addr)) {
                Some(Ok(shape)) => self.selection(&selection, &shape),
                _ => self.put(&[0xff]),
            },
        }
        Ok(())
    }

    /// The shape of the dataset at `addr`.
    fn shape(&self, addr: Addr) -> Result<Vec<u64>> {
        let space = self.container.run(|scope| Header::load(scope, addr)?.expect::<Dataspace>(scope))?;
        Ok(space.shape)
    }

    /// Rank, number of elements, bounding box and linear indices of a selection; ff if it does not fit the shape.
    fn selection(&mut self, selection: &EncodedSelection, shape: &[u64]) {
        let Ok(selected) = elements(selection, shape, None) else { return self.put(&[0xff]) };
        let count = match selection.selection {
            Selection::All => shape.iter().product(),
            // One that goes on without end has no number of elements.
            _ if unlimited_axis(selection).is_some() => 0,
            _ => selected.count(),
        };
        self.put(&[3]);
        self.length(shape.len());
        self.numbers(&[count]);
        let Some(bounds) = selected.bounds().filter(|_| count > 0 && !shape.is_empty()) else { return };
        self.numbers(&bounds.start);
        let last: Vec<u64> = (0..shape.len()).map(|axis| bounds.end(axis) - 1).collect();
        self.numbers(&last);
        if count <= MOST_LISTED {
            let runs = selected.runs(shape).into_iter().flatten();
            let mut indices: Vec<u64> = runs.flat_map(|run| run.start..run.start + run.count).collect();
            indices.sort_unstable();
            self.numbers(&indices);
        }
    }
}
