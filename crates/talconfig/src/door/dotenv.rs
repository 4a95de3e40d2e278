//! Lines of `NAME=value` or `NAME: value`, as env files are read.
//!
//! The rules are those of the library that talhelper uses. A file in which one line cannot be read sets
//! nothing at all, so the error says which line that is.

use std::collections::BTreeMap;

use talos_config::yaml::Limits;

/// The reason why a text is not a list of variables.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub(crate) struct DotenvError {
    /// The line, counted from one.
    pub(crate) line: usize,
    pub(crate) problem: &'static str,
}

/// The value of a variable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Variable {
    pub(crate) value: String,
    /// The line that sets it, counted from one.
    pub(crate) line: usize,
}

/// Reads variables. The last one of a name counts.
pub(crate) fn parse(text: &str) -> Result<BTreeMap<String, Variable>, DotenvError> {
    let text = text.replace("\r\n", "\n");
    let mut variables = BTreeMap::new();
    let mut rest = text.as_str();
    let mut line = 1;
    // Values may repeat the values of earlier lines, so that few lines could make much of them.
    let mut left = Limits::default().bytes;
    while let Some(statement) = statement(rest) {
        line += rest[..rest.len() - statement.len()].matches('\n').count();
        let wrong = |problem| DotenvError { line, problem };
        let (name, after) = name(statement).ok_or_else(|| wrong("this is not NAME: value"))?;
        let (value, after) = value(after, &variables, left).map_err(wrong)?;
        left = left.saturating_sub(value.len());
        variables.insert(name.to_owned(), Variable { value, line });
        line += statement[..statement.len() - after.len()].matches('\n').count();
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

/// Reads a value of at most `most` bytes, and returns the rest of the text.
fn value<'a>(
    text: &'a str,
    variables: &BTreeMap<String, Variable>,
    most: usize,
) -> Result<(String, &'a str), &'static str> {
    let quote = text.chars().next().filter(|first| ['"', '\''].contains(first));
    let Some(quote) = quote else {
        let end = text.find(['\n', '\r']).unwrap_or(text.len());
        let line = &text[..end];
        // The last `#` after a blank begins a comment.
        let comment = line.char_indices().rev().find(|(at, character)| {
            *character == '#' && line[..*at].chars().next_back().is_some_and(is_space)
        });
        let line = comment.map_or(line, |(at, _)| &line[..at]);
        return Ok((expand(line.trim_matches(is_space), variables, most)?, &text[end..]));
    };
    let bytes = text.as_bytes();
    let end = (1..bytes.len())
        .find(|&at| char::from(bytes[at]) == quote && bytes[at - 1] != b'\\')
        .ok_or("a quote is not closed")?;
    let inner = text[..end].trim_matches(quote);
    let value =
        if quote == '"' { expand(&unescape(inner), variables, most)? } else { inner.to_owned() };
    Ok((value, &text[end + 1..]))
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
fn expand(
    text: &str,
    variables: &BTreeMap<String, Variable>,
    most: usize,
) -> Result<String, &'static str> {
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
            output.push_str(variables.get(name).map_or("", |variable| &variable.value));
        }
        if output.len() + behind.len() > most {
            return Err("values of earlier lines make this one too long");
        }
        rest = behind;
    }
    Ok(output + rest)
}

/// Returns true for a blank other than a line break.
fn is_space(character: char) -> bool {
    matches!(character, '\t' | '\x0b' | '\x0c' | '\r' | ' ' | '\u{85}' | '\u{a0}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_know_their_lines() {
        let variables = parse("# a\n\nA: 1\nB: \"x\ny\"\nC: $A\n").expect("variables");
        let seen: Vec<_> = variables
            .iter()
            .map(|(name, variable)| (name.as_str(), variable.value.as_str(), variable.line))
            .collect();
        assert_eq!(seen, [("A", "1", 3), ("B", "x\ny", 4), ("C", "1", 6)]);
        assert_eq!(parse("A: 1\n- b\n").map_err(|error| error.line), Err(2));
        assert_eq!(parse("A: 1\n\nB: \"b\n").map_err(|error| error.line), Err(3));
    }

    #[test]
    fn few_lines_do_not_make_much_of_little() {
        let lines = (1..60).map(|line| format!("A{line}: $A{0}$A{0}\n", line - 1));
        let text = format!("A0: 0123456789\n{}", lines.collect::<Vec<_>>().concat());
        let error = parse(&text).expect_err("an error");
        assert_eq!(error.to_string(), "line 21: values of earlier lines make this one too long");
        let text = format!("A: {}\nB: {}\n", "x".repeat(1 << 20), "$A".repeat(1 << 20));
        assert_eq!(parse(&text).map_err(|error| error.line), Err(2));
    }

    #[test]
    fn many_lines_are_read_once() {
        let lines: Vec<String> = (0..300_000).map(|line| format!("A{line}: 1\n")).collect();
        assert_eq!(parse(&lines.concat()).map(|variables| variables.len()), Ok(300_000));
    }
}
