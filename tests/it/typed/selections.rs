//! Shapes of results, and the names that `hdf5-metno` has.

use hdfive::selection::Index::{Ellipsis, NewAxis};
use hdfive::selection::{Block, Selection};
use hdfive::{ErrorKind, File, Result, s};
use ndarray::{Array2, Array3, ArrayD, Axis, Ix2};

use crate::support::testdata;

#[test]
fn arrays_have_the_shape_of_the_selection() -> Result<()> {
    let file = File::open(testdata("readme/weather.h5"))?;
    let dataset = file.dataset("/surface/temperature")?;
    let whole: Array3<f32> = dataset.read_array()?;
    assert_eq!(whole.dim(), (28, 11, 16));
    let day = dataset.select(s![3, .., ..;-1]);
    assert_eq!(day.shape()?, [11, 16]);
    let mut turned = whole.index_axis(Axis(0), 3).to_owned();
    turned.invert_axis(Axis(1));
    assert_eq!(day.read_array::<f32, Ix2>()?, turned);
    assert_eq!(dataset.read_slice::<f64, Ix2>(s![3, .., ..;-1])?, turned.mapv(f64::from));
    let lists: Array2<f32> = dataset.read_slice_2d(s![[4, 0, 4], 10, [1, 15]])?;
    assert_eq!(
        lists,
        ndarray::arr2(&[[4, 1], [4, 15], [0, 1], [0, 15], [4, 1], [4, 15]].map(|[t, x]| [whole[[t, 10, x]]]))
            .into_shape_with_order((3, 2))
            .unwrap()
    );
    let points = dataset.select(Selection::Points(vec![vec![-1, 10, 15], vec![0, 0, 0]]));
    assert_eq!(points.read::<f32>()?, [whole[[27, 10, 15]], whole[[0, 0, 0]]]);
    let wide: ArrayD<f32> = dataset.select(s![NewAxis, Ellipsis, 0]).read_dyn()?;
    assert_eq!(wide.shape(), [1, 28, 11]);
    let block = Block::new(&[20, 1, 2], &[3, 4, 5]);
    assert_eq!(dataset.select(&block).read_array::<f32, ndarray::Ix3>()?, whole.slice(ndarray::s![20..23, 1..5, 2..7]));
    Ok(())
}

#[test]
fn ranks_and_selections_that_do_not_fit_are_errors() -> Result<()> {
    let file = File::open(testdata("readme/weather.h5"))?;
    let dataset = file.dataset("/surface/temperature")?;
    let error = dataset.read_2d::<f32>().unwrap_err();
    assert_eq!(error.message(), "an array of rank 2 is wanted, the shape is [28, 11, 16]");
    assert_eq!(dataset.select(s![28]).read::<f32>().unwrap_err().kind(), ErrorKind::OutOfBounds);
    let error = dataset.select(s![28]).shape().unwrap_err();
    assert!(error.to_string().contains("/surface/temperature"), "{error}");
    assert_eq!(dataset.select(s![..;0]).read::<f32>().unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(dataset.select(s![0, 0]).read_scalar::<f32>().unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(dataset.select(s![0, 0, 0]).read_scalar::<f32>()?, dataset.read_raw::<f32>()?[0]);
    Ok(())
}
