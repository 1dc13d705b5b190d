//! `#[derive(H5Type)]`.

use hdfive::{ErrorKind, File, H5Type, Result};
use num_complex::Complex;

use crate::support::testdata;

#[derive(Clone, Copy, Debug, PartialEq, H5Type)]
#[repr(i8)]
enum Colour {
    #[h5(rename = "GREEN")]
    Green = 3,
    #[h5(rename = "BLUE")]
    Blue = 1,
}

#[derive(Clone, Debug, PartialEq, H5Type)]
struct Station {
    position: [f64; 3],
    #[h5(rename = "Station name")]
    name: String,
    kind: Colour,
    r#where: Place,
    open: bool,
    code: String,
}

#[derive(Clone, Debug, PartialEq, H5Type)]
struct Place {
    signal: Complex<f64>,
    row: i32,
}

/// A part of a station, of any type of number.
#[derive(Clone, Debug, PartialEq, H5Type)]
struct Position<T> {
    position: Vec<T>,
}

#[derive(Clone, Debug, PartialEq, H5Type)]
struct Pair(u8, f32);

fn file() -> File {
    File::open(testdata("typed/forms_conventions.h5")).unwrap()
}

fn first() -> Station {
    Station {
        position: [1.0, 2.0, 3.0],
        name: "Grüneck".into(),
        kind: Colour::Green,
        r#where: Place { signal: Complex::new(0.0, 1.0), row: 10 },
        open: true,
        code: "gr".into(),
    }
}

#[test]
fn compounds_are_read_by_the_names_of_fields() -> Result<()> {
    let file = file();
    let dataset = file.dataset("stations")?;
    let stations: Vec<Station> = dataset.read()?;
    assert_eq!(stations[0], first());
    assert_eq!((stations[1].kind, stations[1].r#where.row, stations[1].open), (Colour::Blue, -20, false));
    assert_eq!(file.root()?.attribute("station")?.read_scalar::<Station>()?, first());
    let array: ndarray::Array1<Position<f32>> = dataset.read_1d()?;
    assert_eq!(array[1], Position { position: vec![4.0, 5.0, 6.5] });
    assert_eq!(dataset.select(hdfive::s![-1]).read_scalar::<Position<f64>>()?.position[2], 6.5);
    let value = dataset.read_value()?;
    assert!(
        value
            .to_string()
            .starts_with(r#"[{Station name: "Grüneck", kind: GREEN, position: [1.0, 2.0, 3.0], open: true, "#)
    );
    Ok(())
}

#[test]
fn errors_name_the_field_and_both_types() {
    #[derive(Clone, Debug, H5Type)]
    struct Other {
        open: f32,
        shut: bool,
    }
    #[derive(Clone, Debug, H5Type)]
    struct Misread {
        position: String,
    }
    let dataset = file().dataset("stations").unwrap();
    let missing = dataset.read::<Other>().unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::WrongType);
    assert!(missing.message().ends_with(r#"without a field "shut""#), "{missing}");
    let wrong = dataset.read::<Misread>().unwrap_err();
    assert_eq!(wrong.message(), r#"of field "position" elements are f32[3], not string"#);
    let scalar = file().dataset("half").unwrap().read::<Pair>().unwrap_err();
    assert_eq!(scalar.message(), "elements are f16, not {0: u8, 1: f32}");
}

#[test]
fn tuples_are_read_by_the_order_of_members() -> Result<()> {
    let places = File::open(testdata("readme/weather.h5"))?.dataset("/stations/place")?;
    let all: Vec<(f32, f32, i16, String)> = places.read()?;
    assert_eq!(all[1].2, 2956);
    assert_eq!(all[1].3, "ZUGS");
    let error = places.read::<(f32, f32)>().unwrap_err();
    let wanted = "elements are {latitude: f32, longitude: f32, height: i16, code: string(4)}, not {0: f32, 1: f32}";
    assert_eq!((error.kind(), error.message()), (ErrorKind::WrongType, wanted));
    let error = places.read::<(f32, f32, String, String)>().unwrap_err();
    assert_eq!(error.message(), r#"of field "height" elements are i16, not string"#);
    let short = hdfive::inspect::notation::short(&<(u8, (f64,))>::type_descriptor());
    assert_eq!(short, "{0: u8, 1: {0: f64}}");
    Ok(())
}

#[test]
fn enums_are_read_by_the_names_of_values() {
    let dataset = file().dataset("enum").unwrap();
    let error = dataset.read::<Colour>().unwrap_err();
    assert_eq!(error.message(), "elements are enum i16(BLUE, GREEN, RED), and RED is none of the enum");
    assert_eq!(dataset.select(hdfive::s![[0, 2]]).read::<Colour>().unwrap(), [Colour::Blue, Colour::Green]);
}

#[test]
fn types_say_what_they_are_stored_as() {
    let short = |datatype| hdfive::inspect::notation::short(&datatype);
    assert_eq!(short(Colour::type_descriptor()), "enum i8(GREEN, BLUE)");
    assert_eq!(short(Pair::type_descriptor()), "{0: u8, 1: f32}");
    let station = short(Station::type_descriptor());
    let wanted = "{position: f64[3], Station name: string, kind: enum i8(GREEN, BLUE), \
                  where: {signal: {r: f64, i: f64}, row: i32}, open: bool, code: string}";
    assert_eq!(station, wanted);
    assert_eq!(Station::type_descriptor().size, 24 + 16 + 1 + 20 + 1 + 16);
    assert_eq!(short(<[[u16; 2]; 3]>::type_descriptor()), "u16[2][3]");
}
