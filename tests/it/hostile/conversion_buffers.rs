//! Values take more memory than what is stored of them: 1000 texts may all be the same 60 KB of the file, and an element
//! may claim to have 4 GB.

use hdfive::{ErrorKind, Limits, OpenOptions};

use crate::support::testdata;

#[test]
fn texts_that_are_all_the_same_one_are_beyond_the_limit_of_a_result() {
    let limits = Limits { result: 16 << 20, ..Limits::default() };
    let file = OpenOptions::new().limits(limits).open(testdata("hostile/conversion_buffers.h5")).unwrap();
    let texts = file.dataset("/texts").unwrap();
    for error in [super::error(|| texts.read::<String>()), super::error(|| texts.read_value())] {
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    }
    let some = texts.select(hdfive::s![..100]).read::<String>().unwrap();
    assert!(some.len() == 100 && some.iter().all(|text| text.len() == 60_000));
}

#[test]
fn elements_of_four_gigabytes_are_not_read_from_a_small_file() {
    let file = super::open("conversion_buffers.h5");
    let error = super::error(|| file.dataset("/vast")?.read::<String>());
    assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Limit), "{error}");
}
