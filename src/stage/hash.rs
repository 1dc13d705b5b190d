//! The hash that tells whether two chunks are the same: SHA-256 of the elements within the array's shape, in row-major
//! order, followed by the extent as Python prints a tuple. Text counts as its length in 8 bytes, least significant
//! first, and its UTF-8 bytes.

use std::borrow::Cow;

use crate::convert::element::ElementType;
use crate::error::Result;
use crate::selection::{Block, Run};
use crate::stage::sha256::{self, Message};
use crate::stage::slabs::Memory;
use crate::stage::texts::Texts;
use crate::stage::values::{Array, Tuple};

/// A SHA-256. All zero stands for "not known".
pub type Hash = [u8; 32];

/// The hash of the chunk whose elements are `array`.
pub fn hash_array(array: &Array) -> Result<Hash> {
    let texts = Texts::default();
    let bytes = array.buffer(array.element(), &texts)?;
    let start = vec![0; array.shape().len()];
    let memory = Memory { bytes: &bytes, array: array.shape(), start: &start, shape: array.shape() };
    Ok(hashed(&memory, 0, array.shape(), array.element(), &texts)?.hash())
}

/// A chunk as it is hashed: its elements without gaps, and its extent.
pub(crate) struct Hashed<'a> {
    body: Cow<'a, [u8]>,
    extent: String,
}

impl Hashed<'_> {
    fn message(&self) -> Message<'_> {
        Message { body: &self.body, end: self.extent.as_bytes() }
    }

    /// Its hash.
    pub(crate) fn hash(&self) -> Hash {
        sha256::one(self.message())
    }

    /// Its hash and that of another chunk, in less time than one after the other.
    pub(crate) fn hash_with(&self, other: &Hashed<'_>) -> [Hash; 2] {
        sha256::two([self.message(), other.message()])
    }
}

/// What is hashed of the elements within `extent` from `row` on.
pub(crate) fn hashed<'a>(
    memory: &Memory<'a>,
    row: u64,
    extent: &[u64],
    element: &ElementType,
    texts: &Texts,
) -> Result<Hashed<'a>> {
    let mut block = Block::new(memory.start, extent);
    if let Some(first) = block.start.first_mut() {
        *first += row;
    }
    let at = |n: u64| usize::try_from(n).map_or(usize::MAX, |n| n.saturating_mul(element.size()));
    let bytes = |run: Run| &memory.bytes[at(run.start)..at(run.start + run.count)];
    let mut runs = block.runs(memory.array)?;
    let first = runs.next().map_or(&[][..], bytes);
    let mut body = Cow::Borrowed(first);
    for run in runs {
        body.to_mut().extend_from_slice(bytes(run));
    }
    if *element == ElementType::Text {
        let mut spelled = vec![];
        for text in texts.texts(&body) {
            spelled.extend_from_slice(&(text.len() as u64).to_le_bytes());
            spelled.extend_from_slice(text.as_bytes());
        }
        body = Cow::Owned(spelled);
    }
    Ok(Hashed { body, extent: Tuple(extent).to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::element::Element;
    use crate::stage::slabs::Buffer;
    use sha2::{Digest, Sha256};

    #[test]
    fn a_hash_is_of_the_visible_elements_and_their_extent() {
        let array = Array::new(&[2, 3], &[1i32, 2, 3, 4, 5, 6]).unwrap();
        let mut expected = Sha256::new();
        expected.update(i32::bytes(&[1, 2, 3, 4, 5, 6]));
        expected.update("(2, 3)");
        assert_eq!(hash_array(&array).unwrap(), <Hash>::from(expected.finalize()));

        // The same elements within a larger chunk.
        let padded = i32::bytes(&[9, 9, 9, 9, 1, 2, 3, 9, 4, 5, 6, 9]);
        let buffer = Buffer::new(padded, &[3, 4]);
        let memory = Memory { bytes: &buffer.bytes, array: &[3, 4], start: &[0, 0], shape: &[3, 4] };
        let hash = hashed(&memory, 1, &[2, 3], &i32::TYPE, &Texts::default()).unwrap().hash();
        assert_eq!(hash, hash_array(&array).unwrap());
    }

    #[test]
    fn a_text_counts_with_its_length() {
        let array = Array::from_texts(&[2], vec!["ab".into(), String::new()]).unwrap();
        let mut expected = Sha256::new();
        expected.update([2, 0, 0, 0, 0, 0, 0, 0, b'a', b'b', 0, 0, 0, 0, 0, 0, 0, 0]);
        expected.update("(2,)");
        assert_eq!(hash_array(&array).unwrap(), <Hash>::from(expected.finalize()));
    }
}
