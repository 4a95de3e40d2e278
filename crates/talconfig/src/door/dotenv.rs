//! Lines of `NAME=value` or `NAME: value`, as env files are read.
//!
//! The rules are those of the library that talhelper uses. A file in which one line cannot be read sets
//! nothing at all, so the error says which line that is.

use std::collections::BTreeMap;

/// The reason why a text is not a list of variables.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub(crate) struct DotenvError {
    /// The line, counted from one.
    pub(crate) line: usize,
    pub(crate) problem: &'static str,
}

/// Reads variables. The last one of a name counts.
pub(crate) fn parse(text: &str) -> Result<BTreeMap<String, String>, DotenvError> {
    let text = text.replace("\r\n", "\n");
    let mut variables = BTreeMap::new();
    let mut rest = text.as_str();
    while let Some(statement) = statement(rest) {
        let at = |rest: &str| 1 + text[..text.len() - rest.len()].matches('\n').count();
        let (name, after) = name(statement)
            .ok_or(DotenvError { line: at(statement), problem: "this is not NAME: value" })?;
        let (value, after) = value(after, &variables)
            .ok_or(DotenvError { line: at(after), problem: "a quote is not closed" })?;
        variables.insert(name.to_owned(), value);
        rest = after;
    }
    Ok(variables)
}

/// Joins the documents of a text into lines, without separators.
pub(crate) fn without_separators(text: &str) -> String {
    let lines = text.replace("\n---\n", "\n\n");
    lines.strip_prefix("---\n").map_or(lines.clone(), |rest| format!("\n{rest}"))
}

/// Skips comments and returns the rest of the text from the next statement on.
fn statement(mut text: &str) -> Option<&str> {
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return None;
        }
        if !text.starts_with('#') {
            return Some(text);
        }
        text = &text[text.find('\n')?..];
    }
}

fn name(text: &str) -> Option<(&str, &str)> {
    let text = match text.strip_prefix("export") {
        Some(after) if after.starts_with(is_space) => after.trim_start_matches(is_space),
        _ => text,
    };
    let mut end = None;
    for (index, byte) in text.bytes().enumerate() {
        // Bytes are taken for characters, which lets some letters of other alphabets through in part.
        let character = char::from(byte);
        match byte {
            b'=' | b':' => {
                end = Some(index);
                break;
            }
            b'_' | b'.' => {}
            _ if is_space(character) => {}
            _ if character.is_alphabetic() || character.is_numeric() => {}
            _ => return None,
        }
    }
    Some(match end {
        Some(end) => (text[..end].trim_end(), text[end + 1..].trim_start_matches(is_space)),
        None => ("", text.trim_start_matches(is_space)),
    })
}

fn value<'a>(text: &'a str, variables: &BTreeMap<String, String>) -> Option<(String, &'a str)> {
    let quote = text.chars().next().filter(|first| ['"', '\''].contains(first));
    let Some(quote) = quote else {
        let end = text.find(['\n', '\r']).unwrap_or(text.len());
        let line = &text[..end];
        // The last `#` after a blank begins a comment.
        let comment = line.char_indices().rev().find(|(at, character)| {
            *character == '#' && line[..*at].chars().next_back().is_some_and(is_space)
        });
        let line = comment.map_or(line, |(at, _)| &line[..at]);
        return Some((expand(line.trim_matches(is_space), variables), &text[end..]));
    };
    let bytes = text.as_bytes();
    let end =
        (1..bytes.len()).find(|&at| char::from(bytes[at]) == quote && bytes[at - 1] != b'\\')?;
    let inner = text[..end].trim_matches(quote);
    let value = if quote == '"' { expand(&unescape(inner), variables) } else { inner.to_owned() };
    Some((value, &text[end + 1..]))
}

/// Takes backslashes away; `\n` and `\r` are line breaks, and `\$` stays for now.
fn unescape(text: &str) -> String {
    let mut output = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('n')) => output.push('\n'),
            ('\\', Some('r')) => output.push('\r'),
            ('\\', Some('$')) => output.push_str("\\$"),
            ('\\', Some(other)) => output.push(*other),
            _ => {
                output.push(character);
                continue;
            }
        }
        characters.next();
    }
    output
}

/// Puts in the values of `$NAME` and `${NAME}`, of earlier lines only.
fn expand(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut output = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let escaped = rest[..at].ends_with('\\');
        output.push_str(&rest[..if escaped { at - 1 } else { at }]);
        let after = &rest[at + 1..];
        let inner = after.strip_prefix('(').unwrap_or(after);
        let inner = inner.strip_prefix('{').unwrap_or(inner);
        let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let name_end = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
        let (name, behind) = inner.split_at(name_end);
        let behind = behind.strip_prefix('}').unwrap_or(behind);
        if escaped || name.is_empty() {
            output.push_str(&rest[at..rest.len() - behind.len()]);
        } else {
            output.push_str(variables.get(name).map_or("", String::as_str));
        }
        rest = behind;
    }
    output + rest
}

/// Returns true for a blank other than a line break.
fn is_space(character: char) -> bool {
    matches!(character, '\t' | '\x0b' | '\x0c' | '\r' | ' ' | '\u{85}' | '\u{a0}')
}
