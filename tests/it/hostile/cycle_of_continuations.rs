//! An object header has continuation blocks, and each may name further ones. One that names itself made readers follow
//! it for ever.

use hdfive::ErrorKind;

#[test]
fn a_continuation_block_that_continues_in_itself_is_corrupt() {
    let file = super::open("header_cycle.h5");
    let error = super::error(|| file.dataset("/data"));
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("cycle"), "{error}");
}
