//! The two fill value messages: what elements are that nobody wrote. Specification IV.A.2.e (old) and IV.A.2.f.

use bytes::Bytes;

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// A fill value as written before 1.6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldFillValue {
    /// One element of the dataset's datatype; empty for none.
    pub value: Bytes,
}

impl Structure for OldFillValue {
    const NAME: &'static str = "fill value (old) message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        let size = w.count("size", 4, |f| f.value.len())?;
        Ok(OldFillValue { value: w.payload("fill value", size, |f| &f.value)? })
    }
}

/// The fill value, and when it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillValue {
    /// 1 to 3.
    pub version: u8,
    /// When space is allocated: 1 early, 2 late, 3 step by step.
    pub allocation_time: u8,
    /// When fill values are written: 0 on allocation, 1 never, 2 if the user set one.
    pub write_time: u8,
    /// The value.
    pub value: Fill,
    /// Bits 6 and 7 of the flags of version 3.
    pub unused_bits: u8,
    /// How versions 1 and 2 state the value, where there are several ways and it is not ours.
    pub stated: Option<Stated>,
}

/// How versions 1 and 2 state a fill value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// Whether it is called defined.
    pub defined: bool,
    /// Its size, a signed number as its bits. Version 2 has it for defined values only.
    pub size: u32,
}

/// What is known of a fill value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Zeros.
    Default,
    /// Whatever there is: reading what was not written has no meaning.
    Undefined,
    /// One element of the dataset's datatype.
    User(Bytes),
}

impl FillValue {
    fn bytes(&self) -> &Bytes {
        static NOTHING: Bytes = Bytes::new();
        match &self.value {
            Fill::User(bytes) => bytes,
            Fill::Default | Fill::Undefined => &NOTHING,
        }
    }

    fn flags(&self) -> u8 {
        let value = match self.value {
            Fill::Default => 0,
            Fill::Undefined => 0x10,
            Fill::User(_) => 0x20,
        };
        self.allocation_time | self.write_time << 2 | value | self.unused_bits
    }

    fn stated(&self) -> Stated {
        self.stated.unwrap_or_else(|| self.value.stated())
    }
}

impl Fill {
    /// How we state it in versions 1 and 2: with size -1 if undefined.
    fn stated(&self) -> Stated {
        let size = match self {
            Fill::Undefined => u32::MAX,
            Fill::Default => 0,
            // A size that does not fit is one for which the bytes are too few, which is an error.
            Fill::User(bytes) => i32::try_from(bytes.len()).map_or(1, i32::cast_unsigned),
        };
        Stated { defined: *self != Fill::Undefined, size }
    }
}

impl Structure for FillValue {
    const NAME: &'static str = "fill value message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        let version = w.version(|f| f.version, 1..=3)?;
        if version < 3 { walk_old(w, version) } else { walk_v3(w) }
    }
}

fn walk_old(w: &mut Walk<'_, '_, FillValue>, version: u8) -> Result<FillValue> {
    let allocation_time = w.u8("space allocation time", |f| f.allocation_time)?;
    let write_time = w.u8("fill value write time", |f| f.write_time)?;
    let defined = match w.u8("fill value defined", |f| f.stated().defined.into())? {
        0 => false,
        1 => true,
        other => return w.corrupt("fill value defined", format!("value is {other}, must be 0 or 1")),
    };
    let (mut value, mut stated) = (Fill::Undefined, None);
    if version == 1 || defined {
        let size = w.u32("size", |f| f.stated().size)?;
        value = match size {
            0 if defined => Fill::Default,
            0 | 0x8000_0000.. => Fill::Undefined,
            size => {
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                Fill::User(w.payload("fill value", size, FillValue::bytes)?)
            }
        };
        stated = Some(Stated { defined, size }).filter(|stated| *stated != value.stated());
    }
    Ok(FillValue { version, allocation_time, write_time, value, unused_bits: 0, stated })
}

fn walk_v3(w: &mut Walk<'_, '_, FillValue>) -> Result<FillValue> {
    let flags = w.u8("flags", FillValue::flags)?;
    let value = match (flags & 0x10 != 0, flags & 0x20 != 0) {
        (true, true) => return w.corrupt("flags", "the fill value is both defined and undefined"),
        (true, false) => Fill::Undefined,
        (false, false) => Fill::Default,
        (false, true) => {
            let size = w.count("size", 4, |f| f.bytes().len())?;
            Fill::User(w.payload("fill value", size, FillValue::bytes)?)
        }
    };
    let (allocation_time, write_time) = (flags & 3, flags >> 2 & 3);
    Ok(FillValue { version: 3, allocation_time, write_time, value, unused_bits: flags & 0xc0, stated: None })
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{fill_value, old_fill_value};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn bytes() -> impl Strategy<Value = Bytes> {
        vec(any::<u8>(), 1..20).prop_map(Bytes::from)
    }

    /// Any fill value as written before 1.6.
    pub fn old_fill_value() -> BoxedStrategy<OldFillValue> {
        bytes().prop_map(|value| OldFillValue { value }).boxed()
    }

    /// Any fill value of any version.
    pub fn fill_value() -> BoxedStrategy<FillValue> {
        let value = prop_oneof![Just(Fill::Default), Just(Fill::Undefined), bytes().prop_map(Fill::User)];
        (1u8..=3, 0u8..4, 0u8..3, value)
            .prop_map(|(version, allocation_time, write_time, value)| FillValue {
                version,
                allocation_time,
                write_time,
                value,
                unused_bits: 0,
                stated: None,
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<OldFillValue>(|_| old_fill_value().prop_map(|f| (f, ())).boxed());
        laws::hold::<FillValue>(|_| fill_value().prop_map(|f| (f, ())).boxed());
    }

    #[test]
    fn an_undefined_value_is_written_back_as_it_was_stated() {
        use crate::wire::{Addr, Sizes};
        const NONE: [u8; 4] = [0xff; 4];
        for (version, defined, size) in [(1, 0, [0; 4]), (1, 0, NONE), (1, 1, NONE), (2, 1, NONE)] {
            let bytes = [&[version, 2, 2, defined], &size[..]].concat();
            let fill = FillValue::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap();
            assert_eq!(fill.value, Fill::Undefined);
            assert_eq!(fill.encode(Addr(0), Sizes::EIGHT, ()).unwrap(), bytes);
        }
    }
}
