//! Lists a file: every object with its path, its type and its attributes.
//!
//!     cargo run --example list [FILE.h5]

use hdfive::{File, Group, Object, Result};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "testdata/readme/weather.h5".into());
    let file = File::open(path)?;
    list(&file, &file.root()?)
}

fn list(file: &File, group: &Group) -> Result<()> {
    for name in group.names()? {
        // A link may lead nowhere, or out of the folder.
        match group.object(&name) {
            Ok(Object::Dataset(dataset)) => {
                println!("{} {dataset}", dataset.path());
                for attribute in dataset.attributes()? {
                    let attribute = attribute?;
                    println!("    {} = {}", attribute.name(), file.show(&attribute)?);
                }
            }
            Ok(Object::Group(inner)) => {
                println!("{}", inner.path());
                list(file, &inner)?;
            }
            Ok(Object::NamedType(named)) => println!("{} a datatype", named.path()),
            Err(error) => println!("{name}: {error}"),
        }
    }
    Ok(())
}
