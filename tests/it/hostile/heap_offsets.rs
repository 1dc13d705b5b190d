//! Names and texts lie in heaps, by offset or by number. One outside its heap made readers show memory of their own.

use hdfive::ErrorKind;

#[test]
fn what_a_heap_does_not_have_is_corrupt_and_spoils_nothing_else() {
    let file = super::open("heap_offsets.h5");
    for path in ["/texts/index", "/texts/length", "/texts/address"] {
        let error = super::error(|| file.dataset(path)?.read::<String>());
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
    }
    let error = super::error(|| file.group("/names")?.links());
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("(local heap, \"data segment\", at 0x"), "{error}");
}
