//! Shows a netCDF-4 file as netCDF sees it: dimensions, variables, attributes, values that are missing.
//!
//!     cargo run --example netcdf [FILE.nc]

use hdfive::netcdf::NetcdfGroup;
use hdfive::{File, Result};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "testdata/writers/netcdf.nc".into());
    let file = File::open(path)?;
    show(&file, &NetcdfGroup::of(&file.root()?)?)
}

fn show(file: &File, group: &NetcdfGroup) -> Result<()> {
    println!("group {}", group.path);
    for dimension in &group.dimensions {
        let unlimited = if dimension.is_unlimited { " (unlimited)" } else { "" };
        println!("  dimension {} = {}{unlimited}", dimension.name, dimension.size);
    }
    for variable in &group.variables {
        let coordinate = if variable.is_coordinate { ", a coordinate" } else { "" };
        println!("  variable {}({}){coordinate}", variable.name, variable.dimensions.join(", "));
        for attribute in variable.attributes()? {
            println!("    {} = {}", attribute.name(), file.show(&attribute)?);
        }
        if let Ok(values) = variable.read::<f64>() {
            let there: Vec<f64> = values.iter().copied().flatten().collect();
            let (low, high) = there.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
            println!("    {} values from {low} to {high}, {} missing", there.len(), values.len() - there.len());
        }
    }
    group.groups.iter().try_for_each(|inner| show(file, inner))
}
