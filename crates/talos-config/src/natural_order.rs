//! The order of map keys: as people would sort them, numbers by their size.

use std::cmp::Ordering;

/// Compares two keys as Talos' encoder does.
pub fn compare(left: &str, right: &str) -> Ordering {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut after_digit = false;
    for at in 0..left.len().min(right.len()) {
        let (l, r) = (left[at], right[at]);
        if l == r {
            after_digit = is_digit(l);
            continue;
        }
        return match (l.is_alphabetic(), r.is_alphabetic()) {
            (true, true) => l.cmp(&r),
            // The one that is no letter comes first, except directly behind a digit.
            (true, false) => behind(after_digit).reverse(),
            (false, true) => behind(after_digit),
            (false, false) => numbers(&left, &right, at),
        };
    }
    left.len().cmp(&right.len())
}

/// Compares the numbers that begin where two keys begin to differ.
fn numbers(left: &[char], right: &[char], at: usize) -> Ordering {
    let mut lead = 0;
    if left[at] == '0' || right[at] == '0' {
        // Zeros count only within a number, so look at the digits that both have before.
        let before = left[..at].iter().rev().take_while(|c| is_digit(**c));
        if before.into_iter().any(|c| *c != '0') {
            lead = 1;
        }
    }
    let (l, l_length) = number(lead, &left[at..]);
    let (r, r_length) = number(lead, &right[at..]);
    l.cmp(&r).then(l_length.cmp(&r_length)).then(left[at].cmp(&right[at]))
}

fn number(lead: i64, characters: &[char]) -> (i64, usize) {
    let digits: Vec<i64> = characters
        .iter()
        .take_while(|c| is_digit(**c))
        .map(|c| i64::from(u32::from(*c)) - i64::from(u32::from('0')))
        .collect();
    // Go's integers wrap around, and so do these.
    let value =
        digits.iter().fold(lead, |value, digit| value.wrapping_mul(10).wrapping_add(*digit));
    (value, digits.len())
}

fn is_digit(character: char) -> bool {
    character.is_numeric() && !character.is_alphabetic()
}

/// How a character that is no letter stands to one that is.
fn behind(after_digit: bool) -> Ordering {
    if after_digit { Ordering::Greater } else { Ordering::Less }
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn sorted_as_talosctl_sorts() {
        let sorted = [
            "", "-", ".", "/", "_", "~", "0x1", "1", "2", "10", "A", "B", "a", "a b", "a-b", "a.b",
            "a/b", "a_b", "a1", "a1b", "a01", "a9", "a10", "a15", "a100", "aB", "ab", "b", "v1.9",
            "v1.10", "z", "é",
        ];
        let mut keys = sorted;
        keys.reverse();
        keys.sort_by(|left, right| compare(left, right));
        assert_eq!(keys, sorted);
    }
}
