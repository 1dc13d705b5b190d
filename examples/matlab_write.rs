//! Writes a MATLAB 7.3 file: a matrix, a text, logicals, a struct and a cell array.
//!
//!     cargo run --example matlab_write [FILE.mat]
//!
//! MATLAB stores arrays column by column: HDF5 sees their dimensions the other way round.

use hdfive::create::{NewDataset, NewGroup, Values};
use hdfive::format::message::datatype::{Class, Datatype, Text};
use hdfive::{FileBuilder, H5Type, Reference, Result};
use ndarray::{Array2, array};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).map_or_else(|| std::env::temp_dir().join("variables.mat"), Into::into);
    let file = FileBuilder::new().user_block(512).create(&path)?;
    file.write_user_block(&header("MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 ."))?;

    variable(&file, "A", "double", array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].reversed_axes())?;
    text(&file, "name", "Grüße")?;
    let ok = variable(&file, "ok", "logical", array![[1u8], [0], [1]])?;
    ok.attr("MATLAB_int_decode", 1i32)?;
    class(&file.create_group("s")?, "struct")?;
    variable(&file, "s/x", "double", array![[0.5]])?;

    // What is in the cells stands elsewhere, and the cells refer to it.
    class(&file.create_group("#refs#")?, "struct")?;
    let seven = variable(&file, "#refs#/a", "double", array![[7.0]])?;
    let two = text(&file, "#refs#/b", "two")?;
    let cells: Array2<Reference> =
        Array2::from_shape_vec((2, 1), vec![seven.reference()?, two.reference()?]).expect("two");
    variable(&file, "c", "cell", cells)?;
    file.close()?;
    println!("5 variables in {}", path.display());
    Ok(())
}

/// The first 128 bytes of a MATLAB file: a text, a version, an order of bytes.
fn header(text: &str) -> Vec<u8> {
    let mut header = text.as_bytes().to_vec();
    header.resize(124, b' ');
    header.extend([0, 2, b'I', b'M']);
    header
}

fn variable<V: Values>(group: &NewGroup, name: &str, kind: &str, values: V) -> Result<NewDataset> {
    let dataset = group.new_dataset_builder().with_data(values).create(name)?;
    dataset.attr_as("MATLAB_class", kind, &ascii(kind.len()))?;
    Ok(dataset)
}

fn text(group: &NewGroup, name: &str, value: &str) -> Result<NewDataset> {
    let units: Vec<u16> = value.encode_utf16().collect();
    let units = Array2::from_shape_vec((units.len(), 1), units).expect("a column of all of them");
    let dataset = variable(group, name, "char", units)?;
    dataset.attr("MATLAB_int_decode", 2i32)?;
    Ok(dataset)
}

fn class(group: &NewGroup, kind: &str) -> Result<()> {
    group.attr_as("MATLAB_class", kind, &ascii(kind.len()))
}

/// Strings of so many bytes, which no NUL has to end.
fn ascii(bytes: usize) -> Datatype {
    let class = Class::String(Text { padding: 1, character_set: 0 });
    Datatype { size: u32::try_from(bytes).unwrap_or(u32::MAX), class, ..u8::type_descriptor() }
}
