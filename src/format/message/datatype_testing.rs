//! Random datatypes, for tests.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Any valid datatype of any class and version, a few levels deep.
pub fn datatype() -> BoxedStrategy<Datatype> {
    (1u8..=5).prop_flat_map(|version| of_version(version, 2)).boxed()
}

fn of_version(version: u8, levels: u32) -> BoxedStrategy<Datatype> {
    let simple = simple(version);
    if levels == 0 {
        return simple;
    }
    let inner = of_version(version, levels - 1);
    prop_oneof![
        3 => simple,
        1 => compound(version, inner.clone()),
        1 => enumeration(version),
        1 => variable_length(version, inner.clone()),
        1 => array(version, inner),
    ]
    .boxed()
}

/// A datatype with no other inside, but for complex numbers.
fn simple(version: u8) -> BoxedStrategy<Datatype> {
    let old = prop_oneof![number(version), text(version), opaque(version), reference(version)];
    if version < 5 { old.boxed() } else { prop_oneof![4 => old, 1 => complex()].boxed() }
}

fn complex() -> BoxedStrategy<Datatype> {
    (0u8..8, number(5))
        .prop_map(|(form, base)| {
            let (size, base) = (2 * base.size, Box::new(base));
            Datatype { version: 5, size, class: Class::Complex { form, base }, unused_bits: 0 }
        })
        .boxed()
}

fn order() -> impl Strategy<Value = ByteOrder> {
    prop_oneof![Just(ByteOrder::LittleEndian), Just(ByteOrder::BigEndian)]
}

fn bits(size: u32) -> impl Strategy<Value = Bits> {
    let all = u16::try_from(8 * size).expect("because the sizes here are small");
    (order(), 0..all, any::<bool>(), any::<bool>()).prop_flat_map(move |(order, offset, low_padding, high_padding)| {
        (1..=all - offset).prop_map(move |precision| Bits { order, offset, precision, low_padding, high_padding })
    })
}

fn number(version: u8) -> BoxedStrategy<Datatype> {
    let of = move |size, class| Datatype { version, size, class, unused_bits: 0 };
    let fixed = (1u32..20).prop_flat_map(move |size| {
        (bits(size), any::<bool>())
            .prop_map(move |(bits, signed)| of(size, Class::FixedPoint(FixedPoint { bits, signed })))
    });
    let float = (1u32..17).prop_flat_map(move |size| {
        let layout = any::<(u8, u8, u8, u8, u8, u32)>();
        let order = prop_oneof![order(), Just(ByteOrder::Vax)];
        let normalization =
            prop_oneof![Just(Normalization::None), Just(Normalization::MsbSet), Just(Normalization::Implied)];
        (bits(size), order, normalization, any::<bool>(), layout).prop_map(
            move |(bits, order, normalization, pad, l)| {
                let bits = Bits { order, ..bits };
                let float = FloatingPoint {
                    bits,
                    internal_padding: pad,
                    normalization,
                    sign: l.0,
                    exponent_position: l.1,
                    exponent_size: l.2,
                    mantissa_position: l.3,
                    mantissa_size: l.4,
                    exponent_bias: l.5,
                };
                of(size, Class::FloatingPoint(float))
            },
        )
    });
    let field = (1u32..9).prop_flat_map(move |size| bits(size).prop_map(move |bits| of(size, Class::BitField(bits))));
    let time = (order(), 1u16..64).prop_map(move |(order, precision)| of(8, Class::Time { order, precision }));
    prop_oneof![2 => fixed, 2 => float, 1 => field, 1 => time].boxed()
}

fn text(version: u8) -> BoxedStrategy<Datatype> {
    (1u32..99, 0u8..3, 0u8..2)
        .prop_map(move |(size, padding, character_set)| {
            let class = Class::String(Text { padding, character_set });
            Datatype { version, size, class, unused_bits: 0 }
        })
        .boxed()
}

fn opaque(version: u8) -> BoxedStrategy<Datatype> {
    (1u32..99, vec(any::<u8>(), 0..4))
        .prop_map(move |(size, tag)| Datatype {
            version,
            size,
            class: Class::Opaque { tag: tag.repeat(8) },
            unused_bits: 0,
        })
        .boxed()
}

