//! Strings of every form are `String`s.

use hdfive::{ErrorKind, File, Result};

use crate::support::testdata;

fn file() -> File {
    File::open(testdata("typed/forms_strings.h5")).unwrap()
}

#[test]
fn every_padding_and_character_set_fixed_and_variable_is_read() {
    let (file, ascii, utf8) = (file(), ["", "a b", "seven c"], ["", "grüße", "世界"]);
    for size in ["fixed", "variable"] {
        for padding in ["nullterm", "nullpad", "spacepad"] {
            for (set, words) in [("ascii", ascii), ("utf8", utf8)] {
                let dataset = file.dataset(&format!("{size}_{padding}_{set}")).unwrap();
                assert_eq!(dataset.read::<String>().unwrap(), words, "{dataset}");
                assert_eq!(dataset.select(hdfive::s![-1]).read_scalar::<String>().unwrap(), words[2]);
                if size == "fixed" {
                    let attribute = dataset.attribute("same").unwrap();
                    assert_eq!(attribute.read::<String>().unwrap(), words, "{dataset}");
                }
            }
        }
    }
    assert_eq!(file.dataset("scalar").unwrap().read_scalar::<String>().unwrap(), "one word");
}

#[test]
fn text_that_is_not_utf8_is_an_error_and_its_bytes_are_there() {
    let dataset = file().dataset("latin1").unwrap();
    let error = dataset.read::<String>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongType);
    assert!(error.to_string().contains("not UTF-8"), "{error}");
    assert_eq!(dataset.read::<Vec<u8>>().unwrap(), [b"gr\xfc\xdfe"]);
    assert_eq!(dataset.read::<[u8; 5]>().unwrap(), [*b"gr\xfc\xdfe"]);
    assert_eq!(dataset.read_value().unwrap().to_string(), r#"[b"gr\xfc\xdfe"]"#);
}

#[test]
fn bytes_of_variable_strings_are_read_and_numbers_are_not() -> Result<()> {
    let dataset = file().dataset("variable_nullterm_utf8")?;
    assert_eq!(dataset.read::<Vec<u8>>()?[1], "grüße".as_bytes());
    assert_eq!(dataset.read::<Option<String>>()?[2].as_deref(), Some("世界"));
    let error = dataset.read::<f64>().unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::WrongType, "elements are string, not f64"));
    Ok(())
}
