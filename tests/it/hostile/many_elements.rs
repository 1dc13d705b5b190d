//! A shape costs nothing: 2 KB state 2 ^ 60 elements that nobody stored. Allocating what is stated ends the process.

use hdfive::selection::Block;
use hdfive::{ErrorKind, Limits, OpenOptions};

use crate::support::testdata;

#[test]
fn reading_all_of_what_is_stated_is_beyond_the_limit() {
    let file = super::open("many_elements.h5");
    for path in ["/contiguous", "/chunked", "/large_chunks", "/wide"] {
        let dataset = file.dataset(path).unwrap();
        let error = super::error(|| dataset.read_bytes());
        assert!(matches!(error.kind(), ErrorKind::Limit | ErrorKind::Corrupt), "{path}: {error}");
        assert!(error.to_string().contains(path), "{error}");
    }
}

#[test]
fn a_part_of_it_is_read_as_the_fill_value() {
    let file = super::open("many_elements.h5");
    let end = Block::new(&[(1 << 60) - 5], &[5]);
    assert_eq!(file.dataset("/contiguous").unwrap().select(&end).read_bytes().unwrap(), [0; 5]);
    let corner = Block::new(&[(1 << 30) - 2, (1 << 30) - 3], &[2, 3]);
    assert_eq!(file.dataset("/chunked").unwrap().select(&corner).read_bytes().unwrap(), [0; 6]);
    let middle = Block::new(&[1 << 35], &[4]);
    assert_eq!(file.dataset("/large_chunks").unwrap().select(&middle).read_bytes().unwrap(), [0; 4]);
}

#[test]
fn the_limit_is_the_callers() {
    let limits = Limits { result: 1000, ..Limits::default() };
    let file = OpenOptions::new().limits(limits).open(testdata("readme/weather.h5"));
    let error = super::error(|| file?.dataset("/surface/temperature")?.read_bytes());
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}
