//! Changes to a chunked array, held in memory until they are committed: the example of `docs/staged-arrays.md`.
//!
//! ```text
//! cargo run --example staged_array
//! ```

use std::sync::Arc;

use hdfive::s;
use hdfive::stage::{Array, Base, MemorySink, MemorySlab, StagedArray};

fn main() -> hdfive::Result<()> {
    // 8 x 8 elements in chunks of 2 x 2. All 16 chunks are there already, one below the other on a base slab.
    let stored = MemorySlab::new(&Array::new(&[32, 2], &(0..64).collect::<Vec<i32>>())?)?;
    let base = Base {
        slabs: vec![Arc::new(stored)],
        slab_indices: vec![1; 16],
        slab_offsets: (0..16).map(|chunk| 2 * chunk).collect(),
        hashes: vec![],
    };
    let mut array = StagedArray::new(&[8, 8], &[2, 2], base, None)?;

    // What would happen if we wrote 42 to rows 2, 3 and 4 of columns 3, 4 and 5?
    let window = s![2..5, 3..6];
    println!("{}\n", array.listing(&array.plan_set(&window)?)?);

    // Do it. Three chunks are written in part and had to be brought in; one was written as a whole.
    array.set(&window, &Array::scalar(42i32))?;
    println!("rows 2 to 4: {:?}", array.get(&window)?.values::<i32>()?);
    println!("{} chunks are not fill, {} slabs\n", array.plan_changes().changes.len(), array.slab_count());

    // A copy costs nothing until one of both is written.
    let before = array.clone();
    array.resize(&[8, 9])?;
    println!("{:?} from {:?}\n", array.shape(), before.shape());

    // Store what is not there yet.
    let report = array.commit(&mut MemorySink)?;
    println!("{}\n", report.plan);
    println!("{} chunks stored, {} were there already", report.stored(), report.known());
    over_a_dataset()
}

/// The same over a dataset of a file, which is read and never written.
fn over_a_dataset() -> hdfive::Result<()> {
    let file = hdfive::File::open("testdata/readme/weather.h5")?;
    let mut array = file.dataset("/surface/temperature")?.staged()?;
    array.set(&s![0, 0, ..], &Array::scalar(20.5f32))?;
    println!("{} chunks differ from the file", array.plan_hash().cells.len() - 1);
    Ok(())
}
