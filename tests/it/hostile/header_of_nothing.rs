//! A continuation block of no bytes: readers that took what a block has before asking how much it has read what stands
//! beside it, and others lost the attributes that were in it without a word.

use hdfive::ErrorKind;

#[test]
fn a_continuation_block_of_no_bytes_is_corrupt() {
    let file = super::open("header_of_nothing.h5");
    let error = super::error(|| file.dataset("/data"));
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}
