//! Dimension scales, and netCDF-4's view of them.

use hdfive::netcdf::{NetcdfGroup, Variable};
use hdfive::{File, Result};

use crate::support::testdata;

#[test]
fn scales_stand_along_the_dimensions() -> Result<()> {
    let file = File::open(testdata("readme/weather.h5"))?;
    let dims = file.dataset("/surface/temperature")?.dims()?;
    let scales: Vec<_> = dims.iter().map(|dim| dim.scales[0].scale_name().unwrap().unwrap()).collect();
    assert_eq!(scales, ["time", "lat", "lon"]);
    assert_eq!(
        dims.iter().map(|dim| (dim.size, dim.is_unlimited)).collect::<Vec<_>>(),
        [(28, true), (11, false), (16, false)]
    );
    assert_eq!(dims[0].scales[0].read::<i32>()?[27], 27 * 6);
    assert!(file.dataset("lat")?.is_scale()?);
    let rain = file.dataset("/surface/rain")?;
    assert!(!rain.is_scale()?);
    assert!(rain.dims()?.iter().all(|dim| dim.scales.is_empty() && dim.label.is_empty()));
    Ok(())
}

#[test]
fn netcdf_sees_dimensions_and_variables() -> Result<()> {
    let file = File::open(testdata("writers/netcdf.nc"))?;
    let root = NetcdfGroup::of(&file.root()?)?;
    let dimensions: Vec<_> = root.dimensions.iter().map(|d| (d.name.as_str(), d.size, d.is_unlimited)).collect();
    assert_eq!(dimensions, [("time", 5, true), ("x", 7, false)]);
    let told = |v: &Variable| (v.name.clone(), v.dimensions.join(" "), v.is_coordinate);
    let wanted = [("data", "time x", false), ("time", "time", true), ("x", "x", true)];
    let wanted = wanted.map(|(name, dimensions, own)| (name.to_owned(), dimensions.to_owned(), own));
    assert_eq!(root.variables.iter().map(told).collect::<Vec<_>>(), wanted);
    assert_eq!(told(root.groups[0].variable("big").unwrap()).1, "time x");
    assert!(root.groups[0].dimensions.is_empty());
    let data = root.variable("data").unwrap();
    let names: Vec<String> = data.attributes()?.iter().map(hdfive::Attribute::name).collect();
    assert_eq!(names, ["_FillValue", "valid_min"]);
    assert_eq!(data.fill_value::<f32>()?, Some(-1.0));
    // The script writes `ramp((5, 7))`, of which no number is the fill value.
    assert_eq!(data.read::<f32>()?.iter().flatten().count(), 35);
    Ok(())
}
