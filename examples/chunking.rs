//! The two arrays of the guide to chunking: what a reader pays for the shape of chunks.
//!
//!     cargo run --example chunking

use hdfive::{Dataset, File, Result, s};

fn main() -> Result<()> {
    let file = File::open("testdata/readme/chunking.h5")?;
    let square = file.dataset("square")?;
    println!("square: {square}");
    tell("one row", &square, s![5])?;
    tell("one column", &square, s![.., 5])?;
    tell("a tile", &square, s![4..8, 4..8])?;
    tell("every fourth of every fourth row", &square, s![..;4, ..;4])?;
    let column = file.dataset("column")?;
    println!("column: {column}");
    tell("the last 15", &column, s![-15..])?;
    // Chunk by chunk nothing is decoded twice, and one chunk is in memory at a time.
    let mut sum = 0.0;
    for chunk in column.chunks::<f64>()? {
        let (block, values) = chunk?;
        sum += values.iter().sum::<f64>();
        if block.start[0] == 90 {
            println!("  the last chunk holds {:?} from {:?}, the sum is {sum}", block.count, block.start);
        }
    }
    let (mask, bytes) = column.read_chunk_raw(&[9, 0])?;
    println!("  it is stored in {} bytes, filters skipped: {mask:b}", bytes.len());
    Ok(())
}

/// How many chunks a selection decodes, for how many elements.
fn tell(what: &str, dataset: &Dataset, selection: hdfive::selection::Selection) -> Result<()> {
    let selected = dataset.select(selection);
    let (chunks, elements) = (selected.plan()?.chunks.len(), selected.selected()?.count()?);
    println!("  {what}: {elements} elements out of {chunks} chunks");
    Ok(())
}
