//! The group info message: when a group changes its storage, and what to expect of it. Specification IV.A.2.k.

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// Parameters of a new-style group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupInfo {
    /// Largest number of links in compact, smallest in dense storage; 8 and 6 if absent.
    pub link_phase: Option<(u16, u16)>,
    /// Estimated number of entries and length of their names; 4 and 8 if absent.
    pub estimates: Option<(u16, u16)>,
}

impl Structure for GroupInfo {
    const NAME: &'static str = "group info message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        w.version(|_| 0, 0..=0)?;
        let flags = w.u8("flags", |g| u8::from(g.link_phase.is_some()) | u8::from(g.estimates.is_some()) << 1)?;
        if flags & 0xfc != 0 {
            return w.unsupported("flags", format!("flags are {flags:#04x}"));
        }
        let (mut link_phase, mut estimates) = (None, None);
        if flags & 1 != 0 {
            let compact = w.u16("link phase change: maximum compact value", |g| g.link_phase.unwrap_or_default().0)?;
            let dense = w.u16("link phase change: minimum dense value", |g| g.link_phase.unwrap_or_default().1)?;
            link_phase = Some((compact, dense));
        }
        if flags & 2 != 0 {
            let entries = w.u16("estimated number of entries", |g| g.estimates.unwrap_or_default().0)?;
            let names = w.u16("estimated link name length of entries", |g| g.estimates.unwrap_or_default().1)?;
            estimates = Some((entries, names));
        }
        Ok(GroupInfo { link_phase, estimates })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::group_info;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::prelude::*;

    use super::*;

    /// Any group info.
    pub fn group_info() -> BoxedStrategy<GroupInfo> {
        any::<(Option<(u16, u16)>, Option<(u16, u16)>)>()
            .prop_map(|(link_phase, estimates)| GroupInfo { link_phase, estimates })
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
        laws::hold::<GroupInfo>(|_| group_info().prop_map(|g| (g, ())).boxed());
    }
}
