//! A link's name is an offset in a heap. Where each of a thousand links has the offset of one name of 60 KB, a small file
//! lists as 60 MB.

use hdfive::ErrorKind;

#[test]
fn names_that_are_longer_than_their_file_are_beyond_the_limit() {
    let file = super::open("name_flood.h5");
    let error = super::error(|| file.root()?.names());
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    let error = super::error(|| hdfive::inspect::Tree::walk(&file)?.objects.swap_remove(0).links);
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}
