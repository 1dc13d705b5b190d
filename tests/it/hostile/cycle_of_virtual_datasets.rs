//! A virtual dataset may have virtual sources. One that is its own source made readers overflow their stack.

use hdfive::ErrorKind;

#[test]
fn virtual_datasets_that_are_their_own_source_are_beyond_the_limit() {
    let file = super::open("virtual_cycle.h5");
    for path in ["/itself", "/a", "/b", "/unlimited"] {
        let error = super::error(|| file.dataset(path)?.read_bytes());
        assert_eq!(error.kind(), ErrorKind::Limit, "{path}: {error}");
    }
}
