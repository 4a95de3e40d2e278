//! `.gitignore` beside files with secrets: what is not ignored yet is added.

use std::io::{self, Write};
use std::path::Path;

use engine::atomic_file::Access;
use engine::bounded_file;

use super::system_host::file_error;
use crate::{Error, files};

/// Adds names to the `.gitignore` of a folder, which others may read. Comes before what is ignored is written: whatever
/// happens then, it is.
pub(crate) fn extend(folder: &Path, names: &[&str]) -> Result<(), Error> {
    let path = folder.join(".gitignore");
    let text = match bounded_file::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if !folder.as_os_str().is_empty() {
                fs_err::create_dir_all(folder)?;
            }
            String::new()
        }
        Err(error) => return Err(Error::Output(error)),
    };
    let ignoring = with(text.clone(), names);
    if ignoring != text {
        files::update(&path, &ignoring, Access::Shared)?;
    }
    Ok(())
}

/// Returns the pattern of one file beside the `.gitignore`, whatever its name is.
pub(crate) fn exactly(name: &str) -> String {
    let mut pattern = "/".to_owned();
    for character in name.chars() {
        if matches!(character, '*' | '?' | '[' | '\\' | ' ') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// Adds names that no pattern of the file matches, as talhelper does: also behind a last line without a line break.
pub(crate) fn add(path: &str, names: &[String]) -> Result<(), String> {
    for name in names {
        let wrong = |error: std::io::Error| file_error("open", path, &error).to_string();
        let mut file =
            fs_err::OpenOptions::new().append(true).create(true).open(path).map_err(wrong)?;
        let text = fs_err::read_to_string(path).map_err(wrong)?;
        if !is_ignored(&text, name) {
            file.write_all(format!("{name}\n").as_bytes()).map_err(wrong)?;
        }
    }
    Ok(())
}

/// Returns the text with the names that none of its patterns match, each in a line of its own.
fn with(mut text: String, names: &[&str]) -> String {
    for name in names {
        if is_ignored(&text, name.trim_start_matches('/')) {
            continue;
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(name);
        text.push('\n');
    }
    text
}

/// Whether the patterns of a text match a path; the last one that does counts.
fn is_ignored(text: &str, path: &str) -> bool {
    let mut ignored = false;
    for line in text.split('\n') {
        let line = line.trim_end_matches('\r');
        if line.starts_with('#') {
            continue;
        }
        let line = line.trim_matches(' ');
        let (negated, pattern) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        if !pattern.is_empty() && matches(pattern, path) {
            ignored = !negated;
        }
    }
    ignored
}

/// Matches a path, or a folder that it is in, against one pattern.
fn matches(pattern: &str, path: &str) -> bool {
    // A folder cannot be a file, and a file is all that is asked for here.
    let (rooted, pattern) = match pattern.strip_prefix('/') {
        Some(rest) if !rest.starts_with("**/") => (true, rest),
        Some(rest) => (false, rest),
        None => (pattern.contains('/') && pattern.contains("*."), pattern),
    };
    let starts = path.match_indices('/').map(|(at, _)| at + 1).filter(|_| !rooted);
    std::iter::once(0).chain(starts).any(|start| {
        let rest: Vec<char> = path[start..].chars().collect();
        let pattern: Vec<char> = pattern.chars().collect();
        let ends = (0..=rest.len()).filter(|&end| end == rest.len() || rest[end] == '/');
        ends.into_iter().any(|end| {
            let end_fits = end == rest.len() || pattern.last() != Some(&'/');
            end_fits && fits(&pattern, &rest[..end])
        })
    })
}

/// Matches a whole text. All positions that the pattern can have reached are followed at once, so that many stars
/// cost no more than few.
fn fits(mut pattern: &[char], text: &[char]) -> bool {
    // Whether the pattern so far matches the text up to each position.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    while let Some((first, after)) = pattern.split_first() {
        let mut next = vec![false; text.len() + 1];
        let mut is_open = false;
        match (first, after) {
            ('*', ['*', '/', rest @ ..]) => {
                for at in 0..=text.len() {
                    next[at] = reached[at] || (is_open && text[at - 1] == '/');
                    is_open |= reached[at];
                }
                pattern = rest;
            }
            ('/', ['*', '*']) => {
                let is_end = |at: usize| at == text.len() || text[at] == '/';
                return (0..=text.len()).any(|at| reached[at] && is_end(at));
            }
            ('*', rest) => {
                for at in 0..=text.len() {
                    is_open = reached[at] || (is_open && text[at - 1] != '/');
                    next[at] = is_open;
                }
                pattern = rest;
            }
            ('[', rest) => {
                let Some(end) = rest.iter().position(|c| *c == ']') else { return false };
                for at in 0..text.len() {
                    next[at + 1] = reached[at] && in_class(&rest[..end], text[at]);
                }
                pattern = &rest[end + 1..];
            }
            (first, rest) => {
                for at in 0..text.len() {
                    next[at + 1] = reached[at] && text[at] == *first;
                }
                pattern = rest;
            }
        }
        if !next.contains(&true) {
            return false;
        }
        reached = next;
    }
    reached[text.len()]
}

fn in_class(class: &[char], character: char) -> bool {
    let (negated, class) = match class {
        ['^', rest @ ..] => (true, rest),
        class => (false, class),
    };
    let mut found = false;
    let mut at = 0;
    while at < class.len() {
        if let [low, '-', high] = class[at..(at + 3).min(class.len())] {
            found |= (low..=high).contains(&character);
            at += 3;
        } else {
            found |= class[at] == character;
            at += 1;
        }
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::{exactly, is_ignored, with};

    #[test]
    fn many_stars_cost_no_more_than_few() {
        let path = "a".repeat(60);
        assert!(!is_ignored(&format!("{}b", "*a".repeat(25)), &path));
        assert!(!is_ignored(&format!("{}b", "**/*".repeat(25)), &path));
        assert!(is_ignored(&"*a".repeat(25), &path));
        assert!(is_ignored(&"*".repeat(1_000_000), &path));
    }

    #[test]
    fn name_with_pattern_characters_is_ignored_as_it_is() {
        assert_eq!(exactly("age.key"), "/age.key");
        assert_eq!(exactly(r"k[1]* \?"), r"/k\[1]\*\ \\\?");
    }

    #[test]
    fn exception_of_the_file_itself_is_overruled() {
        let text = with("*.key\n!/age.key\n".to_owned(), &["/age.key"]);
        assert_eq!(text, "*.key\n!/age.key\n/age.key\n");
        assert_eq!(with(text.clone(), &["/age.key"]), text);
    }

    #[test]
    fn patterns_match_names_and_folders() {
        for (pattern, path, expected) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "a/b.yaml", true),
            ("/*.yaml", "a/b.yaml", false),
            ("a/**", "a/b", true),
            ("**/b", "a/c/b", true),
            ("a*c", "abc", true),
            ("a*c", "ab/c", false),
            ("[a-c]x", "bx", true),
            ("[^a-c]x", "bx", false),
            ("[a", "a", false),
        ] {
            assert_eq!(is_ignored(pattern, path), expected, "{pattern} {path}");
        }
    }
}
