//! A message of a header says how long it is, and what is in it says so too. A dataspace of two dimensions in eight bytes
//! made readers take the next message for dimensions.

use hdfive::ErrorKind;

#[test]
fn a_dataspace_that_ends_before_its_dimensions_is_corrupt() {
    let file = super::open("short_message.h5");
    let error = super::error(|| file.dataset("/data"));
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("(dataspace"), "{error}");
}
