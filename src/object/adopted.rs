//! Sequences that elements of virtual datasets took over from other files. They lie in no heap of the file; ids of a
//! collection that no file can have name them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::format::global_heap::GlobalHeapId;
use crate::format::message::datatype::Datatype;
use crate::wire::{Addr, Sizes};

/// Where a sequence was: what tells its file from others that are open, its id, how many elements it has.
type Origin = (usize, GlobalHeapId, u32);

/// What the file took over.
#[derive(Debug, Default)]
pub(crate) struct Adopted(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    objects: Vec<Bytes>,
    /// Which object each became.
    known: HashMap<(Origin, Datatype), u32>,
}

/// The collection that no file has: the last address before the undefined one.
fn collection(sizes: Sizes) -> Addr {
    Addr(u64::MAX >> (64 - 8 * u32::from(sizes.offsets.min(8))) & !1)
}

impl Adopted {
    /// The object that `id` names, if it is one of these.
    pub(crate) fn object(&self, id: GlobalHeapId, sizes: Sizes) -> Option<Bytes> {
        if id.collection != Some(collection(sizes)) {
            return None;
        }
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.objects.get(usize::try_from(id.index.checked_sub(1)?).ok()?).cloned()
    }

    /// The id of a sequence of another file, as one of elements of a type. Its bytes are kept the first time.
    pub(crate) fn take(&self, from: (Origin, Datatype), sizes: Sizes, bytes: Bytes) -> Result<GlobalHeapId> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { objects, known } = &mut *state;
        let next = u32::try_from(objects.len() + 1);
        let index = match known.entry(from) {
            std::collections::hash_map::Entry::Occupied(entry) => *entry.get(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                objects.push(bytes);
                *entry.insert(next.map_err(|_| Error::limit("too many sequences of other files"))?)
            }
        };
        Ok(GlobalHeapId { collection: Some(collection(sizes)), index })
    }
}
