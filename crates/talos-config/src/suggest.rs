//! The word that was probably meant.

/// The known word nearest to one that is not known, if one is near enough to be worth a hint.
pub fn suggest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if is_long(word) {
        return None;
    }
    // A third of the word may be wrong; a short one may have one mistake.
    let most = (word.chars().count() / 3).max(1);
    let word = word.to_lowercase();
    known
        .filter(|candidate| !is_long(candidate))
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, candidate)| candidate)
}

fn is_long(word: &str) -> bool {
    word.chars().nth(LONGEST).is_some()
}

/// How many letters must be changed, added, left out or swapped with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    // The two rows before the current one: swapped neighbours are found in the older.
    let mut older: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let same = usize::from(from[i - 1] != to[j - 1]);
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + same);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(older[j - 2] + 1);
            }
            row.push(best);
        }
        older = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

/// In letters: more than any name has that Talos knows. Comparing takes time by the square of it.
const LONGEST: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_different_word_is_not() {
        let known = ["hostname", "interfaces", "nameservers"];
        assert_eq!(suggest("hostnmae", known.into_iter()), Some("hostname"));
        assert_eq!(suggest("Interface", known.into_iter()), Some("interfaces"));
        assert_eq!(suggest("disks", known.into_iter()), None);
    }

    #[test]
    fn distances_count_changes_and_swaps() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abd", 1),
            ("abcd", "abdc", 1),
            ("abcdef", "badcfe", 3),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(from, to), expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn a_long_word_has_no_neighbour() {
        let (longest, longer) = ("x".repeat(LONGEST), "x".repeat(LONGEST + 1));
        let known = [longest.as_str(), longer.as_str()];
        assert_eq!(suggest(&longest, known.into_iter()), Some(longest.as_str()));
        assert_eq!(suggest(&longer, known.into_iter()), None);
        // Comparing these would not end within the patience of any test.
        let endless = "x".repeat(15_000_000);
        let known = [endless.as_str(), "hostname"];
        assert_eq!(suggest(&endless, known.into_iter()), None);
        assert_eq!(suggest("hostnam", known.into_iter()), Some("hostname"));
    }
}
