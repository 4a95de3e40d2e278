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
fn path(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let (width, height) = (signed(old.len()), signed(new.len()));
    let offset = width + height;
    let mut furthest = vec![0_isize; usize::try_from(2 * offset + 2).unwrap_or(0)];
    let at = |k: isize| usize::try_from(k + offset).unwrap_or(0);
    let mut trace = Vec::new();
    'search: for d in 0..=offset {
        let mut k = -d;
        while k <= d {
            let down = k == -d || (k != d && furthest[at(k - 1)] < furthest[at(k + 1)]);
            let mut x = if down { furthest[at(k + 1)] } else { furthest[at(k - 1)] + 1 };
            let mut y = x - k;
            while x < width && y < height && old[unsigned(x)] == new[unsigned(y)] {
                x += 1;
                y += 1;
            }
            furthest[at(k)] = x;
            if x == width && y == height {
                trace.push(furthest.clone());
                break 'search;
            }
            k += 2;
        }
        trace.push(furthest.clone());
    }
    let (mut x, mut y) = (width, height);
    let mut ends = Vec::new();
    for d in (1..trace.len()).rev() {
        if x <= 0 || y <= 0 {
            break;
        }
        ends.push((unsigned(x), unsigned(y)));
        let (furthest, d, k) = (&trace[d], signed(d), x - y);
        let down = k == -d || (k != d && furthest[at(k - 1)] < furthest[at(k + 1)]);
        let before = if down { k + 1 } else { k - 1 };
        x = furthest[at(before)];
        y = x - before;
    }
    if x >= 0 && y >= 0 {
        ends.push((unsigned(x), unsigned(y)));
    }
    ends.reverse();
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
        assert_eq!(unified("/f", "", "a\nb\n"), "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n+a\n+b\n");
    }
}
