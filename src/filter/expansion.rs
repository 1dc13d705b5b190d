//! How many bytes one stored byte can give at most, by format: what bounds the claims of a file. Formats in which a few
//! bytes may stand for any number of others have no entry.

/// A match of 258 bytes takes at least two bits.
pub(super) const DEFLATE: usize = 4 * 258;
/// A block of 32 by 32 pixels of three colours takes nine bits, as small as its colours may be sampled.
#[cfg(feature = "jpeg")]
pub(super) const JPEG: usize = 32 * 32 * 3 * 8 / 9 + 1;
/// A run of 2¹⁵ samples of two bytes takes a bit.
#[cfg(feature = "fcidecomp")]
pub(super) const JPEG_LS: usize = 8 * (2 << 15);
/// A length goes on with bytes of 255.
pub(super) const LZ4: usize = 255;
/// A length goes on with bytes of 0, which stand for 255.
#[cfg(feature = "lzo")]
pub(super) const LZO: usize = 255;
/// A match of 264 bytes takes three.
pub(super) const LZF: usize = 88;
/// A copy of 64 bytes takes three.
#[cfg(feature = "snappy")]
pub(super) const SNAPPY: usize = 22;
/// A run of 64 blocks of 32 samples of four bytes takes at least one.
pub(super) const SZIP: usize = 64 * 32 * 4;
/// A block of 128 KiB takes four.
pub(super) const ZSTD: usize = 32 << 10;
