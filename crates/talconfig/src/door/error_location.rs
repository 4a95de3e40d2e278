//! Adds locations in the file to errors of a talconfig.
//!
//! talhelper counts lines in an intermediate text that the user never sees. Here the same errors
//! get the line of the file and the key on it.

use talos_config::SourceId;

use crate::door::check::Finding;
use crate::door::schema::TALCONFIG;
use crate::door::source_text::SourceText;
use crate::door::{decode, text};
use crate::error::{Error, ErrorDetail};

/// Adds the location in the file to an error.
pub(crate) fn locate(error: Error, file: &str, written: &str) -> Error {
    let source_text = SourceText::new(file, written);
    match error {
        Error::Substitution(detail) => {
            Error::Substitution(locate_substitution(detail, file, written))
        }
        Error::Reference { key, group, detail } => {
            let location = source_text.key_location(&key, group);
            Error::Reference { key, group, detail: detail.within(&format!("{location}: ")) }
        }
        // Said again about the text as it was written, for its lines.
        Error::Structure(detail) => {
            let again = text::absolutize_paths(written, &str::to_owned).err();
            Error::Structure(locate_lines(again.unwrap_or(detail), &source_text))
        }
        Error::WrongType(detail) => {
            let again = decode::object(written, &TALCONFIG).err();
            let lines = |detail: &ErrorDetail| detail.message.lines().count();
            let again = again.filter(|again| lines(again) == lines(&detail));
            Error::WrongType(locate_lines(again.unwrap_or(detail), &source_text))
        }
        Error::Invalid(findings) => Error::Invalid(
            findings.into_iter().map(|finding| locate_finding(finding, &source_text)).collect(),
        ),
        other => other,
    }
}

/// Adds the location in the file to an error about variables.
pub(crate) fn locate_substitution(detail: ErrorDetail, file: &str, written: &str) -> ErrorDetail {
    let source_text = SourceText::new(file, written);
    match variable(&detail.message, written) {
        Some(line) => located(detail, line, &source_text),
        None => locate_lines(detail, &source_text),
    }
}

/// Adds the location of the key, or of the nearest one above it, to a finding.
pub(crate) fn locate_finding(finding: Finding, source_text: &SourceText) -> Finding {
    let origin = source_text.nearest_origin(&finding.field, SourceId::default());
    let location = match origin.line {
        0 => source_text.file().to_owned(),
        line => format!("{}:{line}", source_text.file()),
    };
    Finding { location: Some(location), ..finding }
}

/// Finds the line of the variable that an error names.
fn variable(message: &str, written: &str) -> Option<u32> {
    let (_, rest) = message.split_once("${")?;
    let (name, _) = rest.split_once('}')?;
    let uses = |line: &str| {
        let after = line.split('$').skip(1).map(|part| part.strip_prefix('{').unwrap_or(part));
        let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        after.filter_map(|part| part.strip_prefix(name)).any(is_end)
    };
    let line = written.lines().position(uses)?;
    u32::try_from(line + 1).ok()
}

fn located(mut detail: ErrorDetail, line: u32, source_text: &SourceText) -> ErrorDetail {
    detail.hint = detail.hint.filter(|hint| !names_only(hint));
    let key = source_text.key_at(line).map_or_else(String::new, |key| format!("{key}: "));
    detail.message = format!("{}:{line}: {key}{}", source_text.file(), detail.message);
    detail
}

/// Returns true if a hint only names the file, which the message does by now.
fn names_only(hint: &str) -> bool {
    hint.starts_with("this is about ")
}

/// Adds a location to each line of an error that begins with `line N: `.
fn locate_lines(mut detail: ErrorDetail, source_text: &SourceText) -> ErrorDetail {
    let message = detail.message.strip_prefix("yaml: ").unwrap_or(&detail.message);
    let message = message.strip_prefix("unmarshal errors:\n").unwrap_or(message);
    let lines = message.lines().map(|line| {
        let line = line.trim_start();
        let numbered = line.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
        match numbered.and_then(|(number, rest)| Some((number.parse().ok()?, rest))) {
            Some((number, rest)) => located(ErrorDetail::new(rest), number, source_text).message,
            None => format!("{}: {line}", source_text.file()),
        }
    });
    detail.message = lines.collect::<Vec<_>>().join("\n  ");
    detail.hint = detail.hint.filter(|hint| !names_only(hint));
    detail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let message = "variable ${A} not set";
        assert_eq!(variable(message, "x: ${AB}\ny: a$A\n"), Some(2));
        assert_eq!(variable(message, "x: ${A:-b}\n"), Some(1));
        assert_eq!(variable(message, "x: A\n"), None);
    }
}
