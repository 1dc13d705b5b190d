//! Chunks of no elements divide by zero, chunks with a dimension too many are indexed past their shape, chunks of more
//! bytes than there are want memory for them.

use hdfive::ErrorKind;

#[test]
fn chunks_that_do_not_fit_their_dataset_are_errors() {
    let file = super::open("chunk_layouts.h5");
    for path in ["/nothing", "/rank", "/vast"] {
        let whole = super::error(|| file.dataset(path)?.read_bytes());
        let first = super::error(|| file.dataset(path)?.chunks::<f64>()?.next().unwrap());
        for error in [whole, first] {
            assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Limit), "{path}: {error}");
            assert!(error.to_string().contains(path), "{error}");
        }
    }
}
