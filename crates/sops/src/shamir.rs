//! A data key in parts, of which some are enough (Shamir's scheme over the field of AES).
//!
//! A part is one byte for each byte of the secret, the value of a random polynomial, and a last byte that
//! says at which point.

use crate::Random;

/// Splits a secret into `parts`, any `threshold` of which restore it. Both are at least two.
pub(crate) fn split(secret: &[u8], parts: u8, threshold: u8, random: Random<'_>) -> Vec<Vec<u8>> {
    let mut shares: Vec<Vec<u8>> = (1..=parts).map(|_| Vec::new()).collect();
    for &byte in secret {
        let mut coefficients = vec![0; usize::from(threshold.max(1)) - 1];
        random(&mut coefficients);
        for (share, x) in shares.iter_mut().zip(1..=parts) {
            let higher = coefficients.iter().rev().fold(0, |sum, &next| multiply(sum, x) ^ next);
            share.push(multiply(higher, x) ^ byte);
        }
    }
    for (share, x) in shares.iter_mut().zip(1..=parts) {
        share.push(x);
    }
    shares
}

/// Puts a secret together again. `None`: these are not parts of one secret.
pub(crate) fn combine(shares: &[Vec<u8>]) -> Option<Vec<u8>> {
    let length = shares.first()?.len();
    if shares.len() < 2 || length < 2 || shares.iter().any(|share| share.len() != length) {
        return None;
    }
    let points: Vec<u8> = shares.iter().map(|share| share[length - 1]).collect();
    let unique = points.iter().enumerate().all(|(i, x)| *x != 0 && !points[..i].contains(x));
    if !unique {
        return None;
    }
    // Lagrange's interpolation at zero, where a difference is a sum.
    let weights: Vec<u8> = points
        .iter()
        .map(|x| {
            let others = points.iter().filter(|other| *other != x);
            others.fold(1, |weight, other| multiply(weight, multiply(*other, inverse(x ^ other))))
        })
        .collect();
    let byte_at = |index: usize| {
        let terms = shares.iter().zip(&weights);
        terms.fold(0, |sum, (share, weight)| sum ^ multiply(share[index], *weight))
    };
    Some((0..length - 1).map(byte_at).collect())
}

/// Multiplies without a branch or a table that would depend on the secret.
fn multiply(a: u8, b: u8) -> u8 {
    (0..8).rev().fold(0, |sum: u8, bit| {
        let doubled = (sum << 1) ^ ((sum >> 7).wrapping_neg() & REDUCTION);
        doubled ^ ((b >> bit & 1).wrapping_neg() & a)
    })
}

/// Returns a number to the power of 254, which is its inverse.
fn inverse(a: u8) -> u8 {
    (0..7)
        .fold((1, a), |(power, base), _| {
            let squared = multiply(base, base);
            (multiply(power, squared), squared)
        })
        .0
}

/// x⁸ in the field: x⁴ + x³ + x + 1.
const REDUCTION: u8 = 0x1b;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_of_three_parts_are_enough() {
        let mut counter = 7_u8;
        let mut random = |bytes: &mut [u8]| {
            bytes.fill_with(|| {
                counter = counter.wrapping_mul(13).wrapping_add(5);
                counter
            });
        };
        let parts = split(b"secret", 3, 2, &mut random);
        for (a, b) in [(0, 1), (0, 2), (1, 2), (2, 0)] {
            let shares = [parts[a].clone(), parts[b].clone()];
            assert_eq!(combine(&shares).unwrap(), b"secret");
        }
        assert_eq!(combine(&parts).unwrap(), b"secret");
    }

    #[test]
    fn what_is_no_set_of_parts_is_refused() {
        let share = vec![1, 2, 1];
        for shares in [
            vec![],
            vec![share.clone()],
            vec![share.clone(), share.clone()],
            vec![share.clone(), vec![1, 2]],
            vec![share, vec![1, 2, 0]],
            vec![vec![], vec![]],
        ] {
            assert_eq!(combine(&shares), None);
        }
    }

    #[test]
    fn every_number_but_zero_has_an_inverse() {
        assert!((1..=255).all(|a| multiply(a, inverse(a)) == 1));
    }
}
