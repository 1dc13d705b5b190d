//! Datasets whose elements lie in other files, as they are.

use super::site::Site;
use crate::error::{Error, Result};
use crate::format::message::external_files::{ExternalFiles, Slot};
use crate::write;

/// Bytes of another file that are elements.
#[derive(Clone, Debug)]
pub(super) struct External {
    pub(super) file: String,
    /// The first of them there.
    pub(super) offset: u64,
    /// Without one as many as there are elements left.
    pub(super) size: Option<u64>,
}

/// Stores where the `bytes` bytes of a dataset's elements lie.
pub(super) fn store(site: &Site, pieces: &[External], bytes: u64) -> Result<ExternalFiles> {
    if pieces.iter().rev().skip(1).any(|piece| piece.size.is_none()) {
        return Err(Error::invalid("only the last external file can be taken to its end"));
    }
    let there = pieces.iter().try_fold(0u64, |sum, piece| sum.checked_add(piece.size.unwrap_or(bytes)));
    if there.is_some_and(|there| there < bytes) {
        let what = format!("{} bytes of external files for {bytes} of elements", there.unwrap_or(0));
        return Err(Error::invalid(what));
    }
    let names: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.file.clone().into_bytes()).collect();
    let (heap, positions) = site.with(|draft| write::local_heap(&mut draft.space, &names))?;
    let slot = |(piece, name): (&External, u64)| Slot { name, offset: piece.offset, size: piece.size };
    let slots: Vec<Slot> = pieces.iter().zip(positions).map(slot).collect();
    let allocated = u16::try_from(slots.len()).map_err(|_| Error::unsupported("over 65,535 external files"))?;
    Ok(ExternalFiles { reserved: Vec::new(), allocated, heap, slots })
}
