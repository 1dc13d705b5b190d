//! Shapes: elements per dimension, row-major order, and the arithmetic that must not overflow.
//!
//! ```text
//! shape [3, 5, 7]     strides [35, 7, 1]     element [1, 2, 3]  <->  number 52
//! ```

use crate::error::{Error, Result};

/// The largest rank of a dataspace.
pub const MAX_RANK: usize = 32;

/// Checks that `shape` has no more than [`MAX_RANK`] dimensions.
pub fn check_rank(shape: &[u64]) -> Result<()> {
    if shape.len() <= MAX_RANK {
        return Ok(());
    }
    Err(Error::invalid(format!("rank is {}, the largest is {MAX_RANK}", shape.len())))
}

/// The number of elements of `shape`; 1 for a scalar. An error when it does not fit 64 bits.
pub fn count(shape: &[u64]) -> Result<u64> {
    if shape.contains(&0) {
        return Ok(0);
    }
    let product = shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size));
    product.ok_or_else(|| Error::limit(format!("shape {shape:?} has more elements than 64 bits can count")))
}

/// How many elements lie between neighbours along each dimension, in row-major order. An error on overflow.
pub fn strides(shape: &[u64]) -> Result<Vec<u64>> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        let stride: Option<u64> = u64::checked_mul(strides[axis], shape[axis]);
        strides[axis - 1] = stride.ok_or_else(|| Error::limit(format!("shape {shape:?} is too large")))?;
    }
    Ok(strides)
}

/// The row-major number of an element, or `None` if it lies outside the shape (or the number does not fit).
pub fn number(shape: &[u64], coordinates: &[u64]) -> Option<u64> {
    if shape.len() != coordinates.len() {
        return None;
    }
    let mut number = 0u64;
    for (&size, &at) in shape.iter().zip(coordinates) {
        if at >= size {
            return None;
        }
        number = number.checked_mul(size)?.checked_add(at)?;
    }
    Some(number)
}

/// The coordinates of the element with row-major number `number`, or `None` if the shape has no such element.
pub fn coordinates(shape: &[u64], number: u64) -> Option<Vec<u64>> {
    let mut left = number;
    let mut coordinates = vec![0; shape.len()];
    for (at, &size) in coordinates.iter_mut().zip(shape).rev() {
        *at = left.checked_rem(size)?;
        left /= size;
    }
    (left == 0).then_some(coordinates)
}

/// Steps `at` to the next coordinates within `counts`, in row-major order. `false` when it was the last (then `at` is
/// all zeros again).
pub(crate) fn advance(at: &mut [u64], counts: &[u64]) -> bool {
    for (x, &n) in at.iter_mut().zip(counts).rev() {
        *x += 1;
        if *x < n {
            return true;
        }
        *x = 0;
    }
    false
}

/// A count of things that are in memory, as an index.
pub(crate) fn index(n: u64) -> usize {
    usize::try_from(n).expect("it counts things in memory")
}

/// A size that is to be allocated or indexed, or an error where memory cannot hold it.
pub fn in_memory(n: u64) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::limit(format!("{n} does not fit this machine's memory")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn numbers_and_coordinates_are_inverse() {
        let shape = [3, 5, 7];
        assert_eq!(strides(&shape).unwrap(), [35, 7, 1]);
        assert_eq!(number(&shape, &[1, 2, 3]), Some(52));
        for n in 0..105 {
            assert_eq!(number(&shape, &coordinates(&shape, n).unwrap()), Some(n));
        }
        assert_eq!(coordinates(&shape, 105), None);
        assert_eq!(number(&shape, &[0, 5, 0]), None);
        assert_eq!(number(&[], &[]), Some(0));
        assert_eq!(coordinates(&[], 0), Some(vec![]));
        assert_eq!(coordinates(&[2, 0], 0), None);
    }

    #[test]
    fn overflow_is_a_limit_and_a_zero_wins_over_it() {
        let large = 1 << 40;
        assert_eq!(count(&[large, large]).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(count(&[large, 0, large]).unwrap(), 0);
        assert_eq!(count(&[]).unwrap(), 1);
        assert_eq!(strides(&[2, large, large]).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(check_rank(&[1; 33]).unwrap_err().kind(), ErrorKind::Invalid);
    }

    #[test]
    fn advancing_visits_every_element_once() {
        let (mut at, mut seen) = (vec![0; 3], 1);
        while advance(&mut at, &[3, 5, 7]) {
            assert_eq!(number(&[3, 5, 7], &at), Some(seen));
            seen += 1;
        }
        assert_eq!((seen, at), (105, vec![0; 3]));
    }
}
