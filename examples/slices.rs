//! Reads parts of an array: ranges, steps, lists, masks, points, into vectors, arrays and memory of one's own.
//!
//!     cargo run --example slices

use hdfive::selection::Selection;
use hdfive::{Conversion, File, Result, s};
use ndarray::{Array1, Array2};

fn main() -> Result<()> {
    let file = File::open("testdata/readme/weather.h5")?;
    let temperature = file.dataset("/surface/temperature")?;
    let noon: Array2<f32> = temperature.select(s![2, .., ..]).read_array()?;
    println!("the third time, in the corner: {}", noon[[0, 0]]);
    let north_to_south: Array1<f64> = temperature.select(s![0, ..;-1, -1]).read_array()?;
    println!("the last column in reverse: {north_to_south:.1}");
    let some: Vec<f32> = temperature.select(s![[27, 0, 0], 3..5, 10]).read()?;
    println!("a list, in any order and with repeats: {some:?}");
    let rain = file.dataset("/surface/rain")?;
    let wet: Vec<bool> = rain.select(s![.., 0, 0]).read::<i16>()?.iter().map(|rain| *rain > 0).collect();
    println!("it was {:?} where it rained", temperature.select(s![wet, 0, 0]).read::<f32>()?);
    let points = Selection::Points(vec![vec![8, 0, 0], vec![-17, 10, 15]]);
    println!("two points: {:?}", rain.select(points).read::<i16>()?);
    // Numbers that do not fit are an error, unless one says what is to become of them.
    if let Err(error) = temperature.read::<i32>() {
        println!("{error}");
    }
    let whole: Vec<i32> = temperature.conversion(Conversion::Saturating).read()?;
    println!("cut to {} and so on", whole[0]);
    let mut day = vec![0f32; 4 * 11 * 16];
    for first in (0..28).step_by(4) {
        temperature.select(s![first..first + 4]).read_into(&mut day)?;
    }
    println!("the last day begins with {}", day[0]);
    Ok(())
}
