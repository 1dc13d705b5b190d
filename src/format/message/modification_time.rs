//! The two modification time messages. Specification IV.A.2.o (old) and IV.A.2.s.

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// When an object was last modified, as written before 1.6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldModificationTime {
    /// Year, month, day, hour, minute and second in universal time, as 14 digits.
    pub digits: [u8; 14],
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
}

impl Structure for OldModificationTime {
    const NAME: &'static str = "object modification time (old) message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        let digits = w.array("time", |t| &t.digits)?;
        let reserved = w.reserved(2, |t| &t.reserved)?;
        Ok(OldModificationTime { digits, reserved })
    }
}

impl OldModificationTime {
    /// Seconds since 1970 in universal time; `None` if the digits are no time.
    pub fn seconds(&self) -> Option<i64> {
        let number =
            |from: usize, to: usize| -> Option<i64> { std::str::from_utf8(&self.digits[from..to]).ok()?.parse().ok() };
        let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
        let (hour, minute, second) = (number(8, 10)?, number(10, 12)?, number(12, 14)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        // Days since 1970-03-01 of a calendar whose years begin in March, so that leap days come last.
        let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days = 365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day - 1;
        Some((days - 719_468) * 86_400 + hour * 3_600 + minute * 60 + second)
    }
}

/// When an object was last modified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModificationTime {
    /// Seconds since 1970 in universal time.
    pub seconds: u32,
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
}

impl Structure for ModificationTime {
    const NAME: &'static str = "object modification time message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.version(|_| 1, 1..=1)?;
        let reserved = w.reserved(3, |t| &t.reserved)?;
        let seconds = w.u32("seconds after UNIX epoch", |t| t.seconds)?;
        Ok(ModificationTime { seconds, reserved })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{modification_time, old_modification_time};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::prelude::*;

    use super::*;

    /// Any time of before 1.6, digits or not.
    pub fn old_modification_time() -> BoxedStrategy<OldModificationTime> {
        any::<[u8; 14]>().prop_map(|digits| OldModificationTime { digits, reserved: Vec::new() }).boxed()
    }

    /// Any time.
    pub fn modification_time() -> BoxedStrategy<ModificationTime> {
        any::<u32>().prop_map(|seconds| ModificationTime { seconds, reserved: Vec::new() }).boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<ModificationTime>(|_| modification_time().prop_map(|t| (t, ())).boxed());
        laws::hold::<OldModificationTime>(|_| old_modification_time().prop_map(|t| (t, ())).boxed());
    }

    #[test]
    fn digits_are_a_time() {
        let at = |digits: &[u8; 14]| OldModificationTime { digits: *digits, reserved: Vec::new() }.seconds();
        assert_eq!(at(b"19700101000000"), Some(0));
        assert_eq!(at(b"20000229123456"), Some(951_827_696));
        assert_eq!(at(b"1970010100000x"), None);
    }
}
