//! Advice: which chunks suit a dataset.

/// Bytes of a chunk at most, unless an element is larger: large enough that finding and fetching a chunk costs little
/// beside decoding it, small enough that reading a part of the array does not decode much else.
const MOST: u64 = 2 << 20;

/// How long a dimension is taken to become that may grow.
const GROWN: u64 = 1024;

/// A chunk shape for an array of `shape` which may grow to `max_shape` (`None`: without limit), whose elements have
/// `element_size` bytes: about alike along all dimensions, so that no way of reading is a bad one; of 1 to 2 MiB where the
/// array has as much.
pub fn chunk_shape(shape: &[u64], max_shape: &[Option<u64>], element_size: u32) -> Vec<u64> {
    let side = |(size, max): (&u64, &Option<u64>)| match max {
        Some(max) if max == size => (*size).max(1),
        max => (*size).max(GROWN).min(max.unwrap_or(u64::MAX)).max(1),
    };
    let mut chunk: Vec<u64> = shape.iter().zip(max_shape).map(side).collect();
    let bytes = |chunk: &[u64]| chunk.iter().fold(u64::from(element_size), |bytes, side| bytes.saturating_mul(*side));
    while bytes(&chunk) > MOST {
        // The first of the longest: rows stay longer than columns.
        match chunk.iter_mut().rev().max_by_key(|side| **side) {
            Some(side) if *side > 1 => *side = side.div_ceil(2),
            _ => break,
        }
    }
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_about_a_mebibyte_or_two_and_no_larger_than_the_array_can_be() {
        let fixed = |shape: &[u64], size| chunk_shape(shape, &shape.iter().map(|n| Some(*n)).collect::<Vec<_>>(), size);
        assert_eq!(fixed(&[10, 20], 8), [10, 20]);
        assert_eq!(fixed(&[8192, 8192], 4), [512, 1024].map(|side: u64| side));
        assert_eq!(fixed(&[1_000_000_000], 1), [1_953_125]);
        assert_eq!(fixed(&[3], 1 << 30), [1]);
        assert_eq!(chunk_shape(&[0, 3], &[None, Some(3)], 8), [1024, 3]);
        assert_eq!(chunk_shape(&[0], &[Some(100)], 8), [100]);
        assert_eq!(chunk_shape(&[0], &[Some(0)], 8), [1]);
    }
}
