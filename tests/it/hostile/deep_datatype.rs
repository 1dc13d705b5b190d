//! A datatype within a datatype, 2000 times over, is 16 KB in a header, and a stack overflow in a reader that does not
//! count.

use hdfive::ErrorKind;

#[test]
fn a_datatype_of_two_thousand_levels_is_more_than_is_supported() {
    let file = super::open("deep_datatype.h5");
    let error = super::error(|| file.dataset("/data"));
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("levels"), "{error}");
}
