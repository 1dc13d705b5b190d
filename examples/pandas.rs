//! Reads a frame that pandas wrote with `to_hdf(.., format="fixed")`: blocks of columns of one type each.
//!
//!     cargo run --example pandas [FILE.h5 [KEY]]

use std::collections::BTreeMap;

use hdfive::{File, Result};
use ndarray::{Array2, Axis};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "testdata/writers/pandas_frame.h5".into());
    let file = File::open(path)?;
    let frame = file.group(&arguments.next().unwrap_or_else(|| "fixed".into()))?;
    let order: Vec<String> = frame.dataset("axis0")?.read()?;
    let mut columns = BTreeMap::new();
    for block in 0..frame.attribute("nblocks")?.read_scalar::<u32>()? {
        let names: Vec<String> = frame.dataset(&format!("block{block}_items"))?.read()?;
        let values: Array2<f64> = frame.dataset(&format!("block{block}_values"))?.read_2d()?;
        for (name, values) in names.into_iter().zip(values.axis_iter(Axis(1))) {
            columns.insert(name, values.to_vec());
        }
    }
    println!("rows {}", frame.dataset("axis1")?.read_value()?);
    for name in &order {
        println!("{name}: {:?}", columns[name]);
    }
    Ok(())
}
