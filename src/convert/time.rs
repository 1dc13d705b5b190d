//! Times as h5py keeps them: opaque values of 8 bytes whose description is NumPy's name of the type.
//!
//! ```text
//! NUMPY:<M8[s]       a time: seconds since 1970
//! NUMPY:<m8[10ns]    a length of time: in tens of nanoseconds
//! ```

use std::fmt;

use super::decoder::Decoder;
use super::encoder::Encoder;
use super::h5type::{H5Type, mismatch};
use super::number::Conversion;
use crate::error::{Error, Result};
use crate::format::message::datatype::{Class, Datatype};

/// A time or a length of time: NumPy's `datetime64` and `timedelta64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DateTime64 {
    /// How many `multiple`s of the unit: since 1970, if it is a time. `i64::MIN` is NumPy's "not a time".
    pub ticks: i64,
    /// The unit; `None` if nothing is said.
    pub unit: Option<TimeUnit>,
    /// How many units a tick is.
    pub multiple: u32,
    /// Whether it is a length of time.
    pub is_length: bool,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Years.
    Year,
    /// Months.
    Month,
    /// Weeks.
    Week,
    /// Days.
    Day,
    /// Hours.
    Hour,
    /// Minutes.
    Minute,
    /// Parts of a second: so many decimal places, 0 for whole seconds, 18 at most.
    Decimal(u8),
}

/// The units by NumPy's names.
const UNITS: [(&str, TimeUnit); 13] = [
    ("Y", TimeUnit::Year),
    ("M", TimeUnit::Month),
    ("W", TimeUnit::Week),
    ("D", TimeUnit::Day),
    ("h", TimeUnit::Hour),
    ("m", TimeUnit::Minute),
    ("s", TimeUnit::Decimal(0)),
    ("ms", TimeUnit::Decimal(3)),
    ("us", TimeUnit::Decimal(6)),
    ("ns", TimeUnit::Decimal(9)),
    ("ps", TimeUnit::Decimal(12)),
    ("fs", TimeUnit::Decimal(15)),
    ("as", TimeUnit::Decimal(18)),
];

/// What the description of an opaque datatype says about times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeType {
    zero: DateTime64,
    is_big: bool,
}

impl TimeType {
    /// The type of time that a datatype is.
    pub(crate) fn of(datatype: &Datatype) -> Option<TimeType> {
        let Class::Opaque { tag } = &datatype.class else { return None };
        let tag = std::str::from_utf8(tag).ok()?.trim_end_matches('\0').strip_prefix("NUMPY:")?;
        let (is_big, tag) = match tag.split_at_checked(1)? {
            (">", rest) => (true, rest),
            ("<", rest) => (false, rest),
            _ => (cfg!(target_endian = "big"), tag),
        };
        let (is_length, tag) = match tag.split_at_checked(2)? {
            ("M8", rest) => (false, rest),
            ("m8", rest) => (true, rest),
            _ => return None,
        };
        let inner = tag.strip_prefix('[').and_then(|tag| tag.strip_suffix(']'));
        let letters = inner.map_or("", |inner| inner.trim_start_matches(|c: char| c.is_ascii_digit()));
        let digits = inner.map_or("", |inner| &inner[..inner.len() - letters.len()]);
        let multiple = if digits.is_empty() { 1 } else { digits.parse().ok()? };
        let unit = UNITS.iter().find(|(name, _)| *name == letters).map(|(_, unit)| *unit);
        if datatype.size != 8 || !tag.is_empty() && unit.is_none() {
            return None;
        }
        Some(TimeType { zero: DateTime64 { ticks: 0, unit, multiple, is_length }, is_big })
    }

    /// The ticks of a value that is counted as elements are; or that is no time.
    fn ticks(&self, value: &DateTime64) -> Result<i64> {
        let counted = |time: &DateTime64| (time.unit, time.multiple, time.is_length);
        if value.is_nat() || counted(value) == counted(&self.zero) {
            return Ok(value.ticks);
        }
        Err(Error::wrong_type(format!("a time in other units than elements have: {value}")))
    }

    /// The value of a stored element.
    pub(crate) fn value(&self, element: &[u8]) -> Result<DateTime64> {
        let bytes = element.try_into().map_err(|_| Error::corrupt("an element is cut short"))?;
        let ticks = if self.is_big { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) };
        Ok(DateTime64 { ticks, ..self.zero })
    }
}

impl H5Type for DateTime64 {
    /// Times in nanoseconds.
    fn type_descriptor() -> Datatype {
        Datatype { version: 1, size: 8, class: Class::Opaque { tag: b"NUMPY:<M8[ns]\0\0\0".to_vec() }, unused_bits: 0 }
    }

    fn decoder(stored: &Datatype, _: Conversion) -> Result<Decoder<Self>> {
        let time = TimeType::of(stored).ok_or_else(|| mismatch::<Self>(stored))?;
        Decoder::new(stored, move |element, _| time.value(element))
    }

