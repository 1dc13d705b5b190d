//! Soft links that lead to each other, and an external link of a file to itself.

use hdfive::ErrorKind;

#[test]
fn links_that_lead_to_themselves_are_beyond_the_limit() {
    let file = super::open("link_cycle.h5");
    for path in ["/a", "/b", "/itself", "/longer", "/outside"] {
        let error = super::error(|| file.object(path));
        assert_eq!(error.kind(), ErrorKind::Limit, "{path}: {error}");
    }
    // The links themselves can be seen.
    assert_eq!(file.root().unwrap().links().unwrap().len(), 5);
}
