//! Numbers from one layout to another: any size up to 16 bytes, any byte order, any bits, integers and floats.
//!
//! ```text
//! both a Rust type's, in either byte order:  bulk.rs     a loop per pair of types
//! anything else (odd bits, f16, x87):        exact.rs    one number at a time, through sign, mantissa and exponent
//! ```

mod bulk;
mod exact;
mod layout;

use crate::convert::notation::short;
use crate::error::{Error, Result};
use crate::format::message::datatype::Datatype;
pub(crate) use bulk::NATIVE;
pub use layout::{Layout, Meaning};
pub(crate) use layout::{float, integer};

/// What happens to a number that the wanted type cannot hold exactly.
///
/// | | 300 as `u8` | -1 as `u8` | 2.7 as `i32` | 0.1 as `f32` | NaN as `i32` |
/// |---|---|---|---|---|---|
/// | `Lossless` | an error | an error | an error | an error | an error |
/// | `Saturating` | 255 | 0 | 2 | the nearest | 0 |
/// | `Wrapping` | 44 | 255 | 2 | the nearest | 0 |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// It is an error of kind `WrongType`.
    #[default]
    Lossless,
    /// As libhdf5 converts: integers stop at the ends of the range, floats are rounded, or cut towards zero where an
    /// integer is wanted.
    Saturating,
    /// As NumPy's `astype` casts: integers lose their upper bits, floats do as with `Saturating`.
    Wrapping,
}

impl Conversion {
    /// What is meant for numbers of `layout`: only integers wrap, a float out of range stops at the range's end.
    fn of(self, layout: &Layout) -> Conversion {
        match (self, layout.meaning) {
            (Conversion::Wrapping, Meaning::Float { .. }) => Conversion::Saturating,
            (conversion, _) => conversion,
        }
    }
}

/// Converts as many numbers as `from` holds; `to` is as large as they need.
///
/// Gives the position of the first number that is lost under [`Conversion::Lossless`].
pub(crate) fn convert(
    from: &[u8],
    from_layout: &Layout,
    to: &mut [u8],
    to_layout: &Layout,
    conversion: Conversion,
) -> Result<(), usize> {
    let conversion = conversion.of(from_layout);
    if from_layout == to_layout {
        to.copy_from_slice(from);
        return Ok(());
    }
    if let Some(done) = bulk::convert(from, from_layout, to, to_layout, conversion) {
        return done;
    }
    let numbers = from.chunks_exact(from_layout.size).zip(to.chunks_exact_mut(to_layout.size));
    for (position, (from, to)) in numbers.enumerate() {
        let (bits, is_exact) = exact::read(from_layout.bits(from), from_layout).stored(to_layout, conversion);
        if conversion == Conversion::Lossless && !is_exact {
            return Err(position);
        }
        to_layout.store(bits, to);
    }
    Ok(())
}

/// A stored number as text, without loss where it is an integer.
pub(crate) fn text(stored: &[u8], layout: &Layout) -> String {
    exact::read(layout.bits(stored), layout).to_string()
}

/// Whether two stored numbers of one layout are equal as values: 0.0 is -0.0, and no NaN is anything.
pub(crate) fn equal(a: &[u8], b: &[u8], layout: &Layout) -> bool {
    exact::read(layout.bits(a), layout).equals(exact::read(layout.bits(b), layout))
}

/// The elements in `bytes`, numbers of `from`, as numbers of `to`.
///
/// Errors are `WrongType` if one of the datatypes is no number, or if a number is lost that must not be.
pub fn converted(bytes: &[u8], from: &Datatype, to: &Datatype, conversion: Conversion) -> Result<Vec<u8>> {
    let mismatch = || Error::wrong_type(format!("elements are {}, not {}", short(from), short(to)));
    let (from_layout, to_layout) = Layout::of(from).zip(Layout::of(to)).ok_or_else(mismatch)?;
    let mut numbers = vec![0; bytes.len() / from_layout.size * to_layout.size];
    let whole = &bytes[..bytes.len() / from_layout.size * from_layout.size];
    match convert(whole, &from_layout, &mut numbers, &to_layout, conversion) {
        Ok(()) => Ok(numbers),
        Err(position) => Err(lost(bytes, position, from, &from_layout, to)),
    }
}

/// The error of the number at `position`, which is not exactly one of `to`.
pub(crate) fn lost(bytes: &[u8], position: usize, from: &Datatype, layout: &Layout, to: &Datatype) -> Error {
    let start = position * layout.size;
    let number = bytes.get(start..start + layout.size).map_or_else(String::new, |stored| text(stored, layout));
    Error::wrong_type(format!("elements are {}, and {number} is not exactly one of {}", short(from), short(to)))
        .hint("Conversion says what else may be done")
}

#[cfg(test)]
mod tests;
