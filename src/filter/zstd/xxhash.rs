//! XXH64 with seed 0, of which zstd keeps the lower half.

const PRIMES: [u64; 5] =
    [0x9e37_79b1_85eb_ca87, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x85eb_ca77_c2b2_ae63, 0x27d4_eb2f_1656_67c5];

fn round(sum: u64, word: u64) -> u64 {
    sum.wrapping_add(word.wrapping_mul(PRIMES[1])).rotate_left(31).wrapping_mul(PRIMES[0])
}

pub(super) fn xxh64(bytes: &[u8]) -> u64 {
    let (rows, rest) = bytes.as_chunks::<32>();
    let mut hash = PRIMES[4];
    if !rows.is_empty() {
        let mut sums = [PRIMES[0].wrapping_add(PRIMES[1]), PRIMES[1], 0, PRIMES[0].wrapping_neg()];
        for row in rows {
            for (sum, word) in sums.iter_mut().zip(row.as_chunks::<8>().0) {
                *sum = round(*sum, u64::from_le_bytes(*word));
            }
        }
        let turned = sums.iter().zip([1, 7, 12, 18]).map(|(sum, turn)| sum.rotate_left(turn));
        hash = turned.fold(0, u64::wrapping_add);
        for sum in sums {
            hash = (hash ^ round(0, sum)).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]);
        }
    }
    hash = hash.wrapping_add(bytes.len() as u64);
    let (words, rest) = rest.as_chunks::<8>();
    for word in words {
        hash = (hash ^ round(0, u64::from_le_bytes(*word))).rotate_left(27);
        hash = hash.wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]);
    }
    let (words, rest) = rest.as_chunks::<4>();
    for word in words {
        hash = (hash ^ u64::from(u32::from_le_bytes(*word)).wrapping_mul(PRIMES[0])).rotate_left(23);
        hash = hash.wrapping_mul(PRIMES[1]).wrapping_add(PRIMES[2]);
    }
    for &byte in rest {
        hash = (hash ^ u64::from(byte).wrapping_mul(PRIMES[4])).rotate_left(11).wrapping_mul(PRIMES[0]);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(PRIMES[1]);
    hash = (hash ^ hash >> 29).wrapping_mul(PRIMES[2]);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::xxh64;

    #[test]
    fn known_strings_have_their_known_hashes() {
        assert_eq!(xxh64(b""), 0xef46_db37_51d8_e999);
        assert_eq!(xxh64(b"a"), 0xd24e_c4f1_a98c_6e5b);
        assert_eq!(xxh64(b"abc"), 0x44bc_2cf5_ad77_0999);
        assert_eq!(xxh64(b"Nobody inspects the spammish repetition"), 0xfbce_a83c_8a37_8bf1);
    }
}
