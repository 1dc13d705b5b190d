//! Reads an AnnData file: the annotations of its cells, and the sparse matrix row by row.
//!
//!     cargo run --example anndata [FILE.h5ad]

use hdfive::{File, Group, Object, Result};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "testdata/writers/anndata_matrix.h5ad".into());
    let file = File::open(path)?;
    let obs = file.group("obs")?;
    let index: String = obs.attribute("_index")?.read_scalar()?;
    let cells: Vec<String> = obs.dataset(&index)?.read()?;
    println!("{} cells, the first is {}", cells.len(), cells[0]);
    for name in obs.names()?.iter().filter(|name| **name != index) {
        println!("  {name}: {}", column(&obs, name)?.join(", "));
    }
    let Object::Group(matrix) = file.object("X")? else { return Ok(()) };
    let shape: Vec<u64> = matrix.attribute("shape")?.read()?;
    let rows: Vec<u64> = matrix.dataset("indptr")?.read()?;
    let (columns, values) = (matrix.dataset("indices")?, matrix.dataset("data")?);
    println!("a sparse matrix of shape {shape:?}");
    for (row, ends) in rows.windows(2).take(3).enumerate() {
        let part = ends[0]..ends[1];
        let columns: Vec<u32> = columns.select(hdfive::s![part.clone()]).read()?;
        let values: Vec<f64> = values.select(hdfive::s![part]).read()?;
        println!("  row {row}: {:?}", columns.iter().zip(&values).collect::<Vec<_>>());
    }
    Ok(())
}

/// A column as text: categories by their names, anything else as it is.
fn column(obs: &Group, name: &str) -> Result<Vec<String>> {
    match obs.object(name)? {
        Object::Group(categorical) => {
            let categories: Vec<String> = categorical.dataset("categories")?.read()?;
            let codes: Vec<i64> = categorical.dataset("codes")?.read()?;
            // A code of -1 is a missing value.
            let of = |code: i64| usize::try_from(code).ok().and_then(|code| categories.get(code).cloned());
            Ok(codes.into_iter().map(|code| of(code).unwrap_or_else(|| "-".into())).collect())
        }
        Object::Dataset(dataset) => Ok(vec![dataset.read_value()?.to_string()]),
        Object::NamedType(_) => Ok(Vec::new()),
    }
}
