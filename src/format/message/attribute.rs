//! The attribute message: a small named value of an object. Specification IV.A.2.m.

use bytes::Bytes;

use super::dataspace::Dataspace;
use super::datatype::{Datatype, Level};
use super::shared::Shared;
use crate::error::Result;
use crate::wire::{Structure, Walk};

/// An attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// 1 to 3.
    pub version: u8,
    /// The name's bytes as stored, with NUL and padding.
    pub stored_name: Bytes,
    /// 0 ASCII, 1 UTF-8; stored in version 3 only.
    pub character_set: u8,
    /// The type of the elements.
    pub datatype: Embedded<Datatype>,
    /// The shape.
    pub dataspace: Embedded<Dataspace>,
    /// The elements. Where datatype or dataspace are shared, everything to the end of the message.
    pub data: Bytes,
    /// What else is in the message, if anything is.
    pub extra: Option<Box<Extra>>,
}

/// What few attribute messages have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// Bytes between the parts that are not zero.
    pub slack: [Vec<u8>; 4],
    /// Sizes that the message states for datatype and dataspace where they are others than those of what is there.
    pub stated_sizes: [Option<usize>; 2],
}

/// A message inside another: itself, or where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Embedded<T> {
    /// The message.
    Here(T),
    /// Where the message is.
    Shared(Shared),
}

impl<T> Embedded<T> {
    fn is_shared(&self) -> bool {
        matches!(self, Embedded::Shared(_))
    }

    /// The message, if it is not elsewhere.
    pub fn here(&self) -> Option<&T> {
        match self {
            Embedded::Here(value) => Some(value),
            Embedded::Shared(_) => None,
        }
    }

    fn value(&self) -> &T {
        self.here().expect("because the walk asks only messages that are here")
    }

    fn shared(&self) -> &Shared {
        match self {
            Embedded::Shared(shared) => shared,
            Embedded::Here(_) => unreachable!("because the walk asks only messages that are elsewhere"),
        }
    }

    fn size(&self, sizes: crate::wire::Sizes, cx: T::Context) -> usize
    where
        T: Structure,
    {
        // A value that cannot be encoded fails again, with its place, when the walk reaches it.
        match self {
            Embedded::Here(value) => value.size(sizes, cx).unwrap_or(0),
            Embedded::Shared(shared) => shared.size(sizes, ()).unwrap_or(0),
        }
    }
}

impl Attribute {
    /// The name's bytes, up to the first NUL.
    pub fn name(&self) -> &[u8] {
        let end = self.stored_name.iter().position(|&b| b == 0).unwrap_or(self.stored_name.len());
        &self.stored_name[..end]
    }

    fn slack(&self, number: usize) -> &[u8] {
        self.extra.as_ref().map_or(&[], |extra| &extra.slack[number])
    }

    fn stated_size(&self, number: usize) -> Option<usize> {
        self.extra.as_ref()?.stated_sizes[number]
    }

    fn flags(&self) -> u8 {
        u8::from(self.datatype.is_shared()) | u8::from(self.dataspace.is_shared()) << 1
    }
}

impl Structure for Attribute {
    const NAME: &'static str = "attribute message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        let sizes = w.sizes();
        let version = w.version(|a| a.version, 1..=3)?;
        let mut reserved = Vec::new();
        let mut flags = 0;
        if version == 1 {
            reserved = w.reserved(1, |a| a.slack(0))?;
        } else {
            flags = w.u8("flags", Attribute::flags)?;
        }
        if flags & 0xfc != 0 {
            return w.unsupported("flags", format!("flags are {flags:#04x}"));
        }
        let name_size = w.count("name size", 2, |a| a.stored_name.len())?;
        let datatype_size =
            w.count("datatype size", 2, |a| a.stated_size(0).unwrap_or_else(|| a.datatype.size(sizes, Level::TOP)))?;
        let dataspace_size =
            w.count("dataspace size", 2, |a| a.stated_size(1).unwrap_or_else(|| a.dataspace.size(sizes, ())))?;
        let mut character_set = 0;
        if version == 3 {
            character_set = w.u8("name character set encoding", |a| a.character_set)?;
        }
        let padded = |size: usize| if version == 1 { size.next_multiple_of(8) } else { size };
        let stored_name = w.payload("name", name_size, |a| &a.stored_name)?;
        let after_name = w.slack("name padding", padded(name_size) - name_size, |a| a.slack(1))?;
        let start = w.position();
        let mut stated_sizes = [None; 2];
        let (datatype, after_type) = w.boxed(
            "datatype padding",
            padded(datatype_size),
            |a| a.slack(2),
            |w| {
                let datatype = if flags & 1 != 0 {
                    Embedded::Shared(w.nest(|a| a.datatype.shared(), ())?)
                } else {
                    Embedded::Here(w.nest(|a| a.datatype.value(), Level::TOP)?)
                };
                stated_sizes[0] = Some(datatype_size).filter(|size| *size != w.position() - start);
                Ok(datatype)
            },
        )?;
        let start = w.position();
        let (dataspace, after_space) = w.boxed(
            "dataspace padding",
            padded(dataspace_size),
            |a| a.slack(3),
            |w| {
                let dataspace = if flags & 2 != 0 {
                    Embedded::Shared(w.nest(|a| a.dataspace.shared(), ())?)
                } else {
                    Embedded::Here(w.nest(|a| a.dataspace.value(), ())?)
                };
                stated_sizes[1] = Some(dataspace_size).filter(|size| *size != w.position() - start);
                Ok(dataspace)
            },
        )?;
        let data = walk_data(w, &datatype, &dataspace)?;
        let extra = Extra { slack: [reserved, after_name, after_type, after_space], stated_sizes };
        let says = extra.slack.iter().any(|s| !s.is_empty()) || extra.stated_sizes.iter().any(Option::is_some);
        let extra = says.then(|| Box::new(extra));
        Ok(Attribute { version, stored_name, character_set, datatype, dataspace, data, extra })
    }
}

