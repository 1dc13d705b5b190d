//! A download that stopped half way. What is there can be of use, but nobody should take it for the whole.

use hdfive::{ErrorKind, File, OpenOptions};

use crate::support::{scratch, testdata};

#[test]
fn a_file_that_is_cut_short_is_refused_and_salvage_opens_it_and_says_how_much_is_there() {
    let bytes = std::fs::read(testdata("readme/weather.h5")).unwrap();
    let (whole, there) = (bytes.len(), bytes.len() * 3 / 4);
    let path = scratch("cut_short").join("weather.h5");
    std::fs::write(&path, &bytes[..there]).unwrap();
    let error = super::error(|| File::open(&path));
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains(&format!("{there} of {whole} bytes")), "{error}");
    assert!(error.to_string().contains("salvage"), "{error}");

    let file = OpenOptions::new().salvage(true).open(&path).unwrap();
    assert!(file.warnings().iter().any(|w| w.contains(&format!("{there} of {whole} bytes"))), "{:?}", file.warnings());
    let (mut read, mut lost) = (0, 0);
    let tree = hdfive::inspect::Tree::walk(&file).unwrap();
    let whole = File::open(testdata("readme/weather.h5")).unwrap();
    for object in &tree.objects {
        let path = std::str::from_utf8(&object.path).unwrap();
        match &object.object {
            Ok(hdfive::Object::Dataset(dataset)) => match dataset.read_bytes() {
                // What is read is right.
                Ok(data) => {
                    assert_eq!(data, whole.dataset(path).unwrap().read_bytes().unwrap(), "{path}");
                    read += 1;
                }
                Err(_) => lost += 1,
            },
            Ok(_) => {}
            Err(_) => lost += 1,
        }
    }
    assert!(read > 0 && lost > 0, "{read} datasets were read, {lost} were lost");
}

#[test]
fn every_shorter_file_is_refused_without_a_panic() {
    let bytes = std::fs::read(testdata("readme/weather.h5")).unwrap();
    for there in (0..bytes.len()).step_by(97) {
        let error = super::error(|| File::from_bytes(bytes[..there].to_vec()));
        assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::NotHdf5), "{there} bytes: {error}");
    }
}
