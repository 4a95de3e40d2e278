//! Go templates, as far as talconfigs use them.
//!
//! In: the text of a template, the data it speaks of, and the functions' own needs. Out: text. Actions,
//! pipelines, variables, `if`, `range`, `with` and the functions in [`functions`] are understood; the rest of
//! Go's language is refused with a clear error, never passed over.

mod eval;
mod fields;
mod functions;
mod parse;
mod value;

use std::collections::BTreeMap;

use talos_config::Value;

use crate::door::environment::Environment;
use crate::error::ErrorDetail;

pub(crate) use value::GoValue;

/// What functions need beside their arguments.
pub(crate) struct TemplateContext<'a> {
    pub(crate) environment: &'a Environment,
    /// Seconds since 1970.
    pub(crate) now: i64,
    /// Whether there are more functions than Go's own.
    pub(crate) sprig: bool,
}

/// Fills in a template. `name` is what errors call it.
pub(crate) fn render(
    name: &str,
    text: &str,
    data: &GoValue<'_>,
    context: &TemplateContext<'_>,
) -> Result<String, ErrorDetail> {
    if !text.contains("{{") {
        return Ok(text.to_owned());
    }
    let wrong =
        |message: String| ErrorDetail::new(format!("template: {name}:{message}")).hint(HINT);
    let template = parse::parse(text, context.sprig).map_err(wrong)?;
    eval::execute(name, text, &template, data, context).map_err(wrong)
}

/// Whether a text is taken for a template.
pub(crate) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("}}")
}

/// The fields of the oldest document, as templates see them.
pub(crate) fn config(body: &BTreeMap<String, Value>) -> GoValue<'_> {
    GoValue::Struct { ty: &fields::CONFIG, fields: body, pointer: true }
}

/// What a person does about a template that cannot be filled in.
const HINT: &str = "between {{ and }} stands a Go template: docs/reference/talhelper.md lists what it may say; \
                    {{ \"{{\" }} gives two braces";
