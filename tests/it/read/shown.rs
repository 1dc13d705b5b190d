//! What handles look like in the output of programs.

use hdfive::{File, s};

use crate::support::testdata;

/// `{:?}` of a file printed all that was known of it, on pages.
#[test]
fn handles_are_shown_on_one_line() {
    let name = testdata("readme/weather.h5");
    let file = File::open(&name).unwrap();
    let place = |path: &str| format!("{path:?} in {:?}", name.to_str().unwrap());
    assert_eq!(format!("{file:?}"), format!("File({:?})", name.to_str().unwrap()));
    assert_eq!(format!("{:?}", file.group("surface").unwrap()), format!("Group({})", place("/surface")));
    let height = file.dataset("lat").unwrap();
    assert_eq!(format!("{height:?}"), format!("Dataset({}, f32 [11], contiguous)", place("/lat")));
    let units = height.attribute("units").unwrap();
    assert_eq!(format!("{units:?}"), format!("Attribute(\"units\", string, [], {})", place("/lat")));
    let link = file.root().unwrap().link("lat").unwrap().unwrap();
    assert!(format!("{link:?}").starts_with("Link { name: \"lat\", creation_order: None, target: Hard("), "{link:?}");
    let part = format!("{:?}", height.select(s![2..5]));
    assert!(part.contains(&format!("{height:?}")) && part.len() < 600, "{part}");
    let new = hdfive::FileBuilder::new().create_in_memory().unwrap();
    let dataset = new.new_dataset::<u16>().shape([1000]).chunk([10]).create("x").unwrap();
    assert_eq!(format!("{dataset:?}"), "NewDataset(\"/x\", u16)");
    assert!(format!("{new:?}").len() < 200, "{new:?}");
}

#[test]
fn datatypes_are_shown_in_the_notation_of_datasets() {
    let file = File::open(testdata("readme/weather.h5")).unwrap();
    let shown = file.dataset("/stations/place").unwrap().datatype().to_string();
    assert_eq!(shown, "{latitude: f32, longitude: f32, height: i16, code: string(4)}");
}

#[test]
fn attributes_of_a_file_are_those_of_its_root() {
    let file = File::open(testdata("readme/weather.h5")).unwrap();
    let names = |all: Vec<hdfive::Result<hdfive::Attribute>>| -> Vec<String> {
        all.into_iter().map(|attribute| attribute.unwrap().name()).collect()
    };
    assert_eq!(names(file.attributes().unwrap()), names(file.root().unwrap().attributes().unwrap()));
    assert_eq!(file.attribute("title").unwrap().read_scalar::<String>().unwrap(), "A week of weather");
    assert_eq!(file.attribute("none").unwrap_err().kind(), hdfive::ErrorKind::NotFound);
}