    fn encoder(stored: &Datatype, _: Conversion) -> Result<Encoder<Self>> {
        let time = TimeType::of(stored).ok_or_else(|| mismatch::<Self>(stored))?;
        Encoder::new(stored, move |value: &Self, element, _| {
            let ticks = time.ticks(value)?;
            element.copy_from_slice(&if time.is_big { ticks.to_be_bytes() } else { ticks.to_le_bytes() });
            Ok(())
        })
    }
}

impl DateTime64 {
    /// Whether it is NumPy's "not a time".
    pub fn is_nat(&self) -> bool {
        self.ticks == i64::MIN
    }

    /// The time as seconds since 1970 and decimal places of one, with how many of these there are.
    fn seconds(ticks: i128, unit: TimeUnit) -> (i128, i128, usize) {
        match unit {
            TimeUnit::Hour => (ticks * 3600, 0, 0),
            TimeUnit::Minute => (ticks * 60, 0, 0),
            TimeUnit::Decimal(places) => {
                let whole = 10i128.pow(u32::from(places.min(18)));
                (ticks.div_euclid(whole), ticks.rem_euclid(whole), usize::from(places.min(18)))
            }
            TimeUnit::Week | TimeUnit::Day | TimeUnit::Month | TimeUnit::Year => (0, 0, 0),
        }
    }
}

/// Year, month and day of a day counted from the first of 1970, in the calendar that NumPy has for all times.
fn date(day: i128) -> (i128, i128, i128) {
    // Years that begin with March end with the leap day; 400 of them are 146,097 days.
    let shifted = day + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (era * 400 + year + i128::from(month <= 2), month, day)
}

/// As NumPy writes it: `2020-01-01T12:00:00.500`, `1969-07`, `12 s`, `NaT`.
impl fmt::Display for DateTime64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_nat() {
            return f.write_str("NaT");
        }
        let ticks = i128::from(self.ticks) * i128::from(self.multiple);
        let Some(unit) = self.unit else { return write!(f, "{ticks}") };
        if self.is_length {
            let name = UNITS.iter().find(|(_, own)| *own == unit).map_or("", |(name, _)| name);
            return write!(f, "{ticks} {name}");
        }
        let day = |day: i128| {
            let (year, month, day) = date(day);
            format!("{year:04}-{month:02}-{day:02}")
        };
        match unit {
            TimeUnit::Year => write!(f, "{:04}", 1970 + ticks),
            TimeUnit::Month => write!(f, "{:04}-{:02}", 1970 + ticks.div_euclid(12), ticks.rem_euclid(12) + 1),
            TimeUnit::Week => f.write_str(&day(ticks * 7)),
            TimeUnit::Day => f.write_str(&day(ticks)),
            TimeUnit::Hour | TimeUnit::Minute | TimeUnit::Decimal(_) => {
                let (seconds, part, places) = Self::seconds(ticks, unit);
                let (days, clock) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
                write!(f, "{}T{:02}", day(days), clock / 3600)?;
                if unit == TimeUnit::Hour {
                    return Ok(());
                }
                write!(f, ":{:02}", clock / 60 % 60)?;
                if unit == TimeUnit::Minute {
                    return Ok(());
                }
                write!(f, ":{:02}", clock % 60)?;
                if places > 0 { write!(f, ".{part:0places$}") } else { Ok(()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_numpy_shows_them() {
        let time = |ticks, tag: &str| {
            let class = Class::Opaque { tag: format!("NUMPY:<{tag}\0").into_bytes() };
            let time = TimeType::of(&Datatype { version: 1, size: 8, class, unused_bits: 0 }).unwrap();
            time.value(&i64::to_le_bytes(ticks)).unwrap().to_string()
        };
        // What numpy.datetime64(ticks, unit) prints.
        assert_eq!(time(1_577_880_000_500, "M8[ms]"), "2020-01-01T12:00:00.500");
        assert_eq!(time(-14_182_980, "M8[s]"), "1969-07-20T20:17:00");
        assert_eq!(time(-1, "M8[ns]"), "1969-12-31T23:59:59.999999999");
        assert_eq!(time(18_321, "M8[D]"), "2020-02-29");
        assert_eq!(time(-6, "M8[M]"), "1969-07");
        assert_eq!(time(50, "M8[Y]"), "2020");
        assert_eq!(time(2617, "M8[W]"), "2020-02-27");
        assert_eq!(time(438_300, "M8[h]"), "2020-01-01T12");
        assert_eq!(time(3, "m8[10ns]"), "30 ns");
        assert_eq!(time(i64::MIN, "m8[s]"), "NaT");
    }

    #[test]
    fn other_opaque_values_are_no_times() {
        for tag in ["", "NUMPY:", "NUMPY:<M8[q]", "NUMPY:<f8", "M8[s]"] {
            let class = Class::Opaque { tag: tag.as_bytes().to_vec() };
            assert!(TimeType::of(&Datatype { version: 1, size: 8, class, unused_bits: 0 }).is_none(), "{tag}");
        }
    }
}
