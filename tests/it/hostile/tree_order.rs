//! Nodes of a tree say on which level they are, who is beside them, and which keys they hold, in order. Readers that
//! believed levels recursed as deep as they said, those that followed siblings went round, those that trusted the order
//! gave one chunk's data for another's.

use hdfive::ErrorKind;

#[test]
fn a_level_or_an_order_that_cannot_be_is_corrupt() {
    let file = super::open("tree_order.h5");
    for path in ["/level", "/order"] {
        let error = super::error(|| file.dataset(path)?.read_bytes());
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
    }
}

#[test]
fn siblings_are_not_followed() {
    let data = super::open("tree_order.h5").dataset("/sibling").unwrap();
    assert_eq!(data.read::<i16>().unwrap(), [0; 8]);
}
