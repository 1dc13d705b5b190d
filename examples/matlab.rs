//! Reads a MATLAB 7.3 file: each variable by its class, cells by their references.
//!
//!     cargo run --example matlab [FILE.mat]
//!
//! MATLAB stores arrays column by column; HDF5 sees their dimensions the other way round.

use hdfive::{Dataset, File, Object, Reference, Result};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "testdata/writers/formats_matlab.mat".into());
    let file = File::open(path)?;
    for name in file.root()?.names()?.iter().filter(|name| *name != "#refs#") {
        println!("{name} = {}", variable(&file, &file.object(name)?)?);
    }
    Ok(())
}

fn variable(file: &File, object: &Object) -> Result<String> {
    match object {
        Object::Dataset(dataset) => array(file, dataset),
        Object::Group(group) => {
            let names = group.names()?;
            let fields = names.iter().map(|name| Ok(format!("{name}: {}", variable(file, &group.object(name)?)?)));
            Ok(format!("{{{}}}", fields.collect::<Result<Vec<_>>>()?.join(", ")))
        }
        Object::NamedType(_) => Ok(String::new()),
    }
}

fn array(file: &File, dataset: &Dataset) -> Result<String> {
    let class: String = dataset.attribute("MATLAB_class")?.read_scalar()?;
    Ok(match class.as_str() {
        "char" => format!("{:?}", String::from_utf16_lossy(&dataset.read::<u16>()?)),
        "logical" => format!("{:?}", dataset.read::<bool>()?),
        "cell" => {
            let cells = dataset.read::<Reference>()?;
            let cells = cells.iter().map(|cell| variable(file, &cell.follow(file)?));
            format!("{{{}}}", cells.collect::<Result<Vec<_>>>()?.join(", "))
        }
        _ => dataset.read_dyn::<f64>()?.reversed_axes().to_string(),
    })
}
