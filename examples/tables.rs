//! Reads tables and what is in their cells: structs by the names of columns, enums, texts, references, and values whose
//! type is known only when the program runs.
//!
//!     cargo run --example tables

use hdfive::{File, H5Type, Reference, Result};

#[derive(Clone, Copy, Debug, PartialEq, H5Type)]
#[repr(i16)]
enum Kind {
    #[h5(rename = "GREEN")]
    Green,
    #[h5(rename = "BLUE")]
    Blue,
}

#[derive(Clone, Debug, H5Type)]
struct Station {
    #[h5(rename = "Station name")]
    name: String,
    kind: Kind,
    position: [f64; 3],
    open: bool,
}

fn main() -> Result<()> {
    let file = File::open("testdata/typed/forms_conventions.h5")?;
    let table = file.dataset("stations")?;
    for station in table.read::<Station>()?.iter().filter(|station| station.open || station.kind == Kind::Blue) {
        println!("{} is {:?}, at {:?}", station.name, station.kind, station.position);
    }
    // Without a struct: any value can be looked at and printed.
    let value = table.read_value()?;
    println!("{value:#}");
    println!("{}", file.dataset("sequences")?.read_value()?);
    // References lead to objects, or to parts of datasets.
    let file = File::open("testdata/typed/forms_references.h5")?;
    let regions: Vec<Option<Reference>> = file.dataset("regions")?.read()?;
    for region in regions.iter().flatten() {
        let part = region.region(&file)?;
        println!("{region}: {:?} elements, {}", part.shape()?, part.read_value()?);
    }
    Ok(())
}