fn reference(version: u8) -> BoxedStrategy<Datatype> {
    use ReferenceKind::*;
    let kind = prop_oneof![Just(Object1), Just(Region1), Just(Object2), Just(Region2), Just(Attribute)];
    (kind, 0u8..2)
        .prop_map(move |(kind, encoding)| Datatype {
            version,
            size: 16,
            class: Class::Reference { kind, encoding },
            unused_bits: 0,
        })
        .boxed()
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    vec(1u8..=255, 0..12)
}

fn compound(version: u8, inner: BoxedStrategy<Datatype>) -> BoxedStrategy<Datatype> {
    let dimensions = (0u8..3, any::<u32>(), 1u32..4, 1u32..4).prop_map(|(rank, permutation, a, b)| OldDimensions {
        rank,
        permutation,
        shape: [a, b, 0, 0],
        reserved: Default::default(),
    });
    (vec((name(), dimensions, inner), 1..4), 0u32..300)
        .prop_map(move |(parts, slack)| {
            let mut size = 0;
            let mut members = Vec::new();
            for (name, dimensions, datatype) in parts {
                let dimensions = (version == 1).then(|| Box::new(dimensions));
                let count: u32 = dimensions.as_ref().map_or(1, |d| d.shape().iter().product());
                let bytes = datatype.size * count;
                members.push(Member { name, name_padding: Vec::new(), byte_offset: size, dimensions, datatype });
                size += bytes;
            }
            Datatype { version, size: size + slack, class: Class::Compound(members), unused_bits: 0 }
        })
        .boxed()
}

/// Any member of a compound datatype that holds no other datatypes, with what its layout depends on.
pub fn member(version: u8) -> BoxedStrategy<(Member, MemberContext)> {
    compound(version, simple(version))
        .prop_filter_map("not a compound", move |compound| {
            let Class::Compound(members) = compound.class else { return None };
            let cx = MemberContext { version, size: compound.size, inner: Level(1) };
            Some((members.into_iter().next()?, cx))
        })
        .boxed()
}

fn enumeration(version: u8) -> BoxedStrategy<Datatype> {
    (1u32..9, vec((name(), any::<[u8; 8]>()), 0..5))
        .prop_flat_map(move |(size, members)| {
            bits(size).prop_map(move |bits| {
                let class = Class::FixedPoint(FixedPoint { bits, signed: true });
                let base = Box::new(Datatype { version, size, class, unused_bits: 0 });
                let names = members.iter().map(|m| m.0.clone()).collect();
                let width = usize::try_from(size).expect("because the sizes here are small");
                let values = members.iter().flat_map(|m| m.1[..width].to_vec()).collect();
                let names = Enumeration { base, names, name_padding: Vec::new(), values };
                let class = Class::Enumeration(Box::new(names));
                Datatype { version, size, class, unused_bits: 0 }
            })
        })
        .boxed()
}

fn variable_length(version: u8, inner: BoxedStrategy<Datatype>) -> BoxedStrategy<Datatype> {
    let text =
        proptest::option::of((0u8..3, 0u8..2).prop_map(|(padding, character_set)| Text { padding, character_set }));
    (text, inner)
        .prop_map(move |(text, base)| {
            let class = Class::VariableLength { text, base: Box::new(base) };
            Datatype { version, size: 16, class, unused_bits: 0 }
        })
        .boxed()
}

fn array(version: u8, inner: BoxedStrategy<Datatype>) -> BoxedStrategy<Datatype> {
    (vec((1u32..5, any::<u32>()), 1..4), inner)
        .prop_map(move |(dimensions, base)| {
            let shape: Vec<u32> = dimensions.iter().map(|d| d.0).collect();
            let permutation = dimensions.iter().map(|d| d.1).collect();
            let old = (version < 3).then(|| Box::new(OldArray { permutation, reserved: Vec::new() }));
            let size = base.size * shape.iter().product::<u32>();
            let class = Class::Array { shape, old, base: Box::new(base) };
            Datatype { version, size, class, unused_bits: 0 }
        })
        .boxed()
}
