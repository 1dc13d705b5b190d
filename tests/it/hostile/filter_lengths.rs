//! A pipeline says how many filters it has, how long their names are and how many values each has; an index of chunks says
//! in how many bytes each is stored. None of it needs to be true.

use hdfive::ErrorKind;

#[test]
fn lengths_that_the_file_has_no_bytes_for_are_corrupt() {
    let file = super::open("filter_lengths.h5");
    for path in ["/values", "/name", "/filters", "/stored"] {
        let error = super::error(|| file.dataset(path)?.read_bytes());
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
        assert!(error.to_string().contains(path), "{error}");
    }
}
