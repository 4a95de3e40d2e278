//! What is wrong with a talconfig, with its place in the file.
//!
//! talhelper counts lines in texts that nobody has seen. Here the same is said with the lines of the file, and with
//! the keys that stand there.

use talos_config::SourceId;

use crate::check::Finding;
use crate::error::{Error, Trouble};
use crate::original::Original;
use crate::shape::TALCONFIG;
use crate::{decode, text};

/// An error about a text that was read from a file, with its place in it.
pub(crate) fn located(error: Error, file: &str, written: &str) -> Error {
    let original = Original::new(file, written);
    match error {
        Error::Substitution(trouble) => Error::Substitution(filled_in(trouble, file, written)),
        Error::Reference { key, group, trouble } => {
            let place = original.layer(&key, group);
            Error::Reference { key, group, trouble: trouble.within(&format!("{place}: ")) }
        }
        // Said again about the text as it was written, for its lines.
        Error::Structure(trouble) => {
            let again = text::settle(written, &str::to_owned).err();
            Error::Structure(placed_lines(again.unwrap_or(trouble), &original))
        }
        Error::Shape(trouble) => {
            let again = decode::object(written, &TALCONFIG).err();
            let lines = |trouble: &Trouble| trouble.message.lines().count();
            let again = again.filter(|again| lines(again) == lines(&trouble));
            Error::Shape(placed_lines(again.unwrap_or(trouble), &original))
        }
        Error::Invalid(findings) => {
            Error::Invalid(findings.into_iter().map(|finding| found(finding, &original)).collect())
        }
        other => other,
    }
}

/// What is wrong with the variables of a text that was read from a file, with its place in it.
pub(crate) fn filled_in(trouble: Trouble, file: &str, written: &str) -> Trouble {
    let original = Original::new(file, written);
    match variable(&trouble.message, written) {
        Some(line) => placed(trouble, line, &original),
        None => placed_lines(trouble, &original),
    }
}

/// A finding with the place of its key, or of the nearest one above it.
pub(crate) fn found(finding: Finding, original: &Original) -> Finding {
    let origin = original.nearest(&finding.field, SourceId::default());
    let place = match origin.line {
        0 => original.file().to_owned(),
        line => format!("{}:{line}", original.file()),
    };
    Finding { place: Some(place), ..finding }
}

/// The line of a variable that an error is about.
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

fn placed(mut trouble: Trouble, line: u32, original: &Original) -> Trouble {
    trouble.hint = trouble.hint.filter(|hint| !names_only(hint));
    let key = original.key_at(line).map_or_else(String::new, |key| format!("{key}: "));
    trouble.message = format!("{}:{line}: {key}{}", original.file(), trouble.message);
    trouble
}

/// Whether a hint says nothing but the file, which is told now.
fn names_only(hint: &str) -> bool {
    hint.starts_with("this is about ")
}

/// Gives each line of an error that begins with `line N: ` its place.
fn placed_lines(mut trouble: Trouble, original: &Original) -> Trouble {
    let message = trouble.message.strip_prefix("yaml: ").unwrap_or(&trouble.message);
    let message = message.strip_prefix("unmarshal errors:\n").unwrap_or(message);
    let lines = message.lines().map(|line| {
        let line = line.trim_start();
        let numbered = line.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
        match numbered.and_then(|(number, rest)| Some((number.parse().ok()?, rest))) {
            Some((number, rest)) => placed(Trouble::new(rest), number, original).message,
            None => format!("{}: {line}", original.file()),
        }
    });
    trouble.message = lines.collect::<Vec<_>>().join("\n  ");
    trouble.hint = trouble.hint.filter(|hint| !names_only(hint));
    trouble
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
