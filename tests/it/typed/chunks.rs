//! Data beyond memory: chunk by chunk, row by row, and chunks as they are stored.

use hdfive::selection::Block;
use hdfive::{ErrorKind, File, Result, s};

use crate::support::testdata;

#[test]
fn chunks_and_rows_together_are_the_whole() -> Result<()> {
    let file = File::open(testdata("readme/weather.h5"))?;
    let dataset = file.dataset("/surface/temperature")?;
    let whole: Vec<f32> = dataset.read()?;
    let chunks = dataset.chunks::<f32>()?.collect::<Result<Vec<_>>>()?;
    assert_eq!(chunks.len(), 7);
    for (block, values) in &chunks {
        assert_eq!(*values, dataset.select(block).read::<f32>()?);
    }
    assert_eq!(chunks[6].0, Block::new(&[24, 0, 0], &[4, 11, 16]));
    assert_eq!(chunks.concat_values(), whole);
    let rows = dataset.rows::<f32>(5).collect::<Result<Vec<_>>>()?;
    assert_eq!(rows.iter().map(|(block, _)| block.count[0]).collect::<Vec<_>>(), [5, 5, 5, 5, 5, 3]);
    assert_eq!(rows.concat_values(), whole);
    Ok(())
}

trait ConcatValues {
    fn concat_values(&self) -> Vec<f32>;
}

impl ConcatValues for Vec<(Block, Vec<f32>)> {
    fn concat_values(&self) -> Vec<f32> {
        self.iter().flat_map(|(_, values)| values.clone()).collect()
    }
}

#[test]
fn stored_chunks_are_given_as_they_are() -> Result<()> {
    let file = File::open(testdata("readme/weather.h5"))?;
    let dataset = file.dataset("/surface/temperature")?;
    let (mask, bytes) = dataset.read_chunk_raw(&[6, 0, 0])?;
    assert_eq!(mask, 0);
    // A zlib stream, as the dataset's last filter leaves it.
    assert_eq!(bytes[0], 0x78);
    let stored: u64 =
        (0..7).map(|n| dataset.read_chunk_raw(&[n, 0, 0]).map(|(_, b)| b.len() as u64)).sum::<Result<_>>()?;
    assert_eq!(stored, dataset.stored_size()?);
    assert_eq!(dataset.read_chunk_raw(&[7, 0, 0]).unwrap_err().kind(), ErrorKind::OutOfBounds);
    assert_eq!(dataset.read_chunk_raw(&[0]).unwrap_err().kind(), ErrorKind::OutOfBounds);
    let contiguous = File::open(testdata("typed/forms_references.h5"))?.dataset("group/target")?;
    assert_eq!(contiguous.read_chunk_raw(&[0, 0]).unwrap_err().kind(), ErrorKind::Invalid);
    Ok(())
}

#[test]
fn a_selection_fetches_only_the_chunks_that_it_meets() -> Result<()> {
    let file = File::open(testdata("readme/weather.h5"))?;
    let dataset = file.dataset("/surface/temperature")?;
    let chunks = |selection| -> Result<Vec<u64>> {
        Ok(dataset.select(selection).plan()?.chunks.iter().map(|chunk| chunk.number).collect())
    };
    assert_eq!(chunks(s![[27, 0, 1], 3, ..;-2])?, [0, 6]);
    assert_eq!(chunks(s![4..8])?, [1]);
    assert_eq!(chunks(s![..0])?, [] as [u64; 0]);
    assert_eq!(dataset.select(s![.., .., ..]).plan()?.chunks.len(), 7);
    Ok(())
}
