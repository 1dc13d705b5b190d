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

    /// The signed size of versions 1 and 2, as its bits: -1 for an undefined value, 0 for the default.
    fn old_size(&self) -> u32 {
        match &self.value {
            Fill::Undefined => u32::MAX,
            Fill::Default => 0,
            Fill::User(bytes) => u32::try_from(bytes.len()).unwrap_or(u32::MAX - 1),
        }
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
    let defined = match w.u8("fill value defined", |f| u8::from(f.value != Fill::Undefined || f.version == 1))? {
        0 => false,
        1 => true,
        other => return w.corrupt("fill value defined", format!("value is {other}, must be 0 or 1")),
    };
    let mut value = Fill::Undefined;
    if version == 1 || defined {
        let size = w.u32("size", FillValue::old_size)?;
        value = match size {
            0 if defined => Fill::Default,
            0 | 0x8000_0000.. => Fill::Undefined,
            size => {
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                Fill::User(w.payload("fill value", size, FillValue::bytes)?)
            }
        };
    }
    Ok(FillValue { version, allocation_time, write_time, value, unused_bits: 0 })
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
    Ok(FillValue { version: 3, allocation_time, write_time, value, unused_bits: flags & 0xc0 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        let bytes = || proptest::collection::vec(any::<u8>(), 1..20).prop_map(Bytes::from);
        laws::hold::<OldFillValue>(|_| bytes().prop_map(|value| (OldFillValue { value }, ())).boxed());
        laws::hold::<FillValue>(|_| {
            let value = prop_oneof![Just(Fill::Default), Just(Fill::Undefined), bytes().prop_map(Fill::User)];
            (1u8..=3, 0u8..4, 0u8..3, value)
                .prop_map(|(version, allocation_time, write_time, value)| {
                    (FillValue { version, allocation_time, write_time, value, unused_bits: 0 }, ())
                })
                .boxed()
        });
    }
}
