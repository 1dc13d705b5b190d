//! A message may stand for one in another header. A datatype that stands for itself, or two for each other, made readers
//! overflow their stack.

use hdfive::ErrorKind;

#[test]
fn messages_that_stand_for_themselves_or_each_other_are_corrupt() {
    let file = super::open("shared_with_itself.h5");
    for path in ["/itself", "/a", "/b"] {
        let error = super::error(|| file.dataset(path));
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
        assert!(error.to_string().contains("could be shared"), "{path}: {error}");
    }
}
