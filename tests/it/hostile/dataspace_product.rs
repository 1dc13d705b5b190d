//! 2 ^ 32 times 2 ^ 32 elements are 0 for who counts in 64 bits: the memory for them is soon there, and then they are read
//! into it.

use hdfive::ErrorKind;
use hdfive::selection::Block;

#[test]
fn elements_that_64_bits_cannot_count_are_an_error_all_and_in_part() {
    let file = super::open("dataspace_product.h5");
    let error = super::error(|| file.dataset("/data")?.read_bytes());
    assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Limit), "{error}");
    let error = super::error(|| file.dataset("/data")?.select(Block::new(&[1 << 31, 7], &[2, 2])).read_bytes());
    assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Limit), "{error}");
}
