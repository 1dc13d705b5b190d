//! Puts checksums right in a damaged file, so that the damage reaches what is behind them.
//!
//! The reader itself says which are wrong and what they should be; so every structure with a checksum is repaired, also
//! those that are only found once others are.

use hdfive::{Error, Place};

/// A checksum that does not fit.
struct Wrong {
    /// Where it stands, from the superblock or from the start of the file.
    address: u64,
    stored: u32,
    computed: u32,
}

impl Wrong {
    fn of(error: &Error) -> Option<Wrong> {
        let (stored, computed) = error.message().strip_prefix("checksum is 0x")?.split_once(", bytes give 0x")?;
        let number = |text| u32::from_str_radix(text, 16).ok();
        let address = error.trail().iter().find_map(|place| match place {
            Place::Field { field: "checksum", address, .. } => Some(*address),
            _ => None,
        });
        Some(Wrong { address: address?, stored: number(stored)?, computed: number(computed)? })
    }

    fn repair(&self, file: &mut [u8], base: usize) -> Option<()> {
        let address = usize::try_from(self.address).ok()?;
        for start in [address, address.checked_add(base)?] {
            let found = start.checked_add(4).and_then(|end| file.get_mut(start..end));
            if let Some(found) = found.filter(|found| **found == self.stored.to_le_bytes()) {
                found.copy_from_slice(&self.computed.to_le_bytes());
                return Some(());
            }
        }
        None
    }
}

/// Repairs what `errors` say about checksums of `file`; gives how many it changed.
pub fn repair<'a>(file: &mut [u8], errors: impl IntoIterator<Item = &'a Error>) -> usize {
    let base = superblock(file);
    errors.into_iter().filter_map(|error| Wrong::of(error)?.repair(file, base)).count()
}

fn superblock(file: &[u8]) -> usize {
    let places = std::iter::successors(Some(512usize), |at| at.checked_mul(2)).take_while(|at| *at < file.len());
    let is_superblock = |at: &usize| file[*at..].starts_with(b"\x89HDF\r\n\x1a\n");
    [0].into_iter().chain(places).find(is_superblock).unwrap_or(0)
}
