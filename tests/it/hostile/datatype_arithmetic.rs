//! An array of 2 ^ 31 times 2 ^ 31 numbers in an element of 40 bytes, and a member at 4 GB of a compound of 8: readers that
//! believed one of the two numbers wrote past the other; one that believed both printed 2 ^ 62 numbers.

use hdfive::ErrorKind;

#[test]
fn sizes_within_a_datatype_that_contradict_each_other_are_corrupt() {
    let file = super::open("datatype_arithmetic.h5");
    for path in ["/array", "/compound"] {
        let error = super::error(|| file.dataset(path));
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
    }
}
