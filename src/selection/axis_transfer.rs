//! One dimension of a transfer.

/// One dimension of a [`Transfer`](crate::selection::Transfer).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AxisTransfer {
    /// Coordinate of the first element in the source.
    pub source_start: u64,
    /// Coordinate of the first element in the destination.
    pub destination_start: u64,
    /// How many elements.
    pub count: u64,
    /// From one element to the next in the source.
    pub source_stride: i64,
    /// From one element to the next in the destination.
    pub destination_stride: i64,
}
