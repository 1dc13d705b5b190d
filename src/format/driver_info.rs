//! The driver information block of superblocks of version 0 and 1, and what drivers say in it and in the driver info
//! message. Specification II.B.
//!
//! The multi driver spreads a file over members by what is stored (`NCSAmult`); the family driver cuts it into members
//! of equal size (`NCSAfami`).

use crate::error::Result;
use crate::wire::{Addr, Sizes, Structure, Walk};

/// Kinds of contents that the multi driver tells apart: superblock, B-trees, raw data, global heaps, local heaps, object
/// headers.
pub const KINDS: usize = 6;

const MULTI: [u8; 8] = *b"NCSAmult";
const FAMILY: [u8; 8] = *b"NCSAfami";

/// The block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverInfo {
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
    /// Bytes of driver information.
    pub size: u32,
    /// Which driver.
    pub id: [u8; 8],
    /// What it says.
    pub parameters: Parameters,
    /// What stands after it, unless it is zero.
    pub slack: Vec<u8>,
}

/// What a driver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameters {
    /// The multi driver.
    Multi(Multi),
    /// The family driver: bytes in each member.
    Family(u64),
    /// Another driver, or one whose information is empty.
    Other(Vec<u8>),
}

/// How the multi driver spreads a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multi {
    /// For each of the [`KINDS`] which member it is in, 1 to 6; 0 for the member of its own number.
    pub map: [u8; KINDS],
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
    /// The members that are used, in the order in which the map first names them.
    pub members: Vec<Member>,
}

/// A member of a multi file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its number, 1 to 6.
    pub number: u8,
    /// The address at which it begins.
    pub start: u64,
    /// The end of what is used of it.
    pub end: u64,
    /// Its name, `%s` standing for the name of the file.
    pub name: Vec<u8>,
    /// Nonzero padding after it.
    pub padding: Vec<u8>,
}

/// What the parameters depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverContext {
    /// Which driver.
    pub id: [u8; 8],
    /// Bytes of driver information.
    pub size: usize,
}

impl Parameters {
    /// What the driver info message of a superblock extension says.
    pub fn of_message(message: &super::message::driver_info::DriverInfo) -> Result<Self> {
        let cx = DriverContext { id: message.id, size: message.information.len() };
        Self::decode(&message.information, Addr(0), Sizes::EIGHT, cx)
    }

    fn multi(&self) -> &Multi {
        match self {
            Parameters::Multi(multi) => multi,
            Parameters::Family(_) | Parameters::Other(_) => unreachable!("because the context says that it is multi"),
        }
    }

    fn member_size(&self) -> u64 {
        match self {
            Parameters::Family(size) => *size,
            Parameters::Multi(_) | Parameters::Other(_) => 0,
        }
    }

    fn other(&self) -> &[u8] {
        match self {
            Parameters::Other(bytes) => bytes,
            Parameters::Multi(_) | Parameters::Family(_) => &[],
        }
    }
}

/// The members that a map names, in order; `None` if there is no such member.
fn members(map: [u8; KINDS]) -> Option<Vec<u8>> {
    let mut numbers = Vec::new();
    for (own, number) in (1u8..).zip(map) {
        let number = if number == 0 { own } else { number };
        if usize::from(number) > KINDS {
            return None;
        }
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    Some(numbers)
}

impl Structure for DriverInfo {
    const NAME: &'static str = "driver information block";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        w.version(|_| 0, 0..=0)?;
        let reserved = w.reserved(3, |d| &d.reserved)?;
        let size = w.u32("driver information size", |d| d.size)?;
        let id = w.array("driver identification", |d| &d.id)?;
        let cx = DriverContext { id, size: size as usize };
        let (parameters, slack) = w.boxed("unused", cx.size, |d| &d.slack, |w| w.nest(|d| &d.parameters, cx))?;
        Ok(DriverInfo { reserved, size, id, parameters, slack })
    }
}

impl Structure for Parameters {
    const NAME: &'static str = "driver information";
    type Context = DriverContext;

    fn walk(w: &mut Walk<'_, '_, Self>, cx: DriverContext) -> Result<Self> {
        match cx.id {
            MULTI if cx.size > 0 => Ok(Parameters::Multi(w.nest(Parameters::multi, ())?)),
            FAMILY if cx.size > 0 => Ok(Parameters::Family(w.u64("size of member file", Parameters::member_size)?)),
            _ => Ok(Parameters::Other(w.bytes("driver information", cx.size, Parameters::other)?)),
        }
    }
}

