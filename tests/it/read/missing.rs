//! What is said of objects that are not there, or are something else.

use hdfive::{ErrorKind, File};

use crate::support;

#[test]
fn errors_name_what_is_missing_and_where() {
    let file = File::open(support::testdata("readme/weather.h5")).unwrap();
    let surface = file.group("surface").unwrap();
    let said = |error: hdfive::Error| {
        let text = error.to_string();
        (error.kind(), text.replace(&support::testdata("").display().to_string(), ""))
    };
    let cases = [
        (file.object("nowhere").unwrap_err(), ErrorKind::NotFound, r#"there is no "nowhere": readme/weather.h5"#),
        (
            file.dataset("/nowhere/x").unwrap_err(),
            ErrorKind::NotFound,
            r#"there is no "nowhere" in "/nowhere/x", readme/weather.h5"#,
        ),
        (
            surface.dataset("rein").unwrap_err(),
            ErrorKind::NotFound,
            r#"there is no "rein" in "/surface", readme/weather.h5"#,
        ),
        (
            file.group("lat").unwrap_err(),
            ErrorKind::WrongType,
            r#""/lat" is a dataset, not a group: readme/weather.h5"#,
        ),
        (
            file.dataset("surface").unwrap_err(),
            ErrorKind::WrongType,
            r#""/surface" is a group, not a dataset: readme/weather.h5"#,
        ),
    ];
    for (error, kind, text) in cases {
        assert_eq!(said(error), (kind, text.to_owned()));
    }
}
