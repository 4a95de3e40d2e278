//! The difference of two texts as `diff -u` shows it, in the order of Myers' algorithm.

use std::fmt::Write;

/// Returns the difference between the current and the new text of a file; empty if there is none.
pub(crate) fn unified(path: &str, before: &str, after: &str) -> String {
    let (old, new) = (lines(before), lines(after));
    let edits = edits(&old, &new);
    if edits.is_empty() {
        return String::new();
    }
    let mut output = format!("--- a{path}\n+++ b{path}\n");
    for hunk in hunks(&old, &new, &edits) {
        hunk.write(&mut output);
    }
    output
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Lines of the old text that go, and lines of the new text that come in their place.
struct Edit {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

fn edits(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let (mut x, mut y) = (0, 0);
    for (end_x, end_y) in path(old, new) {
        // Both as offsets from the diagonal that the path is on.
        let (goal, mut here) = (signed(end_x) - signed(end_y), signed(x) - signed(y));
        let gone = x;
        while goal > here && x < old.len() {
            x += 1;
            here += 1;
        }
        if x > gone {
            edits.push(Edit { old: gone..x, new: y..y });
        }
        let come = y;
        while goal < here {
            y += 1;
            here -= 1;
        }
        if y > come {
            edits.push(Edit { old: x..x, new: come..y });
        }
        y += end_x.saturating_sub(x);
        x = x.max(end_x);
    }
    edits
}

/// The ends of the runs of equal lines on the shortest way from one text to the other.
///
/// A way of more than [`MOST_EDITS`] is not searched for: then everything between the lines that both texts begin
/// and end with is replaced. Memory and time stay bounded that way, and a text that is all new, which is the long
/// difference that people meet, is shown as it would be anyway.
fn path(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let (width, height) = (signed(old.len()), signed(new.len()));
    let most = (width + height).min(MOST_EDITS);
    // Row `d` holds how far each diagonal from `-d` to `d` is followed with `d` edits; every second one can be reached.
    let mut rows: Vec<Vec<u32>> = Vec::new();
    let furthest = |rows: &[Vec<u32>], d: isize, k: isize| -> isize {
        let row = usize::try_from(d).ok().and_then(|d| rows.get(d));
        let x = row.and_then(|row| row.get(usize::try_from(k.midpoint(d)).ok()?));
        x.map_or(0, |x| isize::try_from(*x).unwrap_or(isize::MAX))
    };
    let is_down = |rows: &[Vec<u32>], d: isize, k: isize| {
        k == -d || (k != d && furthest(rows, d - 1, k - 1) < furthest(rows, d - 1, k + 1))
    };
    let mut edits = None;
    'search: for d in 0..=most {
        let mut row = Vec::with_capacity(unsigned(d) + 1);
        for k in (-d..=d).step_by(2) {
            let mut x = if is_down(&rows, d, k) {
                furthest(&rows, d - 1, k + 1)
            } else {
                furthest(&rows, d - 1, k - 1) + 1
            };
            let mut y = x - k;
            while x < width && y < height && old[unsigned(x)] == new[unsigned(y)] {
                x += 1;
                y += 1;
            }
            if x == width && y == height {
                edits = Some(d);
                break 'search;
            }
            row.push(u32::try_from(x).unwrap_or(u32::MAX));
        }
        rows.push(row);
    }
    let Some(edits) = edits else { return replaced(old, new) };
    let (mut x, mut y) = (width, height);
    let mut ends = Vec::new();
    for d in (1..=edits).rev() {
        if x <= 0 || y <= 0 {
            break;
        }
        ends.push((unsigned(x), unsigned(y)));
        let k = x - y;
        let before = if is_down(&rows, d, k) { k + 1 } else { k - 1 };
        x = furthest(&rows, d - 1, before);
        y = x - before;
    }
    if x >= 0 && y >= 0 {
        ends.push((unsigned(x), unsigned(y)));
    }
    ends.reverse();
    ends
}

/// The ends of the runs that both texts begin and end with.
fn replaced(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let first = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old[first..].iter().rev().zip(new[first..].iter().rev());
    let last = rest.take_while(|(old, new)| old == new).count();
    let mut ends = vec![(first, first)];
    // One end for the lines that go, and one for those that come.
    ends.push((old.len() - last, first));
    ends.push((old.len(), new.len()));
    ends
}

fn signed(number: usize) -> isize {
    isize::try_from(number).unwrap_or(isize::MAX)
}

fn unsigned(number: isize) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// Edits that are near each other, with the lines around them.
struct Hunk<'a> {
    old_line: usize,
    new_line: usize,
    lines: Vec<(char, &'a str)>,
}

impl Hunk<'_> {
    fn write(&self, output: &mut String) {
        let count = |other: char| self.lines.iter().filter(|(sign, _)| *sign != other).count();
        let place = |line: usize, count: usize| match count {
            0 | 1 => line.to_string(),
            _ => format!("{line},{count}"),
        };
        let (old, new) = (place(self.old_line, count('+')), place(self.new_line, count('-')));
        // Writing to a string cannot fail.
        let _ = writeln!(output, "@@ -{old} +{new} @@");
        for (sign, line) in &self.lines {
            output.push(*sign);
            output.push_str(line);
            if !line.ends_with('\n') {
                output.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}

fn hunks<'a>(old: &[&'a str], new: &[&'a str], edits: &[Edit]) -> Vec<Hunk<'a>> {
    let mut hunks: Vec<Hunk<'a>> = Vec::new();
    let mut last = 0;
    let mut new_line = 0;
    let equal = |from: usize, to: usize| {
        old[from.min(old.len())..to.min(old.len())].iter().map(|line| (' ', *line))
    };
    for edit in edits {
        let start = edit.old.start;
        match hunks.last_mut() {
            Some(hunk) if start <= last + 2 * AROUND => hunk.lines.extend(equal(last, start)),
            previous => {
                if let Some(hunk) = previous {
                    hunk.lines.extend(equal(last, last + AROUND));
                }
                new_line += start - last;
                let lead = start.min(AROUND);
                let lines = equal(start - lead, start).collect();
                hunks.push(Hunk {
                    old_line: start + 1 - lead,
                    new_line: new_line + 1 - lead,
                    lines,
                });
            }
        }
        if let Some(hunk) = hunks.last_mut() {
            hunk.lines.extend(old[edit.old.clone()].iter().map(|line| ('-', *line)));
            hunk.lines.extend(new[edit.new.clone()].iter().map(|line| ('+', *line)));
        }
        // Lines between two edits of a hunk are not counted; so the line numbers of talhelper have it.
        new_line += edit.new.len();
        last = edit.old.end;
    }
    if let Some(hunk) = hunks.last_mut() {
        hunk.lines.extend(equal(last, last + AROUND));
    }
    hunks
}

/// Edits that a way is searched with: some 30 MiB and a second at most.
const MOST_EDITS: isize = 4_000;

/// Lines that are shown around a change.
const AROUND: usize = 3;

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn deletions_come_before_insertions() {
        let diff = unified("/f", "a\nb\nc\n", "a\nx\nc\ny");
        let expected =
            "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n a\n-b\n+x\n c\n+y\n\\ No newline at end of file\n";
        assert_eq!(diff, expected);
        assert_eq!(unified("/f", "a\n", "a\n"), "");
        assert_eq!(
            edits_of("abcabba", "cbabac"),
            [(0, 1, 0, 0), (1, 2, 0, 0), (3, 3, 1, 2), (5, 6, 4, 4), (7, 7, 5, 6)]
        );
        assert_eq!(unified("/f", "", "a\nb\n"), "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n+a\n+b\n");
    }

    #[test]
    fn a_long_difference_takes_little_memory() {
        let many = |what: &str| {
            (0..20_000).map(|line| format!("{what} {line}\n")).collect::<Vec<_>>().concat()
        };
        let new = many("new");
        let diff = unified("/f", "", &new);
        assert_eq!(diff.lines().filter(|line| line.starts_with("+new")).count(), 20_000);
        let diff = unified("/f", &format!("a\n{}z\n", many("old")), &format!("a\n{new}z\n"));
        assert!(diff.starts_with("--- a/f\n+++ b/f\n@@ -1,20002 +1,20002 @@\n a\n-old 0\n"));
        assert!(diff.ends_with("+new 19999\n z\n"));
    }

    fn edits_of(old: &'static str, new: &'static str) -> Vec<(usize, usize, usize, usize)> {
        let letters = |text: &'static str| text.split_terminator("").skip(1).collect::<Vec<_>>();
        let (old, new) = (letters(old), letters(new));
        super::edits(&old, &new)
            .into_iter()
            .map(|edit| (edit.old.start, edit.old.end, edit.new.start, edit.new.end))
            .collect()
    }
}
