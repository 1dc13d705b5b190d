//! Levels are right, no node is below itself, but all children of a node are the same one: a few KB unfold into
//! 40 ^ 7 chunks. Counting what the file has bytes for ends it.

use hdfive::ErrorKind;

#[test]
fn a_tree_that_unfolds_to_more_than_its_file_can_justify_is_beyond_the_limit() {
    let dataset = super::open("tree_of_equal_children.h5").dataset("/data").unwrap();
    let error = super::error(|| dataset.read_bytes());
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}
