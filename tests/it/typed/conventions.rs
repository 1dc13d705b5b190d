//! What h5py keeps in ways of its own.

use hdfive::{Conversion, DateTime64, ErrorKind, File, Result, TimeUnit, Value};
use num_complex::Complex;

use crate::support::testdata;

fn file() -> File {
    File::open(testdata("typed/forms_conventions.h5")).unwrap()
}

#[test]
fn truth_values_are_bools() -> Result<()> {
    let file = file();
    let dataset = file.dataset("bool")?;
    assert_eq!(dataset.read::<bool>()?, [true, false, true, false, false, true]);
    let array: ndarray::Array2<bool> = dataset.read_2d()?;
    assert_eq!(array.dim(), (2, 3));
    assert!(array[[1, 2]]);
    assert!(file.root()?.attribute("flag")?.read_scalar::<bool>()?);
    assert_eq!(dataset.read::<u8>()?, [1, 0, 1, 0, 0, 1]);
    assert_eq!(dataset.read_value()?.to_string(), "[[true, false, true], [false, false, true]]");
    let error = file.dataset("enum")?.read::<bool>().unwrap_err();
    assert_eq!(error.message(), "elements are enum i16(BLUE, GREEN, RED), not bool");
    Ok(())
}

#[test]
fn complex_numbers_are_read_in_either_precision() -> Result<()> {
    let file = file();
    let single: Vec<Complex<f32>> = file.dataset("complex64")?.read()?;
    assert_eq!(single, [Complex::new(1.0, 2.0), Complex::new(0.0, -0.5), Complex::new(f32::INFINITY, 0.0)]);
    let double: Vec<Complex<f64>> = file.dataset("complex64")?.read()?;
    assert_eq!(double[1], Complex::new(0.0, -0.5));
    let big: Vec<Complex<f32>> = file.dataset("complex128")?.read()?;
    assert_eq!(big, [Complex::new(1.0, 2.0), Complex::new(0.0, -0.5)]);
    assert_eq!(file.dataset("complex128")?.read_value()?.to_string(), "[1+2j, -0-0.5j]");
    assert_eq!(file.dataset("half")?.read::<Complex<f64>>().unwrap_err().kind(), ErrorKind::WrongType);
    Ok(())
}

#[test]
fn times_say_what_numpy_says() -> Result<()> {
    let file = file();
    let show = |name: &str| -> Result<Vec<String>> {
        Ok(file.dataset(name)?.read::<DateTime64>()?.iter().map(DateTime64::to_string).collect())
    };
    assert_eq!(show("time M8[D]")?, ["2020-02-29", "1969-07-20", "NaT"]);
    assert_eq!(show("time M8[s]")?, ["2020-02-29T00:00:00", "1969-07-20T00:00:00", "NaT"]);
    assert_eq!(show("time m8[ms]")?[0], "0 ms");
    let seconds = file.dataset("time M8[s]")?.read::<DateTime64>()?;
    assert_eq!(
        seconds[0],
        DateTime64 { ticks: 1_582_934_400, unit: Some(TimeUnit::Decimal(0)), multiple: 1, is_length: false }
    );
    assert_eq!(file.dataset("opaque")?.read::<DateTime64>().unwrap_err().kind(), ErrorKind::WrongType);
    Ok(())
}

