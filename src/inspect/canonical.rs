//! Elements in a canonical form that does not depend on byte order, padding, heaps or addresses, and their digest.
//!
//! Numbers are least significant byte first; strings, sequences and paths are preceded by their length in 8 bytes;
//! references are the canonical paths of what they lead to.

use sha2::{Digest as _, Sha256};

use super::tree::Tree;
use crate::convert::reference::Part;
use crate::convert::string::{Sequence, trim};
use crate::convert::{Conversion, Decoder, H5Type, Heaps, Reference};
use crate::error::{Error, Result};
use crate::format::encoded_selection::{EncodedSelection, Selection};
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::{ByteOrder, Class, Datatype, ReferenceKind, Text, array_count};
use crate::index::virtual_layout::{elements, unlimited_axis};
use crate::object::{Container, Header};
use crate::wire::Addr;

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
    Reference(usize, ReferenceKind, Decoder<Reference>),
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
            Class::Reference { kind, .. } => {
                Form::Reference(size, *kind, Reference::decoder(datatype, Conversion::Lossless)?)
            }
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
            Form::Reference(size, ..) => *size,
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
            Form::Reference(_, kind, decoder) => {
                let reference = decoder.decode(stored, &Heaps::new(self.container))?;
                self.reference(&reference, *kind);
            }
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

    /// What a reference leads to. Old ones to nothing are empty; to libhdf5 a null one of the new kind is a reference to an
    /// object that cannot be opened.
    fn reference(&mut self, reference: &Reference, kind: ReferenceKind) {
        let addr = reference.address();
        match kind {
            ReferenceKind::Object1 if addr.is_none() => return self.length(0),
            ReferenceKind::Region1 if addr.is_none() => {
                self.length(0);
                return self.put(&[0]);
            }
            _ => {}
        }
        let shape = addr.map(|addr| self.shape(addr));
        if kind == ReferenceKind::Region1 && !matches!(shape, Some(Ok(_))) {
            self.prefixed(b"?");
            return self.put(&[0]);
        }
        self.path(addr);
        match (reference.part(), shape) {
            (Part::Whole, _) if kind == ReferenceKind::Object1 => {}
            (Part::Whole, _) => self.put(&[2]),
            (Part::Attribute(name), _) => {
                self.put(&[4]);
                self.prefixed(name.as_bytes());
            }
            (Part::Region(selection), Some(Ok(shape))) => self.selection(selection, &shape),
            (Part::Region(_), _) => self.put(&[0xff]),
        }
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
