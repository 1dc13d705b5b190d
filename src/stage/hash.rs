//! The hash that tells whether two chunks are the same: SHA-256 of the elements within the array's shape, in row-major
//! order, followed by the extent as Python prints a tuple. Text counts as its length in 8 bytes, least significant
//! first, and its UTF-8 bytes.

use sha2::{Digest, Sha256};

use crate::convert::element::ElementType;
use crate::error::Result;
use crate::selection::{Block, Run};
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
    hash_block(&memory, 0, array.shape(), array.element(), &texts)
}

/// The hash of the elements within `extent` from `row` on.
pub(crate) fn hash_block(
    memory: &Memory<'_>,
    row: u64,
    extent: &[u64],
    element: &ElementType,
    texts: &Texts,
) -> Result<Hash> {
    let mut hasher = Sha256::new();
    let mut add = |run: Run| {
        let at = |n: u64| usize::try_from(n).map_or(usize::MAX, |n| n.saturating_mul(element.size()));
        let bytes = &memory.bytes[at(run.start)..at(run.start + run.count)];
        if *element != ElementType::Text {
            return hasher.update(bytes);
        }
        for text in texts.texts(bytes) {
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
    };
    match (memory.start, extent, memory.array) {
        // The usual case: whole rows of a slab.
        ([first, rest @ ..], [rows, widths @ ..], [_, array @ ..])
            if widths == array && rest.iter().all(|x| *x == 0) =>
        {
            let width: u64 = array.iter().product();
            add(Run { start: (first + row) * width, count: rows * width });
        }
        _ => {
            let mut block = Block::new(memory.start, extent);
            if let Some(first) = block.start.first_mut() {
                *first += row;
            }
            block.runs(memory.array)?.for_each(add);
        }
    }
    hasher.update(Tuple(extent).to_string());
    Ok(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::element::Element;
    use crate::stage::slabs::Buffer;

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
        let hash = hash_block(&memory, 1, &[2, 3], &i32::TYPE, &Texts::default()).unwrap();
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
