//! A chunk is said to have 1 GiB, and is stored in some bytes. Whoever takes memory for what is said, before looking at what
//! is stored, has none left after some such files at once. `tests/mutants` measures that none is taken.

use hdfive::{ErrorKind, s};

#[test]
fn chunks_that_their_bytes_cannot_give_are_corrupt() {
    let file = super::open("claimed_chunks.h5");
    let beyond = " at most, a chunk has 1073741824";
    let mut claims = vec![("/deflate", beyond), ("/shuffled", beyond)];
    if cfg!(feature = "bzip2") {
        claims.push(("/bzip2", "gives 4 bytes, 1073741824 are expected"));
    }
    for (path, why) in claims {
        let dataset = file.dataset(path).unwrap();
        let error = super::error(|| dataset.select(s![5]).read_bytes());
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
        assert!(error.message().contains(why) && error.to_string().contains(path), "{error}");
    }
}
