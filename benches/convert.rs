//! What a user waits for who reads as another type: numbers of each pair, compounds into structs. Prints one line of JSON
//! per measurement, with elements per microsecond; `memcpy` is what the machine can do at best.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hdfive::convert::Heaps;
use hdfive::format::message::datatype::{ByteOrder, Class, Datatype};
use hdfive::{Conversion, File, H5Type, Result};

/// Elements of each measurement.
const COUNT: u32 = 1 << 20;

#[derive(Clone, H5Type)]
struct Row {
    a: f32,
    b: i64,
    c: [f64; 3],
}

/// The shortest of many runs.
fn measure(name: &str, mut run: impl FnMut() -> Result<()>) -> Result<()> {
    let (mut best, begin) = (Duration::MAX, Instant::now());
    for _ in 0..200 {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
        if begin.elapsed() > Duration::from_millis(700) {
            break;
        }
    }
    let rate = f64::from(COUNT) / best.as_secs_f64() / 1e6;
    println!("{{\"name\": {name:?}, \"elements_per_us\": {rate:.0}}}");
    Ok(())
}

/// Other than this machine's byte order.
fn big(mut datatype: Datatype) -> Datatype {
    match &mut datatype.class {
        Class::FixedPoint(number) => number.bits.order = ByteOrder::BigEndian,
        Class::FloatingPoint(number) => number.bits.order = ByteOrder::BigEndian,
        _ => {}
    }
    datatype
}

fn pair<T: H5Type>(
    name: &str,
    stored: &Datatype,
    conversion: Conversion,
    mut room: Vec<T>,
    heaps: &Heaps<'_>,
) -> Result<()> {
    let decoder = T::decoder(stored, conversion)?;
    let size = usize::try_from(stored.size).unwrap_or(1);
    // Small numbers, which every type holds.
    let bytes = vec![0u8; COUNT as usize * size];
    measure(name, || {
        decoder.decode_into(black_box(&bytes), &mut room, heaps)?;
        black_box(&mut room);
        Ok(())
    })
}

fn main() -> Result<()> {
    let file = File::open("testdata/readme/weather.h5")?;
    let heaps = file.heaps();
    let (lossless, saturating) = (Conversion::Lossless, Conversion::Saturating);
    let (i32s, f32s) = (i32::type_descriptor(), f32::type_descriptor());
    let (from, mut to) = (vec![1u8; 4 * COUNT as usize], vec![0u8; 4 * COUNT as usize]);
    measure("memcpy of 4 bytes", || {
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
        Ok(())
    })?;
    pair("f32 as f32", &f32s, lossless, vec![0f32; COUNT as usize], &heaps)?;
    pair("f32 be as f32", &big(f32::type_descriptor()), lossless, vec![0f32; COUNT as usize], &heaps)?;
    pair("f32 as f64", &f32s, lossless, vec![0f64; COUNT as usize], &heaps)?;
    pair("f64 as f32, saturating", &f64::type_descriptor(), saturating, vec![0f32; COUNT as usize], &heaps)?;
    pair("i64 as i32", &i64::type_descriptor(), lossless, vec![0i32; COUNT as usize], &heaps)?;
    pair("i32 be as f64", &big(i32::type_descriptor()), lossless, vec![0f64; COUNT as usize], &heaps)?;
    pair("i32 as u8, saturating", &i32s, saturating, vec![0u8; COUNT as usize], &heaps)?;
    pair("f16 as f32", &half::f16::type_descriptor(), lossless, vec![0f32; COUNT as usize], &heaps)?;
    let mut odd = i32::type_descriptor();
    if let Class::FixedPoint(number) = &mut odd.class {
        (number.bits.offset, number.bits.precision) = (5, 17);
    }
    pair("17 bits as i32", &odd, lossless, vec![0i32; COUNT as usize], &heaps)?;
    let row = Row { a: 0.0, b: 0, c: [0.0; 3] };
    pair("compounds as structs", &Row::type_descriptor(), lossless, vec![row; COUNT as usize], &heaps)
}
