//! Dimension scales that netCDF-C knows for its own.

use std::process::Command;

use hdfive::{File, FileBuilder, Result};
use ndarray::Array2;

use crate::support::python::{python, run};
use crate::support::{package, scratch};

/// The names and attributes are those of the netCDF-4 File Format Specification.
fn write(path: &std::path::Path) -> Result<()> {
    let file = FileBuilder::new().track_order(true).create(path)?;
    file.attr("title", "Rain")?;
    let time = file.new_dataset_builder().with_data([0.0, 6.0, 12.0, 18.0]).resizable().chunk([512]).create("time")?;
    time.make_scale("time")?;
    time.attr("_Netcdf4Dimid", 0i32)?;
    let station = file.new_dataset::<f32>().shape([3]).create("station")?;
    station.make_scale(&format!("This is a netCDF dimension but not a netCDF variable.{:>10}", 3))?;
    station.attr("_Netcdf4Dimid", 1i32)?;
    let data = Array2::from_shape_fn((4, 3), |(i, j)| f32::from(u8::try_from(i * 3 + j).unwrap()));
    let rain = file.new_dataset_builder().with_data(&data).resizable().chunk([64, 3]).deflate(4).create("rain")?;
    rain.attr("units", "mm")?;
    rain.attach_scale(0, &time)?;
    rain.attach_scale(1, &station)?;
    let name = file.new_dataset_builder().with_data(["Kiel", "Köln", "Zug"]).create("name")?;
    name.attach_scale(0, &station)?;
    file.close()
}

#[test]
fn netcdf_reads_and_appends_to_a_file_with_dimension_scales() {
    let path = scratch("netcdf").join("rain.nc");
    write(&path).unwrap();
    run(Command::new(python()).arg("-B").arg(package().join("tests/write/netcdf.py")).arg(&path), "netCDF objects");
    let file = File::open(&path).unwrap();
    assert_eq!(file.dataset("time").unwrap().read::<f64>().unwrap(), [0.0, 6.0, 12.0, 18.0, 24.0]);
    let dimensions = file.dataset("new").unwrap().dims().unwrap();
    assert_eq!(dimensions[1].scales[0].shape(), [3]);
}
