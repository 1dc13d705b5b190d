//! Writes an AnnData file, as Python's `anndata` reads it: a sparse matrix of counts, with its cells and genes.
//!
//!     cargo run --example anndata_write [FILE.h5ad]

use hdfive::create::NewGroup;
use hdfive::{File, Result};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).map_or_else(|| std::env::temp_dir().join("cells.h5ad"), Into::into);
    let file = File::create(&path)?;
    encoding(&file, "anndata", "0.1.0")?;

    // Of 100 cells, each has counts of three of the 40 genes.
    let (cells, genes) = (100i32, 40i32);
    let matrix = file.create_group("X")?;
    encoding(&matrix, "csr_matrix", "0.1.0")?;
    matrix.attr("shape", [i64::from(cells), i64::from(genes)])?;
    let columns = |cell: i32| {
        let mut columns = [0, 7, 20].map(|gene| (gene + cell) % genes);
        columns.sort_unstable();
        columns
    };
    let columns: Vec<i32> = (0..cells).flat_map(columns).collect();
    let counts: Vec<f32> = (1..=11u8).cycle().take(columns.len()).map(f32::from).collect();
    matrix.new_dataset::<f32>().shape([counts.len() as u64]).chunked().deflate(4).create("data")?.write(&counts)?;
    matrix
        .new_dataset::<i32>()
        .shape([columns.len() as u64])
        .chunked()
        .deflate(4)
        .create("indices")?
        .write(&columns)?;
    matrix.new_dataset_builder().with_data((0..=cells).map(|i| 3 * i).collect::<Vec<_>>()).create("indptr")?;

    let obs = frame(&file, "obs", (0..cells).map(|i| format!("cell {i}")).collect(), &["kind", "depth"])?;
    let kind = obs.create_group("kind")?;
    encoding(&kind, "categorical", "0.2.0")?;
    kind.attr("ordered", false)?;
    array(&kind, "codes", (0..3i8).cycle().take(100).collect::<Vec<_>>())?;
    strings(&kind, "categories", ["B cell", "T cell", "unknown"].map(str::to_owned).to_vec())?;
    array(&obs, "depth", (0..cells).map(|i| f64::from(i) / 2.0).collect::<Vec<_>>())?;
    frame(&file, "var", (0..genes).map(|i| format!("gene {i}")).collect(), &[])?;
    for name in ["layers", "obsm", "obsp", "uns", "varm", "varp"] {
        encoding(&file.create_group(name)?, "dict", "0.1.0")?;
    }
    file.close()?;
    println!("{} cells by {genes} genes in {}", cells, path.display());
    Ok(())
}

/// What AnnData calls an element.
fn encoding(group: &NewGroup, kind: &str, version: &str) -> Result<()> {
    group.attr("encoding-type", kind)?;
    group.attr("encoding-version", version)
}

/// A table of columns, with a name for each row.
fn frame(file: &NewGroup, name: &str, index: Vec<String>, columns: &[&str]) -> Result<NewGroup> {
    let frame = file.create_group(name)?;
    encoding(&frame, "dataframe", "0.2.0")?;
    frame.attr("_index", "_index")?;
    match columns {
        [] => frame.attr("column-order", Vec::<String>::new())?,
        columns => frame.attr("column-order", columns)?,
    }
    strings(&frame, "_index", index)?;
    Ok(frame)
}

fn strings(group: &NewGroup, name: &str, values: Vec<String>) -> Result<()> {
    let dataset = group.new_dataset_builder().with_data(values).create(name)?;
    dataset.attr("encoding-type", "string-array")?;
    dataset.attr("encoding-version", "0.2.0")
}

fn array<T: hdfive::H5Type>(group: &NewGroup, name: &str, values: Vec<T>) -> Result<()> {
    let dataset = group.new_dataset_builder().with_data(values).create(name)?;
    dataset.attr("encoding-type", "array")?;
    dataset.attr("encoding-version", "0.2.0")
}
