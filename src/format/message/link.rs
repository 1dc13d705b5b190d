//! The link message: a member of a new-style group. Specification IV.A.2.g.

use crate::error::Result;
use crate::wire::{Addr, Structure, Walk};

/// A link from a group to something, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Which link of the group it was, counted from 0, if that is tracked.
    pub creation_order: Option<u64>,
    /// 0 ASCII, 1 UTF-8; absent for ASCII.
    pub character_set: Option<u8>,
    /// The name's bytes.
    pub name: Vec<u8>,
    /// What it leads to.
    pub target: LinkTarget,
    /// How the message is encoded where there is a choice.
    pub encoding: LinkEncoding,
}

/// Choices in the encoding of a link message that do not change its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkEncoding {
    /// Width of the name's length: 0 to 3 for 1, 2, 4 or 8 bytes.
    pub name_width: u8,
    /// Whether the link type is stored although the link is hard.
    pub hard_type: bool,
}

/// What a link leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkTarget {
    /// An object in the same file.
    Hard(Addr),
    /// A path in the same file.
    Soft(Vec<u8>),
    /// A path in another file: file name and path, each with a NUL, after one byte of version and flags.
    External(Vec<u8>),
    /// Something that only the application that made it understands.
    User {
        /// The registered class, 65 to 255.
        class: u8,
        /// What the class keeps.
        data: Vec<u8>,
    },
}

impl LinkTarget {
    fn class(&self) -> u8 {
        match self {
            LinkTarget::Hard(_) => 0,
            LinkTarget::Soft(_) => 1,
            LinkTarget::External(_) => 64,
            LinkTarget::User { class, .. } => *class,
        }
    }

    fn information(&self) -> &[u8] {
        match self {
            LinkTarget::Hard(_) => &[],
            LinkTarget::Soft(data) | LinkTarget::External(data) | LinkTarget::User { data, .. } => data,
        }
    }

    fn header(&self) -> Addr {
        match self {
            LinkTarget::Hard(header) => *header,
            _ => unreachable!("because the walk asks hard links only"),
        }
    }

    /// File name and path of an external link; `None` for other links or if the two are not there.
    pub fn external(&self) -> Option<(&[u8], &[u8])> {
        let LinkTarget::External(data) = self else { return None };
        let mut parts = data.get(1..)?.split(|&b| b == 0);
        let (file, path, _after) = (parts.next()?, parts.next()?, parts.next()?);
        Some((file, path))
    }
}

impl Link {
    fn flags(&self) -> u8 {
        let stored_class = self.target.class() != 0 || self.encoding.hard_type;
        self.encoding.name_width
            | u8::from(self.creation_order.is_some()) << 2
            | u8::from(stored_class) << 3
            | u8::from(self.character_set.is_some()) << 4
    }
}

impl Structure for Link {
    const NAME: &'static str = "link message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.version(|_| 1, 1..=1)?;
        let flags = w.u8("optional fields flags", Link::flags)?;
        if flags & 0xe0 != 0 {
            return w.unsupported("optional fields flags", format!("flags are {flags:#04x}"));
        }
        let class = if flags & 8 != 0 { w.u8("link type", |l| l.target.class())? } else { 0 };
        let encoding = LinkEncoding { name_width: flags & 3, hard_type: flags & 8 != 0 && class == 0 };
        let mut creation_order = None;
        if flags & 4 != 0 {
            creation_order = Some(w.u64("creation order", |l| l.creation_order.unwrap_or(0))?);
        }
        let mut character_set = None;
        if flags & 16 != 0 {
            character_set = Some(w.u8("link name character set", |l| l.character_set.unwrap_or(0))?);
        }
        let size = w.count("length of link name", 1 << encoding.name_width, |l| l.name.len())?;
        if size == 0 {
            return w.corrupt("length of link name", "the name is empty");
        }
        let name = w.bytes("link name", size, |l| &l.name)?;
        let target = walk_target(w, class)?;
        Ok(Link { creation_order, character_set, name, target, encoding })
    }
}

fn walk_target(w: &mut Walk<'_, '_, Link>, class: u8) -> Result<LinkTarget> {
    if class == 0 {
        return Ok(LinkTarget::Hard(w.address("object header address", |l| l.target.header())?));
    }
    if (2..64).contains(&class) {
        return w.unsupported("link type", format!("link type {class} is not known"));
    }
    let size = w.count("length of link information", 2, |l| l.target.information().len())?;
    let data = w.bytes("link information", size, |l| l.target.information())?;
    Ok(match class {
        1 => LinkTarget::Soft(data),
        64 => LinkTarget::External(data),
        class => LinkTarget::User { class, data },
    })
}

#[cfg(any(test, feature = "testing"))]
pub use testing::link;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Sizes, laws};

    /// Any link.
    pub fn link(sizes: Sizes) -> BoxedStrategy<Link> {
        let data = || vec(any::<u8>(), 0..30);
        let target = prop_oneof![
            laws::addr(sizes).prop_map(LinkTarget::Hard),
            data().prop_map(LinkTarget::Soft),
            data().prop_map(LinkTarget::External),
            (65u8..=255, data()).prop_map(|(class, data)| LinkTarget::User { class, data }),
        ];
        let name = prop_oneof![data(), Just("é".repeat(200).into_bytes())];
        let order = any::<Option<u64>>();
        (order, proptest::option::of(0u8..2), name, target, any::<bool>())
            .prop_map(|(creation_order, character_set, mut name, target, hard_type)| {
                name.push(b'x');
                let name_width = u8::from(name.len() > 255);
                let encoding = LinkEncoding { name_width, hard_type: hard_type && target.class() == 0 };
                Link { creation_order, character_set, name, target, encoding }
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
        laws::hold::<Link>(|sizes| link(sizes).prop_map(|l| (l, ())).boxed());
    }

    #[test]
    fn an_external_link_names_a_file_and_a_path() {
        let target = LinkTarget::External(b"\0other.h5\0/a/b\0".to_vec());
        assert_eq!(target.external(), Some((&b"other.h5"[..], &b"/a/b"[..])));
        assert_eq!(LinkTarget::External(b"\0other.h5".to_vec()).external(), None);
    }
}
