//! Go templates, as far as talconfigs use them.
//!
//! In: the text of a template, its data, and the needs of functions. Out: text. Actions, pipelines,
//! variables, `if`, `range`, `with` and the functions in [`functions`] are supported; the rest of
//! Go's language is refused with a clear error, never ignored.

mod eval;
mod fields;
mod functions;
mod parse;
mod value;

use std::collections::BTreeMap;
use std::fmt;

use talos_config::Value;

use crate::door::environment::Environment;
use crate::error::ErrorDetail;

pub(crate) use value::GoValue;

/// The needs of functions beside their arguments.
pub(crate) struct TemplateContext<'a> {
    pub(crate) environment: &'a Environment,
    /// Seconds since 1970.
    pub(crate) now: i64,
    /// Functions of sprig are available.
    pub(crate) sprig: bool,
}

/// The failure of a template, with its location in it.
#[derive(Debug)]
struct Failure {
    line: u32,
    /// Known once the template runs.
    column: Option<usize>,
    problem: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, problem } = self;
        match column {
            Some(column) => write!(f, "{line}:{column}: {problem}"),
            None => write!(f, "{line}: {problem}"),
        }
    }
}

/// Why a template cannot be rendered.
#[derive(Debug)]
pub(crate) struct TemplateError {
    /// The line of the template.
    pub(crate) line: u32,
    pub(crate) problem: String,
    /// The same in Go's words, with the name of the template.
    pub(crate) detail: ErrorDetail,
}

/// Returns the line that follows a text.
fn line_after(before: &str) -> u32 {
    u32::try_from(1 + before.matches('\n').count()).unwrap_or(u32::MAX)
}

/// Renders a template. Errors refer to it as `name`.
pub(crate) fn render(
    name: &str,
    text: &str,
    data: &GoValue<'_>,
    context: &TemplateContext<'_>,
) -> Result<String, TemplateError> {
    if !text.contains("{{") {
        return Ok(text.to_owned());
    }
    let wrong = |failure: Failure| TemplateError {
        detail: ErrorDetail::new(format!("template: {name}:{failure}")).hint(HINT),
        line: failure.line,
        problem: failure.problem,
    };
    let template = parse::parse(text, context.sprig).map_err(wrong)?;
    eval::execute(name, text, &template, data, context).map_err(wrong)
}

/// Returns true if a text counts as a template.
pub(crate) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("}}")
}

/// Returns the `v1alpha1` document as data of templates.
pub(crate) fn config(body: &BTreeMap<String, Value>) -> GoValue<'_> {
    GoValue::Struct { ty: &fields::CONFIG, fields: body, pointer: true }
}

/// The hint of all template errors.
const HINT: &str = "between {{ and }} stands a Go template: docs/reference/talhelper.md lists what it may say; \
                    {{ \"{{\" }} gives two braces";
