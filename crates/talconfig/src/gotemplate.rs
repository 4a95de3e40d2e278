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

/// Renders a template. Errors refer to it as `name`.
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
