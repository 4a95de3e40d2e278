//! Findings of `validate` and `lint`: the same lines for people, the same data for programs.

use std::fmt::{self, Write as _};

use serde::Serialize;
use talos_config::{Diagnostic, FileLocation, Level};

use crate::json_schema::{JsonSchema, schema};
use crate::printer::HINT;
use crate::table::{BAD, DOUBTFUL, visible_lines};

/// A list of findings.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Findings<'a>(Vec<Finding<'a>>);

/// A diagnostic as data.
#[derive(Serialize)]
struct Finding<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    level: &'static str,
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip)]
    shown: &'a Diagnostic,
}

schema!(
    Finding<'_>,
    plain { level, code, message }
    optional { file, line, column, hint }
    skip { shown }
);

impl JsonSchema for Findings<'_> {
    fn json_schema() -> serde_json::Value {
        Vec::<Finding<'_>>::json_schema()
    }
}

impl<'a> Findings<'a> {
    pub(super) fn new(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Self {
        Self(diagnostics.into_iter().map(Finding::new).collect())
    }
}

impl<'a> Finding<'a> {
    fn new(shown: &'a Diagnostic) -> Self {
        let Diagnostic { level, code, location, message, hint } = shown;
        let location = location.as_ref();
        let known = |number: fn(&FileLocation) -> u32| location.map(number).filter(|at| *at > 0);
        Self {
            file: location.map(|location| location.file.as_str()),
            line: known(|location| location.line),
            column: known(|location| location.column),
            level: level.name(),
            code,
            message: message.trim_end(),
            hint: hint.as_deref(),
            shown,
        }
    }
}

impl fmt::Display for Findings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(|finding| colored(finding.shown)).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Returns the lines of a diagnostic, its level in colour. What it repeats of files moves no cursor.
pub(super) fn colored(diagnostic: &Diagnostic) -> String {
    let Diagnostic { level, code, location, message, hint } = diagnostic;
    let style = match level {
        Level::Error => BAD,
        Level::Warning => DOUBTFUL,
    };
    let location = location.as_ref().map(|at| format!("{}: ", visible_lines(&at.to_string())));
    let mut text = format!(
        "{}{style}{level}[{code}]{style:#}: {}",
        location.unwrap_or_default(),
        visible_lines(message.trim_end())
    );
    if let Some(hint) = hint {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {HINT}hint{HINT:#}: {}", visible_lines(hint));
    }
    text
}

/// Returns `2 errors, 1 warning`, or `nothing found`.
pub(super) fn counted<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> String {
    let (mut errors, mut warnings) = (0, 0);
    for diagnostic in diagnostics {
        match diagnostic.level {
            Level::Error => errors += 1,
            Level::Warning => warnings += 1,
        }
    }
    let count = |number: usize, what: &str| match number {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{number} {what}s")),
    };
    let parts: Vec<String> =
        [count(errors, "error"), count(warnings, "warning")].into_iter().flatten().collect();
    if parts.is_empty() { "nothing found".to_owned() } else { parts.join(", ") }
}