#[test]
fn opaque_values_are_bytes() -> Result<()> {
    let dataset = file().dataset("opaque")?;
    assert_eq!(dataset.read::<[u8; 5]>()?, [*b"\x00\x01abc", *b"xyz\xff\x00"]);
    assert_eq!(dataset.read::<Vec<u8>>()?[1], b"xyz\xff\x00");
    assert_eq!(dataset.read::<[u8; 4]>().unwrap_err().kind(), ErrorKind::WrongType);
    assert_eq!(dataset.read_value()?.to_string(), r#"[b"\x00\x01abc", b"xyz\xff\x00"]"#);
    Ok(())
}

#[test]
fn what_is_empty_is_nothing() -> Result<()> {
    let file = file();
    let dataset = file.dataset("empty")?;
    assert!(dataset.is_null());
    assert!(dataset.read::<f32>()?.is_empty());
    assert_eq!(dataset.read_scalar::<Option<f32>>()?, None);
    assert_eq!(dataset.read_scalar::<f32>().unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(dataset.read_value()?, Value::Empty);
    assert_eq!(dataset.read::<String>().unwrap_err().kind(), ErrorKind::WrongType);
    let attribute = file.root()?.attribute("empty")?;
    assert_eq!(attribute.read_scalar::<Option<String>>()?, None);
    assert_eq!(file.show(&attribute)?, "empty");
    Ok(())
}

#[test]
fn half_precision_is_read_as_itself_and_as_more() -> Result<()> {
    let dataset = file().dataset("half")?;
    assert_eq!(dataset.read::<f32>()?[..3], [1.0, -2.5, 65504.0]);
    assert_eq!(dataset.read::<half::f16>()?[3], half::f16::from_f32(6e-8));
    assert_eq!(dataset.read::<half::bf16>().unwrap_err().kind(), ErrorKind::WrongType);
    let rounded: Vec<half::bf16> = dataset.conversion(Conversion::Saturating).read()?;
    assert_eq!(rounded[2], half::bf16::from_f32(65504.0));
    Ok(())
}

#[test]
fn sequences_are_vectors() -> Result<()> {
    let file = file();
    let dataset = file.dataset("sequences")?;
    assert_eq!(dataset.read::<Vec<i32>>()?, [vec![3, 1, 2], vec![], vec![7]]);
    assert_eq!(dataset.read::<Vec<u8>>()?, [vec![3, 1, 2], vec![], vec![7]]);
    assert_eq!(dataset.read::<Option<Vec<f64>>>()?, [Some(vec![3.0, 1.0, 2.0]), None, Some(vec![7.0])]);
    assert_eq!(file.dataset("lists of texts")?.read::<Vec<String>>()?[0], ["a", "grüße"]);
    assert_eq!(file.dataset("lists of texts")?.read_value()?.to_string(), r#"[["a", "grüße"], []]"#);
    assert_eq!(dataset.read::<Vec<String>>().unwrap_err().message(), "elements are i32, not string");
    Ok(())
}

#[test]
fn numbers_are_converted_as_asked_and_errors_name_both_types() -> Result<()> {
    let file = file();
    let dataset = file.dataset("enum")?;
    assert_eq!(dataset.read::<i64>()?, [77, 0, -1]);
    let error = dataset.read::<u8>().unwrap_err();
    assert_eq!(
        error.message(),
        "elements are enum i16(BLUE, GREEN, RED), and -1 is not exactly one of u8; Conversion says what else may be done"
    );
    assert_eq!(dataset.conversion(Conversion::Saturating).read::<u8>()?, [77, 0, 0]);
    assert_eq!(dataset.conversion(Conversion::Wrapping).read::<u8>()?, [77, 0, 255]);
    let mut room = [0f64; 2];
    dataset.select(hdfive::s![..2]).read_into(&mut room)?;
    assert_eq!(room, [77.0, 0.0]);
    assert_eq!(dataset.read_into(&mut room).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(dataset.read_value()?.to_string(), "[BLUE, RED, GREEN]");
    Ok(())
}

#[cfg(feature = "serde")]
#[test]
fn values_are_serialised_as_lists_and_maps() -> Result<()> {
    let value = file().dataset("stations")?.read_value()?;
    let json = serde_json::to_value(&value).unwrap();
    assert_eq!(json[0]["Station name"], "Grüneck");
    assert_eq!(json[1]["position"], serde_json::json!([4.0, 5.0, 6.5]));
    assert_eq!(json[1]["where"], serde_json::json!({"row": -20, "signal": [2.5, 0.0]}));
    assert_eq!(json[0]["kind"], "GREEN");
    Ok(())
}

#[test]
fn native_complex_numbers_of_every_precision_are_read() -> Result<()> {
    let Some(corpus) = crate::support::corpus("native complex numbers") else { return Ok(()) };
    let file = File::open(corpus.join("generated/complex.h5"))?;
    let halves: Vec<Complex<half::f16>> = file.dataset("COMPLEX_IEEE_F16LE")?.read()?;
    let doubles: Vec<Complex<f64>> = file.dataset("COMPLEX_IEEE_F16LE")?.read()?;
    let wide = |z: &Complex<half::f16>| Complex::new(z.re.to_f64(), z.im.to_f64());
    assert_eq!(halves.iter().map(wide).collect::<Vec<_>>(), doubles);
    assert!(doubles.iter().any(|z| z.im != 0.0));
    Ok(())
}
