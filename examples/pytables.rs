//! Reads a table of PyTables: its rows as structs, the arrays beside it.
//!
//!     cargo run --example pytables [FILE.h5]

use hdfive::{File, H5Type, Result, s};

/// A row; columns are found by their names, and those that are not wanted are left out.
#[derive(Clone, Debug, H5Type)]
struct Row {
    name: String,
    #[h5(rename = "n")]
    number: i64,
    v: [i16; 3],
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "testdata/writers/pytables.h5".into());
    let file = File::open(path)?;
    let table = file.dataset("table")?;
    println!("{} rows of {}", table.len(), hdfive::inspect::notation::short(table.datatype()));
    for row in table.select(s![-3..]).read::<Row>()? {
        println!("  {}: {}, {:?}", row.name, row.number, row.v);
    }
    let mut sum = 0;
    // A table beyond memory is read a few rows at a time.
    for part in table.rows::<Row>(16) {
        sum += part?.1.iter().map(|row| row.number).sum::<i64>();
    }
    println!("all numbers together are {sum}");
    println!("{:#}", file.dataset("array")?.read_2d::<i32>()?);
    Ok(())
}
