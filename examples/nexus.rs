//! Reads a NeXus file: follows `default` to the data that are to be plotted, with their axes.
//!
//!     cargo run --example nexus [FILE.nxs]

use hdfive::{ErrorKind, File, Group, Result};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "testdata/writers/formats_nexus.nxs".into());
    let file = File::open(path)?;
    let mut group = file.root()?;
    while let Some(name) = text(&group, "default")? {
        group = group.group(&name)?;
    }
    println!("{} is {}", group.path(), text(&group, "NX_class")?.unwrap_or_default());
    let Some(signal) = text(&group, "signal")? else { return Ok(()) };
    let data = group.dataset(&signal)?;
    println!("{signal}: {data}, in {}", data.attribute("units")?.read_scalar::<String>()?);
    println!("{:#}", data.read_value()?);
    for axis in group.attribute("axes")?.read::<String>()? {
        // A dot stands for an axis without values.
        if axis != "." {
            println!("{axis}: {}", group.dataset(&axis)?.read_value()?);
        }
    }
    Ok(())
}

/// A text attribute that need not be there.
fn text(group: &Group, name: &str) -> Result<Option<String>> {
    match group.attribute(name) {
        Ok(attribute) => attribute.read_scalar().map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
