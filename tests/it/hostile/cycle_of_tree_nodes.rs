//! A node of a tree that has its own root among its children made readers go round for ever, or overflow their stack.

use hdfive::ErrorKind;

#[test]
fn a_tree_of_chunks_with_its_root_below_itself_is_corrupt() {
    let dataset = super::open("chunk_tree_cycle.h5").dataset("/data").unwrap();
    let error = super::error(|| dataset.read_bytes());
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}

#[test]
fn a_tree_of_links_with_its_root_below_itself_is_corrupt_when_listed_and_ends_when_searched() {
    let root = super::open("group_tree_cycle.h5").root().unwrap();
    let error = super::error(|| root.links());
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    // The first child is the spoiled one.
    let error = super::error(|| root.link("link 000"));
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}
