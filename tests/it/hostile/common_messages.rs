//! Any number of headers may continue in one block. 300 groups with 12,000 messages of one block in common are 360 KB in
//! a file, and were 300 MB in a tree of them.

use hdfive::ErrorKind;
use hdfive::inspect::Tree;

#[test]
fn a_tree_takes_no_more_memory_than_its_file_can_justify() {
    let file = super::open("common_messages.h5");
    let tree = Tree::walk(&file).unwrap();
    assert_eq!(tree.objects.len(), 301);
    let kinds: Vec<_> = tree.errors().map(hdfive::Error::kind).collect();
    assert!(kinds.len() > 200 && kinds.iter().all(|kind| *kind == ErrorKind::Limit), "{kinds:?}");
    // Each by itself is no harm.
    assert!(file.group("/0299").unwrap().links().unwrap().is_empty());
}
