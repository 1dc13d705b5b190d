//! The file space info message: how the file manages its free space. Specification IV.A.2.x.

use crate::error::Result;
use crate::wire::{Addr, Structure, Walk};

/// How free space is managed. Stands in the superblock extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSpaceInfo {
    /// Version 0, written by 1.10.0.
    V0 {
        /// 1 all persistent, 2 all, 3 aggregators, 4 none.
        strategy: u8,
        /// Smallest section that is remembered.
        threshold: u64,
        /// Free-space managers of the six kinds of memory, if persistent.
        managers: Vec<Option<Addr>>,
    },
    /// Version 1.
    V1(FileSpace),
}

/// How free space is managed, version 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpace {
    /// 0 free-space managers and aggregators, 1 pages, 2 aggregators, 3 none.
    pub strategy: u8,
    /// Whether free space is remembered in the file.
    pub persisting: bool,
    /// Smallest section that is remembered.
    pub threshold: u64,
    /// Bytes of a page.
    pub page_size: u64,
    /// Smallest rest of a page that is remembered for metadata.
    pub page_end_threshold: u16,
    /// End of allocated space before the managers were written.
    pub end_of_allocated: Option<Addr>,
    /// Free-space managers of the twelve kinds of memory, if persistent.
    pub managers: Vec<Option<Addr>>,
}

impl FileSpaceInfo {
    pub(in crate::format) fn version(&self) -> u8 {
        match self {
            FileSpaceInfo::V0 { .. } => 0,
            FileSpaceInfo::V1(_) => 1,
        }
    }

    fn v0(&self) -> (u8, u64, &[Option<Addr>]) {
        match self {
            FileSpaceInfo::V0 { strategy, threshold, managers } => (*strategy, *threshold, managers),
            FileSpaceInfo::V1(_) => unreachable!("because the walk asks only in version 0"),
        }
    }

    fn v1(&self) -> &FileSpace {
        match self {
            FileSpaceInfo::V1(space) => space,
            FileSpaceInfo::V0 { .. } => unreachable!("because the walk asks only in version 1"),
        }
    }

    /// The same in the terms of version 1, as libhdf5 since 1.10.1 understands version 0.
    pub fn current(&self) -> FileSpace {
        match self {
            FileSpaceInfo::V1(space) => space.clone(),
            FileSpaceInfo::V0 { strategy, threshold, managers } => FileSpace {
                strategy: match strategy {
                    3 => 2,
                    4 => 3,
                    _ => 0,
                },
                persisting: *strategy == 1,
                threshold: if matches!(strategy, 1 | 2) { *threshold } else { 1 },
                page_size: 4096,
                page_end_threshold: 0,
                end_of_allocated: None,
                managers: managers.clone(),
            },
        }
    }
}

impl Structure for FileSpaceInfo {
    const NAME: &'static str = "file space info message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        if w.version(FileSpaceInfo::version, 0..=1)? == 0 {
            let strategy = w.u8("strategy", |i| i.v0().0)?;
            let threshold = w.length("threshold", |i| i.v0().1)?;
            let mut managers = Vec::new();
            for i in 0..if strategy == 1 { 6 } else { 0 } {
                managers.push(w.offset("free-space manager address", |s| s.v0().2[i])?);
            }
            return Ok(FileSpaceInfo::V0 { strategy, threshold, managers });
        }
        let strategy = w.u8("strategy", |i| i.v1().strategy)?;
        let persisting = match w.u8("persisting free-space", |i| i.v1().persisting.into())? {
            0 => false,
            1 => true,
            other => return w.corrupt("persisting free-space", format!("value is {other}, must be 0 or 1")),
        };
        let threshold = w.length("free-space section threshold", |i| i.v1().threshold)?;
        let page_size = w.length("file space page size", |i| i.v1().page_size)?;
        let page_end_threshold = w.u16("page-end metadata threshold", |i| i.v1().page_end_threshold)?;
        let end_of_allocated = w.offset("EOA before allocation of free-space managers", |i| i.v1().end_of_allocated)?;
        let mut managers = Vec::new();
        for i in 0..if persisting { 12 } else { 0 } {
            managers.push(w.offset("free-space manager address", |s| s.v1().managers[i])?);
        }
        Ok(FileSpaceInfo::V1(FileSpace {
            strategy,
            persisting,
            threshold,
            page_size,
            page_end_threshold,
            end_of_allocated,
            managers,
        }))
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::file_space_info;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Sizes, laws};

    /// Any file space info of either version.
    pub fn file_space_info(sizes: Sizes) -> BoxedStrategy<FileSpaceInfo> {
        let managers = |n| vec(proptest::option::of(laws::addr(sizes)), n);
        let v0 = (0u8..5, laws::length(sizes), managers(6)).prop_map(|(strategy, threshold, managers)| {
            let managers = if strategy == 1 { managers } else { Vec::new() };
            FileSpaceInfo::V0 { strategy, threshold, managers }
        });
        let numbers = (0u8..4, any::<bool>(), laws::length(sizes), laws::length(sizes), any::<u16>());
        let end = proptest::option::of(laws::addr(sizes));
        let v1 = (numbers, end, managers(12)).prop_map(|(n, end_of_allocated, managers)| {
            FileSpaceInfo::V1(FileSpace {
                strategy: n.0,
                persisting: n.1,
                threshold: n.2,
                page_size: n.3,
                page_end_threshold: n.4,
                end_of_allocated,
                managers: if n.1 { managers } else { Vec::new() },
            })
        });
        prop_oneof![v0, v1].boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<FileSpaceInfo>(|sizes| file_space_info(sizes).prop_map(|i| (i, ())).boxed());
    }
}