fn walk_data(
    w: &mut Walk<'_, '_, Attribute>,
    datatype: &Embedded<Datatype>,
    dataspace: &Embedded<Dataspace>,
) -> Result<Bytes> {
    let size = match (w.is_reading(), datatype.here(), dataspace.here()) {
        (true, Some(datatype), Some(dataspace)) => {
            let size = dataspace.element_count().and_then(|n| n.checked_mul(datatype.size.into()));
            match size.and_then(|size| usize::try_from(size).ok()) {
                Some(size) => size,
                None => return w.corrupt("data", "the value is larger than memory"),
            }
        }
        (true, ..) => w.left(),
        (false, ..) => return w.payload_of_any_size("data", |a| &a.data),
    };
    w.payload("data", size, |a| &a.data)
}

#[cfg(any(test, feature = "testing"))]
pub use testing::attribute;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::dataspace::Kind;
    use super::super::datatype::datatype;
    use super::*;

    /// Any attribute of any version whose type and shape are here.
    pub fn attribute() -> BoxedStrategy<Attribute> {
        (1u8..=3, vec(1u8..=255, 1..20), 0u8..2, datatype(), 1u64..4, 1u64..3)
            .prop_map(|(version, mut stored_name, character_set, datatype, a, b)| {
                stored_name.push(0);
                let dataspace = Dataspace {
                    version: if b == 1 { 1 } else { 2 },
                    kind: Kind::Simple,
                    shape: vec![a, b],
                    max_shape: None,
                    old: None,
                };
                let size = a * b * u64::from(datatype.size);
                let data = (0..size).map(|i| u8::try_from(i % 251).expect("because of the remainder")).collect();
                Attribute {
                    version,
                    stored_name: stored_name.into(),
                    character_set: if version == 3 { character_set } else { 0 },
                    datatype: Embedded::Here(datatype),
                    dataspace: Embedded::Here(dataspace),
                    data,
                    extra: None,
                }
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
        laws::hold::<Attribute>(|_| attribute().prop_map(|a| (a, ())).boxed());
    }

    #[test]
    fn a_shared_datatype_is_kept_as_its_place() {
        use super::super::dataspace::Kind;
        use super::super::shared::SharedPlace;
        use crate::wire::{Addr, Sizes};
        let place = SharedPlace::Committed { header: Addr(0x120), kind: 2 };
        let attribute = Attribute {
            version: 3,
            stored_name: Bytes::from_static(b"x\0"),
            character_set: 1,
            datatype: Embedded::Shared(Shared { version: 3, place, reserved: (Vec::new(), 0) }),
            dataspace: Embedded::Here(Dataspace {
                version: 2,
                kind: Kind::Scalar,
                shape: Vec::new(),
                max_shape: None,
                old: None,
            }),
            data: Bytes::from_static(&[1, 2, 3, 4]),
            extra: None,
        };
        let bytes = attribute.encode(Addr(0), Sizes::EIGHT, ()).unwrap();
        assert_eq!(Attribute::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap(), attribute);
    }

    #[test]
    fn a_datatype_that_is_smaller_than_stated_is_written_back_alike() {
        use crate::wire::{Addr, Sizes};
        let head = [3, 0, 2, 0, 10, 0, 5, 0, 0, b'x', 0];
        let (string_of_two, slack) = ([0x13, 0, 0, 0, 2, 0, 0, 0], [0, 0]);
        let (scalar, slack_2) = ([2, 0, 0, 0], [7]);
        let bytes = [&head[..], &string_of_two, &slack, &scalar, &slack_2, b"ab"].concat();
        let attribute = Attribute::decode(&bytes, Addr(0), Sizes::EIGHT, ()).unwrap();
        assert_eq!(attribute.extra.as_ref().unwrap().stated_sizes, [Some(10), Some(5)]);
        assert_eq!(attribute.data.as_ref(), b"ab");
        assert_eq!(attribute.encode(Addr(0), Sizes::EIGHT, ()).unwrap(), bytes);
    }
}