impl Structure for Multi {
    const NAME: &'static str = "multi driver information";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, (): ()) -> Result<Self> {
        let map = w.array("member mapping", |m| &m.map)?;
        let reserved = w.reserved(2, |m| &m.reserved)?;
        let Some(numbers) = members(map) else {
            return w.corrupt("member mapping", format!("mapping is {map:?}, members are 1 to {KINDS}"));
        };
        let mut members = Vec::new();
        for (i, &number) in numbers.iter().enumerate() {
            let start = w.u64("address of member file", |m| m.members[i].start)?;
            let end = w.u64("end of address for member file", |m| m.members[i].end)?;
            members.push(Member { number, start, end, name: Vec::new(), padding: Vec::new() });
        }
        for (i, member) in members.iter_mut().enumerate() {
            member.name = w.c_string("name of member file", |m| &m.members[i].name)?;
            let padding = (member.name.len() + 1).wrapping_neg() % 8;
            member.padding = w.slack("padding", padding, |m| &m.members[i].padding)?;
        }
        Ok(Multi { map, reserved, members })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::{driver_info, parameters};
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::array;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Addr, Sizes};

    /// What any driver says, with its context.
    pub fn parameters() -> BoxedStrategy<(Parameters, DriverContext)> {
        let member = (any::<u64>(), any::<u64>(), vec(1u8.., 0..12));
        let multi = (array::uniform6(0u8..=6), vec(member, KINDS), vec(1u8.., 2)).prop_map(|(map, all, reserved)| {
            let numbers = members(map).expect("because all are small");
            let member = |(number, (start, end, name))| Member { number, start, end, name, padding: Vec::new() };
            let members = numbers.into_iter().zip(all).map(member).collect();
            (MULTI, Parameters::Multi(Multi { map, reserved, members }))
        });
        let family = any::<u64>().prop_map(|size| (FAMILY, Parameters::Family(size)));
        let other = (any::<[u8; 8]>(), vec(any::<u8>(), 0..20)).prop_map(|(id, bytes)| (id, Parameters::Other(bytes)));
        prop_oneof![multi, family, other]
            .prop_map(|(id, parameters)| {
                // A context that is not empty; the sizes of lists come from the value.
                let size = match &parameters {
                    Parameters::Other(bytes) => bytes.len(),
                    Parameters::Multi(_) | Parameters::Family(_) => {
                        let cx = DriverContext { id, size: 1 };
                        parameters.encode(Addr(0), Sizes::EIGHT, cx).expect("because it is valid").len()
                    }
                };
                (parameters, DriverContext { id, size })
            })
            .boxed()
    }

    /// Any block.
    pub fn driver_info() -> BoxedStrategy<DriverInfo> {
        (parameters(), vec(1u8.., 3), vec(1u8.., 0..4))
            .prop_map(|((parameters, cx), reserved, slack)| {
                let slack = if matches!(parameters, Parameters::Other(_)) { Vec::new() } else { slack };
                let size = u32::try_from(cx.size + slack.len()).expect("because it is small");
                DriverInfo { reserved, size, id: cx.id, parameters, slack }
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::{Addr, Sizes, laws};

    #[test]
    fn laws_hold() {
        laws::hold::<DriverInfo>(|_| driver_info().prop_map(|d| (d, ())).boxed());
        laws::hold::<Parameters>(|_| parameters());
    }

    #[test]
    fn a_split_file_has_two_members() {
        // Raw data in member 3, all else in member 1.
        assert_eq!(members([1, 1, 3, 3, 1, 1]), Some(vec![1, 3]));
        assert_eq!(members([0; 6]), Some(vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(members([0, 1, 2, 3, 4, 7]), None);
    }

    #[test]
    fn a_member_that_is_none_is_corrupt() {
        let mut bytes = vec![0, 0, 0, 0, 24, 0, 0, 0];
        bytes.extend_from_slice(b"NCSAmult");
        bytes.extend_from_slice(&[9; 24]);
        let error = DriverInfo::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn an_unknown_driver_is_kept() {
        let mut bytes = vec![0, 0, 0, 0, 3, 0, 0, 0];
        bytes.extend_from_slice(b"SOMEBODYabc");
        let info = DriverInfo::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap();
        assert_eq!(info.parameters, Parameters::Other(b"abc".to_vec()));
        assert_eq!(info.encode(Addr(0), Sizes::EIGHT, ()).unwrap(), bytes);
    }
}
