//! The dataspace message: the shape of a dataset or attribute. Specification IV.A.2.b.

use crate::error::Result;
use crate::wire::{Structure, Walk};

/// A dataspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataspace {
    /// 1 or 2.
    pub version: u8,
    /// No elements, one, or an array.
    pub kind: Kind,
    /// Elements per dimension.
    pub shape: Vec<u64>,
    /// Largest number of elements per dimension, `None` for unlimited; absent when it is the shape.
    pub max_shape: Option<Vec<Option<u64>>>,
    /// What only version 1 can have, if it has any of it.
    pub old: Option<Box<OldDataspace>>,
}

/// What only version 1 of a dataspace can have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OldDataspace {
    /// Permutation of the dimensions, never used.
    pub permutation: Option<Vec<u64>>,
    /// Nonzero reserved bytes.
    pub reserved: Vec<u8>,
}

/// What kind of dataspace it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One element, no dimensions.
    Scalar,
    /// An array.
    Simple,
    /// No elements at all.
    Null,
}

/// The largest rank.
pub const MAX_RANK: usize = 32;

impl Structure for Dataspace {
    const NAME: &'static str = "dataspace message";
    type Context = ();

    fn walk(w: &mut Walk<'_, '_, Self>, _: ()) -> Result<Self> {
        let version = w.version(|s| s.version, 1..=2)?;
        let rank = w.count("dimensionality", 1, |s| s.shape.len())?;
        if rank > MAX_RANK {
            return w.corrupt("dimensionality", format!("rank is {rank}, at most {MAX_RANK} is possible"));
        }
        let flags = w.u8("flags", |s| u8::from(s.max_shape.is_some()) | u8::from(s.permutation().is_some()) << 1)?;
        let (mut old, mut kind) = (OldDataspace::default(), if rank == 0 { Kind::Scalar } else { Kind::Simple });
        if version == 1 {
            old.reserved = w.reserved(5, |s| s.old.as_ref().map_or(&[], |old| &old.reserved))?;
        } else {
            kind = match w.u8("type", |s| s.kind.number())? {
                0 => Kind::Scalar,
                1 => Kind::Simple,
                2 => Kind::Null,
                other => return w.unsupported("type", format!("dataspace type {other} is not known")),
            };
            if kind != Kind::Simple && rank > 0 {
                return w.corrupt("type", format!("a dataspace without dimensions has rank {rank}"));
            }
        }
        if flags & 0xfc != 0 || (version == 2 && flags & 2 != 0) {
            return w.unsupported("flags", format!("flags are {flags:#04x}"));
        }
        let mut shape = Vec::with_capacity(rank); // which was checked
        for i in 0..rank {
            shape.push(w.length("dimension size", |s| s.shape[i])?);
        }
        let max_shape = if flags & 1 != 0 { Some(walk_max_shape(w, &shape)?) } else { None };
        if flags & 2 != 0 {
            let mut indices = Vec::new();
            for i in 0..rank {
                indices.push(w.length("permutation index", |s| s.permutation().map_or(0, |p| p[i]))?);
            }
            old.permutation = Some(indices);
        }
        let says = old.permutation.is_some() || !old.reserved.is_empty();
        let old = says.then(|| Box::new(old));
        Ok(Dataspace { version, kind, shape, max_shape, old })
    }
}

fn walk_max_shape(w: &mut Walk<'_, '_, Dataspace>, shape: &[u64]) -> Result<Vec<Option<u64>>> {
    let mut max_shape = Vec::with_capacity(shape.len());
    for (i, &size) in shape.iter().enumerate() {
        let max = w.length_or_none("dimension maximum size", |s| s.max_shape.as_ref().and_then(|m| m[i]))?;
        if max.is_some_and(|max| size > max) {
            return w.corrupt("dimension maximum size", format!("dimension {i} has {size} elements, at most {max:?}"));
        }
        max_shape.push(max);
    }
    Ok(max_shape)
}

impl Kind {
    fn number(self) -> u8 {
        match self {
            Kind::Scalar => 0,
            Kind::Simple => 1,
            Kind::Null => 2,
        }
    }
}

impl Dataspace {
    fn permutation(&self) -> Option<&[u64]> {
        self.old.as_ref()?.permutation.as_deref()
    }

    /// Elements per dimension at most; `None` is unlimited.
    pub fn max_shape(&self) -> Vec<Option<u64>> {
        match &self.max_shape {
            Some(max) => max.clone(),
            None => self.shape.iter().map(|&n| Some(n)).collect(),
        }
    }

    /// The number of elements; `None` if it cannot be counted in 64 bits.
    pub fn element_count(&self) -> Option<u64> {
        match self.kind {
            Kind::Null => Some(0),
            Kind::Scalar => Some(1),
            Kind::Simple if self.shape.contains(&0) => Some(0),
            Kind::Simple => self.shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d)),
        }
    }
}

#[cfg(any(test, feature = "testing"))]
pub use testing::dataspace;
#[cfg(any(test, feature = "testing"))]
mod testing {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::Sizes;

    /// Any valid dataspace whose numbers fit the widths.
    pub fn dataspace(sizes: Sizes) -> BoxedStrategy<Dataspace> {
        let top = if sizes.lengths >= 8 { u64::MAX - 1 } else { (1 << (8 * sizes.lengths)) - 2 };
        let dimension = (0..=top, 0..=top, any::<bool>(), 0..=top);
        (1u8..=2, vec(dimension, 0..5), any::<bool>(), any::<bool>(), any::<bool>())
            .prop_map(|(version, dimensions, limited, permuted, null)| {
                let kind = match (dimensions.is_empty(), null && version == 2) {
                    (true, true) => Kind::Null,
                    (true, false) => Kind::Scalar,
                    (false, _) => Kind::Simple,
                };
                let permutation = (permuted && version == 1).then(|| dimensions.iter().map(|d| d.3).collect());
                Dataspace {
                    version,
                    kind,
                    shape: dimensions.iter().map(|d| d.0.min(d.1)).collect(),
                    max_shape: limited.then(|| dimensions.iter().map(|d| d.2.then_some(d.0.max(d.1))).collect()),
                    old: permutation.map(|p| Box::new(OldDataspace { permutation: Some(p), reserved: Vec::new() })),
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
        laws::hold::<Dataspace>(|sizes| dataspace(sizes).prop_map(|s| (s, ())).boxed());
    }
}
