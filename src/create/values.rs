//! What can be written: a scalar, a slice, an array.

use std::borrow::Cow;

use crate::convert::{DateTime64, H5Type, Reference};

/// Values to write, with their shape.
///
/// | given | shape |
/// |---|---|
/// | a number, `bool`, complex number, `&str`, `String`, [`Reference`], [`DateTime64`] | scalar |
/// | [`Scalar`] of anything that is an [`H5Type`] | scalar |
/// | `Vec<T>`, `&Vec<T>`, `&[T]`, `[T; N]`, `&[T; N]`, also of `&str` | their length |
/// | an array of the crate `ndarray`, or a reference to one (feature `ndarray`) | its shape |
pub trait Values {
    /// The type of one value.
    type Element: H5Type;

    /// How many values there are along each dimension; none for a scalar.
    fn shape(&self) -> Vec<u64>;

    /// The values in row-major order.
    fn elements(&self) -> Cow<'_, [Self::Element]>;
}

/// One value of any [`H5Type`]: a struct, a sequence.
///
/// ```
/// use hdfive::{File, FileBuilder, create::Scalar};
///
/// # fn main() -> hdfive::Result<()> {
/// let file = FileBuilder::new().create_in_memory()?;
/// file.attr("primes", Scalar(vec![2u8, 3, 5]))?;
/// let file = File::from_bytes(file.close_in_memory()?)?;
/// assert_eq!(file.root()?.attribute("primes")?.read_scalar::<Vec<u8>>()?, [2, 3, 5]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar<T>(pub T);

impl<T: H5Type> Values for Scalar<T> {
    type Element = T;

    fn shape(&self) -> Vec<u64> {
        Vec::new()
    }

    fn elements(&self) -> Cow<'_, [T]> {
        Cow::Borrowed(std::slice::from_ref(&self.0))
    }
}

macro_rules! scalars {
    ($($rust:ty),*) => { $(
        impl Values for $rust {
            type Element = $rust;

            fn shape(&self) -> Vec<u64> {
                Vec::new()
            }

            fn elements(&self) -> Cow<'_, [$rust]> {
                Cow::Borrowed(std::slice::from_ref(self))
            }
        }
    )* };
}
scalars!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, f32, f64, bool, String, Reference, DateTime64);
#[cfg(feature = "half")]
scalars!(half::f16, half::bf16);
#[cfg(feature = "num-complex")]
scalars!(num_complex::Complex<f32>, num_complex::Complex<f64>);

impl Values for &str {
    type Element = String;

    fn shape(&self) -> Vec<u64> {
        Vec::new()
    }

    fn elements(&self) -> Cow<'_, [String]> {
        Cow::Owned(vec![(*self).to_owned()])
    }
}

macro_rules! lists {
    ($([$($generics:tt)*] $list:ty;)*) => { $(
        impl<T: H5Type, $($generics)*> Values for $list {
            type Element = T;

            fn shape(&self) -> Vec<u64> {
                vec![self.len() as u64]
            }

            fn elements(&self) -> Cow<'_, [T]> {
                Cow::Borrowed(&self[..])
            }
        }
    )* };
}
lists! {
    [] Vec<T>;
    [] &Vec<T>;
    [] &[T];
    [const N: usize] [T; N];
    [const N: usize] &[T; N];
}

macro_rules! texts {
    ($([$($generics:tt)*] $list:ty;)*) => { $(
        impl<$($generics)*> Values for $list {
            type Element = String;

            fn shape(&self) -> Vec<u64> {
                vec![self.len() as u64]
            }

            fn elements(&self) -> Cow<'_, [String]> {
                Cow::Owned(self.iter().map(|text| (*text).to_owned()).collect())
            }
        }
    )* };
}
texts! {
    [] Vec<&str>;
    [] &Vec<&str>;
    [] &[&str];
    [const N: usize] [&str; N];
    [const N: usize] &[&str; N];
}

#[cfg(feature = "ndarray")]
mod arrays {
    use ndarray::{ArrayBase, Data, Dimension};

    use super::*;

    impl<T: H5Type, S: Data<Elem = T>, D: Dimension> Values for &ArrayBase<S, D> {
        type Element = T;

        fn shape(&self) -> Vec<u64> {
            ArrayBase::shape(self).iter().map(|&size| size as u64).collect()
        }

        fn elements(&self) -> Cow<'_, [T]> {
            match self.as_slice() {
                Some(values) => Cow::Borrowed(values),
                None => Cow::Owned(self.iter().cloned().collect()),
            }
        }
    }

    impl<T: H5Type, S: Data<Elem = T>, D: Dimension> Values for ArrayBase<S, D> {
        type Element = T;

        fn shape(&self) -> Vec<u64> {
            ArrayBase::shape(self).iter().map(|&size| size as u64).collect()
        }

        fn elements(&self) -> Cow<'_, [T]> {
            match self.as_slice() {
                Some(values) => Cow::Borrowed(values),
                None => Cow::Owned(self.iter().cloned().collect()),
            }
        }
    }
}
