//! What a shared message holds in place of its data: where the message is. Specification IV.A.2, shared messages.

use crate::error::Result;
use crate::wire::{Addr, Structure, Walk};

/// Where a shared message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// 1 to 3.
    pub version: u8,
    /// Where it is.
    pub place: SharedPlace,
    /// Nonzero reserved bytes and the unused number of version 1.
    pub reserved: (Vec<u8>, u64),
}

/// Where a shared message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedPlace {
    /// In the header of a committed datatype.
    Committed {
        /// The object header.
        header: Addr,
        /// The number that stands for this place; it varied.
        kind: u8,
    },
    /// In the heap of the file's shared message table.
    Heap([u8; 8]),
}

impl Shared {
    fn kind(&self) -> u8 {
        match self.place {
            SharedPlace::Committed { kind, .. } => kind,
            SharedPlace::Heap(_) => 1,
        }
    }

    fn header(&self) -> Addr {
        match self.place {
            SharedPlace::Committed { header, .. } => header,
            SharedPlace::Heap(_) => unreachable!("because the walk asks only committed messages"),
        }
    }

    fn heap_id(&self) -> &[u8; 8] {
        match &self.place {
            SharedPlace::Heap(id) => id,
            SharedPlace::Committed { .. } => unreachable!("because the walk asks only messages in the heap"),
        }
    }
}

impl Structure for Shared {
    const NAME: &'static str = "shared message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        let version = w.version(|s| s.version, 1..=3)?;
        let kind = w.u8("type", Shared::kind)?;
        let mut reserved = (Vec::new(), 0);
        if version == 1 {
            reserved.0 = w.reserved(6, |s| &s.reserved.0)?;
            reserved.1 = w.length("unused", |s| s.reserved.1)?;
        }
        let place = match (version, kind) {
            (3, 1) => SharedPlace::Heap(w.array("fractal heap id", Shared::heap_id)?),
            (3, kind @ (0 | 3..)) => {
                return w.unsupported("type", format!("shared message type {kind} leads nowhere"));
            }
            (_, kind) => SharedPlace::Committed { header: w.address("address", Shared::header)?, kind },
        };
        Ok(Shared { version, place, reserved })
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::shared;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{Sizes, laws};

    /// Any place of a shared message.
    pub fn shared(sizes: Sizes) -> BoxedStrategy<Shared> {
        let committed = (1u8..=3, laws::addr(sizes), laws::length(sizes)).prop_map(|(version, header, unused)| {
            let reserved = (Vec::new(), if version == 1 { unused } else { 0 });
            Shared { version, place: SharedPlace::Committed { header, kind: 2 }, reserved }
        });
        let heap = any::<[u8; 8]>().prop_map(|id| Shared {
            version: 3,
            place: SharedPlace::Heap(id),
            reserved: (Vec::new(), 0),
        });
        prop_oneof![committed, heap].boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::laws;

    #[test]
    fn laws_hold() {
        laws::hold::<Shared>(|sizes| shared(sizes).prop_map(|s| (s, ())).boxed());
    }
}
